"""The product as its users have it: indexed from a file, searched by the assistant."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from evals.collection import Document
from evals.systems import Ranking
from rag.answering.assistant import Assistant
from rag.answering.parts import indexer_of
from rag.config import Config
from rag.errors import UsageError
from rag.index.browse import merged
from rag.index.catalog import Catalog


class Product:
    """An assistant over a collection, in a folder of its own."""

    def __init__(self, config: Config) -> None:
        self._folder = TemporaryDirectory()
        data = Path(self._folder.name) / "data"
        self._config = config.model_copy(update={"data_dir": data, "llm": "none"})
        self._assistant: Assistant | None = None
        self._documents: Sequence[Document] = ()
        self._merged: dict[str, list[int]] = {}

    def index(self, documents: Sequence[Document]) -> None:
        """Write the documents as JSON Lines and index the file."""
        self._documents = documents
        path = Path(self._folder.name) / "papers.jsonl"
        write_papers(path, documents)
        indexer = indexer_of(self._config, lambda *_: None)
        try:
            indexer.sync([path])
        finally:
            indexer.close()
        self._merged = self._several_sources()
        self._assistant = Assistant.from_config(self._config)

    def search(self, query: str, k: int) -> Ranking:
        """The papers that the assistant finds; of a query that it refuses, none.

        A paper made of several documents stands for each of them, with the same score.
        """
        if self._assistant is None:
            raise RuntimeError("nothing was indexed")
        try:
            hits = self._assistant.search(query, k).hits
        except UsageError:  # no word, or too many of them
            return []
        return [
            (self._documents[ordinal - 1].id, hit.score)
            for hit in hits
            for ordinal in self._merged.get(hit.paper.id, [hit.paper.ordinal])
        ][:k]

    def close(self) -> None:
        """Close the assistant and remove its folder."""
        if self._assistant is not None:
            self._assistant.close()
        self._folder.cleanup()

    def _several_sources(self) -> dict[str, list[int]]:
        """The places in the file of each paper that has several."""
        catalog = Catalog(self._config.data_dir / "catalog.sqlite3")
        try:
            with catalog.reading() as snapshot:
                return {
                    one.paper.id: [source.ordinal for source in one.sources]
                    for one in merged(snapshot)
                }
        finally:
            catalog.close()


def write_papers(path: Path, documents: Sequence[Document]) -> None:
    """Write documents as `rag index` reads them: each one's place is the number of its line."""
    with path.open("w", encoding="utf-8") as file:
        for one in documents:
            title = {"title": one.title} if one.title else {}
            line = {"id": one.id, **title, "abstract": one.text}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
