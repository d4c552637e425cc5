"""One writer at a time: a lock that the kernel releases however its holder ends."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from rag.errors import IndexLocked, ResourceError


@contextmanager
def write_lock(path: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold the write lock at `path`, or fail at once; with `wait`, once its holder has let go.

    Raises:
        IndexLocked: another process holds it; the message names it.
        ResourceError: the lock file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ResourceError(
            f"{path.parent} cannot be written",
            cause=error.strerror or str(error),
            remedy="Name another place with --data-dir or RAG_DATA_DIR.",
        ) from error
    try:
        _acquire(descriptor, path, wait=wait)
        with suppress(OSError):  # a full disk keeps nobody from holding the lock
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, _this_process(), 0)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, path: Path, *, wait: bool) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise IndexLocked(
            f"The index in {path.parent} is being written",
            cause=_holder(os.pread(descriptor, 4096, 0)),
            remedy="Wait for it to end and try again, or use --wait.",
        ) from None


def _this_process() -> bytes:
    now = datetime.now().astimezone().strftime("%H:%M:%S")
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])[:200]
    return json.dumps({"pid": os.getpid(), "command": command, "since": now}).encode()


def _holder(note: bytes) -> str:
    try:
        who = json.loads(note)
        return f"by process {who['pid']}, {who['command']}, since {who['since']}"
    except (ValueError, KeyError, TypeError):
        return "by another process"
