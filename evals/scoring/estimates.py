"""Ways to estimate what people would say of each answer, compared by their error on held-out ones.

Scores have the shape (prompts, systems, judges), labels and estimates (prompts, systems); NaN is
what nobody gave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evals.scoring.factorisation import RANK, Array, Factors, aligned, factorise
from evals.stats import SEED

Estimator = Callable[[Array], Array]
"""Estimates of all cells from the labels of some."""


def system_means(labels: Array) -> Array:
    """For each system the mean of its labels, for one without any the mean of all.

    Raises:
        ValueError: there is no label.
    """
    known = ~np.isnan(labels)
    if not known.any():
        raise ValueError("at least one label is needed")
    counts = known.sum(axis=0)
    sums = np.nansum(labels, axis=0)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nanmean(labels))
    return np.broadcast_to(means, labels.shape).copy()


def judge_means(scores: Array) -> Array:
    """For each answer the mean of its scores, whatever people say."""
    known = ~np.isnan(scores)
    sums, counts = np.nansum(scores, axis=2), known.sum(axis=2)
    return np.asarray(
        np.where(counts > 0, sums / np.maximum(counts, 1), np.nanmean(scores)), dtype=np.float64
    )


def regression(scores: Array, labels: Array) -> Array:
    """The labels regressed on the scores of all judges and on the system, by ridge.

    What one would do without a factorisation: each answer is told by its own scores alone. A
    missing score counts as its judge's mean.

    Raises:
        ValueError: there are fewer than two labels.
    """
    return aligned(_with_systems(_standard(scores)), labels)


def factorisation(factors: Factors, labels: Array) -> Array:
    """The labels regressed on the cells of the factors and on the system.

    Raises:
        ValueError: there are fewer than two labels.
    """
    return aligned(_with_systems(factors.cells()), labels)


def together(factors: Factors, scores: Array, labels: Array) -> Array:
    """The labels regressed on the cells of the factors, all scores and the system.

    Raises:
        ValueError: there are fewer than two labels.
    """
    features = np.concatenate([factors.cells(), _standard(scores)], axis=2)
    return aligned(_with_systems(features), labels)


def estimators(scores: Array, rank: int = RANK, seed: int = SEED) -> dict[str, Estimator]:
    """All ways, by name: the plain ones first."""
    means = judge_means(scores)
    factors = factorise(scores, rank, seed=seed)
    return {
        "labels by system": system_means,
        "judges": lambda _: means,
        "judges, regressed": partial(regression, scores),
        "factorisation": partial(factorisation, factors),
        "both": partial(together, factors, scores),
    }


@dataclass(frozen=True, slots=True)
class Errors:
    """The mean squared errors of one way with `labels` labels, over random choices of them.

    `cells` is of single answers, `prompts` and `systems` of the means over the answers to a prompt
    and of a system, which is what a leaderboard shows. `low` and `high` hold the middle 95% of the
    choices, for cells. `best` is the share of the choices in which this way had the least error of
    cells.
    """

    labels: int
    cells: float
    low: float
    high: float
    prompts: float
    systems: float
    best: float


def held_out(
    truth: Array,
    ways: Mapping[str, Estimator],
    labels: int,
    draws: int = 100,
    seed: int = SEED,
) -> dict[str, Errors]:
    """The error of each way when `labels` cells at random have a label and the others are held out.

    Raises:
        ValueError: there are not more cells than `labels`.
    """
    cells = np.argwhere(~np.isnan(truth))
    if not 2 <= labels < len(cells):
        raise ValueError(f"of {len(cells)} labels, 2 to {len(cells) - 1} can be given")
    generator = np.random.default_rng(seed)
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ways}
    for _ in range(draws):
        chosen = tuple(generator.permutation(cells)[:labels].T)
        given = np.full(truth.shape, np.nan)
        given[chosen] = truth[chosen]
        for name, way in ways.items():
            found[name].append(_errors(truth, given, way(given)))
    table = {name: np.array(of) for name, of in found.items()}
    least = np.min([of[:, 0] for of in table.values()], axis=0)
    return {name: _summary(labels, of, least) for name, of in table.items()}


def cross_validated(
    labels: Array, ways: Mapping[str, Estimator], folds: int = 5, seed: int = SEED
) -> dict[str, float]:
    """The mean squared error of each way on labels that it was not given, a fold at a time.

    Raises:
        ValueError: there are fewer than two labels for each fold.
    """
    cells = np.argwhere(~np.isnan(labels))
    if len(cells) < 2 * folds:
        raise ValueError(f"{len(cells)} labels where at least {2 * folds} are needed")
    order = np.random.default_rng(seed).permutation(cells)
    squares: dict[str, list[float]] = {name: [] for name in ways}
    for fold in range(folds):
        hidden = tuple(order[fold::folds].T)
        given = labels.copy()
        given[hidden] = np.nan
        for name, way in ways.items():
            squares[name] += ((way(given)[hidden] - labels[hidden]) ** 2).tolist()
    return {name: sum(of) / len(of) for name, of in squares.items()}


def _errors(truth: Array, given: Array, estimated: Array) -> tuple[float, float, float]:
    """Of cells that were held out, and of the means of all cells by prompt and by system."""
    apart = np.isnan(given) & ~np.isnan(truth)
    missed = np.where(np.isnan(truth), np.nan, estimated - truth)
    return (
        float((missed[apart] ** 2).mean()),
        float(np.nanmean(_mean_over(missed, 1) ** 2)),
        float(np.nanmean(_mean_over(missed, 0) ** 2)),
    )


def _mean_over(values: Array, axis: int) -> Array:
    known = ~np.isnan(values)
    counts = known.sum(axis=axis)
    sums = np.nansum(values, axis=axis)
    found = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=found, where=counts > 0)
    return found


def _summary(labels: int, errors: Array, least: Array) -> Errors:
    cells, prompts, systems = errors.T
    low, high = np.percentile(cells, [2.5, 97.5])
    return Errors(
        labels,
        float(cells.mean()),
        float(low),
        float(high),
        float(prompts.mean()),
        float(systems.mean()),
        float((cells <= least).mean()),
    )


def _standard(scores: Array) -> Array:
    """Scores with mean 0 and spread 1 for each judge; a missing one is 0."""
    spreads = np.nanstd(scores, axis=(0, 1))
    standard = (scores - np.nanmean(scores, axis=(0, 1))) / np.where(spreads > 0, spreads, 1.0)
    return np.asarray(np.nan_to_num(standard), dtype=np.float64)


def _with_systems(features: Array) -> Array:
    """The features of each cell, and one more for each system."""
    prompts, systems, _ = features.shape
    own: NDArray[np.float64] = np.broadcast_to(np.eye(systems), (prompts, systems, systems))
    return np.concatenate([features, own], axis=2)
