"""JSON Lines: one object with an abstract on each line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from rag.corpus.bibliography.fields import record_of
from rag.corpus.content import HEAD_BYTES, Content
from rag.corpus.formats import Format
from rag.corpus.readers.jsonscan import Piece
from rag.corpus.records import Record, Rejected

_LIST_INSIDE = re.compile(
    r"\{(?:[^\[]|\[\])*?\"(?:results|data|papers|notes|items|hits)\"\s*:\s*\[\s*\{"
)


def read(content: Content) -> Iterator[Record | Rejected]:
    """One record for each line that is not blank; the ordinal is the line's place among them."""
    ordinal = offset = 0
    for number, line in enumerate(content.lines(), start=1):
        if line.strip():
            ordinal += 1
            yield _record(ordinal, Piece(line.rstrip(), number, 1, offset))
        offset += len(line)


def _record(ordinal: int, piece: Piece) -> Record | Rejected:
    try:
        return record_of(piece.value(), ordinal, piece.line, piece.place)
    except ValueError as error:
        return Rejected(ordinal, piece.line, str(error))


def is_told_by_lines(content: Content) -> bool:
    """Whether the text is objects on lines of their own, as far as the head shows.

    Two lines begin with a brace and one of them is an object by itself, or the first line is longer
    than the head. Answers of a server one after another, each with a list of records, are not.
    """
    if not content.start.startswith("{") or _LIST_INSIDE.match(content.start):
        return False
    lines = [line for line in content.start.splitlines() if line.startswith("{")]
    if "\n" not in content.start:
        return len(content.head) >= HEAD_BYTES
    return len(lines) > 1 and any(map(_is_object, lines))


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line, strict=False), dict)
    except (ValueError, RecursionError):
        return False


FORMAT = Format("JSON Lines", (".jsonl", ".ndjson"), is_told_by_lines, read)
