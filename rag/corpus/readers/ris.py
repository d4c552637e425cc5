"""RIS: the exchange format of reference managers, records from `TY  - ` to `ER  - `.

A record without its `ER` is taken, with a note. Tags that are not known are passed over. A value
that goes on over several lines is the stretch of the file; where there are several abstracts,
they are joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.corpus.bibliography.markup import without_markup
from rag.corpus.bibliography.metadata import metadata, without_abstract
from rag.corpus.bibliography.names import keywords_of, person
from rag.corpus.bibliography.values import prose
from rag.corpus.content import Content
from rag.corpus.formats import Format
from rag.corpus.readers.tagged import Grammar, TaggedRecord, read_tagged
from rag.corpus.records import Record, Rejected

_GRAMMAR = Grammar(
    re.compile(r"[^\S\r\n]*(?P<tag>[A-Z][A-Z0-9])[ \t]{2}- ?(?P<value>)"), "TY", "ER"
)
_STARTS = re.compile(r"TY[ \t]{2}- ?\w")


def read(content: Content) -> Iterator[Record | Rejected]:
    """One record for each reference that has an abstract, `AB` or `N2`."""
    return read_tagged(content, _GRAMMAR, _record)


def _record(ordinal: int, record: TaggedRecord) -> Record | Rejected:
    title = record.value("TI", "T1", "CT")
    abstract = record.first("AB", "N2")
    if abstract is None:
        return without_abstract(ordinal, record.line, title or record.value("ID", "AN"))
    parts = [field.value for field in record.fields if field.tag == abstract.tag and field.value]
    text, offset = ("\n".join(parts), 0) if len(parts) > 1 else (abstract.value, abstract.offset)
    text, stripped = without_markup(text)
    meta, notes = metadata(
        authors=map(person, record.values("AU", "A1") or record.values("A2", "ED")),
        years=record.values("PY", "Y1", "DA"),
        venues=[record.value("JF", "JO", "T2", "BT", "JA", "J2")],
        dois=record.values("DO"),
        urls=record.values("UR", "LK", "L1", "L2"),
        keywords=_keywords(record.values("KW")),
        keys=[record.value("ID", "AN")],
    )
    if not record.ended:
        notes = (*notes, "the record has no end (ER)")
    offset, notes = (0 if stripped else offset), (*notes, *stripped)
    return Record(ordinal, offset, text, prose(title) or None, meta, record.line, notes)


def _keywords(values: list[str]) -> tuple[str, ...]:
    """One for each line, as RIS has them; lines with semicolons, or a single line, hold more."""
    if len(values) > 1:
        values = [part for value in values for part in value.split(";")]
    return keywords_of(values if len(values) > 1 else "".join(values))


FORMAT = Format(
    "RIS",
    (".ris",),
    lambda content: _STARTS.match(content.start) is not None,
    read,
    "record from TY to ER",
)
