"""Generations in any vector store of llama-index, named by its class in the settings.

Stores differ in what they return (similarities, distances, scaled scores, ids alone, nodes), in
the ids that they take (some only UUIDs) and in whether a row can be replaced. So only ids are
asked of a store: a row's id is a UUID that holds its content and its generation, and
similarities are computed from the catalog's own vectors. A store is for one catalog; rows of
others in it are passed over, at the cost of asking for more.

llama-index keeps stores that live in memory by `persist` and `from_persist_path`; such a store
is saved beside the catalog, one file for each generation.
"""

from __future__ import annotations

import hashlib
import pkgutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from rag.errors import AskPapersError, ConfigError
from rag.index.catalog import Catalog
from rag.index.embedding import Vectors, paper_vector
from rag.index.manifest import Damaged
from rag.index.vectors.record import Record, Records, new_token, next_name
from rag.index.vectors.seam import Facts, Unreachable, batches, find_themselves

if TYPE_CHECKING:
    from llama_index.core.vector_stores.types import BasePydanticVectorStore

_BATCH = 500  # what the most cautious stores take at once
_WIDEST = 16  # times what is wanted, asked for where rows of others come between
_TOLD = 300  # characters of a store's own words
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
    """The generations of a catalog in one store. Safe for use by several threads.

    `named` is `package.module:Class`, or `package.module:Class.from_params` where a store is made
    by a class method; `options` are its arguments.
    """

    def __init__(
        self, catalog: Catalog, named: str, options: Mapping[str, Any], folder: Path
    ) -> None:
        self.place = named
        self.catalog = catalog
        self._make = _maker(named)
        self._options = dict(options)
        self._folder = folder
        self._records = Records(catalog, named)
        self._guard = threading.Lock()
        self._store: BasePydanticVectorStore | None = None
        self._loaded = ""  # the generation that a store in memory holds

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
            self._delete(name)
            if isinstance(error, Damaged) and not isinstance(error, Unreachable):
                raise Unreachable(
                    f"The vector store {self.place} did not keep what it was given",
                    cause=error.cause or error.what,
                ) from error
            raise
        self._records.put(record)
        if before:
            self._delete(before.name)
        return generation

    def ids(self, name: str, vector: Vectors, limit: int) -> list[str]:
        """Ids of the rows nearest to a vector, as the store orders them.

        Raises:
            Unreachable: it failed.
        """
        from llama_index.core.vector_stores.types import VectorStoreQuery

        with self._told():
            query = VectorStoreQuery(query_embedding=vector.tolist(), similarity_top_k=limit)
            found = self._opened(name).query(query)
            return list(found.ids or [node.node_id for node in found.nodes or []])

    def clean(self) -> None:
        """See `VectorIndex.clean`: files of generations that are no longer in force."""
        record = self._records.last()
        for path in self._folder.glob("*.store*"):
            if record is None or path != self._saved(record.name):
                path.unlink()

    def ping(self) -> None:
        """See `VectorIndex.ping`: the store can be made."""
        with self._told():
            self._opened(self._loaded)

    def close(self) -> None:
        """Let go of the store and close the catalog."""
        with self._guard:
            self._store, self._loaded = None, ""
        self.catalog.close()

    def _fill(self, record: Record, rows: Iterable[tuple[str, Vectors]]) -> None:
        from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

        with self._told():
            store = self._for_build(record.name)
            store.delete(record.name)  # of a build that was killed
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
            with self._told():
                store.add(nodes)
        self._save(store, record.name)

    def _delete(self, name: str) -> None:
        """Remove a generation, as far as the store can and will; its rows are passed over."""
        self._saved(name).unlink(missing_ok=True)
        try:
            with self._told():
                if self._store is not None:
                    self._store.delete(name)
        except AskPapersError:
            return

    # --- the store

    def _opened(self, name: str) -> BasePydanticVectorStore:
        with self._guard:
            if self._store is None or (_in_memory(self._store) and self._loaded != name):
                self._store, self._loaded = self._load(name), name
            return self._store

    def _for_build(self, name: str) -> BasePydanticVectorStore:
        """An empty store where it lives in memory, else the one that there is."""
        with self._guard:
            if self._store is None or _in_memory(self._store):
                self._store, self._loaded = self._new(), name
            return self._store

    def _load(self, name: str) -> BasePydanticVectorStore:
        store, saved = self._new(), self._saved(name)
        if _in_memory(store) and saved.is_file():
            load = cast(Any, type(store)).from_persist_path
            try:
                return cast("BasePydanticVectorStore", load(str(saved)))
            except Exception as error:  # what a class makes of a torn file is its own
                raise Damaged(f"{saved} is damaged", cause=type(error).__name__) from error
        return store

    def _save(self, store: BasePydanticVectorStore, name: str) -> None:
        if not _in_memory(store):
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        saved = self._saved(name)
        temporary = saved.with_suffix(".store-new")
        with self._told():
            store.persist(str(temporary))
            temporary.replace(saved)

    def _saved(self, name: str) -> Path:
        return self._folder / f"{name}.store"

    def _new(self) -> BasePydanticVectorStore:
        from llama_index.core.vector_stores.types import BasePydanticVectorStore
        from pydantic import ValidationError

        try:
            store = self._make(**self._options)
        except (TypeError, ValidationError) as error:
            raise ConfigError(
                f"{self.place} does not take the vectors_options",
                cause=type(error).__name__,  # its text may hold a token
                remedy="They must be the arguments of its constructor.",
            ) from error
        if not isinstance(store, BasePydanticVectorStore):
            raise ConfigError(f"{self.place} is not a vector store of llama-index")
        return store

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tell a store's faults, of which nothing is known, as ours."""
        try:
            yield
        except AskPapersError:
            raise
        except Exception as error:
            raise Unreachable(
                f"The vector store {self.place} failed",
                cause=f"{type(error).__name__}: {str(error)[:_TOLD]}",
            ) from error


def _maker(named: str) -> Callable[..., object]:
    """The class or class method of that name; whether it makes a store shows when it is called."""
    try:
        found = pkgutil.resolve_name(named)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"There is no vector store {named}",
            cause=str(error),
            remedy="Install its package, or change the setting vectors.",
        ) from error
    if not callable(found):
        raise ConfigError(f"{named} is not a class of vector stores")
    return cast("Callable[..., object]", found)


def _mark(record: Record) -> str:
    """What ends the id of every row of a generation."""
    return hashlib.sha256(f"{record.name}\n{record.token}".encode()).hexdigest()[:_IDS]


def _in_memory(store: BasePydanticVectorStore) -> bool:
    """Whether the store is lost with the process unless it is saved."""
    return hasattr(type(store), "from_persist_path")
