"""The nearest neighbours of every vector, exactly: a block of rows against all at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from rag.index.embedding import Vectors

Places = npt.NDArray[np.intp]

_BLOCK = 1_000  # rows compared at once: a block of 10,000 columns is 40 MB


def nearest(vectors: Vectors, count: int) -> tuple[Places, Vectors]:
    """The places of the `count` nearest other vectors of each, nearest first, and how far.

    Args:
        vectors: Unit vectors, shape (n, dimension).
        count: How many, at most n - 1.

    Returns:
        Two arrays of shape (n, count): places, and squared Euclidean distances. Of equal
        distances the first place comes first.
    """
    size = len(vectors)
    count = min(count, size - 1)
    places = np.empty((size, count), dtype=np.intp)
    squares = np.empty((size, count), dtype=np.float32)
    for start, block in distances(vectors, vectors):
        rows = np.arange(len(block))
        block[rows, start + rows] = np.inf
        some = np.argpartition(block, count - 1, axis=1)[:, :count] if count else block[:, :0]
        some = np.sort(some.astype(np.intp), axis=1)
        found = np.take_along_axis(block, some, axis=1)
        order = np.argsort(found, axis=1, kind="stable")
        places[start : start + len(block)] = np.take_along_axis(some, order, axis=1)
        squares[start : start + len(block)] = np.take_along_axis(found, order, axis=1)
    return places, squares


def distances(vectors: Vectors, others: Vectors) -> Iterator[tuple[int, Vectors]]:
    """Squared Euclidean distances in blocks of rows, each with the place where it begins."""
    norms = (others**2).sum(axis=1)
    for start in range(0, len(vectors), _BLOCK):
        block = vectors[start : start + _BLOCK]
        found = (block**2).sum(axis=1)[:, None] + norms[None] - 2 * (block @ others.T)
        yield start, np.maximum(found, 0).astype(np.float32)
