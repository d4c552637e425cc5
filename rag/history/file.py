"""The SQLite file behind what is kept: opened, created, and its faults told in one line."""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from rag.errors import HistoryUnusable, ResourceError
from rag.history.migrations import CHANGES, Change, NewerFormat, migrate
from rag.index.disk import sync, with_space

_BUSY_SECONDS = 8.0
_DISK_FAULTS = ("SQLITE_FULL", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_IOERR")


class ConversationFile:
    """One file. A connection is opened for each use, so any thread and process may use it."""

    def __init__(
        self, path: Path, changes: Sequence[Change] = CHANGES, holds: str = "conversations"
    ) -> None:
        """`changes` make its format; `holds` says what is in it, where that cannot be read."""
        self.path = path
        self._changes = changes
        self._holds = holds

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One state of the file; where there is none it is empty, and none is made."""
        with (
            self._translated(),
            closing(self._readable() if self.path.exists() else self._empty()) as it,
        ):
            it.execute("BEGIN")
            yield it

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A change: on the disk when the block has ended, none of it if it raises."""
        with self._translated():
            self._create()
            with closing(self._opened()) as connection:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")

    def forget(self) -> None:
        """Bring the log into the file and empty it: what was deleted stands nowhere any more."""
        with self._translated(), closing(self._opened()) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _readable(self) -> sqlite3.Connection:
        """The file; as it stands, where nothing can be written beside it."""
        try:
            return self._opened()
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")):
                raise
        return sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)

    def _opened(self) -> sqlite3.Connection:
        connection = _connected(self.path)
        try:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")
            migrate(connection, self._changes)
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _create(self) -> None:
        """Make the file, if nobody has: it appears under its name once it is whole."""
        if self.path.exists():
            return
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self.path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self.path.exists():
                return
            self._clear()
            temporary = self._beside(".new")
            with closing(_connected(temporary)) as connection:
                temporary.chmod(0o600)  # questions are private
                connection.execute("PRAGMA journal_mode = WAL")
                migrate(connection, self._changes)
            sync(temporary)
            temporary.replace(self.path)
            sync(self.path.parent)

    def _empty(self) -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        migrate(connection, self._changes)
        return connection

    def _clear(self) -> None:
        """Remove what a killed run has left, and the log of a file that was moved away."""
        for end in (".new", ".new-wal", ".new-shm", "-wal", "-shm"):
            self._beside(end).unlink(missing_ok=True)

    def _beside(self, end: str) -> Path:
        return self.path.with_name(f"{self.path.name}{end}")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except NewerFormat as error:
            raise HistoryUnusable(
                f"{self.path} was made by a newer askpapers",
                cause=str(error),
                remedy="Upgrade askpapers, or name another --data-dir.",
            ) from error
        except sqlite3.DatabaseError as error:
            raise self._told(error) from error
        except OSError as error:
            raise self._no_room(error.strerror or str(error)) from error

    def _told(self, error: sqlite3.DatabaseError) -> ResourceError | HistoryUnusable:
        code = getattr(error, "sqlite_errorname", "")
        if code.startswith(_DISK_FAULTS):
            return self._no_room(str(error))
        if code.startswith("SQLITE_BUSY"):
            return ResourceError(
                f"{self.path} is in use by another program",
                cause=f"waited {_BUSY_SECONDS:.0f} s",
                remedy="Close that program and try again.",
            )
        return HistoryUnusable(
            f"{self.path} holds no {self._holds} that can be read",
            cause=str(error),
            remedy="Move it away: a new one is begun.",
        )

    def _no_room(self, cause: str) -> ResourceError:
        return ResourceError(
            f"The {self._holds} in {self.path} cannot be read or written",
            cause=with_space(cause, self.path.parent),
            remedy="Check the disk space and the permissions, or use --data-dir.",
        )


def _connected(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
