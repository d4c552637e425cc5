"""The papers of the collection, page by page, as the catalog has them now."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Self

from rag.index.browse import Filter, browse, passing, sources_of
from rag.index.browse import Source as Place
from rag.index.catalog import Catalog
from rag.retrieval.lookup import find_paper
from rag.schema import Paper


class Shelf:
    """Reads the catalog. Safe for use by several threads."""

    def __init__(self, data_dir: Path) -> None:
        self._catalog = Catalog(data_dir / "catalog.sqlite3")

    def listing(self, wanted: Filter, offset: int, limit: int) -> tuple[list[Paper], int]:
        """The papers from the `offset`-th on that pass a filter, and how many pass it in all.

        Raises:
            IndexUnusable: there is no index.
        """
        with self._catalog.reading() as snapshot:
            total = len(passing(snapshot, wanted))
            found = browse(snapshot, wanted) if offset < total and limit else iter(())
            return list(islice(found, offset, offset + limit)), total

    def show(self, reference: str) -> tuple[Paper, tuple[Place, ...]]:
        """The paper of an id, source:ordinal, DOI, arXiv id or name, and where it stands.

        Raises:
            PaperNotFound: no paper, or several, answer to the reference.
            IndexUnusable: there is no index.
        """
        with self._catalog.reading() as snapshot:
            paper = find_paper(snapshot, reference)
            return paper, sources_of(snapshot, paper.id)

    def close(self) -> None:
        """Close the catalog."""
        self._catalog.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
