"""Weight files on disk: joined, hashed while they are written, and there only if they are right."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from rag.errors import WeightsError
from rag.models.catalogue import WeightFile

BLOCK = 1 << 20


def size_of(path: Path) -> int | None:
    """Bytes of a file; None if it is not there or out of reach."""
    try:
        return path.stat().st_size
    except OSError:
        return None


def sha256_of(path: Path) -> str:
    """The hash of a file's content, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_intact(path: Path, file: WeightFile) -> bool:
    """Whether `path` holds the pinned file. The size is compared first, so a miss is cheap."""
    return size_of(path) == file.size and sha256_of(path) == file.sha256


def write_checked(sources: list[Path], target: Path, file: WeightFile) -> None:
    """Join `sources` into `target`, which appears only if it is the pinned file.

    Raises:
        WeightsError: the hash is another; nothing is left at or beside `target`.
        OSError: reading or writing failed; likewise.
    """
    temporary = target.with_name(target.name + ".tmp")
    digest = hashlib.sha256()
    try:
        with temporary.open("wb") as sink:
            for block in _blocks(sources):
                digest.update(block)
                sink.write(block)
            sink.flush()
            os.fsync(sink.fileno())
        if digest.hexdigest() != file.sha256:
            raise altered(file, "What came", digest.hexdigest(), temporary.stat().st_size)
        temporary.replace(target)
        _sync_folder(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def altered(file: WeightFile, what: str, found: str, size: int) -> WeightsError:
    """The error for content that is not the pinned one; `what` says where it was found."""
    return WeightsError(
        f"{what} is not the pinned {file.name}",
        cause=f"expected {file.size} bytes with sha256 {file.sha256}, found {size} with {found}",
        remedy="`rag models pull` fetches what is missing or wrong.",
    )


def _blocks(sources: list[Path]) -> Iterator[bytes]:
    for source in sources:
        with source.open("rb") as stream:
            while block := stream.read(BLOCK):
                yield block


def _sync_folder(folder: Path) -> None:
    """Make a rename in `folder` outlast a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
