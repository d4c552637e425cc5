"""XML whose root the head of the file does not show, or that no reader takes."""

from __future__ import annotations

from collections.abc import Iterator

from rag.corpus.content import Content
from rag.corpus.formats import Format
from rag.corpus.readers import arxiv, pubmed
from rag.corpus.readers.xmlfile import read_dialect, whole_root_of
from rag.corpus.records import Record, Rejected
from rag.errors import InputError

_DIALECTS = (arxiv.DIALECT, pubmed.DIALECT)


def read(content: Content) -> Iterator[Record | Rejected]:
    """The records, if the root stands behind a long comment.

    Raises:
        InputError: no XML, or a root that no reader takes.
    """
    root = whole_root_of(content)
    dialect = next((one for one in _DIALECTS if root in one.roots), _DIALECTS[0])
    if root and root not in dialect.roots:
        known = " and ".join(f"{one.name} (<{one.roots[0]}>)" for one in _DIALECTS)
        raise InputError(
            f"{content.label} is XML that no reader takes",
            cause=f"its root is <{root}>",
            remedy=f"Of XML, {known} are read.",
        )
    yield from read_dialect(content, dialect)


FORMAT = Format("XML", (".xml",), lambda _: False, read, "record")
