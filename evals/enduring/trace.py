"""The trace of a disturbed run, and its scores; pure.

Strength s is how much is disturbed, from 0 (calm) to 1 (all of it). Every score lies between 0
and 1, and is 1 where a disturbance does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from evals.stats import Mean, clustered_mean

Outcome = Literal["written", "quoted", "silent", "failed"]
Cited = frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Step:
    """One piece of work under a disturbance.

    `cited` are the sentences that the answer cites, by paper and place, and `calm` those of the
    same work undisturbed; `work` is what it took (requests, or seconds of a processor), and
    `calm_work` what it takes undisturbed.
    """

    kind: str
    strength: float
    name: str
    outcome: Outcome
    cited: Cited
    calm: Cited
    work: float
    calm_work: float


@dataclass(frozen=True, slots=True)
class Score:
    """The scores of a kind of disturbance at one strength, each a mean with its interval."""

    kind: str
    strength: float
    delivered: Mean
    stability: Mean
    rebound: Mean


def delivered(step: Step) -> float:
    """1 where something checked came of it, be it quoted; 0 where it failed.

    An abstention delivers only where the calm run abstains as well.
    """
    if step.outcome == "silent":
        return float(not step.calm)
    return float(step.outcome != "failed")


def stability(step: Step) -> float:
    """Jaccard's index of the sentences cited and those cited undisturbed: |A ∩ B| / |A ∪ B|."""
    union = step.cited | step.calm
    return len(step.cited & step.calm) / len(union) if union else 1.0


def rebound(step: Step) -> float:
    """Calm work / work: what is left of each unit of it once recoveries are paid; 0 if it failed.

    Less work than undisturbed, where the product gave up at once, is no better than as much.
    """
    if step.outcome == "failed":
        return 0.0
    return min(1.0, step.calm_work / step.work) if step.work else 1.0


def scores(steps: Sequence[Step], seed: int) -> list[Score]:
    """The scores of each kind at each of its strengths, in the order of the steps."""
    keys = dict.fromkeys((step.kind, step.strength) for step in steps)
    return [
        Score(kind, strength, *(_mean(of, own, seed) for of in _ASPECTS))
        for kind, strength in keys
        for own in [[s for s in steps if (s.kind, s.strength) == (kind, strength)]]
    ]


def _mean(of: Callable[[Step], float], own: Sequence[Step], seed: int) -> Mean:
    """Over steps; those of one question may go together."""
    return clustered_mean([of(step) for step in own], [step.name for step in own], seed)


def extensibility(own: Sequence[Score]) -> float:
    """The area under what is delivered over strength, by trapezoids, as a share of the whole.

    `own` are the scores of one kind, strengths ascending from 0, where all is delivered. A product
    that breaks at the first disturbance has next to 0, one that delivers to the last has 1.

    Raises:
        ValueError: there are no two strengths.
    """
    points = [(one.strength, one.delivered.value) for one in own]
    span = points[-1][0] - points[0][0] if points else 0.0
    if span <= 0:
        raise ValueError("graceful extensibility needs two strengths")
    pairs = pairwise(points)
    return sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairs) / span


_ASPECTS = (delivered, stability, rebound)
