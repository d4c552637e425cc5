"""Two runs compared question by question; pure functions of their sheets.

Only questions that both runs have a value for are compared: whoever failed, or was not asked, is
counted and never imputed. Everything is told as the second run minus the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evals.margins import Margins
from evals.scoring.measures import MEASURES, Measure
from evals.sheet import Row, Sheet
from evals.stats import (
    SEED,
    Mean,
    clustered_detectable,
    clustered_mean,
    clustered_randomisation,
    holm,
)
from rag.errors import UsageError

Verdict = Literal["better", "worse", "not worse by margin", "cannot tell"]
ALPHA, POWER = 0.05, 0.8
_ROUNDING = 1e-6  # a baseline holds six digits


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and its value in both runs."""

    item: str
    before: float
    after: float

    @property
    def difference(self) -> float:
        """What was added; 0 where that is within the rounding of a baseline."""
        found = self.after - self.before
        return 0.0 if abs(found) <= _ROUNDING else found


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one measure, over the questions that have it in both runs.

    `before` and `after` are means over these. `p` is that of the randomisation test, `corrected`
    the same after Holm's correction over all shares; it is `p` itself for other units. `detectable`
    is the smallest true change that would have been seen in 80 of 100 such comparisons, None where
    nothing could be. `margin` is in the unit of the measure. `wins` are questions that became
    better, largest first, `losses` worse ones; `one_sided` counts those with a value in one run.
    """

    measure: Measure
    before: float
    after: float
    difference: Mean
    p: float
    corrected: float
    detectable: float | None
    margin: float | None
    wins: tuple[Pair, ...]
    losses: tuple[Pair, ...]
    ties: int
    one_sided: int

    @property
    def gain(self) -> tuple[float, float, float]:
        """Mean, low and high of the difference, turned so that above 0 is better."""
        found = self.difference
        if self.measure.better == "higher":
            return found.value, found.low, found.high
        return -found.value, -found.high, -found.low

    @property
    def sees_margin(self) -> bool:
        """Whether so many questions would show a change as small as the margin."""
        if self.margin is None or self.detectable is None:
            return False
        return self.detectable <= self.margin

    @property
    def is_not_worse(self) -> bool:
        """Whether the interval lies above minus the margin (non-inferiority).

        And there are enough questions for a loss of that size to have touched one of them: where
        none differs, the interval has no width however few they are.
        """
        if self.margin is None or self.detectable is None or self.gain[1] <= -self.margin:
            return False
        return self.measure.unit != "share" or unseen(self.difference.n) <= self.margin

    @property
    def verdict(self) -> Verdict:
        """Better or worse where the corrected p is at most .05; else whether it is not worse."""
        if self.corrected <= ALPHA:
            return "better" if self.gain[0] > 0 else "worse"
        return "not worse by margin" if self.is_not_worse else "cannot tell"


@dataclass(frozen=True, slots=True)
class Unpaired:
    """Questions that are not compared, by id, and why."""

    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    failed_before: tuple[str, ...] = ()
    failed_after: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many there are; one that failed in both runs counts once."""
        failed = {*self.failed_before, *self.failed_after}
        return len(self.only_before) + len(self.only_after) + len(self.altered) + len(failed)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs: how many questions were paired, which were not, and each measure's change."""

    paired: int
    unpaired: Unpaired
    changes: tuple[Change, ...]


def check_comparable(before: Sheet, after: Sheet, remedy: str = "") -> None:
    """Check that two runs are of the same questions; `remedy` is what else may be done.

    Raises:
        UsageError: they are not; both suites are named.
    """
    if before.questions != after.questions:
        raise UsageError(
            "The runs are of different questions",
            cause=f"{before.suite} {before.questions}, {after.suite} {after.questions}",
            remedy=remedy,
        )


