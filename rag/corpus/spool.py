"""Bytes from outside, taken in under limits and kept for reading."""

from __future__ import annotations

import errno
import io
import tempfile
import threading
import weakref
from collections.abc import Callable
from typing import BinaryIO

from rag.corpus.content import Limits
from rag.errors import ResourceError

_IN_MEMORY = 1 << 24
_BLOCK = 1 << 18
_LONGEST_READ = 1 << 25  # of a name or a directory; a longer one is made to fill the memory


class LimitExceeded(Exception):
    """More was to come than a limit allows; the message names it."""


class Metered(io.RawIOBase):
    """A stream of unpacked bytes that stops at the limits of its archive; it goes forward only.

    `packed` tells how many packed bytes were taken so far; `last` is what was read last.
    """

    def __init__(self, stream: BinaryIO, packed: Callable[[], int], limits: Limits) -> None:
        self._stream = stream
        self._packed = packed
        self._limits = limits
        self._at = 0
        self.last = b""

    def readable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """Bytes given so far."""
        return self._at

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes.

        Raises:
            LimitExceeded: they are too many, or expand too much.
        """
        if not 0 <= size <= _LONGEST_READ:
            raise LimitExceeded(f"a name or directory of {size:,} bytes")
        self.last = data = self._stream.read(size)
        self._at += len(data)
        check_size(self._at, self._limits)
        check_expansion(self._at, self._packed(), self._limits)
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Read on to `offset`."""
        if whence != io.SEEK_SET or offset < self._at:
            raise io.UnsupportedOperation("going back")
        while self._at < offset and self.read(min(_BLOCK, offset - self._at)):
            pass
        return self._at


def check_size(unpacked: int, limits: Limits) -> None:
    """Hold the bytes of one archive against `max_file_mb`."""
    if unpacked > limits.file_mb * 1_000_000:
        raise LimitExceeded(f"more than max_file_mb = {limits.file_mb:,} when unpacked")


def check_expansion(unpacked: int, packed: int, limits: Limits) -> None:
    """Hold unpacked against packed bytes; what is small does no harm however it was packed."""
    if unpacked > max(packed * limits.expansion, _BLOCK):
        raise LimitExceeded(
            f"it unpacks to more than max_expansion = {limits.expansion:,} times its size"
        )


class Spool:
    """Pieces of bytes one after another, on disk once they are many; gone when not used any more.

    The file has no name, so that nothing is left behind however the process ends.
    """

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        self.size = 0

    def add(self, stream: BinaryIO) -> tuple[int, int]:
        """Take in a stream, which keeps the limits; where the piece begins and how long it is.

        Raises:
            ResourceError: there is no room for it.
        """
        start = self.size
        try:
            while block := stream.read(_BLOCK):
                self._append(block)
        except BaseException:
            self.size = start  # what follows overwrites the torn piece
            raise
        return start, self.size - start

    def _append(self, block: bytes) -> None:
        try:
            with self._lock:
                self._file.seek(self.size)
                self._file.write(block)
        except OSError as error:
            if error.errno not in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
                raise
            raise ResourceError(
                "An archive cannot be unpacked",
                cause=f"no space left in {tempfile.gettempdir()}",
                remedy="Free some, or set TMPDIR.",
            ) from error
        self.size += len(block)

    def open(self, start: int, size: int) -> BinaryIO:
        """A piece from its beginning."""
        return io.BufferedReader(_Piece(self.read, start, size))

    def read(self, start: int, size: int) -> bytes:
        """Some bytes, in any order and from any thread."""
        with self._lock:
            self._file.seek(start)
            return self._file.read(size)


class _Piece(io.RawIOBase):
    """A stretch of a spool as a stream that can be sought in."""

    def __init__(self, read: Callable[[int, int], bytes], start: int, size: int) -> None:
        self._read, self._start, self._size, self._at = read, start, size, 0

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fill `buffer` as far as the piece goes."""
        data = self._read(self._start + self._at, min(len(buffer), self._size - self._at))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move within the piece."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = min(max(base + offset, 0), self._size)
        return self._at
