"""An unsupervised sign of grounding: how far a question moves the embedding of an answer.

The distance between the vector of a claim alone and that of the claim behind its question. A large
one is said to signal that the claim depends on the question and is grounded (abstract 13 of the
third file of the seeds). Compared here on claims that are known to be true or damaged.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from evals.checking.claims import Stated
from evals.checking.damage import DAMAGES
from evals.checking.fitting import logistic
from evals.scoring.abstention import auroc
from rag.answering.support import Judgement
from rag.index.embedding import Embedder

_FOLDS = 5


def discrepancy(claims: Sequence[Stated], embedder: Embedder) -> list[float]:
    """One minus the cosine of each claim to itself in the context of its question."""
    alone = embedder.embed([one.claim for one in claims])
    asked = embedder.embed([f"{one.question} {one.claim}" for one in claims])
    return [float(value) for value in 1 - (alone * asked).sum(axis=1)]


def compared(
    true: Sequence[Stated],
    judged: Sequence[Judgement],
    damaged: Sequence[Stated],
    found: Sequence[Judgement],
    embedder: Embedder,
) -> dict[str, float]:
    """AUROC of true against damaged claims: by the check, by discrepancy, and by both together.

    The two together are weighed by a logistic regression over folds of papers, each scored by the
    weights of the others.
    """
    every = [*true, *damaged]
    positive = [True] * len(true) + [False] * len(damaged)
    check = [one.probability or 0.0 for one in (*judged, *found)]
    signal = discrepancy(every, embedder)
    both = _joined(np.array([check, signal]).T, np.array(positive), [o.paper.id for o in every])
    scores = {"check": check, "discrepancy": signal, "both": both}
    return {name: auroc(values, positive) or 0.0 for name, values in scores.items()}


def _joined(
    data: np.typing.NDArray[np.float64], positive: np.typing.NDArray[np.bool_], papers: list[str]
) -> list[float]:
    order = {paper: number % _FOLDS for number, paper in enumerate(dict.fromkeys(papers))}
    fold = np.array([order[paper] for paper in papers])
    data = np.column_stack([data, np.ones(len(data))])
    scores = np.zeros(len(data))
    for number in range(_FOLDS):
        others = fold != number
        weights = logistic(data[others], positive[others].astype(float))
        scores[~others] = data[~others] @ weights
    return [float(score) for score in scores]


def damaged_once(true: Sequence[Stated], seed: int) -> list[Stated]:
    """Each claim with one kind of damage, the kinds in turn."""
    kinds = list(DAMAGES.values())
    chance = random.Random(seed)
    tried = [kinds[n % len(kinds)](one, true, chance) for n, one in enumerate(true)]
    return [one for one in tried if one is not None]
