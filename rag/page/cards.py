"""The table of papers, a paper, and the report of an upload, as HTML that is ours alone."""

from __future__ import annotations

from collections.abc import Sequence

from rag.display import as_typed, inline
from rag.index.browse import Source
from rag.index.report import Failure, Report
from rag.index.table import Page, Row
from rag.page.answers import said
from rag.page.shelf import sources
from rag.page.turns import Turn
from rag.page.uploading import Uploaded
from rag.schema import Nearest, Paper

_AUTHORS = 3
_FAILURES = 200
TABLE_SCRIPT = """
element.addEventListener('click', (event) => {
  const link = event.target.closest('[data-open]');
  if (link) trigger('click', { paper: link.dataset.open });
});
element.addEventListener('change', (event) => {
  const boxes = [...element.querySelectorAll('[data-paper]')];
  if (event.target.matches('[data-all]')) {
    for (const box of boxes) box.checked = event.target.checked;
  }
  const ticked = boxes.filter((box) => box.checked).map((box) => box.dataset.paper);
  trigger('select', { papers: ticked });
});
new MutationObserver(() => {
  for (const box of element.querySelectorAll('[type=checkbox]')) box.checked = false;
}).observe(element, { subtree: true, childList: true, attributeFilter: ['data-drawn'] });
"""


def table(page: Page, drawn: int = 0) -> str:
    """Rows with a box to choose each and its title to open it.

    `drawn` tells one drawing from the next: gradio mends what is there, and ticks would stay.
    """
    if not page.rows:
        return '<p class="empty">No paper has that.</p>'
    rows = "".join(_row(row) for row in page.rows)
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("Title", "Authors", "Year", "File"))
    return (
        f'<div class="rows" data-drawn="{drawn}"><table><thead><tr><th scope="col">'
        '<input type="checkbox" data-all aria-label="Choose all on this page"></th>'
        f"{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def counted(page: Page) -> str:
    """Which rows are shown, of how many."""
    if not page.total:
        return "0 papers"
    return f"{page.first + 1:,} to {page.first + len(page.rows):,} of {page.total:,} papers"


def whole(paper: Paper, sources: Sequence[Source]) -> str:
    """One paper: what is known of it, its abstract, where it stands, its versions."""
    derived = ["title derived from the abstract"] if paper.title_derived else []
    about = " · ".join([*([", ".join(paper.meta.authors)] if paper.meta.authors else []), *derived])
    facts = "".join(
        f"<dt>{name}</dt><dd>{as_typed(value)}</dd>" for name, value in _facts(paper) if value
    )
    return (
        f'<article class="paper"><h2>{inline(paper.title)}</h2>'
        f'<p class="about">{as_typed(about)}</p>'
        f'<p class="abstract">{inline(paper.text)}</p><dl>{facts}</dl>'
        f"{_sources(sources)}</article>"
    )


def similar(found: Sequence[Nearest]) -> str:
    """The papers nearest to one, each to be opened."""
    if not found:
        return '<p class="empty">There is no other paper.</p>'
    items = "".join(
        f"<li>{_link(near.paper.id, near.paper.title)} "
        f'<span class="place">{near.score:.2f}</span></li>'
        for near in found
    )
    return f"<h3>Similar papers</h3><ul>{items}</ul>"


def summary(turn: Turn) -> str:
    """A cited summary and the sentences that it rests on."""
    return f"{said(turn)}\n\n{sources((turn,))}"


def report(done: Uploaded) -> str:
    """What came of an upload, with every record that was not taken."""
    parts = [f'<p class="told">{_told(done)}</p>']
    if done.report and done.report.notices:
        items = "".join(f"<li>{as_typed(str(one))}</li>" for one in done.report.notices[:_FAILURES])
        parts.append(
            f"<details><summary>{len(done.report.notices):,} mended</summary><ul>{items}</ul>"
            "</details>"
        )
    if done.failures:
        rows = "".join(map(_failure, done.failures[:_FAILURES]))
        more = len(done.failures) - _FAILURES
        rest = f"<p>… and {more:,} more.</p>" if more > 0 else ""
        parts.append(
            '<div class="rows"><table><thead><tr><th scope="col">Not taken</th>'
            '<th scope="col">Why</th><th scope="col">What to do</th></tr></thead>'
            f"<tbody>{rows}</tbody></table></div>{rest}"
        )
    return "".join(parts)


def failed(error: Exception) -> str:
    """What went wrong, in one line."""
    return f'<p class="failure" role="alert">{as_typed(str(error))}</p>'


def note(text: str) -> str:
    """What was done."""
    return f'<p role="status">{as_typed(text)}</p>' if text else ""


def _row(row: Row) -> str:
    title = as_typed(row.title)
    authors = ", ".join(row.authors[:_AUTHORS]) + (" …" if len(row.authors) > _AUTHORS else "")
    about = f"{row.source}:{row.ordinal}"
    return (
        f'<tr><td><input type="checkbox" data-paper="{as_typed(row.paper_id)}"'
        f' aria-label="Choose {title}"></td>'
        f"<td>{_link(row.paper_id, row.title)}"
        f'<span class="venue">{as_typed(row.venue)}</span></td>'
        f"<td>{as_typed(authors)}</td><td>{row.year or ''}</td>"
        f'<td class="place">{as_typed(about)}</td></tr>'
    )


def _link(paper_id: str, title: str) -> str:
    return f'<button type="button" data-open="{as_typed(paper_id)}">{as_typed(title)}</button>'


def _facts(paper: Paper) -> list[tuple[str, str]]:
    meta = paper.meta
    return [
        ("Year", str(meta.year or "")),
        ("Venue", meta.venue),
        ("DOI", meta.doi),
        ("arXiv", meta.arxiv),
        ("Address", meta.url),
        ("Keywords", ", ".join(meta.keywords)),
        ("Looks planted", ", ".join(meta.flags)),
        ("Version", str(paper.version)),
        ("Id", paper.id),
    ]


def _sources(sources: Sequence[Source]) -> str:
    items = "".join(f"<li>{_source(one)}</li>" for one in sources)
    return f"<h3>Where it stands</h3><ul>{items}</ul>"


def _source(one: Source) -> str:
    line = f", line {one.line}" if one.line else ""
    shown = " (shown here)" if one.shown else ""
    return as_typed(f"{one.label}:{one.ordinal}{line}{shown}")


def _told(done: Uploaded) -> str:
    files = f"{done.files:,} file{'' if done.files == 1 else 's'}"
    if done.report is None:
        return f"Nothing was taken of {files}."
    return f"{files}: {_changes(done.report)}; {len(done.failures):,} failed."


def _changes(done: Report) -> str:
    return (
        f"{done.added:,} added, {done.updated:,} updated, {done.duplicates:,} duplicates; "
        f"the collection has {done.total.papers:,} papers"
    )


def _failure(one: Failure) -> str:
    line = f":{one.line}" if one.line else ""
    record = f", record {one.ordinal}" if one.ordinal else ""
    place = f"{one.source}{line}{record}"
    return (
        f"<tr><td>{as_typed(place)}</td><td>{as_typed(one.reason)}</td>"
        f"<td>{as_typed(one.remedy)}</td></tr>"
    )
