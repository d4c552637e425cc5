"""A question that compares papers: which ones, and in what respects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.answering.columns import DEFAULT, MOST, column, known_in, read_columns
from rag.answering.cues import Column
from rag.answering.tabling import FEWEST
from rag.answering.tabling import MOST as MOST_PAPERS
from rag.errors import PaperNotFound, UsageError
from rag.index import lexical
from rag.index.snapshot import Snapshot
from rag.retrieval.lookup import find_paper
from rag.retrieval.search import Found
from rag.schema import Paper
from rag.text import content_words, normalise

_OPENING = re.compile(
    r"^(?:please )?(?:compare|contrast|compared to)\b"
    r"|^.*?\b(?:differences?|comparison|contrast) (?:between|of)\b"
    r"|^(?:how|where|in what|what|which)\b.*?\b(?:do|does|are|is|of)\b",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"\s*(?:,|;|\band\b|\bwith\b|\bto\b|\bor\b|\bversus\b|\bvs\b\.?|\bagainst\b|\bfrom\b|\bthan\b|\bas\b"
    r"|\bund\b|\bmit\b|\bet\b|\bavec\b|\by\b|\bcon\b|[和与與跟、，]"
    r"|\bdiffer\b|\bcompared?\b)\s*",
    re.IGNORECASE,
)
_RESPECTS = re.compile(
    r":\s+(?P<list>[^:?]+)\??$"
    r"|\b(?:in terms of|with respect to|regarding|by|differ in|differ on|on|in)"
    r"(?: their| the(?:ir)?| its)?\s+(?P<named>[\w ,-]+?)\??$",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<!\w)[A-Z][\w-]*(?:[.-]\w+)*|(?<!\w)\w*[a-z0-9][A-Z][\w-]*")
_FIRST_WORDS = frozenset(
    "compare how what which where do does in contrast is are the a an why when give show was were "
    "has have did both".split()
)
_FOUND = 4  # papers that are compared where the question names none
_LONGEST_NAME = 8  # words
_USED = 2  # papers that use the name of one, at most


_ASKS = re.compile(
    r"\b(?:compare|contrast)\b.+\b(?:and|with|to|against|versus)\b|\b(?:vs\b\.?|versus\b)"
    r"|\b(?:differences?|comparison|similarities) between\b|^how (?:do|does|are|is)\b.+\bdiffer",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a question compares: 2 to 12 papers in its order, and the columns that it asks for."""

    papers: tuple[Paper, ...]
    columns: tuple[Column, ...]


def asks_to_compare(question: str) -> bool:
    """Whether a question surely asks for a comparison; whether one thing is better does not."""
    return bool(_ASKS.search(question))


def read_comparison(
    question: str, snapshot: Snapshot, found: Found | None = None
) -> Comparison | None:
    """What a question compares, or None where that is fewer than two papers.

    Papers are those that it names; where it names none, the first that were `found` for it. One
    that it names alone is not compared with what merely lies near.
    """
    respects = _RESPECTS.search(question)
    columns = _columns(question, respects)
    before = question[: respects.start()] if respects and _said(respects) else question
    named = {paper.id: paper for paper in _named(before, snapshot)}
    if not named and found is not None:
        named = {hit.paper.id: hit.paper for hit in found.hits[:_FOUND]}
    papers = tuple(named.values())[:MOST_PAPERS]
    return Comparison(papers, columns) if len(papers) >= FEWEST else None


def _named(question: str, snapshot: Snapshot) -> Iterator[Paper]:
    """The papers that a question calls by name, in its order; what names none is passed over."""
    subject = _OPENING.sub("", question, count=1)
    parts = [part.strip(" ?.!:\"'“”") for part in _JOINED.split(subject)]
    for part in parts:
        names = [part] if _may_name(part) else []
        names += [name for name in _NAME.findall(part) if name.casefold() not in _FIRST_WORDS]
        for name in dict.fromkeys(names):
            paper = _paper(snapshot, re.sub(r"['’]s$", "", name))
            if paper is not None:
                yield paper
                break


def _may_name(part: str) -> bool:
    words = part.split()
    return 0 < len(words) <= _LONGEST_NAME and any(c.isupper() or c.isdigit() for c in part)


def _paper(snapshot: Snapshot, name: str) -> Paper | None:
    """The paper of that name: in its title, or spoken of as its own.

    A word that several papers use, as LLM, or that it only mentions, as PPO, is no name of it.
    """
    try:
        paper = find_paper(snapshot, name)
    except PaperNotFound:
        return None
    whole = re.compile(rf"(?<![\w-]){re.escape(normalise(name))}(?![\w-])(?: \()?")
    if whole.search(normalise(paper.title)) or not _NAME.fullmatch(name):
        return paper
    used = whole.findall(normalise(paper.text))
    using = lexical.search(snapshot, lexical.equally(name), _USED + 1).scores
    own = len(used) > 1 or any(one.endswith("(") for one in used)
    return paper if own and len(using) <= _USED else None


def _columns(question: str, respects: re.Match[str] | None) -> tuple[Column, ...]:
    """The respects that stand behind a colon or "in terms of", else known columns it speaks of."""
    names: Sequence[str] = _said(respects) if respects else ()
    names = names or known_in(question)
    return tuple(column(name) for name in names[:MOST]) or read_columns(DEFAULT)


def _said(respects: re.Match[str]) -> tuple[str, ...]:
    """The columns of a list of respects; none where what follows "in" is no respect.

    Behind a colon anything may stand; behind a preposition one must be known, and none a name:
    "on WebArena" is no column.
    """
    text = respects["list"] or respects["named"]
    parts = [part.strip() for part in re.split(r",|\band\b", text) if part.strip()]
    names = any(map(_NAME.search, parts))
    if respects["list"] is None and (names or not any(map(known_in, parts))):
        return ()
    try:
        return tuple(one.name for one in read_columns(",".join(map(_bare, parts))))
    except UsageError:
        return ()


def _bare(part: str) -> str:
    """A respect without its little words: `the size of the model` is `size model`."""
    known = known_in(part)
    return known[0] if known and len(known) == 1 else " ".join(content_words(part)) or part