def compare(
    before: Sheet,
    after: Sheet,
    margins: Margins,
    seed: int = SEED,
    measures: Iterable[Measure] = MEASURES,
) -> Comparison:
    """All measures that both runs have for some question.

    Raises:
        UsageError: different judges gave the opinions, or there is no question in common.
    """
    if before.judge != after.judge and before.judge and after.judge:
        raise UsageError(
            "The runs were judged by different judges",
            cause=f"{before.judge}, {after.judge}",
            remedy="Name one that both have with --judge.",
        )
    common, unpaired = _paired(before.rows, after.rows)
    if not common:
        raise UsageError(
            "The runs have no question in common that both answered",
            cause=f"{unpaired.total} are in one only, altered, or failed",
        )
    rows = [(item, before.rows[item], after.rows[item]) for item in common]
    changes = [found for one in measures if (found := _change(one, rows, margins, seed))]
    return Comparison(len(common), unpaired, tuple(_corrected(changes)))


def unseen(n: int) -> float:
    """The share of questions that may be lost while none of `n` shows it, in 20 of 100 cases.

    Where no question differs their spread is 0 and says nothing. If a share s of all questions
    were lost, one of n would be among them with probability 1 - (1-s)^n; that is 80% for
    s = 1 - 0.2^(1/n), some 1.6/n.
    """
    return float(1 - (1 - POWER) ** (1 / n))


def _paired(before: Mapping[str, Row], after: Mapping[str, Row]) -> tuple[list[str], Unpaired]:
    both = sorted(before.keys() & after.keys())  # resampling must not depend on their order
    altered = tuple(item for item in both if before[item].asked != after[item].asked)
    same = [item for item in both if item not in set(altered)]
    unpaired = Unpaired(
        tuple(item for item in before if item not in after),
        tuple(item for item in after if item not in before),
        altered,
        tuple(item for item in same if not before[item].counts),
        tuple(item for item in same if not after[item].counts),
    )
    return [item for item in same if before[item].counts and after[item].counts], unpaired


def _change(
    measure: Measure, rows: Sequence[tuple[str, Row, Row]], margins: Margins, seed: int
) -> Change | None:
    name = measure.name
    with_it = [row for row in rows if name in row[1].values and name in row[2].values]
    either = sum(name in row[1].values or name in row[2].values for row in rows)
    if not with_it:
        return None
    pairs = [Pair(item, a.values[name], b.values[name]) for item, a, b in with_it]
    clusters = [a.cluster for _, a, _ in with_it]
    differences = [pair.difference for pair in pairs]
    p = clustered_randomisation(differences, clusters, seed)
    mean_before = sum(pair.before for pair in pairs) / len(pairs)
    better, worse = _sorted(measure, pairs)
    return Change(
        measure,
        mean_before,
        sum(pair.after for pair in pairs) / len(pairs),
        clustered_mean(differences, clusters, seed),
        p,
        p,
        _detectable(measure, differences, clusters),
        margins.of(measure, mean_before),
        better,
        worse,
        len(pairs) - len(better) - len(worse),
        either - len(pairs),
    )


def _sorted(measure: Measure, pairs: Iterable[Pair]) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """The pairs that became better and those that became worse, the largest change first."""
    order = sorted(pairs, key=lambda pair: (-abs(pair.difference), pair.item))
    up = tuple(pair for pair in order if pair.difference > 0)
    down = tuple(pair for pair in order if pair.difference < 0)
    return (up, down) if measure.better == "higher" else (down, up)


def _detectable(
    measure: Measure, differences: Sequence[float], clusters: Sequence[str]
) -> float | None:
    if len(set(clusters)) < 2:
        return None
    spread = clustered_detectable(differences, clusters, POWER, ALPHA)
    return max(spread, unseen(len(differences))) if measure.unit == "share" else spread


def _corrected(changes: Sequence[Change]) -> Iterator[Change]:
    """The changes with Holm's correction over all shares, as these are one family."""
    corrected = iter(holm([one.p for one in changes if one.measure.unit == "share"]))
    for change in changes:
        is_share = change.measure.unit == "share"
        yield replace(change, corrected=next(corrected)) if is_share else change
