"""The embedding model alone: one vector for a whole abstract, compared with every other exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evals.collection import Document
from evals.systems import Ranking
from rag.answering.parts import embedder_of
from rag.config import Config
from rag.index.embedding import Vectors
from rag.index.vetting import embed_vetted

_BATCH = 256


class WholeText:
    """Cosine similarity to the vector of title and text; what the model cuts off is lost."""

    def __init__(self, config: Config) -> None:
        self._embedder = embedder_of(config)
        self._vectors: Vectors = np.empty((0, self._embedder.dimension), dtype=np.float32)
        self._ids: list[str] = []

    def index(self, documents: Sequence[Document]) -> None:
        """Embed every document."""
        texts = [one.whole for one in documents]
        batches = (texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH))
        self._vectors = np.concatenate([embed_vetted(self._embedder, one) for one in batches])
        self._ids = [one.id for one in documents]

    def search(self, query: str, k: int) -> Ranking:
        """The nearest documents with their cosine."""
        cosines = self._vectors @ embed_vetted(self._embedder, [query])[0]
        order = np.argsort(-cosines, kind="stable")[:k]
        return [(self._ids[row], float(cosines[row])) for row in order]

    def close(self) -> None:
        """Nothing is open."""
