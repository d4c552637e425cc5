"""Generations as folders of their own, each with a Chroma collection.

Chroma's rows are durable, its vector index is not: it is overwritten in place, a kill during a
flush breaks it, a missing file gives partial results without an error, and flipped bits end the
process. So a collection is never changed once it is in use. A generation is built aside from the
catalog's vectors, verified in a process of its own, described by a manifest, and made current by
replacing one small file. Anything that is wrong with it is found before the first query, and the
answer to it is another generation.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from rag.errors import AskPapersError, ResourceError
from rag.index.embedding import Vectors
from rag.index.manifest import (
    Damaged,
    Manifest,
    check,
    describe,
    read_manifest,
    sync,
    write_durably,
)
from rag.index.vectors.seam import Facts, batches

if TYPE_CHECKING:
    import chromadb
    from chromadb.api.client import Client

_COLLECTION = "papers"
_CURRENT = "CURRENT"
_VERIFY_SECONDS = 600
_SELF_QUERIES = 20
_SEARCH_WIDTH = 200  # hnsw:ef; must reach the number of neighbours that are asked for


class LocalGeneration:
    """One verified collection, opened at its first query."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self._opening = threading.Lock()
        self._client: Client | None = None
        self._collection: chromadb.Collection | None = None

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @property
    def facts(self) -> Facts:
        """What the manifest says that it holds."""
        manifest = self.manifest
        return Facts(manifest.model, manifest.dimension, manifest.rows, manifest.revision)

    def query(self, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        """See `Generation.query`."""
        limit = min(limit, self.manifest.rows)
        if limit == 0:
            return []
        try:
            found = self._opened().query(
                query_embeddings=[vector.tolist()], n_results=limit, include=["distances"]
            )
        except Damaged:
            raise
        except Exception as error:  # the vendor's errors have no common base
            raise Damaged(f"The vectors in {self.folder} are damaged", cause=str(error)) from error
        distances = (found["distances"] or [[]])[0]
        return [(row, 1.0 - d) for row, d in zip(found["ids"][0], distances, strict=True)]

    def verify(self) -> None:
        """See `Generation.verify`: every row is read, in a process of its own."""
        verify_in_child(self.folder)

    def close(self) -> None:
        """Close the collection; a later query opens it again."""
        with self._opening:
            if self._client is not None:
                self._client.close()
            self._client = self._collection = None

    def _opened(self) -> chromadb.Collection:
        with self._opening:
            if self._collection is None:
                check(self.folder, self.manifest)
                self._client = _client(self.folder)
                self._collection = self._client.get_collection(_COLLECTION, embedding_function=None)
            return self._collection


class Generations:
    """The folder of generations and the file that names the current one."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.place = "this machine"

    def current(self) -> LocalGeneration | None:
        """See `VectorIndex.current`: it must be there, and its manifest must be readable."""
        try:
            name = (self.root / _CURRENT).read_text(encoding="ascii").strip()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise Damaged(f"{self.root / _CURRENT} cannot be read", cause=str(error)) from error
        folder = self.root / name
        if not name.startswith("gen-") or "/" in name:
            raise Damaged(f"{self.root / _CURRENT} names no generation")
        return LocalGeneration(folder, read_manifest(folder))

    def build(self, rows: Iterable[tuple[str, Vectors]], facts: Facts) -> LocalGeneration:
        """See `VectorIndex.build`. The one before is kept on disk until the next success."""
        self.clean()
        name = self._next_name()
        # Never the folder that the child of a build which was killed may still have open.
        temporary = self.root / f"{name}.{os.getpid()}.tmp"
        try:
            temporary.mkdir(parents=True)
            ids = _fill(temporary, rows, facts)
            manifest = describe(
                *(temporary, ids),
                model=facts.model,
                dimension=facts.dimension,
                revision=facts.revision,
            )
            verify_in_child(temporary)
            return self._publish(temporary, self.root / name, manifest)
        except AskPapersError:
            raise
        except Exception as error:  # the vendor's own too: they have no common base
            raise ResourceError(
                f"{self.root} cannot be written",
                cause=getattr(error, "strerror", None) or str(error),
                remedy="Check the disk space and the permissions, or use --data-dir.",
            ) from error
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def clean(self) -> None:
        """Remove what a build that was killed left behind. The caller holds the write lock."""
        for leftover in self.root.glob("gen-*.tmp"):
            shutil.rmtree(leftover, ignore_errors=True)

    def ping(self) -> None:
        """See `VectorIndex.ping`: this machine is there."""

    def close(self) -> None:
        """See `VectorIndex.close`: each generation is closed by itself."""

    def _next_name(self) -> str:
        numbers = [int(p.name[4:10]) for p in self.root.glob("gen-??????") if p.name[4:].isdigit()]
        return f"gen-{max(numbers, default=0) + 1:06d}"

    def _publish(self, temporary: Path, folder: Path, manifest: Manifest) -> LocalGeneration:
        before = (
            (self.root / _CURRENT).read_text("ascii", "replace").strip()
            if self._has_current()
            else ""
        )
        for path in [*temporary.rglob("*"), temporary]:
            sync(path)
        temporary.rename(folder)
        write_durably(self.root / _CURRENT, folder.name + "\n")
        for old in self.root.glob("gen-??????"):
            if old.name not in {before, folder.name}:
                shutil.rmtree(old, ignore_errors=True)
        return LocalGeneration(folder, manifest)

    def _has_current(self) -> bool:
        return (self.root / _CURRENT).is_file()


def verify(folder: Path) -> None:
    """Open a generation and try it: every row is there, is finite, and a sample finds itself.

    Raises:
        Damaged: it does not hold what its manifest says.
    """
    manifest = read_manifest(folder)
    check(folder, manifest)
    client = _client(folder)
    try:
        collection = client.get_collection(_COLLECTION, embedding_function=None)
        step = max(1, manifest.rows // _SELF_QUERIES)
        seen = 0
        for offset in range(0, manifest.rows, 500):
            page = collection.get(include=["embeddings"], limit=500, offset=offset)
            matrix = np.asarray(page["embeddings"], dtype=np.float32)
            if not np.isfinite(matrix).all():
                raise Damaged(f"{folder} holds a vector that is not finite")
            seen += len(page["ids"])
            for row in range((-offset) % step, len(matrix), step):
                _find_itself(collection, matrix[row], folder)
        if seen != manifest.rows:
            raise Damaged(f"{folder} is damaged", cause=f"{seen} of {manifest.rows} rows")
    finally:
        client.close()


def _find_itself(collection: chromadb.Collection, vector: Vectors, folder: Path) -> None:
    found = collection.query(query_embeddings=[vector.tolist()], n_results=1, include=["distances"])
    if not found["distances"] or not found["distances"][0] or found["distances"][0][0] > 1e-3:
        raise Damaged(f"{folder} is damaged", cause="a row does not find itself")


def _fill(folder: Path, rows: Iterable[tuple[str, Vectors]], facts: Facts) -> list[str]:
    client = _client(folder)
    try:
        limit = min(client.get_max_batch_size(), 2_000)
        collection = _new_collection(client, facts.rows)
        ids: list[str] = []
        for names, vectors in batches(rows, limit, facts.dimension):
            collection.upsert(ids=names, embeddings=vectors)
            ids += names
        return ids
    finally:
        client.close()


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


def _client(folder: Path) -> Client:
    """The one place where Chroma is opened: no `.env` of the working folder, no telemetry."""
    import chromadb
    from chromadb.config import Settings

    settings = Settings(_env_file=None, anonymized_telemetry=False)
    return cast("Client", chromadb.PersistentClient(str(folder), settings=settings))


def verify_in_child(folder: Path) -> None:
    """Flipped bits in a vector index end the process that reads them; so another one does."""
    command = [sys.executable, "-m", "rag.index.vectors.local", str(folder)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_VERIFY_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Damaged(f"{folder} could not be verified", cause="out of time") from error
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise Damaged(f"{folder} did not verify", cause=last)


if __name__ == "__main__":
    try:
        verify(Path(sys.argv[1]))
    except Exception as error:  # a child process: its last line is all that is read
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
