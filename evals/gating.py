"""Whether a run is as good as a baseline; pure.

A measure has *regressed* where the 95% interval of its paired difference lies wholly beyond the
margin, and the randomisation test says worse at .05. It *holds* where the interval lies wholly on
the better side of minus the margin, or where it lies about it and the questions are enough to show
a loss of the margin in 80 of 100 comparisons. Where they are not, it is *unmeasurable*.

What that rule does (normal approximation, standard error e, margin m; enough is 2.8 e ≤ m): where
nothing changed, an alarm needs a chance deviation of m + 1.96 e ≥ 4.76 e where it can be measured,
less than one in 100,000, so that many measures need no correction for their number. Where the true
loss is the margin, one in 40 gives an alarm. Where it is twice the margin, at most 20 of 100 hold:
m is 2.8 e or more beyond the margin, or it is unmeasurable, as where answers turn from right to
wrong and so widen e. The randomisation test matters only where questions are so few that a
bootstrap interval is too narrow: five cannot reach .05.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from evals.comparing import ALPHA, Change, Comparison, check_comparable, compare, unseen
from evals.margins import Margins
from evals.scoring.measures import BY_NAME, Measure
from evals.sheet import Sheet
from evals.stats import SEED
from rag.errors import EXIT_PARTLY_FAILED, AskPapersError, UsageError

Standing = Literal["holds", "regressed", "unmeasurable"]


class Unmeasurable(AskPapersError):
    """It cannot be told whether a run is worse: the gate is finished, and does not let it pass."""

    exit_code = EXIT_PARTLY_FAILED


@dataclass(frozen=True, slots=True)
class Checked:
    """One measure: where it stands, and why in a sentence. No change: no question has it twice."""

    measure: Measure
    standing: Standing
    reason: str
    change: Change | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """A run against a baseline.

    `left_out` are measures that too few questions of the baseline have for its margin; nobody asked
    for them. `missing` says that too much of the run is missing, and how much.
    """

    suite: str
    checked: tuple[Checked, ...]
    left_out: tuple[str, ...]
    comparison: Comparison
    missing: str = ""

    @property
    def standing(self) -> Standing:
        """That of the whole: what cannot be believed is neither good nor bad."""
        seen = {one.standing for one in self.checked}
        if self.missing or not self.checked:
            return "unmeasurable"
        if "regressed" in seen:
            return "regressed"
        return "unmeasurable" if "unmeasurable" in seen else "holds"

    @property
    def why(self) -> str:
        """Why it cannot be measured; empty where it can."""
        if self.missing or not self.checked:
            return self.missing or "no measure has enough questions for its margin"
        blind = [one for one in self.checked if one.standing == "unmeasurable"]
        return "; ".join(f"{one.measure.name}: {one.reason}" for one in blind)


def gate(
    baseline: Sheet,
    run: Sheet,
    margins: Margins,
    names: Sequence[str] = (),
    seed: int = SEED,
) -> Gate:
    """Check the named measures; without names all shares that the baseline has often enough.

    Raises:
        UsageError: the suites or the judges differ, or a named measure has no margin or is not in
            the baseline.
    """
    check_comparable(baseline, run, "Write the baseline anew with --write-baseline.")
    chosen, left_out = _chosen(baseline, margins, names)
    comparison = compare(baseline, run, margins, seed, chosen)
    changes = {change.measure.name: change for change in comparison.changes}
    checked = tuple(_checked(one, changes.get(one.name)) for one in chosen)
    return Gate(run.suite, checked, left_out, comparison, run.trouble)


def _chosen(
    baseline: Sheet, margins: Margins, names: Sequence[str]
) -> tuple[list[Measure], tuple[str, ...]]:
    counts = {name: sum(name in row.values for row in baseline.rows.values()) for name in BY_NAME}
    if names:
        _check_named(names, counts, margins)
        return [BY_NAME[name] for name in dict.fromkeys(names)], ()
    shares = [one for one in BY_NAME.values() if one.unit == "share" and counts[one.name]]
    enough = [one for one in shares if unseen(counts[one.name]) <= (margins.of(one, 0.0) or 0.0)]
    return enough, tuple(one.name for one in shares if one not in enough)


def _check_named(names: Iterable[str], counts: dict[str, int], margins: Margins) -> None:
    for name in names:
        if not counts[name]:
            raise UsageError(
                f"The baseline has no {name}",
                remedy="Write it anew with --write-baseline and --measures.",
            )
        if margins.of(BY_NAME[name], 1.0) is None:
            raise UsageError(
                f"{name} has no margin",
                cause="it is no share",
                remedy=f"Give one as part of what it was: --margin '{name}=0.2'.",
            )


def _checked(measure: Measure, change: Change | None) -> Checked:
    if change is None:
        return Checked(measure, "unmeasurable", "no question has it in both runs")
    mean, low, high = change.gain
    margin = change.margin or 0.0
    if high < -margin and change.p <= ALPHA:
        reason = f"worse by more than {margin:.3g}: {-mean:.3g} [{-high:.3g}, {-low:.3g}]"
        return Checked(measure, "regressed", reason, change)
    if change.is_not_worse:
        return Checked(measure, "holds", f"a loss of {margin:.3g} is excluded", change)
    if not change.sees_margin:
        seen = "nothing" if change.detectable is None else f"no loss below {change.detectable:.2g}"
        n = change.difference.n
        return Checked(measure, "unmeasurable", f"{n} questions show {seen}", change)
    reason = f"no loss beyond {margin:.3g} is seen; up to {-low:.2g} is not excluded"
    return Checked(measure, "holds", reason, change)
