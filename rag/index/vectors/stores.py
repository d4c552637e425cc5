"""Generations in any vector store of llama-index, named by its class in the settings.

Stores differ in what they return (similarities, distances, scaled scores, ids alone, nodes), in
the ids that they take (some only UUIDs) and in whether a row can be replaced. So only ids are
asked of a store: a row's id is a UUID that holds its content and its generation, and
similarities are computed from the catalog's own vectors. A store is for one catalog; rows of
others in it are passed over, at the cost of asking for more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from rag.index.catalog import Catalog
from rag.index.embedding import Vectors, paper_vector
from rag.index.manifest import Damaged, Unsearchable
from rag.index.vectors.record import Record, Records, new_token, next_name
from rag.index.vectors.seam import Facts, Unreachable, batches, find_themselves
from rag.index.vectors.shelf import Shelf

_BATCH = 500  # what the most cautious stores take at once
_WIDEST = 16  # times what is wanted, asked for where rows of others come between
_IDS = 16  # hexadecimal digits of a content, and of the mark of a generation in an id


class StoreGeneration:
    """The rows of one build."""

    def __init__(self, record: Record, index: StoreIndex) -> None:
        self._record = record
        self._index = index
        self._mark = _mark(record)

    @property
    def name(self) -> str:
        """The document, as llama-index calls it, that the rows belong to."""
        return self._record.name

    @property
    def facts(self) -> Facts:
        """What the catalog says that it holds."""
        return self._record.facts

    def query(self, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        """See `Generation.query`; the similarities are the catalog's.

        Raises:
            Damaged: the store has no row of this generation.
            Unreachable: it failed.
        """
        limit = min(limit, self.facts.rows)
        if limit == 0:
            return []
        contents = self._nearest(vector, limit)
        if not contents:
            raise Damaged(f"The vectors of {self.name} are gone from {self._index.place}")
        with self._index.catalog.reading() as snapshot:
            stored = snapshot.matrices_of(self.facts.model, contents, self.facts.dimension)
        found = [(content, float(paper_vector(m) @ vector)) for content, m in stored.items()]
        return sorted(found, key=lambda item: (-item[1], item[0]))

    def verify(self) -> None:
        """See `Generation.verify`: a sample of rows is searched for."""
        find_themselves(self, self._index.catalog)

    def close(self) -> None:
        """Nothing is open but the store itself, which is the index's."""

    def _nearest(self, vector: Vectors, limit: int) -> list[str]:
        """Contents of the nearest rows; asked for more while other rows come between."""
        asked = limit
        while True:
            ids = self._index.ids(self.name, vector, asked)
            ours = [content for row in ids if (content := self._content(row))]
            if len(ours) >= limit or len(ids) < asked or asked >= _WIDEST * limit:
                return ours[:limit]
            asked *= 2

    def _content(self, row: str) -> str:
        """The content that a row of this generation stands for; empty for another's row."""
        digits = row.replace("-", "").casefold()
        return digits[:_IDS] if digits[_IDS:] == self._mark else ""


class StoreIndex:
    """The generations of a catalog in one store. Safe for use by several threads."""

    def __init__(
        self, catalog: Catalog, named: str, options: Mapping[str, Any], folder: Path
    ) -> None:
        self.place = named
        self.catalog = catalog
        self._shelf = Shelf(named, options, folder)
        self._records = Records(catalog, named)

    def current(self) -> StoreGeneration | None:
        """See `VectorIndex.current`."""
        record = self._records.get()
        return StoreGeneration(record, self) if record else None

    def build(self, rows: Iterable[tuple[str, Vectors]], facts: Facts) -> StoreGeneration:
        """See `VectorIndex.build`. Rows of the one before are deleted after the switch."""
        before = self._records.last()
        name = next_name(self._records.prefix(), [before.name] if before else [])
        record = Record(name, new_token(), "", facts)
        generation = StoreGeneration(record, self)
        try:
            self._fill(record, rows)
            generation.verify()
        except BaseException as error:
            self._shelf.delete(name)
            if isinstance(error, Damaged) and not isinstance(error, Unreachable | Unsearchable):
                raise Unreachable(
                    f"The vector store {self.place} did not keep what it was given",
                    cause=error.cause or error.what,
                ) from error
            raise
        self._records.put(record)
        if before:
            self._shelf.delete(before.name)
        return generation

    def ids(self, name: str, vector: Vectors, limit: int) -> list[str]:
        """Ids of the rows nearest to a vector, as the store orders them.

        Raises:
            Unreachable: it failed.
        """
        from llama_index.core.vector_stores.types import VectorStoreQuery

        store = self._shelf.opened(name)
        with self._shelf.told():
            query = VectorStoreQuery(query_embedding=vector.tolist(), similarity_top_k=limit)
            found = store.query(query)
            return list(found.ids or [node.node_id for node in found.nodes or []])

    def discard(self) -> None:
        """See `VectorIndex.discard`; what stands there is removed by the next build."""
        self._records.forget()

    def clean(self) -> None:
        """See `VectorIndex.clean`: files of generations that are no longer in force."""
        record = self._records.last()
        self._shelf.clean(record.name if record else "")

    def ping(self) -> None:
        """See `VectorIndex.ping`: the store can be made."""
        self._shelf.opened()

    def close(self) -> None:
        """Let go of the store and close the catalog."""
        self._shelf.close()
        self.catalog.close()

    def _fill(self, record: Record, rows: Iterable[tuple[str, Vectors]]) -> None:
        from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

        store = self._shelf.for_build(record.name)
        self._shelf.delete(record.name)  # of a build that was killed; some know no such document
        source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=record.name)}
        mark = _mark(record)
        for contents, vectors in batches(rows, _BATCH, record.facts.dimension):
            nodes = [
                TextNode(
                    id_=str(UUID(hex=content + mark)),
                    text=content,
                    embedding=vector.tolist(),
                    relationships=source,
                )
                for content, vector in zip(contents, vectors, strict=True)
            ]
            with self._shelf.told():
                store.add(nodes)
        self._shelf.save(store, record.name)


def _mark(record: Record) -> str:
    """What ends the id of every row of a generation."""
    return hashlib.sha256(f"{record.name}\n{record.token}".encode()).hexdigest()[:_IDS]
