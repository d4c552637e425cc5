"""Means, paired comparisons and growth with their uncertainty; pure functions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from rag.index.bridge import Interval

SEED = 20_261_130
_RESAMPLES = 10_000
_SIGNS = 100_000  # random assignments of signs: the error of p = .05 is then .0007
_SIGNS_AT_ONCE = 10_000
_ENUMERATED = 14  # differences up to which all 2^n assignments are gone through
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Mean(Interval):
    """A mean over `n` samples with its 95% bootstrap interval."""

    n: int

    def __str__(self) -> str:
        return f"{Interval.__str__(self)} n={self.n}"


def mean(values: Sequence[float], seed: int = SEED) -> Mean:
    """The mean and its percentile bootstrap interval (Efron and Tibshirani 1993, chapter 13).

    Of paired differences it is the interval of the paired difference: whole pairs are resampled.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("a mean needs at least one value")
    data = np.asarray(values, dtype=np.float64)
    generator = np.random.default_rng(seed)
    resampled = data[generator.integers(0, len(data), (_RESAMPLES, len(data)))].mean(axis=1)
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Mean(float(data.mean()), float(low), float(high), len(data))


def clustered_mean(values: Sequence[float], clusters: Sequence[str], seed: int = SEED) -> Mean:
    """The mean and its interval when values of one cluster may go together.

    Whole clusters are resampled, each mean being that of all values drawn (the cluster bootstrap,
    Davison and Hinkley 1997, section 3.8). Where every value is a cluster it is `mean`.

    Raises:
        ValueError: there are no values, or not as many clusters.
    """
    sums, sizes = _by_cluster(values, clusters)
    if len(sums) == len(values):
        return mean(values, seed)
    generator = np.random.default_rng(seed)
    drawn = generator.integers(0, len(sums), (_RESAMPLES, len(sums)))
    resampled = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Mean(float(sums.sum() / sizes.sum()), float(low), float(high), len(values))


def randomisation(differences: Sequence[float], seed: int = SEED) -> float:
    """The two-sided p of paired differences under Fisher's randomisation test.

    If two systems were the same, each difference would as likely have the other sign: p is the
    share of assignments of signs whose mean is as far from 0 as the one that was seen (Smucker,
    Allan and Carterette 2007, "A comparison of statistical significance tests for information
    retrieval evaluation"). Up to 14 differences that are not 0 all assignments are gone through;
    beyond, 100,000 random ones, with the one that was seen among them, so that p is never 0
    (Phipson and Smyth 2010).

    Raises:
        ValueError: there are no differences.
    """
    if not differences:
        raise ValueError("a test needs at least one difference")
    data = np.asarray([one for one in differences if one], dtype=np.float64)
    least = abs(float(data.sum())) - _ROUNDING
    if len(data) <= _ENUMERATED:
        every = np.array(list(itertools.product((-1.0, 1.0), repeat=len(data))), dtype=np.float64)
        return _as_far(every, data, least) / len(every)
    generator = np.random.default_rng(seed)
    seen = 1
    for _ in range(_SIGNS // _SIGNS_AT_ONCE):
        bits = generator.integers(0, 2, (_SIGNS_AT_ONCE, len(data)), dtype=np.int8)
        seen += _as_far(2.0 * bits - 1.0, data, least)
    return seen / (_SIGNS + 1)


def _as_far(signs: NDArray[np.floating], data: NDArray[np.float64], least: float) -> int:
    return int((np.abs(signs @ data) >= least).sum())


def holm(values: Sequence[float]) -> list[float]:
    """The p of several tests, corrected for their number, in the order of `values`.

    Holm 1979, "A simple sequentially rejective multiple test procedure": the i-th smallest of m is
    multiplied by m - i + 1, is at least as large as the one before it, and at most 1.
    """
    corrected = [0.0] * len(values)
    largest = 0.0
    for passed, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, min(1.0, values[place] * (len(values) - passed)))
        corrected[place] = largest
    return corrected


def detectable(differences: Sequence[float], power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest true mean difference that a two-sided paired test would find so often.

    (z(1 - alpha/2) + z(power)) · s / √n with the standard deviation s of the differences (Cohen
    1988, chapter 2, in the normal approximation, which is good from some 30 pairs).

    Raises:
        ValueError: there are fewer than two differences.
    """
    if len(differences) < 2:
        raise ValueError("a standard deviation needs at least two differences")
    data = np.asarray(differences, dtype=np.float64)
    return _reach(power, alpha) * float(data.std(ddof=1)) / math.sqrt(len(data))


def clustered_detectable(
    differences: Sequence[float],
    clusters: Sequence[str],
    power: float = 0.8,
    alpha: float = 0.05,
) -> float:
    """The same when differences of one cluster may go together.

    With m clusters of sizes n_c and sums s_c, and d the mean of all n differences, the standard
    error is √(m/(m-1) · Σ (s_c - n_c·d)²) / n (the ratio estimator of cluster sampling, Cochran
    1977, section 6.3). Where every difference is a cluster it is `detectable`.

    Raises:
        ValueError: there are fewer than two clusters.
    """
    sums, sizes = _by_cluster(differences, clusters)
    if len(sums) < 2:
        raise ValueError("a standard error needs at least two clusters")
    n = float(sizes.sum())
    left = sums - sizes * (sums.sum() / n)
    error = math.sqrt(len(sums) / (len(sums) - 1) * float(left @ left)) / n
    return _reach(power, alpha) * error


def clustered_randomisation(
    differences: Sequence[float], clusters: Sequence[str], seed: int = SEED
) -> float:
    """The p of `randomisation` when all differences of a cluster have their sign by one draw.

    Raises:
        ValueError: there are no differences.
    """
    sums, _ = _by_cluster(differences, clusters)
    return randomisation([0.0 if abs(one) < _ROUNDING else one for one in sums.tolist()], seed)


def _by_cluster(
    values: Sequence[float], clusters: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The sum and the size of each cluster."""
    if not values or len(values) != len(clusters):
        raise ValueError(f"{len(values)} values in {len(clusters)} clusters")
    names = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
    places = np.array([names[name] for name in clusters])
    sums = np.bincount(places, weights=np.asarray(values, dtype=np.float64)).astype(np.float64)
    return sums, np.bincount(places).astype(np.float64)


def _reach(power: float, alpha: float) -> float:
    """How many standard errors an effect is away that is found so often."""
    normal = NormalDist()
    return normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of the values that at least `share` of them do not exceed (nearest rank).

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("a percentile needs at least one value")
    place = math.ceil(share * len(values) - _ROUNDING)
    return sorted(values)[max(place, 1) - 1]


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
