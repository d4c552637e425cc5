"""Nearest papers by vector: on this machine, on a Chroma server, or in a llama-index store."""

from rag.index.vectors.choice import vector_index
from rag.index.vectors.seam import Facts, Generation, Refused, Unreachable, VectorIndex

__all__ = ["Facts", "Generation", "Refused", "Unreachable", "VectorIndex", "vector_index"]
