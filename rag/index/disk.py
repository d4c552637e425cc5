"""Writing so that it lasts, and telling why it could not be done."""

from __future__ import annotations

import os
import resource
from pathlib import Path

_WANTING = (  # what libraries say that hide the error of the system
    *("disk is full", "no space left", "file too large", "quota exceeded"),
    *("too many open files", "unable to open database file"),
    *("cannot allocate memory", "failed to map segment", "bad_alloc", "out of memory"),
    "can't alloc",
)
_TOLD_BELOW = 1 << 30  # bytes; with more of them the disk is not what went wrong
_NOTHING = 1 << 18  # bytes with which nothing can be written any more


def write_durably(path: Path, text: str) -> None:
    """Replace a file so that after a crash it is either the old one or the new one."""
    temporary = path.with_name(f"{path.name}.new")
    temporary.write_text(text, encoding="utf-8")
    sync(temporary)
    temporary.replace(path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Make a file or a folder reach the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def free_bytes(folder: Path) -> int | None:
    """How much may still be written there; None where nobody knows."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return None
    return disk.f_bavail * disk.f_frsize


def with_space(cause: str, folder: Path) -> str:
    """A cause, with what is free on the disk where that is little."""
    free = free_bytes(folder)
    if free is None or free > _TOLD_BELOW:
        return cause
    return f"{cause.rstrip('.')}; {free / 1e6:,.1f} MB are free"


def is_full(folder: Path) -> bool:
    """Whether next to nothing can be written there any more."""
    free = free_bytes(folder)
    return free is not None and free < _NOTHING


def spare_handles() -> int | None:
    """How many more files this process may open; None where nobody knows."""
    try:
        taken = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    except FileNotFoundError:
        return None
    except OSError:  # not even this one
        return 0
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0] - taken


def is_for_want(error: BaseException, folder: Path | None = None) -> bool:
    """Whether an error, or one that it hides, comes of a lack of space, memory or file handles.

    Of some only the text tells. `folder`: where something was to be written.
    """
    if folder is not None and is_full(folder):
        return True
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, MemoryError) or any(w in str(seen).casefold() for w in _WANTING):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
