"""The truth: one SQLite file with the papers, where they came from, and their vectors.

Whatever else the index consists of is derived from it. A reader sees one state of the catalog for
as long as it needs (`reading`), the one writer changes it in one transaction (`writing`); each
such change raises the catalog's revision, and a paper carries the revision that brought it in.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue

from rag.errors import IndexLocked, IndexUnusable, ResourceError
from rag.index.counts import TermCounts
from rag.index.disk import is_full, sync, with_space
from rag.index.lock import write_lock
from rag.index.migrations import SCHEMA_VERSION, has_present_terms, migrate, refresh_terms
from rag.index.snapshot import Snapshot
from rag.index.writer import Writer

LOCK = "writer.lock"  # beside the catalog
_REPLACE = "Move it away and run `rag index` on your files again."
_ROOM = "Check the disk space and the permissions, or use --data-dir."
_BUSY_SECONDS = 8.0
_DISK_FAULTS = ("SQLITE_FULL", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_IOERR")


class _Fixed(sqlite3.Connection):
    """To a catalog that nobody writes at present: for one use, as somebody may write it later."""


class Catalog:
    """The catalog file. Safe for use by several threads; connections are kept for reuse."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        self._counts = TermCounts()

    def exists(self) -> bool:
        """Whether there is a catalog at all."""
        return self.path.is_file()

    def create(self) -> None:
        """Make an empty catalog, or bring the one that is there to the present format.

        The caller holds the write lock.

        Raises:
            ResourceError: the folder cannot be written.
            IndexUnusable: it was made by a newer release, or is damaged.
        """
        if self.exists():
            self._upgrade()
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._clear()
            temporary = self.path.with_suffix(f".{os.getpid()}.new")
            with closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                migrate(connection)
                refresh_terms(connection)
            sync(temporary)
            temporary.replace(self.path)
            sync(self.path.parent)
        except (OSError, sqlite3.Error) as error:
            raise ResourceError(
                f"{self.path.parent} cannot be written",
                cause=getattr(error, "strerror", None) or str(error),
                remedy="Name another place with --data-dir or RAG_DATA_DIR.",
            ) from error

    def _clear(self) -> None:
        """Remove what a run that was killed has left, and the log of a catalog that was moved away.

        SQLite would take that log for the new catalog's own, and write it into it.
        """
        for leftover in self.path.parent.glob("catalog.*.new*"):
            leftover.unlink()
        for name in (f"{self.path.name}-wal", f"{self.path.name}-shm"):
            self.path.with_name(name).unlink(missing_ok=True)

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        """One state of the catalog, unchanged until the block ends."""
        with self._transaction("BEGIN") as connection:
            yield Snapshot(connection, self._counts)

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """A change of the catalog: all of it when the block ends, none of it if it raises."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield Writer(connection)

    def checkpoint(self) -> None:
        """Bring what the write-ahead log holds into the file and empty it, if no one reads it."""
        with self._lent() as connection, self._translated():
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the kept connections."""
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lent() as connection:
            try:
                with self._translated():
                    connection.execute(begin)
                    yield connection
                    connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _lent(self) -> Iterator[sqlite3.Connection]:
        connection = self._connection()
        try:
            yield connection
        finally:
            if isinstance(connection, _Fixed):
                connection.close()
            else:
                self._idle.put(connection)

    def _connection(self) -> sqlite3.Connection:
        try:
            return self._idle.get_nowait()
        except Empty:
            with self._translated():
                return self._connect()

    def _connect(self) -> sqlite3.Connection:
        """A connection to a catalog of the present format; an older one is brought to it."""
        if not self.exists():
            raise IndexUnusable(
                f"There is no index in {self.path.parent}", remedy="Run `rag index` first."
            )
        connection, older = self._opened()
        if older:
            connection.close()
            self._check_convertible()
            with write_lock(self.path.parent / LOCK):
                self._upgrade()
            connection, _ = self._opened()
        _set_up(connection)
        return connection

    def _opened(self) -> tuple[sqlite3.Connection, bool]:
        """A connection, and whether it is to a catalog of an earlier release.

        In a folder that is read-only or full SQLite cannot make the file by which those who read
        and write a catalog agree. If nobody writes it now, it is read without.
        """
        connection = self._open()
        try:
            return connection, self._is_older(connection)
        except sqlite3.OperationalError as error:
            connection.close()
            if not error.sqlite_errorname.startswith(_DISK_FAULTS) or self._has_log():
                raise
        fixed = self._open("?immutable=1", _Fixed)
        return fixed, self._is_older(fixed)

    def _open(
        self, query: str = "", kind: type[sqlite3.Connection] = sqlite3.Connection
    ) -> sqlite3.Connection:
        return sqlite3.connect(
            self.path.absolute().as_uri() + query,
            uri=True,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            factory=kind,
        )

    def _has_log(self) -> bool:
        """Whether something stands in the log that is not yet in the file."""
        log = self.path.with_name(f"{self.path.name}-wal")
        return log.exists() and log.stat().st_size > 0

    def _check_convertible(self) -> None:
        if not os.access(self.path.parent, os.W_OK):
            raise ResourceError(
                f"The index in {self.path.parent} is of an earlier askpapers and has to be brought"
                " to the present format once",
                cause="the folder is read-only",
                remedy="Run `rag index` as someone who may write there, or use a copy of the folder"
                " with --data-dir.",
            )

    def _upgrade(self) -> None:
        with self._translated():
            connection = self._open()
            try:
                if self._is_older(connection):
                    _set_up(connection)
                    migrate(connection)
                    refresh_terms(connection)
            finally:
                connection.close()

    def _is_older(self, connection: sqlite3.Connection) -> bool:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > SCHEMA_VERSION:
            connection.close()
            raise IndexUnusable(
                f"The catalog {self.path} has format {version}, made by a newer askpapers; this "
                f"one reads up to {SCHEMA_VERSION}",
                remedy="Upgrade askpapers, or name another --data-dir.",
            )
        if version == 0:  # a catalog appears under its name only once it is whole
            connection.close()
            raise IndexUnusable(
                f"The catalog {self.path} is damaged", cause="it has no format", remedy=_REPLACE
            )
        return bool(version < SCHEMA_VERSION) or not has_present_terms(connection)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise self._told(error) from error
        except sqlite3.DatabaseError as error:
            if is_full(self.path.parent):  # a log that was cut short there reads as damage
                raise self._no_room(error) from error
            raise IndexUnusable(
                f"The catalog {self.path} is damaged",
                cause=str(error),
                remedy=_REPLACE,
            ) from error

    def _told(self, error: sqlite3.OperationalError) -> IndexUnusable | ResourceError:
        code = getattr(error, "sqlite_errorname", "")
        if code.startswith(_DISK_FAULTS):
            return self._no_room(error)
        if code.startswith("SQLITE_BUSY"):
            return IndexLocked(
                f"The catalog {self.path} is in use by another program",
                cause=f"waited {_BUSY_SECONDS:.0f} s",
                remedy="Close that program and try again.",
            )
        return IndexUnusable(f"The catalog {self.path} is not usable", cause=str(error))

    def _no_room(self, error: sqlite3.DatabaseError) -> ResourceError:
        what = f"The catalog {self.path} cannot be read or written"
        return ResourceError(what, cause=with_space(str(error), self.path.parent), remedy=_ROOM)


def _set_up(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")  # what is removed is nowhere in the file
    connection.execute("PRAGMA foreign_keys = ON")
