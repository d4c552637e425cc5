"""What a reader yields: records to become papers, and pieces that cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    """One abstract as its file has it.

    `ordinal` is its 1-based place in the file, counted over everything the file holds, so that it
    stays the same when a neighbour cannot be read. `offset` is where `text` begins in the
    decoded file, in characters, or 0 where the text is not a stretch of the file.
    """

    ordinal: int
    offset: int
    text: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """A piece of a file that cannot become a paper: where it stands and why not."""

    ordinal: int
    line: int
    reason: str


Reader = Callable[[str], Iterator[Record | Rejected]]
