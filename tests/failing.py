"""Fail at the Nth call: a piece of work is done again and again, and each call fails in its turn.

Calls are met by Python's own profiling hook, which is told of every call of a C function before it
is made; an error raised there is an error of the call. So nothing is replaced or patched: the
code under test calls the real `os.fsync`, the real SQLite, the real socket. What native libraries
do by themselves is not seen here; `test_torture.py` has the kernel refuse it.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import io
import os
import socket
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from rag.errors import ModelError
from rag.exits import run

FILE = {
    "_io": {"open", "write", "read", "readline", "readinto", "flush", "truncate"},
    "posix": {
        *("open", "write", "pwrite", "read", "pread", "fsync", "fdatasync", "ftruncate", "stat"),
        *("rename", "replace", "unlink", "mkdir", "rmdir", "listdir", "scandir", "statvfs"),
    },
    "fcntl": {"flock"},
}
DATABASE = {"connect", "execute", "executemany", "commit", "fetchone", "fetchall"}
SOCKET = {"connect", "sendall", "send", "recv", "recv_into"}


def os_error(number: int) -> Callable[[], BaseException]:
    return lambda: OSError(number, os.strerror(number))


def sqlite_error(name: str, text: str) -> Callable[[], BaseException]:
    def make() -> BaseException:
        error = sqlite3.OperationalError(text)
        error.sqlite_errorname = name
        return error

    return make


DISK: dict[str, Callable[[], BaseException]] = {
    "ENOSPC": os_error(errno.ENOSPC),
    "EIO": os_error(errno.EIO),
    "EINTR": os_error(errno.EINTR),
}
COMMON: dict[str, Callable[[], BaseException]] = {
    "memory": lambda: MemoryError(),
    "Ctrl-C": lambda: KeyboardInterrupt(),
}
ERRORS: dict[str, dict[str, Callable[[], BaseException]]] = {
    "file": {**DISK, **COMMON},
    "database": {
        "full": sqlite_error("SQLITE_FULL", "database or disk is full"),
        "I/O": sqlite_error("SQLITE_IOERR_WRITE", "disk I/O error"),
        **COMMON,
    },
    "embedder": {"gone": lambda: ModelError("The embedding server is gone"), **COMMON},
    "socket": {
        "reset": os_error(errno.ECONNRESET),
        "timeout": lambda: TimeoutError("timed out"),
        **COMMON,
    },
    "clock": COMMON,
}
CODES = {"memory": 5, "Ctrl-C": 130, "gone": 4, "ENOSPC": 5, "EIO": 5, "EINTR": 5, "full": 5}
"""The exit code of an error that ends the work; sockets are 4 and decided by their tests."""


def kind_of(event: str, frame: FrameType, called: Any) -> str:
    """What a call is to be counted as; empty: as nothing."""
    if event == "call":
        return "embedder" if frame.f_code.co_qualname == "HandEmbedder.embed" else ""
    if event != "c_call" or frame.f_code.co_filename.startswith("<frozen"):
        return ""
    name, owner = called.__name__, type(called.__self__)
    if isinstance(called.__self__, sqlite3.Connection | sqlite3.Cursor):
        return "database" if name in DATABASE else ""
    if owner.__mro__[-2:-1] and any(one.__module__ == "_socket" for one in owner.__mro__):
        return "socket" if name in SOCKET else ""
    module = called.__module__ or owner.__module__
    if module == "time":
        return "clock" if name in {"sleep", "time", "monotonic"} else ""
    if module in {"_sqlite3", "sqlite3"}:
        return "database" if name in DATABASE else ""
    return "file" if name in FILE.get(module, ()) else ""


@dataclass
class Calls:
    """Counts the calls of a block by kind; the `number`th of `kind`, from 1, raises `error`."""

    kind: str = ""
    number: int = 0
    error: Callable[[], BaseException] = MemoryError
    counts: dict[str, int] = field(default_factory=dict)
    failed: str = ""

    def __call__(self, frame: FrameType, event: str, called: Any) -> None:
        kind = kind_of(event, frame, called)
        if not kind or "process_request_thread" in threading.current_thread().name:
            return  # the latter is the scripted server's
        self.counts[kind] = count = self.counts.get(kind, 0) + 1
        if kind == self.kind and count == self.number:
            self.failed = f"{called} in {frame.f_code.co_filename}:{frame.f_lineno}"
            if kind == "socket":  # a connection that broke is broken for what comes after it too
                with contextlib.suppress(OSError):
                    called.__self__.shutdown(socket.SHUT_RDWR)
            raise self.error()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)


@dataclass(frozen=True)
class Ended:
    """How the work ended, as its command would have: the code, what was said, what was called."""

    code: int
    said: str
    failed: str


class Work(Protocol):
    """A piece of work on something that was made for it, and what must hold after it."""

    def __call__(self, place: Path) -> None: ...


def ended(work: Callable[[], None], calls: Calls) -> Ended:
    """Do it as the command line does, with its words and its exit code."""

    def command(**_: object) -> int:
        with calls.watching():
            work()
        return 0

    said = io.StringIO()
    code = 0
    with contextlib.redirect_stderr(said):
        try:
            run(command, "rag")  # type: ignore[arg-type]
        except SystemExit as left:
            code = int(left.code or 0)
    return Ended(code, said.getvalue(), calls.failed)


def counted(work: Callable[[], None]) -> dict[str, int]:
    """How many calls of each kind the work makes where none fails."""
    calls = Calls()
    result = ended(work, calls)
    assert result.code == 0, result.said
    return calls.counts


@dataclass(frozen=True)
class Held:
    """What this process holds: open files, threads, child processes."""

    files: int
    threads: int
    children: str


def held(patience: float = 2.0, most: Held | None = None) -> Held:
    """What is held now; with `most`, once no more than that is held or the time is over."""
    ends = time.monotonic() + patience
    while True:
        tasks = Path("/proc/self/task").glob("*/children")
        children = "".join(path.read_text() for path in tasks)
        now = Held(len(os.listdir("/proc/self/fd")), threading.active_count(), children)  # noqa: PTH208
        if most is None or time.monotonic() > ends or not _exceeds(now, most):
            return now
        gc.collect()
        time.sleep(0.02)


def _exceeds(now: Held, most: Held) -> bool:
    return now.files > most.files or now.threads > most.threads or now.children != most.children


def points(total: int, wanted: int, shift: int = 0) -> list[int]:
    """So many of the numbers 1 to `total`, evenly apart; all where there are fewer."""
    if total <= wanted:
        return list(range(1, total + 1))
    return sorted({1 + (shift + i * total // wanted) % total for i in range(wanted)})


def check_told(result: Ended, error: str) -> None:
    """One line, and the code of the error, unless the work did without the call."""
    if result.code == 0:
        assert error != "Ctrl-C", f"an interrupt was lost: {result.failed}"
        return
    if result.code == 130:
        assert (error, result.said) == ("Ctrl-C", "\ninterrupted\n"), result
        return
    lines = result.said.strip().splitlines()
    assert len(lines) == 1, result
    assert lines[0].startswith("error: "), result
