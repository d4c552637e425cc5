"""Records of tagged lines, `TY  - JOUR` or `PMID- 1234`, as RIS and MEDLINE have them.

Written here because rispy 0.10 loses a record that has no `ER`, joins lines that belong to a tag
it does not know to the one before, holds all records at once and knows no lines; and it has no
MEDLINE.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rag.corpus.content import Content
from rag.corpus.readers.lines import Line, lines_of
from rag.corpus.records import Record, Rejected, too_large


@dataclass(frozen=True, slots=True)
class Grammar:
    """How a format writes its records.

    `tag` matches a line with the groups `tag` and `value`; a line that it does not match goes on
    with the value before. `first` begins a record; `last` ends one, and is empty where the next
    `first` does.
    """

    tag: re.Pattern[str]
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Field:
    """A tag and its value: the stretch of the file from its first to its last character."""

    tag: str
    value: str
    offset: int


@dataclass(frozen=True, slots=True)
class TaggedRecord:
    """The fields of one record in order; none are held where `size` is more than the limit."""

    line: int
    size: int
    fields: tuple[Field, ...]
    ended: bool

    def first(self, *tags: str) -> Field | None:
        """The first value that is not blank of the first of `tags` that has one."""
        found = (field for tag in tags for field in self.fields if field.tag == tag and field.value)
        return next(found, None)

    def value(self, *tags: str) -> str:
        """As `first`, its value on one line; empty if there is none."""
        found = self.first(*tags)
        return " ".join(found.value.split()) if found else ""

    def values(self, *tags: str) -> list[str]:
        """All values of `tags` in the order of the file, each on one line."""
        return [" ".join(field.value.split()) for field in self.fields if field.tag in tags]


def read_tagged(
    content: Content,
    grammar: Grammar,
    meaning: Callable[[int, TaggedRecord], Record | Rejected],
) -> Iterator[Record | Rejected]:
    """What each record means, told by its ordinal and its fields; one over the limit is refused."""
    most = content.limits.record_chars
    for ordinal, record in enumerate(records_of(content, grammar), start=1):
        if record.size > most:
            yield too_large(ordinal, record.line, record.size, most)
        else:
            yield meaning(ordinal, record)


def records_of(content: Content, grammar: Grammar) -> Iterator[TaggedRecord]:
    """The records in order. Lines outside of them that have no tag are passed over."""
    most = content.limits.record_chars
    record: _Open | None = None
    for line in lines_of(content):
        match = grammar.tag.match(line.text) if line.begins else None
        tag = match["tag"].strip() if match else ""
        if record and tag == grammar.first:
            yield record.closed(ended=not grammar.last)
            record = None
        if record is None and not tag:
            continue
        record = record or _Open(line.number)
        record.take(line, match, most)
        if tag and tag == grammar.last:
            yield record.closed(ended=True)
            record = None
    if record:
        yield record.closed(ended=not grammar.last)


class _Open:
    """A record while it is being read."""

    def __init__(self, line: int) -> None:
        self._line = line
        self._size = 0
        self._overfull = False
        self._fields: list[tuple[str, int, list[str]]] = []

    def take(self, line: Line, match: re.Match[str] | None, most: int) -> None:
        """Begins a field with `match`, or goes on with the last one."""
        self._size += len(line.text)
        self._overfull = self._overfull or self._size > most
        if self._overfull:
            self._fields.clear()
        elif match:
            place = match.start("value")
            self._fields.append((match["tag"].strip(), line.offset + place, [line.text[place:]]))
        else:
            self._fields[-1][2].append(line.text)

    def closed(self, *, ended: bool) -> TaggedRecord:
        """The record as it stands."""
        return TaggedRecord(self._line, self._size, tuple(map(_field, self._fields)), ended)


def _field(field: tuple[str, int, list[str]]) -> Field:
    tag, offset, pieces = field
    value = "".join(pieces)
    start = len(value) - len(value.lstrip())
    return Field(tag, value.strip(), offset + start)
