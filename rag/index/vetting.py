"""What an embedder gives is looked at before it is stored or compared.

A model behind a server can be exchanged or fail in ways that no exception tells: a row too few
shifts every vector after it to another text, and a vector that is not a number is near to nothing
or to everything.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag.errors import ModelError
from rag.index.embedding import Embedder, Vectors

_ROUNDING = 0.01  # by how much the length of a unit vector may differ from 1


def embed_vetted(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """The vectors of `texts`, shape (len(texts), dimension), each of length 1.

    Raises:
        ModelError: the embedder failed, or gave something else; its name and the fault are named.
    """
    vectors = np.asarray(embedder.embed(texts))
    if fault := _fault(vectors, (len(texts), embedder.dimension)):
        raise ModelError(
            f"The embedding model {embedder.name} gave vectors that cannot be used",
            cause=fault,
            remedy="Run `rag models verify`, or check the server that it is behind.",
        )
    return vectors


def _fault(vectors: Vectors, wanted: tuple[int, int]) -> str:
    """What is wrong, empty where nothing is."""
    if not np.issubdtype(vectors.dtype, np.floating):
        return f"{vectors.dtype} in place of numbers"
    if vectors.ndim != 2 or vectors.shape[0] != wanted[0]:
        return f"{len(vectors) if vectors.ndim else 0} vectors for {wanted[0]} texts"
    if vectors.shape[1] != wanted[1]:
        return f"vectors of {vectors.shape[1]} numbers in place of {wanted[1]}"
    if not np.isfinite(vectors).all():
        return "a number is not finite"
    lengths = np.linalg.norm(vectors, axis=1)
    wrong = lengths[np.abs(lengths - 1) > _ROUNDING]
    return f"a vector of length {wrong[0]:.3g} in place of 1" if len(wrong) else ""
