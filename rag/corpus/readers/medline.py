"""MEDLINE, the tagged format of PubMed (`.nbib`): records begin with `PMID- `.

A value that goes on is folded there with indentation; it is unfolded to one line, so that an
abstract of several lines is no stretch of the file and has no offset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.corpus.bibliography.markup import without_markup
from rag.corpus.bibliography.metadata import metadata, without_abstract
from rag.corpus.bibliography.names import keywords_of, person, person_with_initials
from rag.corpus.bibliography.values import prose
from rag.corpus.content import Content
from rag.corpus.formats import Format
from rag.corpus.readers.tagged import Field, Grammar, TaggedRecord, read_tagged
from rag.corpus.records import Record, Rejected

_GRAMMAR = Grammar(re.compile(r"(?P<tag>[A-Z][A-Z0-9 ]{3})- ?(?P<value>)"), "PMID", "")
_STARTS = re.compile(r"PMID- ?\d")
_LINE_END = re.compile(r"\r\n|\r|\n")


def read(content: Content) -> Iterator[Record | Rejected]:
    """One record for each citation that has an abstract, `AB`, or another's abstract, `OAB`."""
    return read_tagged(content, _GRAMMAR, _record)


def _record(ordinal: int, record: TaggedRecord) -> Record | Rejected:
    pmid, title = record.value("PMID"), record.value("TI", "BTI", "TT")
    abstract = record.first("AB", "OAB")
    if abstract is None:
        return without_abstract(ordinal, record.line, f"PMID {pmid}" if pmid else title)
    text, stripped = without_markup(_unfolded(abstract.value))
    meta, notes = metadata(
        authors=_authors(record),
        years=record.values("DP", "DEP", "EDAT"),
        venues=[record.value("JT", "TA")],
        dois=_dois(record),
        urls=[f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"] if pmid.isdecimal() else [],
        keywords=keywords_of([*record.values("OT"), *map(_heading, record.values("MH"))]),
        keys=[pmid],
    )
    offset = abstract.offset if text == abstract.value else 0
    notes = (*notes, *stripped)
    return Record(ordinal, offset, text, prose(title) or None, meta, record.line, notes)


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


def _dois(record: TaggedRecord) -> list[str]:
    """The identifiers that are marked as DOIs."""
    values = record.values("LID", "AID")
    return [value.removesuffix("[doi]") for value in values if value.endswith("[doi]")]


def _heading(value: str) -> str:
    """A MeSH heading without the asterisk of a major topic."""
    return value.replace("*", "")


FORMAT = Format(
    "MEDLINE",
    (".nbib", ".medline"),
    lambda content: _STARTS.match(content.start) is not None,
    read,
    "record that begins with PMID-",
)
