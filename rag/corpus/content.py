"""The bytes of one file, as a reader takes them: opened, decoded and kept within limits."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO

from rag.errors import InputError

HEAD_BYTES = 8192

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is taken before a file or a record is refused; each is a setting `max_…`."""

    file_mb: int = 2048  # what is read from one file, unpacked
    record_chars: int = 200_000  # title and text of one record
    records: int = 5_000_000  # of one file
    pages: int = 2_000  # of one PDF
    expansion: int = 200  # unpacked to packed bytes of an archive
    seconds: int = 60  # for one PDF


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
        limits: Limits = Limits(),
    ) -> None:
        self.name = name
        self.label = label
        self.size = size
        self.limits = limits
        self._open = open_bytes

    @classmethod
    def of(cls, data: bytes, name: str, limits: Limits = Limits()) -> Content:
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
        """The head as text without mark or leading white space; empty where it is not text."""
        try:
            return self.head.decode(self.encoding, "ignore").lstrip()
        except (InputError, UnicodeError):
            return ""

    def open(self) -> BinaryIO:
        """The bytes from their beginning.

        Raises:
            InputError: they cannot be read.
        """
        try:
            return self._open()
        except OSError as error:
            raise InputError(f"{self.label} cannot be read", cause=error.strerror or "") from error

    @cached_property
    def encoding(self) -> str:
        """The name of the encoding that the bytes are in.

        Raises:
            InputError: they are not text.
        """
        mark = next((name for mark, name in _BYTE_ORDER_MARKS if self.head.startswith(mark)), "")
        if not mark and b"\0" in self.head:
            raise InputError(
                f"{self.label} is not readable as text",
                cause="binary",
                remedy="Save it as text in UTF-8.",
            )
        return mark or "utf-8"

    def lines(self) -> Iterator[str]:
        """The decoded lines, each with its end as it stands; memory holds one at a time.

        Raises:
            InputError: not text, or text in another encoding than it seemed.
        """
        encoding = self.encoding
        with io.TextIOWrapper(self.open(), encoding=encoding, newline="") as stream:
            try:
                yield from stream
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{self.label} is not readable as text",
                    cause=f"byte {error.start} is not {encoding}",
                    remedy="Convert it to UTF-8.",
                ) from error

    def text(self) -> str:
        """The whole as text, line ends as they stand.

        Raises:
            InputError: as `lines`.
        """
        return "".join(self.lines())
