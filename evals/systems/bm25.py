"""BM25 alone, by bm25s: Lucene's variant, k1 = 1.5, b = 0.75, stems, no stop words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bm25s
import Stemmer

from evals.collection import Document
from evals.systems import Ranking
from rag.config import Config


class Matcher:
    """BM25 over some texts; also the lexical half of llama-index's fusion.

    As the package llama-index-retrievers-bm25 0.8 uses bm25s: its defaults, English stop words, the
    Snowball stemmer. That package itself asks for a stemmer older than the product's.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._stemmer = Stemmer.Stemmer("english")
        self._size = len(texts)
        self._index = bm25s.BM25()
        self._index.index(self._tokens(texts), show_progress=False)

    def best(self, query: str, k: int) -> list[tuple[int, float]]:
        """Places of the `k` best texts with their scores, those that share no word with 0."""
        k = min(k, self._size)
        rows, scores = self._index.retrieve(self._tokens([query]), k=k, show_progress=False)
        return [(int(row), float(score)) for row, score in zip(rows[0], scores[0], strict=True)]

    def _tokens(self, texts: Sequence[str]) -> Any:
        return bm25s.tokenize(
            list(texts), stopwords="en", stemmer=self._stemmer, show_progress=False
        )


class BM25:
    """Title and text as one."""

    def __init__(self, _: Config) -> None:
        self._ids: list[str] = []
        self._matcher: Matcher | None = None

    def index(self, documents: Sequence[Document]) -> None:
        """Count the terms."""
        self._ids = [one.id for one in documents]
        self._matcher = Matcher([one.whole for one in documents])

    def search(self, query: str, k: int) -> Ranking:
        """The documents that share a word with the query."""
        if self._matcher is None:
            raise RuntimeError("nothing was indexed")
        found = self._matcher.best(query, k)
        return [(self._ids[place], score) for place, score in found if score > 0]

    def close(self) -> None:
        """Nothing is open."""
