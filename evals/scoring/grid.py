"""Scores of judges and labels of people for the answers of several systems to the same prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evals.scoring.estimates import judge_means
from evals.scoring.factorisation import Array
from evals.scoring.ppi import LEAST, Estimate, classical, corrected

Scores = Mapping[str, Mapping[str, Mapping[str, float]]]
"""The score of an answer by system, judge and prompt."""

Labels = Mapping[tuple[str, str], float]
"""The label of an answer by system and prompt."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Scores (prompts, systems, judges) and labels (prompts, systems), with the names of each.

    NaN is what nobody gave.
    """

    scores: Array
    labels: Array
    prompts: tuple[str, ...]
    systems: tuple[str, ...]
    judges: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class System:
    """One system: the mean of the judges over its answers, and what labels tell beside it.

    `alone` and `corrected` are None where it has too few labels.
    """

    name: str
    answers: int
    judged: float
    alone: Estimate | None
    corrected: Estimate | None


def grid_of(scores: Scores, labels: Labels) -> Grid:
    """The grid of all prompts and judges with a score; labels of other prompts are left out.

    Raises:
        ValueError: there is no score.
    """
    prompts = tuple(dict.fromkeys(p for by in scores.values() for of in by.values() for p in of))
    judges = tuple(dict.fromkeys(judge for by in scores.values() for judge, of in by.items() if of))
    if not prompts:
        raise ValueError("no answer has a score")
    table = [
        [[scores[system].get(j, {}).get(p, np.nan) for j in judges] for system in scores]
        for p in prompts
    ]
    given = [[labels.get((system, p), np.nan) for system in scores] for p in prompts]
    return Grid(np.array(table), np.array(given), prompts, tuple(scores), judges)


def by_system(grid: Grid) -> list[System]:
    """What is known of the mean of each system, in their order."""
    means = judge_means(grid.scores)
    scored = np.asarray(~np.isnan(grid.scores).all(axis=2))
    found = []
    for place, name in enumerate(grid.systems):
        there = scored[:, place]
        judged, labels = means[there, place], grid.labels[there, place]
        known = ~np.isnan(labels)
        few = known.sum() < LEAST
        alone = None if few else classical(labels[known])
        powered = (
            None
            if few or (~known).sum() < LEAST
            else corrected(labels[known], judged[known], judged[~known])
        )
        mean = float(judged.mean()) if there.any() else float("nan")
        found.append(System(name, int(there.sum()), mean, alone, powered))
    return found
