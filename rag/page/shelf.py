"""The papers behind the answers, as HTML: each abstract with the sentences that are cited."""

from __future__ import annotations

from collections.abc import Sequence

from rag.display import as_typed, highlighted, inline, short
from rag.page.turns import Turn
from rag.schema import Paper, Sentence


def sources(turns: Sequence[Turn]) -> str:
    """The papers behind the last answer and, folded, those behind the answers before it."""
    if not turns:
        return '<p class="empty">The abstracts that an answer relies on will stand here.</p>'
    cards = _cards(turns[-1]) or '<p class="empty">Nothing is cited yet.</p>'
    folded = "".join(
        f'<details class="earlier"><summary>{as_typed(short(turn.question))}</summary>'
        f"{earlier}</details>"
        for turn in reversed(turns[:-1])
        if (earlier := _cards(turn))
    )
    return f'<div class="sources">{cards}{folded}</div>'


def _cards(turn: Turn) -> str:
    cards = [
        _card(turn, f"source-{turn.number}-{c.number}", str(c.number), c.paper, c.sentences)
        for c in turn.citations
    ]
    if turn.answer is not None and turn.answer.status == "abstained":
        cards += [
            _card(turn, f"nearest-{turn.number}-{rank}", "", nearest.paper, ())
            for rank, nearest in enumerate(turn.answer.nearest, start=1)
        ]
    return "".join(cards)


def _card(turn: Turn, name: str, number: str, paper: Paper, cited: Sequence[Sentence]) -> str:
    label = f'<span class="number">{number}</span>' if number else ""
    return (
        f'<article class="source" id="{name}" tabindex="-1"><h3>{label}{inline(paper.title)}</h3>'
        f'<p class="about">{"".join(_about(turn, paper))}</p>'
        f'<p class="abstract">{highlighted(paper.text, cited, name)}</p>'
        f'<p class="back"><a href="#turn-{turn.number}">Back to the answer</a></p></article>'
    )


def _about(turn: Turn, paper: Paper) -> list[str]:
    """Who wrote it and when, where it stands, and what is to be known about it."""
    meta = paper.meta
    who = meta.authors[0] if meta.authors else ""
    more = " et al." if len(meta.authors) > 1 else ""
    byline = ", ".join(part for part in (f"{who}{more}", meta.venue, str(meta.year or "")) if part)
    parts = [f"<span>{inline(byline)}</span>"] if byline else []
    parts.append(f'<span class="place">{as_typed(f"{paper.source}:{paper.ordinal}")}</span>')
    if paper.title_derived:
        parts.append(
            '<span class="derived" title="The source gives no title">'
            "title derived from the abstract</span>"
        )
    if paper.id in turn.gone:
        parts.append('<span class="lost">no longer in the collection</span>')
    elif paper.id in turn.changed:
        parts.append('<span class="lost">has changed since this answer</span>')
    return parts
