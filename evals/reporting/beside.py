"""What differs between two runs of one suite, question by question."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, Literal

from evals.reporting.report import Report
from evals.scoring.measures import BY_NAME
from evals.scoring.scored import Scored, per_item
from evals.stats import SEED, Mean, clustered_mean
from rag.errors import UsageError

Verdict = Literal["better", "worse", "as before"]
Key = tuple[str, int]

_ROUNDING = 1e-9
_PIECES = re.compile(r"\s+|[^\W_]+|[\W_]", re.UNICODE)


@dataclass(frozen=True, slots=True)
class Difference:
    """This run minus the other in one measure, over the questions that have a value in both.

    `mean` is that of the paired differences with its interval; `better` and `worse` count
    questions.
    """

    name: str
    now: float
    before: float
    mean: Mean
    better: int
    worse: int

    @property
    def verdict(self) -> Verdict:
        """Which way the whole interval lies; as before where 0 is in it."""
        if self.mean.low <= 0 <= self.mean.high:
            return "as before"
        return "better" if is_better(self.name, self.mean.value) else "worse"


@dataclass(frozen=True, slots=True)
class Changes:
    """Two runs side by side; `before` has the askings of the other one."""

    other: Report
    differences: Mapping[str, Difference]
    before: Mapping[Key, Scored]
    settings: tuple[str, ...]


def beside(report: Report, other: Report, seed: int = SEED) -> Changes:
    """What differs from `other` to `report`.

    Raises:
        UsageError: they are not of the same questions.
    """
    ours, theirs = report.manifest.identity, other.manifest.identity
    if ours["questions"] != theirs["questions"]:
        raise UsageError(
            "The two runs are not of the same questions",
            cause=f"{_asked(report)} in {report.folder.name}, {_asked(other)} in"
            f" {other.folder.name}",
            remedy="Run the same suite, with the same --limit.",
        )
    found = (_difference(name, report, other, seed) for name in report.summary.means)
    return Changes(
        other,
        {one.name: one for one in found if one is not None},
        {(one.item.id, one.repeat): one for one in other.scored},
        tuple(other.manifest.differences(report.manifest)),
    )


def as_json(changes: Changes) -> dict[str, Any]:
    """Every difference, and the settings that differ."""
    return {
        "run": changes.other.folder.name,
        "settings": list(changes.settings),
        "differences": {
            name: {**asdict(one), "verdict": one.verdict}
            for name, one in changes.differences.items()
        },
    }


def moved(now: Scored, before: Scored | None) -> dict[str, float]:
    """By how much each measure of one asking changed, where it did."""
    if before is None:
        return {}
    both = ((name, now.values[name] - before.values[name]) for name in _shared(now, before))
    return {name: by for name, by in both if abs(by) > _ROUNDING}


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


def _difference(name: str, report: Report, other: Report, seed: int) -> Difference | None:
    now, before = per_item(name, report.scored), per_item(name, other.scored)
    items = [item for item in now if item in before]
    if not items:
        return None
    clusters = {one.item.id: one.cluster for one in report.scored}
    by = [now[item] - before[item] for item in items]
    moves = [is_better(name, one) for one in by if abs(one) > _ROUNDING]
    return Difference(
        name,
        fmean(now[item] for item in items),
        fmean(before[item] for item in items),
        clustered_mean(by, [clusters[item] for item in items], seed),
        moves.count(True),
        moves.count(False),
    )


def _shared(now: Scored, before: Scored) -> list[str]:
    return [name for name in now.values if name in before.values]


def _asked(report: Report) -> str:
    return f"{report.manifest.identity['asked']} of {report.manifest.suite}"
