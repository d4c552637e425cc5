"""A limit on the tokens that one run of the program may use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rag.answering.exchange import Around, Completion, Generator, Request, silent
from rag.errors import ModelError

CHARS_PER_TOKEN = 3  # fewer than English has, so that an estimate is rather too high


class BudgetSpent(ModelError):
    """The next answer might need more tokens than are left; no model was asked for it."""


class Budget:
    """Counts tokens of prompts and replies against a limit. Safe for use by several threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._used = 0
        self._reserved = 0
        self._lock = threading.Lock()

    @property
    def used(self) -> int:
        """Tokens of the answers that have ended."""
        return self._used

    @contextmanager
    def spending(self, most: int) -> Iterator[Spent]:
        """Keep `most` tokens for one answer; on leaving, what it used counts instead.

        Raises:
            BudgetSpent: so many are not left.
        """
        with self._lock:
            if self._used + self._reserved + most > self._limit:
                raise self._refusal(most)
            self._reserved += most
        spent = Spent()
        try:
            yield spent
        finally:
            with self._lock:
                self._reserved -= most
                self._used += spent.tokens

    def _refusal(self, most: int) -> BudgetSpent:
        waiting = f", {self._reserved:,} kept for answers in work" if self._reserved else ""
        return BudgetSpent(
            f"The token budget does not allow another answer, which may take {most:,} tokens",
            cause=f"{self._used:,} of {self._limit:,} used{waiting}",
            remedy="It counts anew when the program is started again; RAG_TOKEN_BUDGET sets it.",
        )


class Spent:
    """What one answer has used so far."""

    def __init__(self) -> None:
        self.tokens = 0


class BudgetedGenerator(Around):
    """A generator that is asked only while the budget lasts."""

    def __init__(self, inner: Generator, budget: Budget) -> None:
        super().__init__(inner)
        self._budget = budget

    def stream(
        self, request: Request, notify: Callable[[str], None] = silent
    ) -> Iterator[str | Completion]:
        """See `Generator.stream`.

        The server's own counts decide; where there are none, as of a reply that broke off, they
        are estimated from the texts. A request that failed before any text costs nothing.

        Raises:
            BudgetSpent: before the request, if it might exceed what is left.
        """
        prompt = _estimated(len(request.system) + len(request.user))
        with self._budget.spending(prompt + request.max_tokens) as spent:
            chars = 0
            for piece in self._inner.stream(request, notify):
                if isinstance(piece, Completion):
                    spent.tokens = _counted(piece, prompt, _estimated(chars))
                else:
                    chars += len(piece)
                    spent.tokens = prompt + _estimated(chars)
                yield piece


def _counted(completion: Completion, prompt: int, reply: int) -> int:
    read, written = completion.prompt_tokens, completion.completion_tokens
    return (prompt if read is None else read) + (reply if written is None else written)


def _estimated(chars: int) -> int:
    return -(-chars // CHARS_PER_TOKEN)
