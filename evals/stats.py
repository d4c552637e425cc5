"""Means and growth with their uncertainty; pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_RESAMPLES = 10_000
_SEED = 20_261_130


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over `n` samples with its 95% bootstrap interval."""

    value: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}] n={self.n}"


def mean(values: Sequence[float]) -> Mean:
    """The mean and its percentile bootstrap interval (Efron and Tibshirani 1993, chapter 13).

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("a mean needs at least one value")
    data = np.asarray(values, dtype=np.float64)
    generator = np.random.default_rng(_SEED)
    resampled = data[generator.integers(0, len(data), (_RESAMPLES, len(data)))].mean(axis=1)
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Mean(float(data.mean()), float(low), float(high), len(data))


@dataclass(frozen=True, slots=True)
class Growth:
    """`exponent` of a cost that grows as size^exponent, with its standard error.

    The error is not a number for two sizes: any line goes through two points.
    """

    exponent: float
    error: float
    n: int

    def __str__(self) -> str:
        return f"{self.exponent:.2f} ± {self.error:.2f}"


def growth(sizes: Sequence[float], costs: Sequence[float]) -> Growth:
    """The least-squares slope of log(cost) over log(size).

    Raises:
        ValueError: there are fewer than two sizes, or something is not positive.
    """
    if len(set(sizes)) < 2 or min(*sizes, *costs) <= 0:
        raise ValueError("growth needs at least two sizes, and costs above 0")
    x, y = np.log(np.asarray(sizes)), np.log(np.asarray(costs))
    x = x - x.mean()
    slope = float(x @ (y - y.mean()) / (x @ x))
    left = y - y.mean() - slope * x
    free = len(x) - 2
    error = float(np.sqrt(left @ left / free / (x @ x))) if free else float("nan")
    return Growth(slope, error, len(x))
