"""Generations as collections of a Chroma server (`chroma run`, or a cluster behind one address).

A collection's metadata say what it holds and the token that it was built with. It is filled by
upserts, which may be repeated, then counted and tried over the wire, then recorded in the catalog
as current. A build that fails leaves a collection without a record, which the next one removes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from rag.index.catalog import Catalog
from rag.index.embedding import Vectors
from rag.index.manifest import Damaged, Unsearchable
from rag.index.vectors.record import Record, Records, new_token, next_name
from rag.index.vectors.seam import Facts, Unreachable, batches, find_themselves
from rag.index.vectors.wire import Account, Patience, Wire

if TYPE_CHECKING:
    import chromadb
    from chromadb.api.fastapi import FastAPI

_BATCH = 1_000
_PAGE = 100
_SEARCH_WIDTH = 200  # hnsw:ef; must reach the number of neighbours that are asked for


class ServerGeneration:
    """One collection, looked up at its first use."""

    def __init__(self, record: Record, records: Records, wire: Wire) -> None:
        self._record = record
        self._records = records
        self._wire = wire
        self._finding = threading.Lock()
        self._collection: chromadb.Collection | None = None

    @property
    def name(self) -> str:
        """The collection's name."""
        return self._record.name

    @property
    def facts(self) -> Facts:
        """What the catalog says that it holds."""
        return self._record.facts

    def query(self, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        """See `Generation.query`."""
        limit = min(limit, self.facts.rows)
        if limit == 0:
            return []
        collection = self._found()
        found = self._wire.call(
            lambda _: collection.query(
                query_embeddings=[vector.tolist()], n_results=limit, include=["distances"]
            )
        )
        distances = (found["distances"] or [[]])[0]
        return [(row, 1.0 - d) for row, d in zip(found["ids"][0], distances, strict=True)]

    def verify(self) -> None:
        """See `Generation.verify`: the rows are counted and a sample of them is searched for."""
        collection = self._found()
        rows = self._wire.call(lambda _: collection.count())
        if rows != self.facts.rows:
            raise Damaged(f"{self.name} is damaged", cause=f"{rows} of {self.facts.rows} rows")
        find_themselves(self, self._records.catalog)

    def close(self) -> None:
        """Forget the collection; a later query looks it up again."""
        with self._finding:
            self._collection = None

    def _found(self) -> chromadb.Collection:
        with self._finding:
            if self._collection is None:
                self._collection = self._wire.call(self._find)
            return self._collection

    def _find(self, api: FastAPI) -> chromadb.Collection:
        account = self._wire.account
        model = api.get_collection(self.name, tenant=account.tenant, database=account.database)
        if model.metadata != _metadata(self._record):
            raise Damaged(f"{self.name} at {self._wire.url} is not what was built")
        return _handle(api, model)


class ChromaServer:
    """The generations of a catalog on a Chroma server. Safe for use by several threads."""

    def __init__(
        self,
        catalog: Catalog,
        url: str,
        account: Account | None = None,
        patience: Patience | None = None,
    ) -> None:
        account, patience = account or Account(), patience or Patience()
        self.place = url
        self._records = Records(catalog, url)
        self._account = account
        self._searching = Wire(url, account, patience.connecting, patience.searching)
        self._building = Wire(url, account, patience.connecting, patience.building)

    def current(self) -> ServerGeneration | None:
        """See `VectorIndex.current`."""
        record = self._records.get()
        return ServerGeneration(record, self._records, self._searching) if record else None

    def build(self, rows: Iterable[tuple[str, Vectors]], facts: Facts) -> ServerGeneration:
        """See `VectorIndex.build`."""
        self._building.greet()
        before = self._records.last()
        prefix = self._records.prefix()
        name = self._make_room(prefix, before)
        record = Record(name, new_token(), before.name if before else "", facts)
        try:
            self._fill(record, rows)
            ServerGeneration(record, self._records, self._building).verify()
        except BaseException as error:
            self._remove(name)
            if isinstance(error, Damaged) and not isinstance(error, Unreachable | Unsearchable):
                raise Unreachable(
                    f"The vector server {self.place} did not keep what it was sent",
                    cause=f"{error.what}: {error.cause}" if error.cause else error.what,
                ) from error
            raise
        self._records.put(record)
        if before:
            self._remove(before.former)
        return ServerGeneration(record, self._records, self._searching)

    def discard(self) -> None:
        """See `VectorIndex.discard`; what stands there is removed by the next build."""
        self._records.forget()

    def clean(self) -> None:
        """See `VectorIndex.clean`: nothing is on this machine, and a build cleans the server."""

    def ping(self) -> None:
        """See `VectorIndex.ping`."""
        self._searching.greet()

    def close(self) -> None:
        """Close both connections and the catalog."""
        for wire in (self._searching, self._building):
            wire.close()
        self._records.catalog.close()

    def _make_room(self, prefix: str, before: Record | None) -> str:
        """Remove what builds that failed have left; a name for the next one.

        The one in force stays, and the one before it, until the next is in force.
        """
        there = [name for name in self._names() if name.startswith(prefix)]
        kept = {before.name, before.former} if before else set()
        for name in there:
            if name not in kept:
                self._remove(name)
        return next_name(prefix, [*there, *kept])

    def _names(self) -> Iterator[str]:
        for offset in count(0, _PAGE):
            page = self._building.insist(partial(self._page, offset))
            yield from page
            if len(page) < _PAGE:
                return

    def _page(self, offset: int, api: FastAPI) -> list[str]:
        return [model.name for model in api.list_collections(_PAGE, offset, *self._where)]

    def _fill(self, record: Record, rows: Iterable[tuple[str, Vectors]]) -> None:
        collection = self._building.call(lambda api: self._create(api, record))
        limit = self._building.insist(lambda api: api.get_max_batch_size())
        for ids, vectors in batches(rows, min(limit, _BATCH), record.facts.dimension):
            self._building.insist(partial(_upsert, collection, ids, vectors))

    def _create(self, api: FastAPI, record: Record) -> chromadb.Collection:
        """Fails where somebody else has made one of that name: it would be theirs."""
        model = api.create_collection(
            record.name,
            configuration={"hnsw": {"space": "cosine", "ef_search": _SEARCH_WIDTH}},
            metadata=_metadata(record),
            tenant=self._account.tenant,
            database=self._account.database,
        )
        return _handle(api, model)

    def _remove(self, name: str) -> None:
        """Delete a collection if that can be done now; else a later build does it."""
        if not name:
            return
        try:
            self._building.call(lambda api: api.delete_collection(name, *self._where))
        except Damaged:
            return

    @property
    def _where(self) -> tuple[str, str]:
        return self._account.tenant, self._account.database


def _metadata(record: Record) -> dict[str, str | int]:
    return {"token": record.token, **asdict(record.facts)}


def _upsert(collection: chromadb.Collection, ids: list[str], vectors: Vectors, _: FastAPI) -> None:
    collection.upsert(ids=ids, embeddings=vectors)


def _handle(api: FastAPI, model: Any) -> chromadb.Collection:
    from chromadb.api.models.Collection import Collection

    return Collection(client=api, model=model, embedding_function=None)
