"""JSON Lines: one object with an abstract on each line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from rag.corpus.bibliography.fields import record_of
from rag.corpus.content import HEAD_BYTES, Content
from rag.corpus.formats import Format
from rag.corpus.readers.jsonscan import Piece
from rag.corpus.readers.lines import whole_lines
from rag.corpus.records import Record, Rejected
from rag.errors import InputError

_LIST_INSIDE = re.compile(
    r"\{(?:[^\[]|\[\])*?\"(?:results|data|papers|notes|items|hits)\"\s*:\s*\[\s*\{"
)
PER_RECORD = 50  # how much longer than title and text a record may be, with all that it holds


def read(content: Content) -> Iterator[Record | Rejected]:
    """One record for each line that is not blank; the ordinal is the line's place among them.

    Raises:
        InputError: no line of the beginning begins like an object.
    """
    lines = content.start.splitlines()
    if len(lines) > 1 and not any(line.lstrip().startswith("{") for line in lines):
        raise InputError(
            f"{content.label} is no JSON Lines",
            cause=f"none of its first {len(lines):,} lines begins with {{",
            remedy="Write one object with title and abstract on each line.",
        )
    ordinal, most = 0, content.limits.record_chars * PER_RECORD
    for line in whole_lines(content, most):
        if line.size > most or line.text.strip():
            ordinal += 1
            yield record_in(Piece(line.text.rstrip(), line.line, 1, line.offset), ordinal, most)


def record_in(piece: Piece, ordinal: int, most: int, key: str = "") -> Record | Rejected:
    """The record that a piece of JSON is; one without text was longer than `most`."""
    if not piece.text:
        reason = f"over {most:,} characters, {PER_RECORD} times max_record_chars"
        return Rejected(ordinal, piece.line, reason, "Shorten it, or raise the limit.")
    try:
        return record_of(piece.value(), ordinal, piece.line, piece.place, key)
    except ValueError as error:
        return Rejected(ordinal, piece.line, str(error), "Correct it, or export it again.")


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


FORMAT = Format("JSON Lines", (".jsonl", ".ndjson"), is_told_by_lines, read, "line with an object")
