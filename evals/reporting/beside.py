"""A run beside another one of the same suite: what differs, and where."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from evals.comparing import Change, Comparison, check_comparable, compare
from evals.margins import Margins
from evals.reporting.report import Report
from evals.scoring.measures import BY_NAME
from evals.scoring.scored import Scored
from evals.sheet import sheet
from evals.stats import SEED

Key = tuple[str, int]

_EQUAL = 1e-9
_PAIRED = "`python -m evals compare A B --paired-only` compares the questions that both have."
_PIECES = re.compile(r"\s+|[^\W_]+|[\W_]")


@dataclass(frozen=True, slots=True)
class Beside:
    """Two runs: the comparison of their measures, and the askings of the other one.

    `settings` are what differs in what made them.
    """

    other: Report
    comparison: Comparison
    askings: Mapping[Key, Scored]
    settings: tuple[str, ...]

    def change(self, name: str) -> Change | None:
        """What became of a measure; None where no question has it in both runs."""
        return next((one for one in self.comparison.changes if one.measure.name == name), None)


def beside(report: Report, other: Report, seed: int = SEED) -> Beside:
    """What differs from `other` to `report`.

    Raises:
        UsageError: they are of different questions, or have none in common that both answered.
    """
    before, after = (sheet(one.manifest.identity, one.judge, one.scored) for one in (other, report))
    check_comparable(before, after, _PAIRED)
    return Beside(
        other,
        compare(before, after, Margins(), seed),
        {(one.item.id, one.repeat): one for one in other.scored},
        tuple(other.manifest.differences(report.manifest)),
    )


def moved(now: Scored, before: Scored | None) -> dict[str, float]:
    """By how much each measure of one asking changed, where it did."""
    if before is None:
        return {}
    shared = [name for name in now.values if name in before.values]
    both = ((name, now.values[name] - before.values[name]) for name in shared)
    return {name: by for name, by in both if abs(by) > _EQUAL}


def is_better(name: str, by: float) -> bool:
    """Whether a measure that moved by so much moved the right way."""
    return (by > 0) == (BY_NAME[name].better == "higher")


def word_diff(before: str, now: str) -> Iterator[tuple[Literal["same", "gone", "new"], str]]:
    """Two texts as one: runs of words that are in both, in the first only, in the second only."""
    old, new = _PIECES.findall(before), _PIECES.findall(now)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for what, a, b, c, d in matcher.get_opcodes():
        if what == "equal":
            yield "same", "".join(old[a:b])
            continue
        if a < b:
            yield "gone", "".join(old[a:b])
        if c < d:
            yield "new", "".join(new[c:d])
