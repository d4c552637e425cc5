"""The mean of what people would say of all cases, from a judge on all and people on a few.

Prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science 382):
the judge's mean over the cases without a label, corrected by how far it is off on those with one.
Its interval holds however bad the judge is. With power tuning (Angelopoulos, Duchi and Zrnic 2023,
"PPI++: efficient prediction-powered inference") a bad judge is not listened to, so that in the
limit the interval is never wider than that of the labels alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean

import numpy as np
from numpy.typing import NDArray

from evals.stats import SEED

LEAST = 2  # labels; a variance needs so many
_REACH = NormalDist().inv_cdf(0.975)

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its 95% interval from `n` labels; `tuning` is how much the judge counts."""

    value: float
    low: float
    high: float
    n: int
    tuning: float = 0.0

    @property
    def width(self) -> float:
        """Of the interval."""
        return self.high - self.low

    def covers(self, truth: float) -> bool:
        """Whether the interval holds a value."""
        return self.low <= truth <= self.high


def classical(labels: Sequence[float] | Values) -> Estimate:
    """The mean of the labels alone, ± 1.96 · s / √n.

    Raises:
        ValueError: there are fewer than two labels.
    """
    y = _series(labels)
    return _estimate(float(y.mean()), float(y.var(ddof=1)) / len(y), len(y))


def corrected(
    labels: Sequence[float] | Values,
    judged: Sequence[float] | Values,
    others: Sequence[float] | Values,
    tuning: float | None = None,
) -> Estimate:
    """The mean from n labels, the judge's scores of the same cases and of N `others`.

    With y the labels, f the scores of the same cases, f' of the others:

        θ = mean(y) - λ (mean(f) - mean(f')),  var θ = var(y - λf) / n + λ² var(f') / N

    `tuning` is λ; None: the one of least variance, cov(y, f) / (var(f) + n/N · var(f')), kept
    within 0 to 1 (PPI++, section 6, with the variance of each sample for itself, so that it is the
    least of this formula). 1 is prediction-powered inference without tuning, 0 the classical mean.

    Raises:
        ValueError: there are fewer than two labels or others, or not as many scores as labels.
    """
    y, f, g = _series(labels), _series(judged), _series(others)
    if len(y) != len(f):
        raise ValueError(f"{len(f)} scores for {len(y)} labels")
    weight = _best(y, f, g) if tuning is None else tuning
    value = float(y.mean() - weight * (f.mean() - g.mean()))
    variance = (y - weight * f).var(ddof=1) / len(y) + weight**2 * g.var(ddof=1) / len(g)
    return _estimate(value, float(variance), len(y), weight)


@dataclass(frozen=True, slots=True)
class Trial:
    """What `n` labels give, told by drawing them many times from cases that all have one.

    `truth` is the mean of all labels, `judge` that of all scores. `first` holds the estimates of
    the first draw, `widths` the mean width of the intervals and `covered` the share of them that
    hold the truth: the classical one, then the corrected one.
    """

    n: int
    cases: int
    draws: int
    truth: float
    judge: float
    first: tuple[Estimate, Estimate]
    widths: tuple[float, float]
    covered: tuple[float, float]


def trial(
    labels: Sequence[float] | Values,
    judged: Sequence[float] | Values,
    n: int,
    draws: int = 1000,
    seed: int = SEED,
) -> Trial:
    """Label `n` of the cases at random, again and again, and compare both intervals.

    The cases are all there are, and each draw leaves out those that it does not label: the
    intervals, made for cases without end, then hold the truth rather more often than 95%.

    Raises:
        ValueError: `n` is not at least 2 and at most 2 less than the cases.
    """
    y, f = _series(labels), _series(judged)
    if not LEAST <= n <= len(y) - LEAST:
        raise ValueError(f"of {len(y)} cases, {LEAST} to {len(y) - LEAST} can be labelled")
    generator = np.random.default_rng(seed)
    pairs: list[tuple[Estimate, Estimate]] = []
    for _ in range(draws):
        order = generator.permutation(len(y))
        known, rest = order[:n], order[n:]
        pairs.append((classical(y[known]), corrected(y[known], f[known], f[rest])))
    truth = float(y.mean())
    (width, covered), (own_width, own_covered) = (
        (fmean(one.width for one in of), fmean(one.covers(truth) for one in of))
        for of in zip(*pairs, strict=True)
    )
    widths, covers = (width, own_width), (covered, own_covered)
    return Trial(n, len(y), draws, truth, float(f.mean()), pairs[0], widths, covers)


def _best(y: Values, f: Values, g: Values) -> float:
    spread = float(f.var(ddof=1) + len(y) / len(g) * g.var(ddof=1))
    together = float(np.cov(y, f, ddof=1)[0, 1])
    return min(max(together / spread, 0.0), 1.0) if spread else 0.0


def _estimate(value: float, variance: float, n: int, tuning: float = 0.0) -> Estimate:
    reach = _REACH * math.sqrt(variance)
    return Estimate(value, value - reach, value + reach, n, tuning)


def _series(values: Sequence[float] | Values) -> Values:
    found = np.asarray(values, dtype=np.float64)
    if len(found) < LEAST:
        raise ValueError(f"{len(found)} values where at least {LEAST} are needed")
    return found
