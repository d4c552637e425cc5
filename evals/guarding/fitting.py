"""Fitting the guard, and choosing from how likely on a text is marked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.abstaining.fitting import logistic
from evals.guarding.material import ABSTRACTS, HARD, SEEDS, TITLES, Sample
from rag.guarding.features import NAMES, features
from rag.guarding.guard import Subject
from rag.index.embedding import Embedder

ALARMS: Mapping[Subject, float] = {"question": 0.0075, "passage": 0.001}
"""Share of harmless texts that may be marked while fitting: of hard negatives, of abstracts.

Less than what is promised, since a threshold is always somewhat too good where it was chosen.
"""

RIDGE = 3.0
SCALE = 2.0
"""By which a unit vector is multiplied beside the features: the larger, the more it may say."""

FOLDS = 5
_BATCH = 256

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Texts as the regression sees them, a row for each sentence or whole text.

    `data` has shape (rows, columns), the last column being 1; `owner` is the place of the sample
    that a row is of, `weight` what the row counts.
    """

    samples: tuple[Sample, ...]
    data: Array
    owner: NDArray[np.int64]
    weight: Array

    def highest(self, scores: Array) -> Array:
        """The highest score of each sample's rows, shape (samples,)."""
        best = np.full(len(self.samples), -np.inf)
        np.maximum.at(best, self.owner, scores)
        return best


def whole(samples: Sequence[Sample], embedder: Embedder | None) -> Rows:
    """A row for each text: what is typed as a question is judged as a whole."""
    texts = [one.text for one in samples]
    owner = np.arange(len(samples))
    return Rows(tuple(samples), _data(texts, embedder), owner, np.ones(len(samples)))


def by_sentence(samples: Sequence[Sample], embedder: Embedder | None) -> Rows:
    """A row for each sentence; those of an attack weigh as much as one text together."""
    pieces = [one.pieces() for one in samples]
    owner = np.array([place for place, own in enumerate(pieces) for _ in own])
    weight = np.array(
        [1 / len(own) if one.injection else 1.0 for one, own in zip(samples, pieces, strict=True)]
    )
    texts = [piece for own in pieces for piece in own]
    return Rows(tuple(samples), _data(texts, embedder), owner, weight[owner])


def fitted(rows: Rows, subject: Subject) -> dict[str, Any]:
    """The regression of the samples that are to be fitted on, as `rag.guarding.guard` reads it."""
    fits = np.array([one.fits for one in rows.samples])
    found = _regression(rows, fits)
    threshold = _threshold(rows, fits, subject)
    vector = np.round(found[len(NAMES) : -1] * SCALE, 3).tolist()
    return {
        "weights": dict(zip(NAMES, np.round(found[: len(NAMES)], 3).tolist(), strict=True)),
        "vector": vector,
        "intercept": round(float(found[-1]), 3),
        "threshold": round(threshold, 4),
    }


def _data(texts: Sequence[str], embedder: Embedder | None) -> Array:
    seen = np.array([astuple(features(text)) for text in texts])
    ones = np.ones((len(texts), 1))
    if embedder is None:
        return np.hstack([seen, ones])
    batches = [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)]
    vectors = np.concatenate([embedder.embed(batch) for batch in batches])
    return np.hstack([seen, SCALE * vectors, ones])


def _regression(rows: Rows, used: NDArray[np.bool_]) -> Array:
    """The coefficients by the rows of the samples that are used."""
    taken = used[rows.owner]
    wanted = np.array([float(one.injection) for one in rows.samples])[rows.owner]
    return logistic(rows.data[taken], wanted[taken], rows.weight[taken], RIDGE)


def _threshold(rows: Rows, fits: NDArray[np.bool_], subject: Subject) -> float:
    """The least probability that few harmless texts reach, each scored by a fit without it."""
    scored: list[float] = []
    counted = {HARD} if subject == "question" else {ABSTRACTS, SEEDS, TITLES}
    folds = np.array([_fold(one) for one in rows.samples])
    for fold in range(FOLDS):
        best = rows.highest(rows.data @ _regression(rows, fits & (folds != fold)))
        scored += [
            float(best[place])
            for place, one in enumerate(rows.samples)
            if fits[place] and folds[place] == fold and one.set in counted
        ]
    allowed = int(ALARMS[subject] * len(scored))
    highest = sorted(scored, reverse=True)[allowed]
    return float(1 / (1 + np.exp(-highest))) + 1e-3


def _fold(one: Sample) -> int:
    return int(hashlib.sha256(f"fold {one.text}".encode()).hexdigest(), 16) % FOLDS
