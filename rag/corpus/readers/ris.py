"""RIS: the exchange format of reference managers, records from `TY  - ` to `ER  - `.

A record without its `ER` is taken, with a note. Tags that are not known are passed over. A value
that goes on over several lines is the stretch of the file; where there are several abstracts,
they are joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.corpus.bibliography.metadata import metadata, person, without_abstract
from rag.corpus.content import Content
from rag.corpus.formats import Format
from rag.corpus.readers.tagged import Grammar, TaggedRecord, records_of
from rag.corpus.records import Record, Rejected, too_large

_GRAMMAR = Grammar(
    re.compile(r"[^\S\r\n]*(?P<tag>[A-Z][A-Z0-9])[ \t]{2}- ?(?P<value>)"), "TY", "ER"
)
_STARTS = re.compile(r"TY[ \t]{2}- ?\w")


def read(content: Content) -> Iterator[Record | Rejected]:
    """One record for each reference that has an abstract, `AB` or `N2`."""
    for ordinal, record in enumerate(records_of(content, _GRAMMAR), start=1):
        if record.size > content.limits.record_chars:
            yield too_large(ordinal, record.line, record.size, content.limits.record_chars)
        else:
            yield _record(ordinal, record)


def _record(ordinal: int, record: TaggedRecord) -> Record | Rejected:
    title = record.value("TI", "T1", "CT")
    abstract = record.first("AB", "N2")
    if abstract is None:
        return without_abstract(ordinal, record.line, title or record.value("ID", "AN"))
    parts = [field.value for field in record.fields if field.tag == abstract.tag and field.value]
    text, offset = ("\n".join(parts), 0) if len(parts) > 1 else (abstract.value, abstract.offset)
    meta, notes = metadata(
        authors=map(person, record.values("AU", "A1") or record.values("A2", "ED")),
        year=record.value("PY", "Y1", "DA"),
        venue=record.value("JF", "JO", "T2", "BT", "JA", "J2"),
        doi=record.value("DO"),
        urls=record.values("UR", "LK", "L1", "L2"),
        keywords=record.values("KW"),
        key=record.value("ID", "AN"),
    )
    if not record.ended:
        notes = (*notes, "the record has no end (ER)")
    return Record(ordinal, offset, text, title or None, meta, record.line, notes)


FORMAT = Format("RIS", (".ris",), lambda content: _STARTS.match(content.start) is not None, read)
