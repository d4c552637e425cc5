"""Estimates for each prompt and system from cheap scores of judges and a few labels of people.

Judges score every system's answer to every prompt; people label a few. A low-rank factorisation of
the tensor of scores gives each prompt and each system a place in a space that the judges have in
common, whatever each of them is biased to. People are then one more judge in that space, whose few
numbers are learnt from the few labels. The idea is that of an abstract among the seeds ("Moving
beyond evaluations that collapse performance …"): autorater scores pretrain latent representations
of prompts and models, which a small calibration set aligns to human preferences. What is done here
in detail is ours: the canonical polyadic form by alternating least squares (Kolda and Bader 2009,
"Tensor decompositions and applications", section 3.4), and alignment by ridge regression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evals.stats import SEED

Array = NDArray[np.float64]

RANK = 4
_SWEEPS = 200
_SETTLED = 1e-6  # relative change of the loss by a sweep after which there is no other
_STARTS = 4  # the loss has several valleys; the lowest that is met counts
_RIDGES = tuple(10.0**power for power in range(5))  # below 1, few labels are learnt by heart


@dataclass(frozen=True, slots=True)
class Factors:
    """A tensor as Σ_r u_pr v_sr w_jr; `prompts`, `systems`, `judges` have `rank` columns each.

    Scores are standardised for each judge before: `centres` and `spreads` undo that.
    """

    prompts: Array
    systems: Array
    judges: Array
    centres: Array
    spreads: Array

    def scores(self) -> Array:
        """The scores that the factors stand for, none missing; shape (prompts, systems, judges)."""
        standard = np.einsum("pr,sr,jr->psj", self.prompts, self.systems, self.judges)
        return np.asarray(standard * self.spreads + self.centres, dtype=np.float64)

    def cells(self) -> Array:
        """The features of each answer, u_p ∘ v_s; shape (prompts, systems, rank)."""
        found = self.prompts[:, None, :] * self.systems[None, :, :]
        spread = found.std(axis=(0, 1))
        return np.asarray(found / np.where(spread > 0, spread, 1.0), dtype=np.float64)


def factorise(scores: Array, rank: int = RANK, ridge: float = 1.0, seed: int = SEED) -> Factors:
    """The factors of scores of shape (prompts, systems, judges), NaN where one is missing.

    Alternating least squares: with two of the three matrices fixed the third has a solution for
    each of its rows. `ridge` is added to each of these, so that rows with few scores stay near 0.

    Raises:
        ValueError: a judge has no score, or `rank` is below 1.
    """
    if rank < 1 or scores.ndim != 3:
        raise ValueError("a tensor of three sides and a rank of at least 1 are needed")
    known = ~np.isnan(scores)
    if not known.any(axis=(0, 1)).all():
        raise ValueError("a judge has no score")
    centres = np.nanmean(scores, axis=(0, 1))
    spreads = np.nanstd(scores, axis=(0, 1))
    spreads = np.where(spreads > 0, spreads, 1.0)
    filled = np.where(known, (scores - centres) / spreads, 0.0)
    generator = np.random.default_rng(seed)
    found = [_descended(filled, known, rank, ridge, generator) for _ in range(_STARTS)]
    _, best = min(found, key=lambda pair: pair[0])
    prompts, systems, judges = best
    return Factors(prompts, systems, judges, centres, spreads)


def _descended(
    scores: Array,
    known: NDArray[np.bool_],
    rank: int,
    ridge: float,
    generator: np.random.Generator,
) -> tuple[float, list[Array]]:
    """The loss and the three matrices to which a random start leads."""
    factors = [generator.normal(size=(side, rank)) / np.sqrt(rank) for side in scores.shape]
    loss = np.inf
    for _ in range(_SWEEPS):
        for side in range(3):
            factors[side] = _solved(scores, known, factors, side, ridge)
        fitted = np.einsum("pr,sr,jr->psj", *factors)
        penalty = ridge * sum(float((factor**2).sum()) for factor in factors)
        before, loss = loss, float(((scores - fitted)[known] ** 2).sum()) + penalty
        if before - loss <= _SETTLED * loss:
            break
    return loss, factors


def _solved(
    scores: Array, known: NDArray[np.bool_], factors: Sequence[Array], side: int, ridge: float
) -> Array:
    """The least squares solution of one matrix with the other two fixed, all rows at once."""
    one, other = (factors[place] for place in range(3) if place != side)
    design = (one[:, None, :] * other[None, :, :]).reshape(-1, one.shape[1])
    rows = np.moveaxis(scores, side, 0).reshape(scores.shape[side], -1)
    there = np.moveaxis(known, side, 0).reshape(rows.shape).astype(np.float64)
    products = np.einsum("ik,kr,kq->irq", there, design, design, optimize=True)
    products += ridge * np.eye(one.shape[1])
    return np.asarray(np.linalg.solve(products, (rows @ design)[..., None])[..., 0])


def aligned(features: Array, labels: Array) -> Array:
    """What people would say of every cell, learnt from the cells that they labelled.

    `features` has the shape (prompts, systems, k), `labels` (prompts, systems) with NaN where there
    is none. Ridge regression with a free intercept; its strength is the one of `_RIDGES` with the
    least leave-one-out error, Σ (e_i / (1 - h_ii))² with the residuals e and the diagonal h of the
    hat matrix (Allen 1974, PRESS). Features that say nothing thus end near the mean of the labels.

    Raises:
        ValueError: there are fewer than two labels.
    """
    known = ~np.isnan(labels)
    if known.sum() < 2:
        raise ValueError("at least two labels are needed")
    x, y = features[known], labels[known]
    centre, mean = x.mean(axis=0), y.mean()
    x, y = x - centre, y - mean
    best = min(_RIDGES, key=lambda ridge: _press(x, y, ridge))
    weights = np.linalg.solve(x.T @ x + best * np.eye(x.shape[1]), x.T @ y)
    return np.asarray(mean + (features - centre) @ weights, dtype=np.float64)


def _press(x: Array, y: Array, ridge: float) -> float:
    inner = np.linalg.solve(x.T @ x + ridge * np.eye(x.shape[1]), x.T)
    hat = np.einsum("ik,ki->i", x, inner) + 1 / len(y)
    return float((((y - x @ (inner @ y)) / np.maximum(1 - hat, 1e-9)) ** 2).sum())
