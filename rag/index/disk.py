"""Writing so that it lasts, and telling why it could not be done."""

from __future__ import annotations

import os
from pathlib import Path

_FULL = ("disk is full", "no space left", "file too large", "quota exceeded")
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


def is_for_space(error: BaseException, folder: Path) -> bool:
    """Whether an error, or one that it hides, comes of a full disk; of some only the text tells."""
    if is_full(folder):
        return True
    seen: BaseException | None = error
    while seen is not None:
        if any(words in str(seen).casefold() for words in _FULL):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
