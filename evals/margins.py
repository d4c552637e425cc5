"""How much worse a measure may be: margins, and reading them from the command line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from evals.scoring.measures import BY_NAME, Measure
from rag.errors import UsageError

MARGIN = 0.03


@dataclass(frozen=True, slots=True)
class Margins:
    """`shares` is that of every share without one of its own in `named`.

    Of a share it is a difference; of seconds, tokens and dollars a part of what they were before,
    so that seconds=0.2 allows a fifth more. Without a name these have none.
    """

    shares: float = MARGIN
    named: Mapping[str, float] = field(default_factory=dict)

    def of(self, measure: Measure, before: float) -> float | None:
        """The margin in the unit of the measure, given its mean before; None: it has none."""
        if measure.unit == "share":
            return self.named.get(measure.name, self.shares)
        part = self.named.get(measure.name)
        return None if part is None else part * abs(before)


def parse(text: str) -> Margins:
    """Margins as people write them: 0.03, or name=0.02, or both, by commas.

    Raises:
        UsageError: one is no number above 0 and below 1, or names no measure.
    """
    shares, named = MARGIN, {}
    for part in text.split(","):
        name, is_named, value = part.strip().rpartition("=")
        if is_named:
            check_measure(name.strip())
            named[name.strip()] = _margin(value, part)
        else:
            shares = _margin(value, part)
    return Margins(shares, named)


def check_measure(name: str) -> None:
    """Check that there is a measure of this name.

    Raises:
        UsageError: there is none; all are named.
    """
    if name not in BY_NAME:
        raise UsageError(
            f"No measure is called {name!r}", remedy=f"Choose from {', '.join(BY_NAME)}."
        )


def _margin(value: str, part: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 < number < 1:
        raise UsageError(
            f"The margin {part.strip()!r} is no number above 0 and below 1",
            remedy="Write 0.03, or name=0.02, by commas.",
        )
    return number
