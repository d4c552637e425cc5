"""Clusters of even quality: the mean distortion of each is held under one bound.

k-means makes the mean distance over all papers small and lets single clusters be much worse than
that. Here the assignment is an optimal transport problem with a constraint for each cluster, as
"distortion-constrained optimal transport" has it: with c_ij the squared distance of paper i to
representative j and T the (soft) assignment, entropy-regularised,

    min Σ T_ij c_ij - ε H(T)   so that   Σ_i T_ij (c_ij - δ) <= 0   for every cluster j.

The constraint is linear in T, so its Lagrangian is again a transport problem, of cost
c_ij + λ_j (c_ij - δ), whose solution is a softmax over each row. The three are improved in turns:
T by that softmax, representatives as weighted means, λ by a step up its slope, never below 0. A
cluster that is too wide thereby lets go of its far papers and takes near ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rag.index.embedding import Vectors
from rag.mapping.neighbours import Places

Numbers = npt.NDArray[np.float64]

_SEED = 0
_STARTS = 3
_ROUNDS = 40  # of k-means, which mostly ends sooner
_SETTLED = 0.002  # share of papers that still move when k-means ends
_TURNS = 20  # of transport, representatives and λ for one bound
_STEP = 0.5  # up the slope of λ, in units of the mean distortion
_SHARPNESS = 0.02  # ε as a share of the mean distortion
_BOUNDS = (0.7, 0.4, 0.25, 0.15, 0.05)  # tried for δ: from k-means' mean (0) to its largest (1)
_DEARER = 1.05  # what the mean over all papers may cost, in units of k-means' mean distortion


@dataclass(frozen=True, slots=True)
class Clustering:
    """Which cluster each paper is in, from 0, and how far papers are from its representative.

    `distortion` is the mean squared distance of the papers of each cluster to their mean.
    """

    labels: Places
    distortion: Numbers

    @property
    def largest(self) -> float:
        """The distortion of the worst cluster."""
        return float(self.distortion.max())

    @property
    def mean(self) -> float:
        """The distortion over all papers."""
        sizes = np.bincount(self.labels, minlength=len(self.distortion))
        return float((self.distortion * sizes).sum() / len(self.labels))


def k_means(vectors: Vectors, count: int) -> Clustering:
    """Lloyd's algorithm from k-means++ (Arthur and Vassilvitskii, SODA 2007), always the same.

    The best of several starts.
    """
    random = np.random.default_rng(_SEED)
    found = [_from(vectors, _spread(vectors, count, random)) for _ in range(_STARTS)]
    return min(found, key=lambda one: one.mean)


def _from(vectors: Vectors, centres: Vectors) -> Clustering:
    """Lloyd's algorithm from the given representatives."""
    count = len(centres)
    labels = _assigned(_costs(vectors, centres), count)
    for _ in range(_ROUNDS):
        now = _assigned(_costs(vectors, _means(vectors, labels, count)), count)
        moved = (now != labels).mean()
        labels = now
        if moved <= _SETTLED:
            break
    return _measured(vectors, labels, count)


def even(vectors: Vectors, count: int) -> Clustering:
    """Clusters whose worst is as good as it can be found to be, at 5 % more distortion at most.

    Bounds are tried from loose to tight, each from where the one before ended; k-means is where
    it begins, and what is returned where no bound does better.

    Args:
        vectors: Unit vectors, shape (n, dimension).
        count: How many clusters, at most n.
    """
    best = start = k_means(vectors, count)
    if count < 2 or start.mean == 0:
        return start
    labels, dual = start.labels, np.zeros(count)
    for share in _BOUNDS:
        bound = start.mean + share * (start.largest - start.mean)
        labels, dual = _constrained(vectors, labels, dual, bound, start.mean)
        found = _measured(vectors, labels, count)
        if found.largest < best.largest and found.mean <= _DEARER * start.mean:
            best = found
    return best


def _constrained(
    vectors: Vectors, labels: Places, dual: Numbers, bound: float, unit: float
) -> tuple[Places, Numbers]:
    """Assignment and dual variables after some turns under a bound."""
    count = len(dual)
    centres = _means(vectors, labels, count)
    for _ in range(_TURNS):
        cost = _costs(vectors, centres)
        charge = dual.astype(np.float32)
        charged = cost * (1 + charge) - charge * np.float32(bound)
        share = np.exp((charged.min(axis=1, keepdims=True) - charged) / (_SHARPNESS * unit))
        share /= share.sum(axis=1, keepdims=True)
        held = np.maximum(share.sum(axis=0), 1e-9)
        over = (share * (cost - np.float32(bound))).sum(axis=0) / held
        dual = np.maximum(0.0, dual + _STEP * over / unit)
        centres = (share.T @ vectors) / held[:, None]
    return _assigned(charged, count), dual


def _measured(vectors: Vectors, labels: Places, count: int) -> Clustering:
    cost = _costs(vectors, _means(vectors, labels, count))
    mine = cost[np.arange(len(labels)), labels]
    sizes = np.bincount(labels, minlength=count)
    return Clustering(labels, np.bincount(labels, mine, count) / np.maximum(sizes, 1))


def _costs(vectors: Vectors, centres: Vectors) -> Vectors:
    """Squared distance of every paper, a unit vector, to every representative: (n, clusters)."""
    found: Vectors = 1 + (centres**2).sum(axis=1) - 2 * (vectors @ centres.T)
    np.maximum(found, 0, out=found)
    return found


def _assigned(cost: Vectors, count: int) -> Places:
    """The cheapest cluster of each paper; a cluster that stays empty gets the dearest paper."""
    labels: Places = cost.argmin(axis=1)
    paid = cost[np.arange(len(labels)), labels]
    for cluster in range(count):
        if not (labels == cluster).any():
            alone = np.bincount(labels, minlength=count)[labels] < 2
            taken = int(np.where(alone, -np.inf, paid).argmax())
            labels[taken], paid[taken] = cluster, -np.inf
    return labels


def _means(vectors: Vectors, labels: Places, count: int) -> Vectors:
    """The mean of each cluster, shape (clusters, dimension)."""
    member = (labels[:, None] == np.arange(count)).astype(np.float32)
    sizes = np.maximum(member.sum(axis=0), 1)
    means: Vectors = ((member.T @ vectors) / sizes[:, None]).astype(np.float32)
    return means


def _spread(vectors: Vectors, count: int, random: np.random.Generator) -> Vectors:
    """The first representatives: each drawn with the odds of its squared distance to the others."""
    chosen = [int(random.integers(len(vectors)))]
    far = np.full(len(vectors), np.inf)
    while len(chosen) < count:
        far = np.minimum(far, _costs(vectors, vectors[chosen[-1:]])[:, 0])
        total = far.sum()
        odds = far / total if total > 0 else None
        chosen.append(int(random.choice(len(vectors), p=odds)))
    found: Vectors = vectors[chosen]
    return found
