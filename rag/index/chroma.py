"""Chroma, which is opened here and nowhere else.

It is written and tried out in a child process only, which this module is when it is run: a flipped
bit in a vector index ends the process that reads it, a full disk can hang the call that meets it
for good, and no call can be interrupted. `rag.index.child` starts that process and gives it up.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast

import numpy as np

from rag.errors import AskPapersError, ResourceError
from rag.index.disk import is_for_want, is_full, spare_handles, with_space
from rag.index.embedding import Vectors
from rag.index.manifest import (
    DATABASE,
    Damaged,
    Unavailable,
    Unsearchable,
    check,
    describe,
    is_locked,
    read_manifest,
)
from rag.starting import spare_grammars

if TYPE_CHECKING:
    import chromadb
    from chromadb.api.client import Client

Result = TypeVar("Result")
Batch = tuple[list[str], Vectors]

_COLLECTION = "papers"
UNSEARCHABLE = 6  # the exit status of a build whose rows are there and are not found
_SELF_QUERIES = 20
_ITSELF = 1e-3  # the cosine distance of a row from itself, at most
_MOST_MISSED = 0.1  # of a sample; an approximate index misses a row now and then
_PAGE = 500
_SEARCH_WIDTH = 200  # hnsw:ef; must reach the number of neighbours that are asked for
_MOST_AT_ONCE = 2_000
_HANDLES = 24  # files that it opens, some at a time; it calls itself damaged where it may not
_UNLOCKED_IN = 5.0  # seconds
_ONE_AT_A_TIME = (
    threading.Lock()
)  # Chroma keeps what is open in one table without a lock of its own


@dataclass(frozen=True, slots=True)
class Order:
    """The generation that is to be built, of `count` rows."""

    count: int
    dimension: int
    model: str
    revision: int


class Opened:
    """A collection of a sound generation, open for queries.

    No call of Chroma can be given up: it may keep the interpreter's own lock while it waits. What
    would make it wait is looked for before it is opened.
    """

    def __init__(self, folder: Path) -> None:
        """Open the collection in `folder`.

        Raises:
            Damaged: it cannot be opened.
            Unavailable: it cannot be opened at present, for want of space or permission, or
                because another program has locked it.
        """
        self._folder = folder
        self._process = os.getpid()
        if reason := _in_the_way(folder):
            raise Unavailable(f"The vectors in {folder} cannot be opened", cause=reason)
        self._client, self._collection = self._translated(lambda: _open(folder))

    def query(self, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        """Ids and cosine similarities of the nearest rows, nearest first.

        Raises:
            Damaged: the collection cannot be searched.
            Unavailable: it cannot be searched at present, or was opened before a fork.
        """
        if os.getpid() != self._process:  # where Chroma's threads are not, and a call never ends
            raise Unavailable(
                f"The vectors in {self._folder} cannot be searched here",
                cause="they were opened by the process that this one was forked from",
            )
        found = self._translated(
            lambda: self._collection.query(
                query_embeddings=[vector.tolist()], n_results=limit, include=["distances"]
            )
        )
        distances = (found["distances"] or [[]])[0]
        return [(row, 1.0 - d) for row, d in zip(found["ids"][0], distances, strict=True)]

    def close(self) -> None:
        """Let go of the collection; one from before a fork is left as it is."""
        if os.getpid() == self._process:
            with _ONE_AT_A_TIME:
                self._client.close()

    def _translated(self, call: Callable[[], Result]) -> Result:
        try:
            return call()
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except (
            BaseException
        ) as error:  # the vendor's have no common base; its panics are no Exception
            cause = with_space(str(error), self._folder)
            if is_for_want(error, self._folder):
                what = f"The vectors in {self._folder} cannot be searched"
                raise Unavailable(what, cause=cause) from error
            raise Damaged(f"The vectors in {self._folder} are damaged", cause=cause) from error


def _in_the_way(folder: Path) -> str:
    """What would keep Chroma from opening a generation, which it writes to at that; empty: nothing.

    It waits 1,000 s for a lock, and on a full disk for ever; short of file handles it panics.
    """
    if not all(os.access(path, os.W_OK) for path in (folder, folder / DATABASE)):
        return "the folder is read-only"
    if is_full(folder):
        return "the disk is full"
    spare = spare_handles()
    if spare is not None and spare < _HANDLES:
        return f"only {max(spare, 0)} more files may be opened"
    if is_locked(folder / DATABASE, _UNLOCKED_IN):
        return f"another program has had them locked for {_UNLOCKED_IN:.0f} s"
    return ""


def fill(folder: Path, batches: Iterable[Batch], order: Order) -> list[str]:
    """Make the collection of a generation from unit vectors; the ids of its rows.

    Raises:
        Damaged: a vector is not usable, or there are more or fewer than were announced.
    """
    client = _client(folder)
    try:
        collection = _new_collection(client, order.count)
        limit = min(client.get_max_batch_size(), _MOST_AT_ONCE)
        ids: list[str] = []
        for names, vectors in batches:
            if not np.isfinite(vectors).all():
                raise Damaged("A stored vector is not usable", remedy="Run `rag index --rebuild`.")
            for start in range(0, len(names), limit):
                end = start + limit
                collection.upsert(ids=names[start:end], embeddings=vectors[start:end])
            ids += names
    finally:
        client.close()
    if len(ids) != order.count:
        raise Damaged(f"{len(ids)} of {order.count} vectors are stored", remedy="Run `rag index`.")
    return ids


def verify(folder: Path, moved: Callable[[], None] = lambda: None) -> None:
    """Open a generation and try it: every row is there, is finite, and a sample finds itself.

    `moved` is called after every step.

    Raises:
        Damaged: it does not hold what its manifest says; Unsearchable: it does, in vain.
    """
    manifest = read_manifest(folder)
    check(folder, manifest)
    client, collection = _open(folder)
    try:
        seen = 0
        step = max(1, manifest.rows // _SELF_QUERIES)
        sample: list[Vectors] = []
        for page in _pages(collection, manifest.rows):
            sample += [*page[-seen % step :: step]]
            seen += len(page)
            moved()
        if seen != manifest.rows:
            raise Damaged(f"{folder} is damaged", cause=f"{seen} of {manifest.rows} rows")
        missed = sum(not _finds_itself(collection, vector) for vector in sample)
        if missed > _MOST_MISSED * len(sample):
            raise Unsearchable(f"{missed} of {len(sample)} rows are not found")
    finally:
        client.close()


def _pages(collection: chromadb.Collection, rows: int) -> Iterator[Vectors]:
    """The vectors of a collection, page by page."""
    for offset in range(0, rows, _PAGE):
        page = collection.get(include=["embeddings"], limit=_PAGE, offset=offset)
        matrix = np.asarray(page["embeddings"], dtype=np.float32)
        if not np.isfinite(matrix).all():
            raise Damaged("A vector is not finite")
        yield matrix


def _finds_itself(collection: chromadb.Collection, vector: Vectors) -> bool:
    found = collection.query(query_embeddings=[vector.tolist()], n_results=1, include=["distances"])
    distances = (found["distances"] or [[]])[0]
    return bool(len(distances)) and distances[0] <= _ITSELF


def _new_collection(client: Client, count: int) -> chromadb.Collection:
    """Its vectors reach the disk once, with the last row, and none is left to be replayed."""
    return client.create_collection(
        _COLLECTION,
        embedding_function=None,
        configuration={
            "hnsw": {
                "space": "cosine",
                "ef_search": _SEARCH_WIDTH,
                "sync_threshold": count,
                "batch_size": min(count, 100),
            }
        },
    )


def _open(folder: Path) -> tuple[Client, chromadb.Collection]:
    with _ONE_AT_A_TIME:
        client = _client(folder)
        try:
            return client, client.get_collection(_COLLECTION, embedding_function=None)
        except BaseException:
            client.close()
            raise


def _client(folder: Path) -> Client:
    """No `.env` of the working folder is read, no telemetry is sent.

    Chroma keeps what it opens by its path, even if it could not be opened; it is told to forget
    that, or the path could not be opened again by this process.
    """
    import chromadb
    from chromadb.api.shared_system_client import SharedSystemClient
    from chromadb.config import Settings

    settings = Settings(_env_file=None, anonymized_telemetry=False)
    try:
        return cast("Client", chromadb.PersistentClient(str(folder), settings=settings))
    except BaseException:
        SharedSystemClient.clear_system_cache()
        raise


# --- the child process


def serve(command: str, folder: Path, source: BinaryIO, moved: Callable[[], None]) -> None:
    """Build the generation that `source` brings (see `rag.index.child`), or only try one out."""
    if command == "build":
        order = Order(**json.loads(source.readline()))
        moved()
        try:
            ids = fill(folder, _received(source, order.dimension, moved), order)
            describe(
                folder, ids, model=order.model, dimension=order.dimension, revision=order.revision
            )
        except AskPapersError:
            raise
        except Exception as error:  # the vendor's own too: they have no common base
            raise ResourceError(str(error)) from error
        moved()
    verify(folder, moved)


def _received(source: BinaryIO, dimension: int, moved: Callable[[], None]) -> Iterator[Batch]:
    """Batches as they come; the one before has been stored when the next is asked for."""
    while names := json.loads(source.readline()):
        raw = source.read(len(names) * dimension * 4)
        yield names, np.frombuffer(raw, dtype=np.float32).reshape(len(names), dimension)
        moved()


def main(command: str, folder: str) -> int:
    """Do it; the exit status tells whose fault it was, the last line of standard error why."""

    def moved() -> None:
        sys.stdout.write(".")
        sys.stdout.flush()

    spare_grammars()
    try:
        serve(command, Path(folder), sys.stdin.buffer, moved)
    except Exception as error:  # whatever it is, its last line is all that is read
        cause = getattr(error, "cause", "") or getattr(error, "what", "") or str(error)
        sys.stderr.write(" ".join(cause.split()) + "\n")
        if isinstance(error, Unsearchable):
            return UNSEARCHABLE
        unwritable = isinstance(error, ResourceError) or is_for_want(error, Path(folder))
        return (ResourceError if unwritable else Damaged).exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
