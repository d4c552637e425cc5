"""An orthogonal map from one model's vectors to another's, and how well it serves; pure.

Two embedding models that learned from much the same text often arrange it in much the same way, up
to a rotation. Where they do, a question embedded by one finds its papers among vectors of the other
once it is rotated: a model can be exchanged before its vectors are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.index.embedding import Vectors

_K = 10  # of recall@k, in the whole collection
_RESAMPLES = 2_000
_SEED = 20_261_130


def fit(new: Vectors, old: Vectors) -> Vectors:
    """The orthogonal map W that minimises ||new W - old||, shape (dimension of new, of old).

    Row i of both is one text under either model. With the singular value decomposition
    newᵀ old = U S Vᵀ it is W = U Vᵀ (Schönemann 1966, A generalized solution of the orthogonal
    Procrustes problem). Of two dimensions the smaller decides: W keeps all lengths where `new` is
    not longer than `old`, and else is the projection that keeps most of what the two share. That
    is the block that remains of the square solution for vectors padded with zeros, wherever that
    solution is the only one.
    """
    u, _, vt = np.linalg.svd(new.astype(np.float64).T @ old.astype(np.float64), full_matrices=False)
    return np.asarray(u @ vt, dtype=np.float32)


def carry(vectors: Vectors, bridge: Vectors) -> Vectors:
    """Vectors of the new model, any number of them, as unit vectors among those of the old one.

    One that the map leaves nothing of stays zero: it is near to nothing.
    """
    carried = vectors @ bridge
    lengths = np.linalg.norm(carried, axis=-1, keepdims=True)
    return np.asarray(carried / np.maximum(lengths, np.finfo(np.float32).tiny), dtype=np.float32)


def depth(drawn: int, papers: int) -> int:
    """How many of the papers that were drawn stand for the ten nearest of all, at least one.

    The ten nearest of N papers are about the 10 n / N nearest of n that were drawn at random. The
    first ten of a small sample are far easier to be among, and would flatter the bridge.
    """
    return max(1, round(_K * drawn / papers))


def ranked(cosines: Vectors, depth: int) -> list[int]:
    """The places of the `depth` highest cosines, highest first; of equals the first."""
    return [int(place) for place in np.argsort(-cosines, kind="stable")[:depth]]


@dataclass(frozen=True, slots=True)
class Trial:
    """What one held-out question found, in each of three ways: its nearest papers.

    `full`: asked and embedded anew by the new model. `bridged`: asked by the new model over the
    bridge. `present`: asked by the old model, as now. `paper` is the one that it is a sentence of.
    """

    paper: int
    full: Sequence[int]
    bridged: Sequence[int]
    present: Sequence[int]


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its 95% bootstrap interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True, slots=True)
class Quality:
    """How well a bridge serves, over `questions` held-out questions.

    `recovered` is the share of the recall of full re-embedding that the bridge reaches. The
    overlaps are with the papers that are nearest by full re-embedding.
    """

    questions: int
    recovered: Interval
    recall_full: float
    recall_bridged: float
    recall_present: float
    overlap_bridged: Interval
    overlap_present: float


def judge(trials: Sequence[Trial]) -> Quality:
    """What the trials, at least one, come to.

    Intervals are percentiles over questions drawn with replacement (Efron and Tibshirani 1993,
    chapter 13); a ratio is drawn as the ratio of two means over the same questions.
    """
    found = {
        name: np.array([trial.paper in getattr(trial, name) for trial in trials], dtype=float)
        for name in ("full", "bridged", "present")
    }
    shared = {
        name: np.array([_overlap(getattr(trial, name), trial.full) for trial in trials])
        for name in ("bridged", "present")
    }
    everywhere = np.ones(len(trials))
    return Quality(
        questions=len(trials),
        recovered=ratio(found["bridged"], found["full"]),
        recall_full=float(found["full"].mean()),
        recall_bridged=float(found["bridged"].mean()),
        recall_present=float(found["present"].mean()),
        overlap_bridged=ratio(shared["bridged"], everywhere),
        overlap_present=float(shared["present"].mean()),
    )


def _overlap(found: Sequence[int], wanted: Sequence[int]) -> float:
    return len(set(found) & set(wanted)) / len(wanted)


def ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> Interval:
    """The ratio of two means over the same questions; 0 where the one below is 0."""
    drawn = np.random.default_rng(_SEED).integers(0, len(above), (_RESAMPLES, len(above)))
    tops, bottoms = above[drawn].sum(axis=1), below[drawn].sum(axis=1)
    ratios = np.divide(tops, bottoms, out=np.zeros_like(tops), where=bottoms > 0)
    low, high = np.percentile(ratios, [2.5, 97.5])
    whole = float(above.sum() / below.sum()) if below.any() else 0.0
    return Interval(whole, float(low), float(high))
