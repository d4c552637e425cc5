"""The bytes of one file, as a reader takes them: opened, decoded and kept within limits."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO, TextIO

from rag.corpus.encoding import Encoding, declared, find_encoding, is_binary, without_controls
from rag.errors import InputError

HEAD_BYTES = 8192
_LONGEST_PIECE = 1 << 18


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is taken before a file or a record is refused; each is a setting `max_…`."""

    file_mb: int = 2048  # what is read from one file, unpacked
    record_chars: int = 200_000  # title and text of one record
    records: int = 5_000_000  # of one file
    pages: int = 2_000  # of one PDF
    expansion: int = 200  # unpacked to packed bytes of an archive
    seconds: int = 60  # for one PDF


DEFAULT_LIMITS = Limits()


class Content:
    """One file or one member of an archive. `name` is its file name, `label` what people are told.

    It may be opened many times, one after another, and gives the same bytes each time.
    """

    def __init__(
        self,
        name: str,
        label: str,
        size: int,
        open_bytes: Callable[[], BinaryIO],
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self.name = name
        self.label = label
        self.size = size
        self.limits = limits
        self._open = open_bytes

    @classmethod
    def of(cls, data: bytes, name: str, limits: Limits = DEFAULT_LIMITS) -> Content:
        """Content of bytes at hand."""
        return cls(name, name, len(data), lambda: io.BytesIO(data), limits)

    @property
    def suffix(self) -> str:
        """The last suffix of the name in lower case, with its dot; empty if there is none."""
        stem, dot, last = self.name.rpartition(".")
        return f".{last.lower()}" if dot and stem else ""

    @cached_property
    def head(self) -> bytes:
        """The first bytes, by which a format is recognised."""
        with self.open() as stream:
            return stream.read(HEAD_BYTES)

    @cached_property
    def start(self) -> str:
        """The head as text without mark or leading white space; empty where it is not text.

        The rest is read only where the head is text, yet neither UTF-8 nor marked as another.
        """
        codec, utf8 = declared(self.head), _is_utf8(self.head)
        if not codec and is_binary(self.head, utf8=utf8):
            return ""
        try:
            codec = codec or ("utf-8" if utf8 else self.encoding)
        except InputError:
            return ""
        return without_controls(self.head.decode(codec, "ignore")).lstrip()

    def open(self) -> BinaryIO:
        """The bytes from their beginning.

        Raises:
            InputError: they cannot be read.
        """
        try:
            return self._open()
        except OSError as error:
            raise InputError(f"{self.label} cannot be read", cause=error.strerror or "") from error

    @property
    def encoding(self) -> str:
        """The codec in which the bytes are decoded, what does not fit it being replaced.

        Raises:
            InputError: they are not text.
        """
        return self._encoding.codec

    @property
    def notes(self) -> tuple[str, ...]:
        """What people should know of the decoding: an encoding that was guessed, what was mended.

        Empty for content that nobody has read as text.
        """
        return self._encoding.notes if "_encoding" in vars(self) else ()

    @cached_property
    def _encoding(self) -> Encoding:
        found = find_encoding(self.open)
        if found is None:
            raise InputError(
                f"{self.label} is not readable as text",
                cause="binary",
                remedy="Save it as text in UTF-8.",
            )
        return found

    def lines(self) -> Iterator[str]:
        """The decoded lines, each with its end as it stands; memory holds one at a time.

        A line that is longer than any in a usual file comes in pieces, of which the last has its
        end. They are free of control characters (see `rag.corpus.encoding`), and offsets in the
        decoded file count characters of this.

        Raises:
            InputError: as `encoding`.
        """
        return self._pieces(_lines_of)

    def blocks(self) -> Iterator[str]:
        """The same text in blocks that pay no heed to lines.

        Raises:
            InputError: as `encoding`.
        """
        return self._pieces(_blocks_of)

    def _pieces(self, cut: Callable[[TextIO], Iterator[str]]) -> Iterator[str]:
        decoding = self._encoding
        with io.TextIOWrapper(
            self.open(), encoding=decoding.codec, errors="replace", newline=""
        ) as stream:
            yield from map(without_controls, cut(stream)) if decoding.controls else cut(stream)

    def text(self) -> str:
        """The whole as text, line ends as they stand.

        Raises:
            InputError: as `lines`.
        """
        return "".join(self.lines())


def _lines_of(stream: TextIO) -> Iterator[str]:
    line = stream.readline(_LONGEST_PIECE)
    while line:
        after = stream.readline(_LONGEST_PIECE)
        if line.endswith("\r") and after == "\n":  # the bound cut a line end in two
            line, after = line + after, stream.readline(_LONGEST_PIECE)
        yield line
        line = after


def _blocks_of(stream: TextIO) -> Iterator[str]:
    while block := stream.read(_LONGEST_PIECE):
        yield block


def _is_utf8(head: bytes) -> bool:
    """Whether the bytes are UTF-8; a character that the end of the head cuts does not count."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True
