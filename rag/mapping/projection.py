"""Vectors as points of a plane: PaCMAP, from a start by principal components.

PaCMAP (Wang, Huang, Rudin and Shaposhnik, JMLR 22, 2021) keeps near papers near and keeps the
groups in their places to each other. Its objective is three sums over fixed pairs, so that each
step is a few passes of numpy over all of them: 5,000 papers take seconds. The authors' package
needs numba, scikit-learn and a library for neighbours, hundreds of megabytes for these lines, as
umap-learn does; openTSNE needs scikit-learn. Pairs are drawn by a generator with a fixed seed: the
same collection has the same map.

With d = |y_i - y_j|² + 1 the objective is (table 1 there)

    w_near Σ d / (10 + d)  +  w_mid Σ d / (10,000 + d)  +  w_far Σ 1 / (1 + d)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rag.index.embedding import Vectors
from rag.mapping.neighbours import Places, nearest

Plane = npt.NDArray[np.float64]

_SEED = 0
_NEAR, _MID, _FAR = 10, 5, 20  # pairs of each paper
_LOOKED_AT = 50  # nearest papers of which the near pairs are chosen by scaled distance
_DRAWN = 6  # of which the second nearest makes a mid-near pair
_STEPS = (100, 100, 250)
_RATE, _BETA1, _BETA2, _TINY = 1.0, 0.9, 0.999, 1e-7  # of Adam, as the authors have them
_START = 0.01
_EXACT = 4  # papers below which there is nothing to choose pairs from


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Pairs of one kind: `a` and `b` are places, as long as each other."""

    a: Places
    b: Places


def project(vectors: Vectors) -> Plane:
    """A place in the plane for each vector, within -1 and 1, shape (n, 2).

    Args:
        vectors: Unit vectors, shape (n, dimension).
    """
    start = _principal(vectors)
    if len(vectors) <= _EXACT:
        return _fitted(start)
    pairs = _chosen(vectors, np.random.default_rng(_SEED))
    return _fitted(_descend(start * _START, *pairs))


def _principal(vectors: Vectors) -> Plane:
    """The first two principal components, scaled to variance 1 of the first; signs are fixed."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    found = centred @ axes[:, :-3:-1]
    largest = np.abs(found).argmax(axis=0)
    found *= np.sign(found[largest, range(found.shape[1])] + (found[largest, [0, 1]] == 0))
    spread = found[:, 0].std()
    return found / spread if spread > 0 else np.zeros_like(found)


def _chosen(vectors: Vectors, random: np.random.Generator) -> tuple[_Pairs, _Pairs, _Pairs]:
    """Near, mid-near and further pairs of every paper."""
    size = len(vectors)
    places, squares = nearest(vectors, _LOOKED_AT)
    near = _nearest_scaled(places, squares, min(_NEAR, size - 1))
    mid = _second_nearest(vectors, random.integers(0, size, (size, _MID, _DRAWN)))
    far = random.integers(0, size, (size, _FAR))
    is_near = (far[:, :, None] == near[:, None, :]).any(axis=2)
    return _pairs(near), _pairs(mid), _pairs(far, leave=is_near)


def _nearest_scaled(places: Places, squares: Vectors, count: int) -> Places:
    """The neighbours by d² / (σ_i σ_j), σ being the mean distance to the 4th to 6th nearest."""
    around = np.sqrt(squares[:, 3:6] if squares.shape[1] > 3 else squares[:, -1:])
    scale = np.maximum(around.mean(axis=1), 1e-10)
    scaled = squares / (scale[:, None] * scale[places])
    order = np.argsort(scaled, axis=1, kind="stable")[:, :count]
    return np.take_along_axis(places, order, axis=1)


def _second_nearest(vectors: Vectors, drawn: Places) -> Places:
    """Of each draw of several papers the second nearest, shape (n, pairs)."""
    found = np.empty(drawn.shape[:2], dtype=np.intp)
    for pair in range(drawn.shape[1]):
        some = drawn[:, pair]
        likeness = np.stack(
            [np.einsum("ij,ij->i", vectors, vectors[column]) for column in some.T], axis=1
        )
        second = np.argsort(-likeness, axis=1, kind="stable")[:, 1]
        found[:, pair] = np.take_along_axis(some, second[:, None], axis=1)[:, 0]
    return found


def _pairs(others: Places, leave: npt.NDArray[np.bool_] | None = None) -> _Pairs:
    """Pairs of each place with those in its row, but none with itself or to be left out."""
    a = np.repeat(np.arange(len(others)), others.shape[1])
    b = others.ravel()
    keep = a != b
    if leave is not None:
        keep &= ~leave.ravel()
    return _Pairs(a[keep], b[keep])


def _descend(places: Plane, near: _Pairs, mid: _Pairs, far: _Pairs) -> Plane:
    """Adam over all pairs, with the weights of the three phases."""
    first, second = np.zeros_like(places), np.zeros_like(places)
    for step in range(1, sum(_STEPS) + 1):
        w_near, w_mid, w_far = _weights(step)
        slope = _slope(places, near, 10.0, w_near)
        if w_mid:
            slope += _slope(places, mid, 10_000.0, w_mid)
        slope += _slope(places, far, 1.0, -w_far)
        first = _BETA1 * first + (1 - _BETA1) * slope
        second = _BETA2 * second + (1 - _BETA2) * slope**2
        rate = _RATE * np.sqrt(1 - _BETA2**step) / (1 - _BETA1**step)
        places = places - rate * first / (np.sqrt(second) + _TINY)
    return places


def _weights(step: int) -> tuple[float, float, float]:
    """Of near, mid-near and further pairs: first the whole, then the neighbourhoods."""
    first, second, _ = _STEPS
    if step <= first:
        return 2.0, 1_000 * (1 - (step - 1) / first) + 3 * (step - 1) / first, 1.0
    return (3.0, 3.0, 1.0) if step <= first + second else (1.0, 0.0, 1.0)


def _slope(places: Plane, pairs: _Pairs, c: float, weight: float) -> Plane:
    """The gradient of weight · Σ d / (c + d), which is 2 c (y_i - y_j) / (c + d)² for each pair.

    1 / (1 + d) is 1 - d / (1 + d), so the further pairs are the same with a weight below 0.
    """
    apart = places[pairs.a] - places[pairs.b]
    d = np.einsum("ij,ij->i", apart, apart) + 1
    pull = apart * (2 * weight * c / (c + d) ** 2)[:, None]
    size = len(places)
    return np.stack(
        [
            np.bincount(pairs.a, pull[:, axis], size) - np.bincount(pairs.b, pull[:, axis], size)
            for axis in (0, 1)
        ],
        axis=1,
    )


def _fitted(places: Plane) -> Plane:
    """The places moved and scaled alike in both directions, so that all lie within -1 and 1."""
    low, high = places.min(axis=0), places.max(axis=0)
    span = (high - low).max()
    fitted: Plane = (places - (low + high) / 2) * (2 / span if span > 0 else 0.0)
    return fitted
