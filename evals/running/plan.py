"""How the questions of a run are asked: how often, how many at once, and within what bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from evals.record import Record, Reply
from evals.suite import Item


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars for a million tokens read and written; 0 for a model of one's own."""

    prompt: float = 0.0
    completion: float = 0.0

    def of(self, replies: Iterable[Reply]) -> float:
        """What replies cost, those that were kept from earlier runs being free."""
        new = [reply for reply in replies if not reply.cached]
        read = sum(reply.prompt_tokens or 0 for reply in new)
        written = sum(reply.completion_tokens or 0 for reply in new)
        return (self.prompt * read + self.completion * written) / 1e6


@dataclass(frozen=True, slots=True)
class Asking:
    """A question that stands in line, for the n-th time counted from 0.

    Where a server refused it before, `refusal` says how, and `answered` is the answer if it was
    only not judged.
    """

    item: Item
    repeat: int
    answered: Record | None = None
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """`repeats` of each question, up to `at_once` at a time, each for `timeout` seconds at most.

    No question is begun once the run has cost `max_cost` dollars; None: whatever it costs.
    """

    repeats: int = 1
    at_once: int = 1
    timeout: float = 300.0
    max_cost: float | None = None
    prices: Prices = Prices()

    def askings(self, items: Iterable[Item], done: frozenset[tuple[str, int]]) -> Iterator[Asking]:
        """What is still to be asked: all questions once, then all again."""
        every = list(items)
        for repeat in range(self.repeats):
            yield from (Asking(item, repeat) for item in every if (item.id, repeat) not in done)

    def priced(self, record: Record) -> Record:
        """A record with what it cost."""
        return replace(record, cost=self.prices.of(record.replies))


class Purse:
    """What a run may spend, and has spent."""

    def __init__(self, allowed: float | None, spent: float = 0.0) -> None:
        self.allowed = allowed
        self.spent = spent

    def is_open(self) -> bool:
        """Whether another question may be begun."""
        return self.allowed is None or self.spent < self.allowed

    def told(self) -> str:
        """How much has gone."""
        return f"${self.spent:.4g} are spent of the ${self.allowed or 0.0:.4g} allowed"
