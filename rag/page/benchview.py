"""Tables and lists of papers as HTML that is ours alone; see `rag.display`.

A number leads to its source below, where the sentence that it stands for is marked. Anchors begin
with the name of their tab, so that those of two tabs do not meet.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence

from rag.answering.tableform import NOT_STATED
from rag.display import as_typed, highlighted, inline
from rag.schema import Answer, Citation, Claim, Paper, Row, Table
from rag.text import legible, normalise, plain

MIME = {
    "html": "text/html",
    "csv": "text/csv",
    "md": "text/markdown",
    "json": "application/json",
    "csl.json": "application/vnd.citationstyles.csl+json",
    "bib": "text/x-bibtex",
    "ris": "application/x-research-info-systems",
}
_TITLE = 120  # characters of a sentence that a number shows while it is pointed at


def table_of(answer: Answer, tab: str) -> str:
    """A table and below it its sources; what it says where no abstract states anything."""
    table = answer.table
    if table is None or not answer.claims:
        return f'<p class="refusal">{inline(answer.missing or answer.text)}</p>{_note(answer)}'
    return (
        f'<div class="wide" id="{tab}-table" tabindex="0" title="Table of what the papers say">'
        f"<table><thead>{_heads(table)}</thead>"
        f"<tbody>{''.join(_row(row, tab) for row in table.rows)}</tbody></table></div>"
        f"{_note(answer)}{_dropped(answer)}{sources(answer.citations, tab)}"
    )


def list_of(answer: Answer, tab: str, wanted: str = "") -> str:
    """Each paper with the claim that puts it there, those that hold all the words of `wanted`."""
    kept = [claim for claim in answer.claims if _holds(claim, answer, wanted)]
    heads = "".join(f'<h3 class="part">{inline(one.title)}</h3>' for one in answer.sections[:1])
    if not answer.claims:
        heads = f'<p class="refusal">{inline(answer.text)}</p>'
    shown = f'<p class="note">{len(kept)} of {len(answer.claims)} shown</p>' if wanted else ""
    items = "".join(f"<li>{_item(claim, answer, tab)}</li>" for claim in kept)
    numbers = {number for claim in kept for number in claim.citations}
    cited = [one for one in answer.citations if one.number in numbers]
    return (
        f'{heads}{_coverage(answer)}{shown}<ol class="papers" id="{tab}-table">{items}</ol>'
        f"{_note(answer)}{_folded(cited, tab)}"
    )


def papers_of(answer: Answer, wanted: str = "") -> list[Paper]:
    """The papers that a list names, in its order, each once."""
    by_number = {one.number: one.paper for one in answer.citations}
    kept = (claim for claim in answer.claims if _holds(claim, answer, wanted))
    papers = (by_number[number] for claim in kept for number in claim.citations)
    return list({paper.id: paper for paper in papers}.values())


def sources(citations: Iterable[Citation], tab: str) -> str:
    """The abstracts behind numbers, what is relied on marked."""
    cards = "".join(_card(one, tab) for one in citations)
    return f'<h3 class="part">Sources</h3><div class="cards">{cards}</div>' if cards else ""


def downloads(name: str, files: Iterable[tuple[str, str, str]]) -> str:
    """Links that save texts as files, each of them (what it is called, ending, content).

    The texts are in the links: nothing is written on this machine, nor kept for another reader.
    """
    links = "".join(
        f'<a class="save" download="{name}.{ending}" '
        f'href="data:{MIME[ending]};charset=utf-8;base64,{_base64(text)}">{called}</a>'
        for called, ending, text in files
    )
    return f'<p class="saves"><span>Save as</span> {links}</p>'


def told(waiting: str = "", failure: str = "", note: str = "") -> str:
    """How work goes: what it waits for, or what went wrong, or a word on its end."""
    if failure:
        return f'<p class="failure" role="alert">{as_typed(failure)}</p>'
    if note:
        return f'<p class="note" role="status">{as_typed(note)}</p>'
    return f'<p class="waiting" role="status">{as_typed(waiting)}</p>' if waiting else ""


def place_of(paper: Paper) -> str:
    """Where a paper stands, as people name it."""
    return f"{paper.source}:{paper.ordinal}"


def _heads(table: Table) -> str:
    names = "".join(f'<th scope="col">{as_typed(name)}</th>' for name in ("paper", *table.columns))
    return f"<tr>{names}</tr>"


def _row(row: Row, tab: str) -> str:
    cells = "".join(
        f"<td>{_said(cell, tab)}</td>"
        if cell
        else f'<td class="silent"><span>{NOT_STATED}</span></td>'
        for cell in row.cells
    )
    return f'<tr><th scope="row">{inline(row.paper.title)}</th>{cells}</tr>'


def _item(claim: Claim, answer: Answer, tab: str) -> str:
    by_number = {one.number: one.paper for one in answer.citations}
    papers = [by_number[number] for number in claim.citations if number in by_number]
    titles = "; ".join(inline(paper.title) for paper in papers)
    about = "; ".join(filter(None, map(_about, papers)))
    return f'<strong>{titles}</strong> <span class="place">{about}</span><br>{_said(claim, tab)}'


def _about(paper: Paper) -> str:
    year = str(paper.meta.year or "")
    parts = [year, paper.meta.venue, place_of(paper)]
    return " · ".join(as_typed(part) for part in parts if part)


def _said(claim: Claim, tab: str) -> str:
    sentence = " ".join(legible(one.text) for one in claim.support)
    short = sentence if len(sentence) <= _TITLE else f"{sentence[:_TITLE].rsplit(' ', 1)[0]} …"
    links = "".join(
        f'<a href="#{tab}-{number}" title="{as_typed(short)}">[{number}]</a>'
        for number in claim.citations
    )
    partly = (
        f' <span class="partly" title="{as_typed(claim.reason)}">partly supported</span>'
        if claim.verdict == "partly"
        else ""
    )
    return f'{inline(claim.text)}<sup class="cites">{links}</sup>{partly}'


def _folded(cited: Sequence[Citation], tab: str) -> str:
    """Many abstracts, folded; a number that leads into them unfolds them."""
    if not cited:
        return ""
    told = f"The abstracts of these {len(cited)} papers" if len(cited) > 1 else "The abstract"
    return f"<details><summary>{told}</summary>{sources(cited, tab)}</details>"


def _card(citation: Citation, tab: str) -> str:
    paper = citation.paper
    return (
        f'<article class="source" id="{tab}-{citation.number}"><h4>'
        f'<span class="number">{citation.number}</span>{inline(paper.title)}</h4>'
        f'<p class="about"><span>{_about(paper)}</span> <a href="#{tab}-table">back</a></p>'
        f'<p class="abstract">{highlighted(paper.text, citation.sentences)}</p></article>'
    )


def _note(answer: Answer) -> str:
    return f'<p class="note">Note: {as_typed(answer.note.rstrip("."))}.</p>' if answer.note else ""


def _dropped(answer: Answer) -> str:
    if not answer.dropped:
        return ""
    items = "".join(
        f"<li>{inline(one.text)} ({as_typed(one.reason)})</li>" for one in answer.dropped
    )
    return (
        f'<details class="dropped"><summary>{len(answer.dropped)} left out: their sentences do '
        f"not support them</summary><ul>{items}</ul></details>"
    )


def _coverage(answer: Answer) -> str:
    if answer.coverage is None or answer.sections:  # whose title tells it
        return ""
    seen, total = answer.coverage.checked, answer.coverage.total
    all_of = f"All {total:,} papers were checked" if seen == total else ""
    return f'<p class="note">{all_of or f"{seen:,} of {total:,} papers were checked"}.</p>'


def _holds(claim: Claim, answer: Answer, wanted: str) -> bool:
    """Whether claim, titles and metadata hold all the words that are looked for."""
    words: Sequence[str] = normalise(wanted).split()
    cited = [one.paper for one in answer.citations if one.number in claim.citations]
    about = [f"{plain(p.title)} {p.meta.year or ''} {p.meta.venue} {place_of(p)}" for p in cited]
    text = normalise(" ".join([plain(claim.text), *about]))
    return all(word in text for word in words)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "replace")).decode()
