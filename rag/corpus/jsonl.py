"""JSON Lines: one object with an abstract on each line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from rag.corpus.content import HEAD_BYTES, Content
from rag.corpus.fields import record_of
from rag.corpus.formats import Format
from rag.corpus.jsonscan import Piece
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
            yield _record(ordinal, Piece(line, number, 1, offset))
        offset += len(line)


def _record(ordinal: int, piece: Piece) -> Record | Rejected:
    try:
        return record_of(piece.value(), ordinal, piece.line, piece.place)
    except ValueError as error:
        return Rejected(ordinal, piece.line, str(error))


def _recognises(content: Content) -> bool:
    """Whether a line of the head is an object by itself, or the first is longer than the head.

    One object with a list of records in it is not told by lines.
    """
    if not content.start.startswith("{") or _LIST_INSIDE.match(content.start):
        return False
    is_cut = "\n" not in content.start and len(content.head) >= HEAD_BYTES
    return is_cut or objects_on_lines(content) > 0


def objects_on_lines(content: Content) -> int:
    """How many lines of the head are an object by themselves, not set in as inside a list."""
    if not content.start.startswith("{"):
        return 0
    lines = content.start.splitlines()
    return sum(line.startswith("{") and _is_object(line) for line in lines)


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line, strict=False), dict)
    except (ValueError, RecursionError):
        return False


FORMAT = Format("JSON Lines", (".jsonl", ".ndjson"), _recognises, read)
