"""Bootstrap intervals of figures that are no means: all resamples at once, by their weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evals.stats import SEED, Mean

RESAMPLES = 10_000

Weights = NDArray[np.float64]


def weights(clusters: Sequence[str], seed: int = SEED, resamples: int = RESAMPLES) -> Weights:
    """How often each value is in each resample of whole clusters; shape (resamples, values).

    Raises:
        ValueError: there are no values.
    """
    if not clusters:
        raise ValueError("an interval needs at least one value")
    names = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
    places = np.array([names[name] for name in clusters])
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(len(names), np.full(len(names), 1 / len(names)), resamples)
    return np.asarray(drawn[:, places], dtype=np.float64)


def interval(value: float, resampled: NDArray[np.float64], n: int) -> Mean:
    """A figure over `n` cases with its 95% percentile interval.

    Resamples in which it has no value, as where a label does not occur, are left out; it is its own
    interval where there are no others.
    """
    there = resampled[~np.isnan(resampled)]
    if not len(there):
        return Mean(value, value, value, n)
    low, high = np.percentile(there, [2.5, 97.5])
    return Mean(value, float(low), float(high), n)


def auroc(scores: Sequence[float], positive: Sequence[bool], weighted: Weights) -> Weights:
    """The AUROC of each resample (see `evals.scoring.abstention.auroc`), not a number without both.

    A resample that holds a case w times holds w of it among the pairs, so that the Mann-Whitney
    statistic is a sum over pairs with the product of their weights.
    """
    values, is_positive = np.asarray(scores), np.asarray(positive, dtype=bool)
    above = values[is_positive][:, None] - values[~is_positive][None, :]
    won = (above > 0) + 0.5 * (above == 0)
    of_positive, of_negative = weighted[:, is_positive], weighted[:, ~is_positive]
    pairs = of_positive.sum(axis=1) * of_negative.sum(axis=1)
    sums = np.einsum("bn,bn->b", of_positive @ won, of_negative)
    found = np.full(len(weighted), np.nan)
    np.divide(sums, pairs, out=found, where=pairs > 0)
    return found
