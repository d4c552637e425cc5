"""Questions about a paper's publication: by whom, when and where; its record alone can tell.

An abstract says nothing of it, so that a sentence with like words is no answer, and a collection
whose records are silent is said to be: "none" would be false.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from rag.index.browse import gives
from rag.index.snapshot import Snapshot
from rag.retrieval.filters import told_years
from rag.schema import Paper
from rag.text import legible

What = Literal["authors", "venue", "year"]

_PAPER = r"(?:published|written|released|presented|come out|came out|appear(?:ed)?|publish)\b"
_ASKS: tuple[tuple[What, re.Pattern[str]], ...] = (
    (
        "authors",
        re.compile(
            r"^(?:and |so )?who (?:wrote|authored|published|(?:are|is|were|was) (?:the )?author)"
            r"|^(?:name|list|give(?: me)?|what are) (?:\w+ ){0,4}?authors of\b"
            r"|^by whom (?:was|is)\b.*\b(?:written|published)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "year",
        re.compile(
            rf"^(?:and |so )?(?:when|(?:in )?(?:what|which) year)\b.*\b{_PAPER}"
            r"|^(?:what is|from) (?:the )?(?:publication )?(?:year|date) of\b"
            r"|^how old is (?:the )?.*\b(?:paper|article|study)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "venue",
        re.compile(
            rf"^(?:and |so )?(?:where|(?:at|in) (?:what|which) (?:journal|conference|venue)"
            rf"|(?:what|which) (?:journal|conference|venue))\b.*\b{_PAPER}",
            re.IGNORECASE,
        ),
    ),
)
_NAMED: Mapping[What, str] = {
    "authors": "the authors",
    "venue": "the journals and conferences",
    "year": "the years",
}
_OF_ONE: Mapping[What, str] = {
    "authors": "the authors",
    "venue": "the journal or conference",
    "year": "the year",
}
_BY = re.compile(
    r"\b(?:(?:were |was |are )?(?:written|authored)|(?<=papers)|(?<=articles)) ?by "
    r"(?:[A-Z][\w.'’-]*[ ,]*(?:and )?)+"
)
_AT = re.compile(
    r"\b(?:were |was |are )?(?:published|presented|accepted|appeared) (?:at|in) (?:the )?"
    r"(?:[A-Z][\w&.'’-]*[ ,]*)+"
)


def asks_for(question: str) -> What | None:
    """What of a paper's record a question asks for."""
    return next((what for what, asks in _ASKS if asks.search(question)), None)


def told_of(paper: Paper, what: What, name: str) -> str:
    """What the record of a paper says, in a sentence; empty where it is silent."""
    meta = paper.meta
    if what == "authors" and meta.authors:
        names = [legible(author) for author in meta.authors]
        listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        return f"{name} was written by {listed}."
    if what == "year" and meta.year:
        return f"{name} is from {meta.year}."
    return (
        f"{name} was published in {legible(meta.venue)}." if what == "venue" and meta.venue else ""
    )


def silent_on(snapshot: Snapshot, what: What, name: str) -> str:
    """That a paper's record does not say it, and whether any does."""
    if gives(snapshot, what):
        return f"The collection does not give {_OF_ONE[what]} of {name}."
    return f"The collection does not give {_NAMED[what]} of its papers."


def unrecorded(question: str, snapshot: Snapshot) -> tuple[str, str]:
    """A question for papers without what no record can tell, and what that is, in a sentence."""
    spans: list[tuple[What, int, int]] = [
        ("year", told.start, told.end) for told in told_years(question)
    ]
    spans += [("authors", match.start(), match.end()) for match in _BY.finditer(question)]
    spans += [("venue", match.start(), match.end()) for match in _AT.finditer(question)]
    for what, start, end in spans:
        if not gives(snapshot, what):
            rest = f"{question[:start]} {question[end:]}"
            return rest, f"The collection does not give {_NAMED[what]} of its papers"
    return question, ""
