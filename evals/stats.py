"""Means with their uncertainty; pure functions."""

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
