"""An embedder that remembers what it was asked lately: a repeated question is embedded once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from rag.index.embedding import Embedder, Vectors
from rag.index.vetting import embed_vetted

REMEMBERED = 4_096  # texts; 6 MB of vectors of 384 numbers, and the texts themselves


class RememberingEmbedder:
    """Keeps the vectors of the `limit` texts that were asked for last, by model and text.

    For questions and what is compared with them; who embeds a collection meets each text once,
    and keeps it in the catalog. Safe for use by several threads, which do not wait for each
    other's texts: two that ask for the same one at the same time both have it embedded.
    """

    def __init__(self, inner: Embedder, limit: int = REMEMBERED) -> None:
        self._inner = inner
        self._limit = limit
        self._known: OrderedDict[tuple[str, str], Vectors] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """As the embedder behind it."""
        return self._inner.name

    @property
    def dimension(self) -> int:
        """As the embedder behind it."""
        return self._inner.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`. What cannot be a vector is not remembered.

        Raises:
            ModelError: the embedder failed, or gave what is no vector.
        """
        model = self.name
        found = {text: self._remembered((model, text)) for text in texts}
        missing = [text for text, vector in found.items() if vector is None]
        if missing:
            fresh = embed_vetted(self._inner, missing)
            found.update(zip(missing, fresh, strict=True))
            self._remember(model, missing, fresh)
        rows = [row for text in texts if (row := found[text]) is not None]
        return np.stack(rows) if rows else np.empty((0, self.dimension), dtype=np.float32)

    def count_pieces(self, text: str) -> int:
        """See `Embedder.count_pieces`."""
        return self._inner.count_pieces(text)

    def _remembered(self, key: tuple[str, str]) -> Vectors | None:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def _remember(self, model: str, texts: Sequence[str], vectors: Vectors) -> None:
        with self._lock:
            for text, vector in zip(texts, vectors, strict=True):
                self._known[model, text] = vector.copy()  # a row would keep all of them
            while len(self._known) > self._limit:
                self._known.popitem(last=False)
