"""Pure: one mapping, a JSON object or a row of a table, to title, text and metadata.

Names are compared without case, spaces and signs ("Paper_Title" is "papertitle"); of several the
first in the lists below that says something wins. Known by their shapes are OpenReview (1 and 2),
Semantic Scholar, OpenAlex, arXiv's metadata snapshot, Crossref, CSL-JSON, Europe PMC, BEIR, Zotero
and Scopus. A summary that a machine wrote (`tldr`) is no abstract: it would be quoted as the
authors' words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rag.corpus.bibliography.markup import without_markup
from rag.corpus.bibliography.metadata import first, metadata, without_abstract
from rag.corpus.bibliography.names import authors_of, keywords_of
from rag.corpus.bibliography.values import is_void, unwrapped, words
from rag.corpus.records import Record, Rejected
from rag.schema import Metadata

ABSTRACT = (
    "abstract paperabstract abstracttext articleabstract abstractnote abstractinvertedindex ab n2"
).split()
TEXT = [*ABSTRACT, *"summary description text passage contents content body".split()]
TITLE = (
    "title papertitle articletitle documenttitle primarytitle ti t1 displayname headline name"
).split()
UNDERSTOOD = "abstract, summary, description, text, passage, content"  # told to people
WRAPS = "content source data message record metadata attributes fields bibjson paper row".split()
"""Names of an inner object that holds the record itself, or the rest of it."""

_AUTHORS = (
    "authorsparsed authors author authorships authorfullnames authornames authorstring authorlist "
    "creators creator au a1 byline contributors"
).split()
_YEAR = (
    "year publicationyear pubyear py y1 publicationdate published publisheddate datepublished "
    "publishedprint publishedonline issued firstpublicationdate coverdate pubdate pdate date "
    "versions created createddate cdate updatedate updated"
).split()
_VENUE = (
    "venue journal journalref journalname journaltitle containertitle booktitle publicationtitle "
    "sourcetitle publicationname conference conferencename primarylocation.source publicationvenue "
    "hostvenue journalinfo.journal eventtitle event jo jf t2"
).split()
_DOI = "doi externalids.doi ids.doi di articledoi do".split()
_ARXIV = "arxiv arxivid externalids.arxiv eprint doi externalids.doi id entryid url pdfurl".split()
_URL = (
    "url link links paperurl abstracturl landingpageurl entryid primarylocation.landingpageurl "
    "pdfurl openaccesspdf urlpdf pdf ur"
).split()
_KEYWORDS = (
    "keywords keyword authorkeywords categories category subjects subject fieldsofstudy "
    "s2fieldsofstudy concepts topics tags keywordlist.keyword indexkeywords de kw"
).split()
_KEY = "citationkey key id paperid forum docid uid corpusid eid pmid ut citekey slug".split()

_MARKS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Fields:
    """What a mapping says of a paper. `text` is empty where it holds no abstract."""

    title: str | None
    text: str
    meta: Metadata
    notes: tuple[str, ...] = ()


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """A name as it is compared: "externalIds", "External-IDs" and "external_ids" are one."""
    return _MARKS.sub("", name).casefold()


def record_of(
    value: object, ordinal: int, line: int, place: Callable[[str], int], key: str = ""
) -> Record | Rejected:
    """The record in a value; `place` tells where its text begins in the decoded file, or 0."""
    if not isinstance(value, dict):
        remedy = "Make it an object with title and abstract."
        return Rejected(ordinal, line, "not a JSON object", remedy)
    fields = fields_of(value)
    if not fields.text:
        if not fields.title:
            reason = f"no text in any of {UNDERSTOOD}"
            return Rejected(ordinal, line, reason, "Export it with its abstract.")
        return without_abstract(ordinal, line, fields.title)
    meta = fields.meta
    if key and not meta.key:
        meta = replace(meta, key=words(key))
    offset = place(fields.text)
    return Record(ordinal, offset, fields.text, fields.title, meta, line, fields.notes)


def fields_of(record: Mapping[str, object], of_text: Sequence[str] = TEXT) -> Fields:
    """Title, text and metadata of a record; what it does not say is empty, never "None".

    `of_text` are the names that may hold the text.
    """
    found = _by_name(record)
    texts = (one for one in _values(found, of_text) if not isinstance(one, int | float))
    text, told = _first(map(_passage, texts))
    title, of_title = _first(map(_passage, _values(found, TITLE)))
    meta, of_meta = _metadata(found)
    notes = tuple(dict.fromkeys([*told, *of_title, *of_meta]))
    return Fields(title or None, text, meta, notes)


def _by_name(record: Mapping[str, object]) -> dict[str, object]:
    """Values that say something by folded name; those of an inner record come after its own."""
    found: dict[str, object] = {}
    for name, value in record.items():
        if not is_void(value):
            found.setdefault(folded(name), value)
    for wrap in WRAPS:
        inner = found.get(wrap)
        if isinstance(inner, dict):
            del found[wrap]
            for name, value in inner.items():
                if not is_void(value):
                    found.setdefault(folded(name), value)
    return found


def _values(found: Mapping[str, object], names: Sequence[str]) -> Iterator[object]:
    """The values of the names that are there; "a.b" is what stands as b in the object a."""
    for name in names:
        value = found.get(name)
        if value is not None:
            yield value
        elif "." in name:
            yield from _inner_values(found, name)


def _inner_values(found: Mapping[str, object], name: str) -> Iterator[object]:
    outer, _, inner = name.partition(".")
    value = found.get(outer)
    if isinstance(value, dict):
        yield from (one for key, one in value.items() if folded(key) == inner)
    elif (flat := found.get(outer + inner)) is not None:
        yield flat


# --- Title and text ------------------------------------------------------------------------


def _first(passages: Iterator[tuple[str, tuple[str, ...]]]) -> tuple[str, tuple[str, ...]]:
    return next((passage for passage in passages if passage[0]), ("", ()))


def _passage(value: object) -> tuple[str, tuple[str, ...]]:
    """A stretch of text as it stands, or put together from its parts, with what was done to it."""
    whole, joined = _joined(value)
    text, stripped = without_markup(whole.strip())
    return ("" if is_void(text) else text), (*joined, *stripped)


def _joined(value: object) -> tuple[str, tuple[str, ...]]:
    if isinstance(value, dict) and value and all(isinstance(v, list) for v in value.values()):
        text = _uninverted(value)
        return text, ("the abstract was put together from an inverted index",) if text else ()
    if isinstance(value, dict) and "value" in value:
        value = value["value"]
    if isinstance(value, list):
        parts = [part for part in map(_part, value) if part]
        notes = (f"text joined from {len(parts)} parts",) if len(parts) > 1 else ()
        return ("\n" if any(": " in p[:40] for p in parts) else " ").join(parts), notes
    inner = value if isinstance(value, str) else unwrapped(value)
    if isinstance(inner, str):
        return inner, ()
    return words(inner), ()


def _part(value: object) -> str:
    """A sentence or a section of an abstract; a labelled one as "LABEL: text"."""
    if isinstance(value, dict):
        label = words(value.get("label") or value.get("heading"))
        text = words(value.get("text") or value.get("value") or value.get("content"))
        return f"{label}: {text}" if label and text else text
    return value.strip() if isinstance(value, str) else ""


def _uninverted(index: Mapping[str, object]) -> str:
    """The text of OpenAlex's `{"word": [places]}`."""
    places = [
        (place, word)
        for word, found in index.items()
        if isinstance(found, list)
        for place in found
        if isinstance(place, int)
    ]
    return " ".join(word for _, word in sorted(places))


# --- Metadata ------------------------------------------------------------------------------


def _metadata(found: Mapping[str, object]) -> tuple[Metadata, tuple[str, ...]]:
    return metadata(
        authors=first(authors_of, _values(found, _AUTHORS)) or (),
        years=_values(found, _YEAR),
        venues=_values(found, _VENUE),
        dois=_values(found, _DOI),
        arxivs=_values(found, _ARXIV),
        urls=_values(found, _URL),
        keywords=first(keywords_of, _values(found, _KEYWORDS)) or (),
        keys=_values(found, _KEY),
    )
