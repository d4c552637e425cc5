"""Whether probabilities mean what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BINS = 10

Values = NDArray[np.float64]
Places = NDArray[np.int64]


def equal_width(probabilities: Sequence[float], bins: int = BINS) -> Places:
    """The bin of each probability among bins of one width, [0, 1/m), …, [1 - 1/m, 1].

    Raises:
        ValueError: there are no probabilities, or one is outside 0 to 1.
    """
    values = _checked(probabilities)
    return np.minimum((values * bins).astype(np.int64), bins - 1)


def equal_mass(probabilities: Sequence[float], bins: int = BINS) -> Places:
    """The bin of each probability among bins that hold equally many, equal ones never parted.

    Judges use few values, so that bins of one width hold all or nothing (Nguyen and O'Connor 2015,
    "Posterior calibration and exploratory analysis for natural language processing models").

    Raises:
        ValueError: see `equal_width`.
    """
    values = _checked(probabilities)
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2  # how many lie below each value, half of its own
    return np.minimum((middle / len(values) * bins).astype(np.int64), bins - 1)[place]


@dataclass(frozen=True, slots=True)
class Bin:
    """Cases of like probability: its mean, the share that came true, and how many they are."""

    low: float
    high: float
    probability: float
    positive: float
    n: int


def reliability(
    probabilities: Sequence[float], positive: Sequence[bool], bins: int = BINS
) -> list[Bin]:
    """The bins of one width that hold cases, lowest first (DeGroot and Fienberg 1983).

    Raises:
        ValueError: see `brier`.
    """
    values, outcomes = _pairs(probabilities, positive)
    places = equal_width(probabilities, bins)
    return [
        Bin(
            place / bins,
            (place + 1) / bins,
            float(values[places == place].mean()),
            float(outcomes[places == place].mean()),
            int((places == place).sum()),
        )
        for place in np.unique(places).tolist()
    ]


def calibration_error(
    probabilities: Sequence[float],
    positive: Sequence[bool],
    places: Places,
    weights: Values | None = None,
) -> Values:
    """The expected calibration error: Σ over bins b of n_b / n · |mean outcome - mean probability|.

    Naeini, Cooper and Hauskrecht 2015, "Obtaining well calibrated probabilities using Bayesian
    binning"; Guo et al. 2017. `places` are the bins; with `weights` of shape (resamples, n) there
    is a figure for each resample, else one. It is biased upwards where bins hold few cases.

    Raises:
        ValueError: the series are not of one length.
    """
    gaps = _gaps(probabilities, positive)
    if len(places) != len(gaps):
        raise ValueError(f"{len(places)} bins for {len(gaps)} probabilities")
    counted = np.ones((1, len(gaps))) if weights is None else weights
    member = (places[:, None] == np.unique(places)[None, :]).astype(np.float64)
    return np.asarray(
        np.abs((counted * gaps) @ member).sum(axis=-1) / counted.sum(axis=-1), dtype=np.float64
    )


def brier(probabilities: Sequence[float], positive: Sequence[bool]) -> float:
    """The mean squared distance of probability and outcome (Brier 1950): 0 is best.

    Raises:
        ValueError: the two are not of one length, or empty, or a probability is outside 0 to 1.
    """
    return float((_gaps(probabilities, positive) ** 2).mean())


def _gaps(probabilities: Sequence[float], positive: Sequence[bool]) -> Values:
    values, outcomes = _pairs(probabilities, positive)
    return np.asarray(outcomes - values, dtype=np.float64)


def _pairs(probabilities: Sequence[float], positive: Sequence[bool]) -> tuple[Values, Values]:
    values = _checked(probabilities)
    if len(values) != len(positive):
        raise ValueError(f"{len(positive)} outcomes for {len(values)} probabilities")
    return values, np.asarray(positive, dtype=np.float64)


def _checked(probabilities: Sequence[float]) -> Values:
    values = np.asarray(probabilities, dtype=np.float64)
    if not len(values) or not ((values >= 0) & (values <= 1)).all():
        raise ValueError("probabilities are needed, each within 0 to 1")
    return values
