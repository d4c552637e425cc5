"""What may be read: a file, or a member of an archive, and what was passed over and why."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from rag.corpus.content import DEFAULT_LIMITS, Content, Limits
from rag.errors import InputError

_ESCAPED = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})  # control, direction, line separators


@dataclass(frozen=True, slots=True)
class Member:
    """A file inside an archive, unpacked; it stays readable as long as it is held."""

    name: str
    size: int
    open: Callable[[], BinaryIO] = field(compare=False)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that may hold papers. `label` is how it is named to people: folder and file.

    The bytes of a member stay on disk as long as any source of its archive is held.
    """

    path: Path
    label: str
    member: Member | None = None

    @property
    def key(self) -> str:
        """The path as a text that can be stored, also where its bytes are not UTF-8."""
        return f"{shown(self.path)}/{self.member.name}" if self.member else shown(self.path)

    def content(self, limits: Limits = DEFAULT_LIMITS) -> Content:
        """What the file holds, to be read.

        Raises:
            InputError: it is not there any more, or is larger than the limit.
        """
        if self.member:
            name = self.member.name.rpartition("/")[2]
            return Content(name, self.label, self.member.size, self.member.open, limits)
        try:
            size = self.path.stat().st_size
        except OSError as error:
            raise InputError(f"{self.label} cannot be read", cause=error.strerror or "") from error
        if size > limits.file_mb * 1_000_000:
            raise InputError(
                f"{self.label} is too large",
                cause=f"{size / 1e6:,.0f} MB, max_file_mb = {limits.file_mb:,}",
                remedy="Split it, or raise max_file_mb.",
            )
        return Content(self.path.name, self.label, size, lambda: self.path.open("rb"), limits)


@dataclass(frozen=True, slots=True)
class Refused:
    """A file, folder or member that is not read. What is known under `key` is not gone.

    `passed_over`: nothing that could hold papers is lost by it, such as a pipe, or a link that
    leads elsewhere.
    """

    key: str
    label: str
    reason: str
    remedy: str = ""
    passed_over: bool = False

    def error(self) -> InputError:
        """The refusal of something that was named."""
        return InputError(f"{self.label} cannot be read", cause=self.reason, remedy=self.remedy)


def shown(path: Path | str) -> str:
    r"""A path as text; a byte that is not UTF-8 is written as `\xff`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def label_of(path: Path | str) -> str:
    r"""A path as it is safe to show: what moves or hides text is written as `\n` or `\u202e`."""
    return "".join(
        char.encode("unicode_escape").decode() if unicodedata.category(char) in _ESCAPED else char
        for char in shown(path)
    )
