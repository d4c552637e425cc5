"""What answers took: time, tokens, and what they cost where a price is known; no gradio here.

A writer's tokens are counted around it, so that the short questions by which it helps a search
count as well; they are asked in the thread of their answer.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rag.answering.events import ClaimMade, Done, Event
from rag.answering.exchange import Around, Completion, Generator, Request, silent
from rag.config import Config

Ask = Callable[..., Iterator[Event]]
KEPT = 50  # answers of a reader
MOST_READERS = 1_000


@dataclass(slots=True)
class Tally:
    """Requests to the writer and the tokens that its server told of; `untold` did not tell."""

    requests: int = 0
    read: int = 0
    written: int = 0
    untold: int = 0


@dataclass(frozen=True, slots=True)
class Taken:
    """What one answer took. Times are in seconds; `first` is that of its first claim."""

    question: str
    status: str
    seconds: float
    first: float | None
    requests: int
    read: int
    written: int
    untold: int

    def cost(self, config: Config) -> float | None:
        """Dollars, None where no price is known or the server did not tell all tokens."""
        if not self.requests:
            return 0.0
        read, written = config.price_read, config.price_written
        if read is None or written is None or self.untold:
            return None
        return (read * self.read + written * self.written) / 1e6


class Meter:
    """Measures the answers of all readers. Safe for use by several threads."""

    def __init__(self) -> None:
        self._here = threading.local()
        self._taken: dict[str, deque[Taken]] = {}
        self._guard = threading.Lock()

    def around(self, generator: Generator) -> Generator:
        """The writer, counted; for `Assistant.from_config`."""
        return _Counted(generator, self._add)

    def asking(self, reader: str, ask: Ask) -> Ask:
        """The same way to ask a question, whose answers are measured for this reader."""
        return lambda question, **given: self.heard(reader, question, ask(question, **given))

    def heard(self, reader: str, question: str, events: Iterator[Event]) -> Iterator[Event]:
        """The same events; the answer is measured once it is whole, for this reader.

        To be gone through in one thread.
        """
        begun, first = time.monotonic(), None
        with self._counting() as tally:
            for event in events:
                since = time.monotonic() - begun
                if isinstance(event, ClaimMade) and first is None:
                    first = since
                if isinstance(event, Done):
                    counts = (tally.requests, tally.read, tally.written, tally.untold)
                    taken = Taken(question, event.answer.status, since, first, *counts)
                    self._keep(reader, taken)
                yield event

    def of(self, reader: str) -> tuple[Taken, ...]:
        """What the last answers of a reader took, the oldest first."""
        with self._guard:
            return tuple(self._taken.get(reader, ()))

    def _keep(self, reader: str, taken: Taken) -> None:
        with self._guard:
            if reader not in self._taken and len(self._taken) >= MOST_READERS:
                del self._taken[next(iter(self._taken))]
            self._taken.setdefault(reader, deque(maxlen=KEPT)).append(taken)

    @contextmanager
    def _counting(self) -> Iterator[Tally]:
        before = getattr(self._here, "tally", None)
        tally = self._here.tally = Tally()
        try:
            yield tally
        finally:
            self._here.tally = before

    def _add(self, completion: Completion) -> None:
        tally: Tally | None = getattr(self._here, "tally", None)
        if tally is None:
            return
        tally.requests += 1
        tally.read += completion.prompt_tokens or 0
        tally.written += completion.completion_tokens or 0
        told = None not in (completion.prompt_tokens, completion.completion_tokens)
        tally.untold += not told


class _Counted(Around):
    """A generator whose replies are counted."""

    def __init__(self, inner: Generator, add: Callable[[Completion], None]) -> None:
        super().__init__(inner)
        self._add = add

    def stream(
        self, request: Request, notify: Callable[[str], None] = silent
    ) -> Iterator[str | Completion]:
        """See `Generator.stream`; of a reply that broke off nobody told the tokens."""
        begun = ended = False
        try:
            for piece in self._inner.stream(request, notify):
                begun, ended = True, isinstance(piece, Completion)
                if isinstance(piece, Completion):
                    self._add(piece)
                yield piece
        finally:
            if begun and not ended:
                self._add(Completion("unknown", None, None, 0.0, ""))
