"""MEDLINE, the tagged format of PubMed (`.nbib`): records begin with `PMID- `.

A value that goes on is folded there with indentation; it is unfolded to one line, so that an
abstract of several lines is no stretch of the file and has no offset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.corpus.bibliography.metadata import (
    metadata,
    person,
    person_with_initials,
    without_abstract,
)
from rag.corpus.content import Content
from rag.corpus.formats import Format
from rag.corpus.readers.tagged import Field, Grammar, TaggedRecord, records_of
from rag.corpus.records import Record, Rejected, too_large

_GRAMMAR = Grammar(re.compile(r"(?P<tag>[A-Z][A-Z0-9 ]{3})- ?(?P<value>)"), "PMID", "")
_STARTS = re.compile(r"PMID- ?\d")
_LINE_END = re.compile(r"\r\n|\r|\n")


def read(content: Content) -> Iterator[Record | Rejected]:
    """One record for each citation that has an abstract, `AB`, or another's abstract, `OAB`."""
    for ordinal, record in enumerate(records_of(content, _GRAMMAR), start=1):
        if record.size > content.limits.record_chars:
            yield too_large(ordinal, record.line, record.size, content.limits.record_chars)
        else:
            yield _record(ordinal, record)


def _record(ordinal: int, record: TaggedRecord) -> Record | Rejected:
    pmid, title = record.value("PMID"), record.value("TI", "BTI", "TT")
    abstract = record.first("AB", "OAB")
    if abstract is None:
        return without_abstract(ordinal, record.line, f"PMID {pmid}" if pmid else title)
    text = _unfolded(abstract.value)
    meta, notes = metadata(
        authors=_authors(record),
        year=record.value("DP", "DEP", "EDAT"),
        venue=record.value("JT", "TA"),
        doi=_doi(record),
        urls=[f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"] if pmid.isdecimal() else [],
        keywords=[*record.values("OT"), *map(_heading, record.values("MH"))],
        key=pmid,
    )
    offset = abstract.offset if text == abstract.value else 0
    return Record(ordinal, offset, text, title or None, meta, record.line, notes)


def _authors(record: TaggedRecord) -> list[str]:
    """The authors and the groups among them, in order; full names where there are any."""
    full = any(field.tag == "FAU" for field in record.fields)
    return [
        name
        for field in record.fields
        if field.tag in ("CN", "FAU" if full else "AU") and (name := _name(field))
    ]


def _name(field: Field) -> str:
    value = _unfolded(field.value)
    if field.tag == "CN":
        return value
    return person(value) if field.tag == "FAU" else person_with_initials(value)


def _unfolded(value: str) -> str:
    return " ".join(line.strip() for line in _LINE_END.split(value))


def _doi(record: TaggedRecord) -> str:
    """The identifier that is marked as a DOI."""
    found = (value for value in record.values("LID", "AID") if value.endswith("[doi]"))
    return next(found, "").removesuffix("[doi]").strip()


def _heading(value: str) -> str:
    """A MeSH heading without the asterisk of a major topic; its commas separate nothing."""
    return value.replace("*", "") + ";"


FORMAT = Format(
    "MEDLINE",
    (".nbib", ".medline"),
    lambda content: _STARTS.match(content.start) is not None,
    read,
)
