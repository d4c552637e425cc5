"""One HTML document that loads nothing: no script, no image, no font, no style from elsewhere.

Whatever papers, models and people wrote is escaped, LaTeX is shown as it is written, and the only
links are to the addresses of papers and to places of the document itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from rag.answering.tableform import NOT_STATED
from rag.exporting.forms import AnswerForm, Citation, Claim, Table
from rag.exporting.references import Reference
from rag.exporting.wording import prose
from rag.text import legible, split_maths

_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem; line-height: 1.5;
  font-family: Georgia, serif; }}
h1, h2, h3 {{ line-height: 1.25; }}
blockquote {{ margin: .3rem 0 .3rem 1rem; padding-left: .8rem; border-left: 3px solid #888; }}
table {{ border-collapse: collapse; }}
th, td {{ border: 1px solid #888; padding: .3rem .6rem; text-align: left; vertical-align: top; }}
.about {{ font-size: .9rem; }}
sup a {{ text-decoration: none; }}
li {{ margin-bottom: .6rem; overflow-wrap: anywhere; }}
</style>
</head>
<body>
"""


def webpage(title: str, blocks: Iterator[str]) -> str:
    """The whole document around its blocks."""
    return f"{_HEAD.format(title=shown(title))}{chr(10).join(blocks)}\n</body>\n</html>\n"


def shown(written: str) -> str:
    """Running text, escaped: its LaTeX commands undone, its maths as it is written."""
    parts = (part if maths else prose(part) for part, maths in split_maths(written))
    return escape(legible("".join(parts)))


def answer_in_html(
    answer: AnswerForm, references: Mapping[str, Reference], lines: Mapping[str, str], number: int
) -> Iterator[str]:
    """The blocks of an answer, which is the `number`th of the document."""
    yield f"<section><h1>{escape(legible(answer.question))}</h1>"
    if answer.table:
        yield _table(answer.table, number)
    elif answer.claims:
        for title, claims in answer.parts():
            heading = f"<h2>{shown(title)}</h2>" if title else ""
            yield f"{heading}<p>{' '.join(_claim(claim, number) for claim in claims)}</p>"
    else:
        yield f"<p>{shown(answer.text)}</p>"
    yield from (f'<p class="about">{remark}</p>' for remark in _remarks(answer))
    if answer.dropped:
        items = "".join(
            f"<li>{shown(one.text)} ({escape(legible(one.reason))})</li>" for one in answer.dropped
        )
        yield f"<details><summary>Left out: no sentence supports it</summary><ul>{items}</ul>"
        yield "</details>"
    if answer.citations:
        items = "".join(_cited(one, references, lines, number) for one in answer.citations)
        yield f"<h2>References</h2><ol>{items}</ol>"
    if answer.status == "abstained" and answer.nearest:
        items = "".join(
            f"<li>{_linked(references[head.paper_id], lines)}</li>" for head in answer.nearest
        )
        yield f"<h2>Nearest papers</h2><ul>{items}</ul>"
    yield "</section>"


def papers_in_html(references: Sequence[Reference], lines: Mapping[str, str]) -> Iterator[str]:
    """The blocks of a selection of papers."""
    yield "<h1>Papers</h1>"
    for one in references:
        yield f'<article id="{escape(one.key)}"><h2>{shown(one.title)}</h2>'
        yield f'<p class="about">{_linked(one, lines)} <code>{escape(one.key)}</code></p>'
        yield f"<p>{shown(one.abstract)}</p></article>"


def _remarks(answer: AnswerForm) -> Iterator[str]:
    if answer.missing:
        yield f"Missing: {shown(answer.missing)}"
    if answer.coverage:
        yield f"Checked {answer.coverage.checked} of {answer.coverage.total} abstracts."
    if not answer.complete:
        yield "The answer is incomplete."
    if answer.note:
        yield f"Note: {escape(legible(answer.note))}"


def _claim(claim: Claim, number: int) -> str:
    links = ", ".join(f'<a href="#r{number}-{cited}">{cited}</a>' for cited in claim.citations)
    marks = f"<sup>[{links}]</sup>" if links else ""
    partly = " <em>(partly supported)</em>" if claim.verdict == "partly" else ""
    return f"{shown(claim.text)}{marks}{partly}"


def _table(table: Table, number: int) -> str:
    heads = "".join(f"<th>{shown(column)}</th>" for column in ("Paper", *table.columns))
    rows = "".join(
        f"<tr><th>{shown(row.title)}</th>"
        + "".join(f"<td>{_claim(cell, number) if cell else NOT_STATED}</td>" for cell in row.cells)
        + "</tr>"
        for row in table.rows
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _cited(
    citation: Citation, references: Mapping[str, Reference], lines: Mapping[str, str], number: int
) -> str:
    quotes = "".join(f"<blockquote>{shown(one.text)}</blockquote>" for one in citation.sentences)
    line = _linked(references[citation.paper_id], lines)
    return f'<li id="r{number}-{citation.number}" value="{citation.number}">{line}{quotes}</li>'


def _linked(reference: Reference, lines: Mapping[str, str]) -> str:
    """A reference, with a link to where the paper can be read."""
    line = escape(lines[reference.paper_id])
    address = f"https://doi.org/{reference.meta.doi}" if reference.meta.doi else reference.url
    return f'{line} <a href="{escape(address)}">Read it</a>' if address else line
