"""What a reader yields: records to become papers, and pieces that cannot."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag.schema import Metadata


@dataclass(frozen=True, slots=True)
class Record:
    """One abstract as its file has it.

    `ordinal` is its 1-based place in the file, counted over everything the file holds, so that it
    stays the same when a neighbour cannot be read. `line` is the line where it begins, from 1, or 0
    where the format has no lines. `offset` is where `text` begins in the decoded file, in
    characters, or 0 where the text is not a stretch of the file. `notes` tell what was mended.
    """

    ordinal: int
    offset: int
    text: str
    title: str | None = None
    meta: Metadata = field(default_factory=Metadata)
    line: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """A piece of a file that cannot become a paper: where it stands, why not, what to do."""

    ordinal: int
    line: int
    reason: str
    remedy: str = ""


def too_large(ordinal: int, line: int, size: int, most: int) -> Rejected:
    """The rejection of a record of `size` characters where `most` are allowed."""
    reason = f"{size:,} characters, max_record_chars = {most:,}"
    return Rejected(ordinal, line, reason, "Shorten it, or raise the limit.")
