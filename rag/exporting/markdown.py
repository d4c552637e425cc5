"""Markdown: what papers, models and people wrote is text in it, and maths stays maths."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from rag.answering.tableform import NOT_STATED
from rag.exporting.forms import AnswerForm, Citation, Claim, Table
from rag.exporting.references import Reference
from rag.exporting.wording import prose
from rag.text import legible, split_maths

_MARKS = re.compile(r"[\\`*_{}\[\]<>#|~$&]")
_BACKSLASH = r"\\\g<0>"
_FIRST = re.compile(r"^(\s*)([-+=:]|\d+[.)])")


def text_of(written: str) -> str:
    """Running text: its LaTeX commands undone, its marks escaped, its maths as it stands."""
    return _joined(written, prose)


def verbatim(written: str) -> str:
    """Text in which nothing but maths is read, as a question of a person."""
    return _joined(written, str)


def answer_in_markdown(
    answer: AnswerForm, references: Mapping[str, str], level: int = 1
) -> Iterator[str]:
    """The blocks of an answer; `references` has a line for each paper, by its id."""
    yield f"{'#' * level} {verbatim(answer.question)}"
    if answer.table:
        yield _table(answer.table)
    elif answer.claims:
        for title, claims in answer.parts():
            if title:
                yield f"{'#' * (level + 1)} {text_of(title)}"
            yield " ".join(map(_claim, claims))
    else:
        yield text_of(answer.text)
    yield from _remarks(answer)
    if answer.citations:
        yield f"{'#' * (level + 1)} References"
        yield "\n".join(
            line for citation in answer.citations for line in _cited(citation, references)
        )
    if answer.status == "abstained" and answer.nearest:
        yield f"{'#' * (level + 1)} Nearest papers"
        yield "\n".join(f"- {verbatim(references[head.paper_id])}" for head in answer.nearest)


def papers_in_markdown(references: Sequence[Reference], lines: Mapping[str, str]) -> Iterator[str]:
    """The blocks of a selection of papers."""
    yield "# Papers"
    for one in references:
        yield f"## {text_of(one.title)}"
        yield f"{verbatim(lines[one.paper_id])} `{one.key}`"
        if one.abstract:
            yield text_of(one.abstract)


def _remarks(answer: AnswerForm) -> Iterator[str]:
    if answer.missing:
        yield f"Missing: {text_of(answer.missing)}"
    if answer.coverage:
        yield f"Checked {answer.coverage.checked} of {answer.coverage.total} abstracts."
    if not answer.complete:
        yield "*The answer is incomplete.*"
    if answer.note:
        yield f"Note: {verbatim(answer.note)}"
    if answer.dropped:
        yield "Left out because no sentence supports it:"
        yield "\n".join(f"- {text_of(one.text)} ({verbatim(one.reason)})" for one in answer.dropped)


def _claim(claim: Claim) -> str:
    marks = f" [{', '.join(map(str, claim.citations))}]" if claim.citations else ""
    partly = " *(partly supported)*" if claim.verdict == "partly" else ""
    return f"{text_of(claim.text)}{marks}{partly}"


def _table(table: Table) -> str:
    """A table; a bar in a cell is escaped in maths as well, where it would end the cell."""
    rows = [["Paper", *map(text_of, table.columns)], ["---"] * (len(table.columns) + 1)]
    rows += [
        [text_of(row.title), *(_claim(cell) if cell else NOT_STATED for cell in row.cells)]
        for row in table.rows
    ]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows)


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", text)


def _cited(citation: Citation, references: Mapping[str, str]) -> Iterator[str]:
    yield f"- [{citation.number}] {verbatim(references[citation.paper_id])}"
    for sentence in citation.sentences:
        yield f"  > {text_of(sentence.text)}\n"


def _joined(written: str, read: Callable[[str], str]) -> str:
    parts = [
        _maths(part) if maths else _MARKS.sub(_BACKSLASH, read(part))
        for part, maths in split_maths(written)
    ]
    return _FIRST.sub(_unlisted, legible("".join(parts)))


def _maths(part: str) -> str:
    """On one line, and without what opens a tag or makes a link where maths is not known."""
    return legible(part).replace("<", r"\lt ").replace(">", r"\gt ").replace("](", "] (")


def _unlisted(match: re.Match[str]) -> str:
    """What begins a list or a rule at the start of a line does not any more."""
    mark = match[2]
    return f"{match[1]}{mark[:-1]}\\{mark[-1]}"
