"""PubMed's XML: articles and book chapters as its exports and its E-utilities give them."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from rag.corpus.bibliography.metadata import metadata
from rag.corpus.bibliography.names import keywords_of
from rag.corpus.content import Content
from rag.corpus.formats import Format
from rag.corpus.readers.xmlfile import Dialect, Item, local, read_dialect, root_of
from rag.corpus.records import Record, Rejected
from rag.schema import Metadata

_ISSUE = "Journal/JournalIssue/PubDate"  # MedlineDate is free text, as 1998 Dec-Jan
_YEARS = (f"{_ISSUE}/Year", f"{_ISSUE}/MedlineDate", "ArticleDate/Year", "Book/PubDate/Year")
_RAISED = str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_PLACED = {"sup": _RAISED, "sub": _LOWERED}


def _record(item: Item, element: Element) -> Record:
    article = _first(element, "MedlineCitation/Article", "Article", "BookDocument", ".")
    key = _text(element, "MedlineCitation/PMID", "PMID", "BookDocument/PMID")
    abstract, notes = _abstract(element, article)
    if not abstract:
        raise ValueError(f"PMID {key} has no abstract" if key else "no abstract and no PMID")
    title = _exact(article, "ArticleTitle", "VernacularTitle", "Book/BookTitle")
    meta, told = _metadata(element, article, key)
    return Record(item.ordinal, 0, abstract, title or None, meta, item.line, (*notes, *told))


def _abstract(element: Element, article: Element) -> tuple[str, tuple[str, ...]]:
    """The abstract with its labelled parts on lines of their own; in another language at need."""
    if parts := _parts(article.find("Abstract")):
        return parts, ()
    for other in element.iter("OtherAbstract"):
        if parts := _parts(other):
            language = other.get("Language") or "another language"
            return parts, (f"the abstract is the one in {language}, the only one there is",)
    return "", ()


def _parts(abstract: Element | None) -> str:
    pieces = []
    for part in [] if abstract is None else abstract.findall("AbstractText"):
        label, text = (part.get("Label") or "").strip(), _flat(part)
        if text:
            pieces.append(f"{label}: {text}" if label and label != "UNLABELLED" else text)
    return "\n".join(pieces)


def _metadata(element: Element, article: Element, key: str) -> tuple[Metadata, tuple[str, ...]]:
    keywords = [*element.iter("DescriptorName"), *element.iter("Keyword")]
    return metadata(
        authors=map(_author, article.findall("AuthorList/Author")),
        years=[_text(article, place) for place in _YEARS],
        venues=[
            _text(
                article, "Journal/Title", "Journal/ISOAbbreviation", "Book/BookTitle", "Book/Title"
            )
        ],
        dois=_dois(element, article),
        urls=[f"https://pubmed.ncbi.nlm.nih.gov/{key}/"] if key.isdigit() else [],
        keywords=keywords_of([_text(one, ".") for one in keywords]),
        keys=[key],
    )


def _author(author: Element) -> str:
    """A name as "First Last"; none where PubMed marks it as a misspelling."""
    if author.get("ValidYN") == "N":
        return ""
    if group := _text(author, "CollectiveName"):
        return group
    first = _text(author, "ForeName", "FirstName", "Initials")
    return " ".join(filter(None, [first, _text(author, "LastName"), _text(author, "Suffix")]))


def _dois(element: Element, article: Element) -> list[str]:
    """The article's own; the list of references names others in the same element."""
    ids = 'ArticleIdList/ArticleId[@IdType="doi"]'
    place = 'ELocationID[@EIdType="doi"]'
    return [
        _text(element, f"PubmedData/{ids}", f"PubmedBookData/{ids}"),
        _text(article, place, ids),
    ]


def _first(element: Element, *paths: str) -> Element:
    return next(one for path in paths if (one := element.find(path)) is not None)


def _text(element: Element, *paths: str) -> str:
    """The text at the first of `paths` that has any, on one line."""
    return " ".join(_exact(element, *paths).split())


def _exact(element: Element, *paths: str) -> str:
    """The same as it stands there."""
    found = (_flat(one) for path in paths for one in element.findall(path))
    return next((text for text in found if text), "")


def _flat(element: Element) -> str:
    """The text without markup; m<sup>2</sup> becomes m², for 10<sup>3</sup> is not 103."""
    return "".join(_pieces(element)).strip()


def _pieces(element: Element) -> Iterator[str]:
    placed = _PLACED.get(local(element.tag))
    yield _set(element.text or "", placed)
    for child in element:
        yield _set("".join(_pieces(child)), placed)
        yield _set(child.tail or "", placed)


def _set(text: str, placed: dict[int, int] | None) -> str:
    return text.translate(placed) if placed and all(ord(c) in placed for c in text) else text


DIALECT = Dialect(
    "PubMed export",
    ("PubmedArticleSet", "PubmedArticle", "PubmedBookArticleSet", "MedlineCitationSet"),
    frozenset({"PubmedArticle", "PubmedBookArticle", "MedlineCitation"}),
    _record,
)


def read(content: Content) -> Iterator[Record | Rejected]:
    """One record for each article; labelled parts of an abstract stand on lines of their own."""
    yield from read_dialect(content, DIALECT)


FORMAT = Format(
    DIALECT.name, (), lambda content: root_of(content) in DIALECT.roots, read, "<PubmedArticle>"
)
