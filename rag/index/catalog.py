"""The truth: one SQLite file with the papers, where they came from, and their vectors.

Whatever else the index consists of is derived from it. A reader sees one state of the catalog for
as long as it needs (`reading`), the one writer changes it in one transaction (`writing`); each
such change raises the catalog's revision, and a paper carries the revision that brought it in.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue

from rag.errors import IndexUnusable, ResourceError
from rag.index.snapshot import Snapshot, Writer

SCHEMA_VERSION = 1
_BUSY_SECONDS = 10.0

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,      -- resolved; the identity of a source
    label TEXT NOT NULL,            -- folder/name, as people are told it
    digest TEXT NOT NULL            -- SHA-256 of the bytes that were read
);
CREATE TABLE papers (
    id INTEGER PRIMARY KEY,
    paper_id TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    title TEXT NOT NULL,
    title_derived INTEGER NOT NULL,
    sentences TEXT NOT NULL,        -- JSON: [[start, end], …] into text
    revision INTEGER NOT NULL       -- of the catalog when the paper came in
);
CREATE INDEX papers_by_revision ON papers (revision);
CREATE TABLE sources (              -- a paper may stand in several places
    file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    paper INTEGER NOT NULL REFERENCES papers ON DELETE CASCADE,
    start INTEGER NOT NULL,         -- character of the file where the text begins
    PRIMARY KEY (file, ordinal)
) WITHOUT ROWID;
CREATE INDEX sources_by_paper ON sources (paper);
CREATE TABLE vectors (              -- kept when a paper goes: nothing is embedded twice
    paper_id TEXT NOT NULL,
    model TEXT NOT NULL,            -- embedding model and chunking
    matrix BLOB NOT NULL,           -- a row per chunk, float16
    PRIMARY KEY (paper_id, model)
);
CREATE VIRTUAL TABLE postings USING fts5 (terms, tokenize = "unicode61 tokenchars '.'");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (postings, row);
"""


class Catalog:
    """The catalog file. Safe for use by several threads; connections are kept for reuse."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle: SimpleQueue[sqlite3.Connection] = SimpleQueue()

    def exists(self) -> bool:
        """Whether there is a catalog at all."""
        return self.path.is_file()

    def create(self) -> None:
        """Make an empty catalog unless there is one. The caller holds the write lock.

        Raises:
            ResourceError: the folder cannot be written.
        """
        if self.exists():
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            for leftover in self.path.parent.glob("catalog.*.new"):  # of a run that was killed
                leftover.unlink()
            temporary = self.path.with_suffix(f".{os.getpid()}.new")
            connection = sqlite3.connect(temporary)
            with connection:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(_SCHEMA)
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.close()
            temporary.replace(self.path)
        except (OSError, sqlite3.Error) as error:
            raise ResourceError(
                f"{self.path.parent} cannot be written",
                cause=getattr(error, "strerror", None) or str(error),
                remedy="Name another place with --data-dir or RAG_DATA_DIR.",
            ) from error

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        """One state of the catalog, unchanged until the block ends."""
        with self._transaction("BEGIN") as connection:
            yield Snapshot(connection)

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """A change of the catalog: all of it when the block ends, none of it if it raises."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield Writer(connection)

    def close(self) -> None:
        """Close the kept connections."""
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        connection = self._connection()
        try:
            with self._translated():
                connection.execute(begin)
                yield connection
                connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        finally:
            self._idle.put(connection)

    def _connection(self) -> sqlite3.Connection:
        try:
            return self._idle.get_nowait()
        except Empty:
            with self._translated():
                return self._connect()

    def _connect(self) -> sqlite3.Connection:
        if not self.exists():
            raise IndexUnusable(
                f"There is no index in {self.path.parent}", remedy="Run `rag index` first."
            )
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != SCHEMA_VERSION:
            connection.close()
            raise IndexUnusable(
                f"The catalog {self.path} has format {version}, this program reads "
                f"{SCHEMA_VERSION}",
                remedy="Upgrade askpapers, or name another --data-dir.",
            )
        return connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname in {"SQLITE_FULL", "SQLITE_READONLY", "SQLITE_CANTOPEN"}:
                raise ResourceError(
                    f"The catalog {self.path} cannot be written",
                    cause=str(error),
                    remedy="Check the disk space and the permissions, or use --data-dir.",
                ) from error
            raise IndexUnusable(
                f"The catalog {self.path} is not usable", cause=str(error)
            ) from error
        except sqlite3.DatabaseError as error:
            raise IndexUnusable(
                f"The catalog {self.path} is damaged",
                cause=str(error),
                remedy="Move it away and run `rag index` on your files again.",
            ) from error
