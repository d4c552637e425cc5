"""A table as text for elsewhere: CSV for a spreadsheet, Markdown for a document.

Papers and models wrote the cells, so what a spreadsheet would run, or Markdown would render as
more than words, is made harmless.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from rag.answering.citations import render_claim
from rag.schema import Citation, Claim, Paper, Row, Table
from rag.text import legible, plain

NOT_STATED = "not stated"
"""What stands in a cell of which the abstract says nothing; in CSV the cell is empty."""

_FORMULA = (*"=+-@＝＋－＠", "\t", "\r")  # of full width too
_MARKUP = re.compile(r"([\\`*\[\]<>|~$&#!]|(?<!\w)_|_(?!\w))")
_LONGEST_NAME = 60


def as_csv(table: Table) -> str:
    """A row for each paper; behind each cell stands the sentence that says it, word for word."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")  # RFC 4180
    heads = [head for column in table.columns for head in (column, f"{column}: evidence")]
    writer.writerow(map(inert, ("paper", "source", *map(legible, heads))))
    for row in table.rows:
        place = f"{row.paper.source}:{row.paper.ordinal}"
        cells = [text for cell in row.cells for text in _with_evidence(cell)]
        writer.writerow(map(inert, (plain(row.paper.title), place, *cells)))
    return written.getvalue()


def as_markdown(table: Table) -> str:
    """The table alone, each cell with its citation number."""
    heads = ["paper", *table.columns]
    lines = [_line(_escaped(legible(head)) for head in heads), _line("---" for _ in heads)]
    return "\n".join([*lines, *(_line(_row(row)) for row in table.rows)])


def markdown_document(table: Table, citations: Sequence[Citation]) -> str:
    """The table and below it the sources, each with the sentences that are cited."""
    parts = [as_markdown(table), ""]
    for citation in citations:
        paper = citation.paper
        place = _escaped(f"{paper.source}:{paper.ordinal}")
        parts.append(f"[{citation.number}] {_escaped(plain(paper.title))} ({place})")
        parts += [f"> {_escaped(legible(sentence.text))}" for sentence in citation.sentences]
        parts.append("")
    return "\n".join(parts)


def name_of(paper: Paper) -> str:
    """What a paper is called at the head of its row."""
    title = plain(paper.title)
    if len(title) <= _LONGEST_NAME:
        return title
    return f"{title[:_LONGEST_NAME].rsplit(' ', 1)[0]} …"


def shown(cell: Claim | None) -> str:
    """A cell as a person reads it, with its citation number and what is wrong with it."""
    if cell is None:
        return NOT_STATED
    mark = "" if cell.verdict == "supported" else " (partly supported)"
    return f"{plain(render_claim(cell))}{mark}"


def inert(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text


def _with_evidence(cell: Claim | None) -> tuple[str, str]:
    if cell is None:
        return "", ""
    return plain(cell.text), " ".join(legible(item.text) for item in cell.support)


def _row(row: Row) -> list[str]:
    return [_escaped(name_of(row.paper)), *map(_cell, row.cells)]


def _cell(cell: Claim | None) -> str:
    """The words are escaped, our own brackets are not."""
    if cell is None:
        return NOT_STATED
    marks = f" [{', '.join(map(str, cell.citations))}]" if cell.citations else ""
    partly = "" if cell.verdict == "supported" else " (partly supported)"
    return f"{_escaped(plain(cell.text))}{marks}{partly}"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text)
