"""Fitting the confidence that the collection answers a question."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.abstaining.examples import GOLDEN, LEAVE_OUT, TRAIN, Example
from rag.answering.signals import SEARCH, YES

WEIGHTS: Mapping[str, float] = {GOLDEN: 1.0, LEAVE_OUT: 0.3, TRAIN: 0.02}
"""What a question of a suite counts in the fit.

Every question of `leave_out` is also there with its answer; at 0.3 a third of all, by weight, has
none. The 809 claims of SciFact weigh together a sixth of the golden questions.
"""

RIDGE = 1.0
FOLDS = 10
_STEPS = 50

Array = NDArray[np.float64]


def logistic(data: Array, wanted: Array, weights: Array, ridge: float = RIDGE) -> Array:
    """The coefficients of a logistic regression, shape (columns,), the last column the constant.

    By Newton's method on the weighted likelihood with a penalty of ridge / 2 times the square of
    each coefficient but the constant's (le Cessie and van Houwelingen 1992, "Ridge estimators in
    logistic regression").
    """
    penalty = np.full(data.shape[1], ridge)
    penalty[-1] = 0.0
    found = np.zeros(data.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-np.clip(data @ found, -30, 30)))
        slope = data.T @ (weights * (wanted - likely)) - penalty * found
        curvature = (data.T * (weights * likely * (1 - likely))) @ data + np.diag(penalty + 1e-9)
        step = np.linalg.solve(curvature, slope)
        found = found + step
        if np.abs(step).max() < 1e-9:
            break
    return found


def fitted(examples: Sequence[Example], names: Sequence[str]) -> Array:
    """The coefficients of the named signals, then the constant."""
    data = np.array([[*(one.signals[name] for name in names), 1.0] for one in examples])
    wanted = np.array([float(one.answerable) for one in examples])
    return logistic(data, wanted, np.array([WEIGHTS.get(one.suite, 0.0) for one in examples]))


def out_of_fold(examples: Sequence[Example], names: Sequence[str]) -> list[float]:
    """The confidence of each example by a fit without any example of its paper."""
    folds = np.array([_fold(one.cluster) for one in examples])
    confidences = np.zeros(len(examples))
    for fold in range(FOLDS):
        held = folds == fold
        if not held.any():
            continue
        rest = [one for one, out in zip(examples, held, strict=True) if not out]
        data = np.array([[*(one.signals[name] for name in names), 1.0] for one in examples])[held]
        confidences[held] = 1 / (1 + np.exp(-(data @ fitted(rest, names))))
    return [float(value) for value in confidences]


def calibrated(examples: Sequence[Example]) -> dict[str, Any]:
    """What `rag/answering/confidence.json` holds.

    The known questions are the golden ones: their share without an answer is nearest to what
    people ask.
    """
    with_yes = [one for one in examples if YES in one.signals]
    found: dict[str, Any] = {"search": _one(examples, SEARCH)}
    if any(one.answerable for one in with_yes) and not all(one.answerable for one in with_yes):
        found["yes"] = _one(with_yes, (*SEARCH, YES))
    return found


def _one(examples: Sequence[Example], names: Sequence[str]) -> dict[str, Any]:
    weights = np.round(fitted(examples, names), 4).tolist()
    confidences = out_of_fold(examples, names)
    known = [(one, c) for one, c in zip(examples, confidences, strict=True) if one.suite == GOLDEN]
    wrong = sorted((round(c, 4) for one, c in known if not one.answerable), reverse=True)
    return {
        "weights": dict(zip(names, weights[:-1], strict=True)),
        "intercept": weights[-1],
        "n": len(known),
        "wrong": wrong,
    }


def _fold(cluster: str) -> int:
    return int(hashlib.sha256(cluster.encode()).hexdigest(), 16) % FOLDS
