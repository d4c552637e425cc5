"""The collection: a table, one paper's page, removal with undo, export.

Annotations are not postponed here: gradio evaluates those of the handlers.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from rag.errors import AskPapersError
from rag.exporting import FORMATS, Format
from rag.index.table import ORDERS
from rag.page import cards
from rag.page.collection import PAGE, Collection, Wanted
from rag.page.parts import HIDDEN, delimiters
from rag.page.readers import owner
from rag.page.setting import Setting
from rag.page.turns import Turn

SIMILAR = 8
SUFFIXES: dict[Format, str] = {
    "bibtex": "bib", "ris": "ris", "csl": "json", "markdown": "md", "html": "html", "json": "json",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shelf:
    """What other tabs may use: `open` gives new values of `opened` for the paper of an id.

    `reload` gives those of `shown`, the table, from the values of `asked`.
    """

    opened: list[Any]
    open: Callable[[str], list[Any]]
    asked: list[Any]
    shown: list[Any]
    reload: Callable[..., list[Any]]


@dataclass(frozen=True, slots=True)
class _Table:
    """The parts of the table."""

    column: gr.Column
    filters: list[Any]
    rows: gr.HTML
    count: gr.HTML
    told: gr.HTML
    undo: gr.Button
    first: gr.State
    ticked: gr.State
    remove: gr.Button
    export: gr.Button
    form: gr.Dropdown
    file: gr.DownloadButton
    before: gr.Button
    after: gr.Button


@dataclass(frozen=True, slots=True)
class _Paper:
    """The parts of one paper's page."""

    column: gr.Column
    back: gr.Button
    ask: gr.Button
    summarise: gr.Button
    shown: gr.Markdown
    summary: gr.Markdown
    near: gr.HTML
    paper: gr.State


def build(setting: Setting, collection: Collection, tabs: gr.Tabs, box: gr.Textbox) -> Shelf:
    """The tab: the table, or the paper that was opened in its place."""
    table, paper = _table(), _paper()
    shelf = _reading(collection, table, paper, setting)
    _wire_table(collection, table, shelf)
    _wire_paper(setting, table, paper, shelf, [box, tabs])
    return shelf


def _table() -> _Table:
    with gr.Column(elem_id="papers") as column:
        with gr.Row(elem_classes="filters"):
            names = ("Words in title or abstract", "Year", "Venue", "Author", "File")
            filters: list[Any] = [gr.Textbox(label=name, max_lines=1) for name in names]
            filters.append(gr.Dropdown(list(ORDERS), value="file", label="Sorted by"))
        with gr.Row(elem_classes="deeds"):
            count = gr.HTML(padding=False, elem_classes="count")
            remove = gr.Button("Remove", size="sm")
            form = gr.Dropdown(list(FORMATS), value="bibtex", label="Format", container=False)
            export = gr.Button("Export", size="sm")
            file = gr.DownloadButton("Download", visible=False, size="sm")
        with gr.Row(elem_classes="deeds"):
            told = gr.HTML(padding=False, elem_classes="told")
            undo = gr.Button("Undo", visible=False, size="sm")
        rows = gr.HTML(elem_id="rows", padding=False, js_on_load=cards.TABLE_SCRIPT)
        with gr.Row(elem_classes="deeds"):
            before, after = gr.Button("Previous", size="sm"), gr.Button("Next", size="sm")
    states = (gr.State(0), gr.State(()))
    asked = (column, filters, rows, count, told, undo)
    return _Table(*asked, *states, remove, export, form, file, before, after)


def _paper() -> _Paper:
    with gr.Column(visible=False, elem_id="paper") as column:
        with gr.Row(elem_classes="deeds"):
            names = ("Back to the table", "Ask about it", "Summarise")
            back, ask, summarise = (gr.Button(name, size="sm") for name in names)
        shown = gr.Markdown(latex_delimiters=delimiters())
        summary = gr.Markdown(latex_delimiters=delimiters(), elem_classes="summary")
        near = gr.HTML(padding=False, elem_classes="similar", js_on_load=cards.TABLE_SCRIPT)
    return _Paper(column, back, ask, summarise, shown, summary, near, gr.State(""))


def _reading(collection: Collection, table: _Table, paper: _Paper, setting: Setting) -> Shelf:
    """How the table is filled, and how a paper is opened."""

    def reload(first: int, *typed: str) -> list[Any]:
        try:
            page = collection.page(Wanted(*typed), first)  # type: ignore[arg-type]
        except AskPapersError as error:
            return [cards.failed(error), "", 0, ()]
        return [
            cards.table(page, time.monotonic_ns()),
            cards.note(cards.counted(page)),
            page.first,
            (),
        ]

    def show(paper_id: str) -> list[Any]:
        seen = [gr.Column(visible=False), gr.Column(visible=True)]
        try:
            found, sources = collection.paper(paper_id)
            near = setting.assistant.similar(paper_id, SIMILAR)
        except AskPapersError as error:
            return [*seen, cards.failed(error), "", "", paper_id]
        return [*seen, cards.whole(found, sources), "", cards.similar(near), paper_id]

    opened = [table.column, paper.column, paper.shown, paper.summary, paper.near, paper.paper]
    shown = [table.rows, table.count, table.first, table.ticked]
    return Shelf(opened, show, [table.first, *table.filters], shown, reload)


def _wire_table(collection: Collection, table: _Table, shelf: Shelf) -> None:
    for box in table.filters:
        event = box.change if isinstance(box, gr.Dropdown) else box.submit
        event(shelf.reload, shelf.asked, shelf.shown, **HIDDEN)
    for button, step in ((table.before, -PAGE), (table.after, PAGE)):
        button.click(_turned(shelf, step), shelf.asked, shelf.shown, **HIDDEN)
    table.rows.select(_ticked, None, table.ticked, queue=False, **HIDDEN)
    table.rows.click(_opening(shelf), None, shelf.opened, **HIDDEN)
    _wire_removal(collection, table, shelf)
    _wire_export(collection, table)


def _wire_removal(collection: Collection, table: _Table, shelf: Shelf) -> None:
    def remove(papers: tuple[str, ...], request: gr.Request) -> list[Any]:
        return done(lambda: _removed(collection.remove(owner(request), papers)), request)

    def undo(request: gr.Request) -> list[Any]:
        return done(lambda: f"{collection.undo(owner(request)):,} came back.", request)

    def done(deed: Callable[[], str], request: gr.Request) -> list[Any]:
        try:
            text = cards.note(deed())
        except AskPapersError as error:
            text = cards.failed(error)
        return [text, gr.Button(visible=collection.can_undo(owner(request)))]

    told = [table.told, table.undo]
    for event in (
        table.remove.click(remove, table.ticked, told, **HIDDEN),
        table.undo.click(undo, None, told, **HIDDEN),
    ):
        event.then(shelf.reload, shelf.asked, shelf.shown, **HIDDEN)


def _wire_export(collection: Collection, table: _Table) -> None:
    def export(form: Format, papers: tuple[str, ...], *typed: str) -> list[Any]:
        try:
            text = collection.export(papers, Wanted(*typed), form)  # type: ignore[arg-type]
        except AskPapersError as error:
            return [gr.skip(), cards.failed(error)]
        path = Path(tempfile.mkdtemp(dir=collection.room)) / f"papers.{SUFFIXES[form]}"
        path.write_text(text, encoding="utf-8")
        return [gr.DownloadButton(f"Download {path.name}", value=path, visible=True), ""]

    asked = [table.form, table.ticked, *table.filters]
    table.export.click(export, asked, [table.file, table.told], **HIDDEN)


def _ticked(event: gr.EventData) -> tuple[str, ...]:
    papers = event._data.get("papers") if isinstance(event._data, dict) else None
    return tuple(str(one) for one in papers[:PAGE]) if isinstance(papers, list) else ()


def _wire_paper(
    setting: Setting, table: _Table, paper: _Paper, shelf: Shelf, asked: list[Any]
) -> None:
    def back() -> list[Any]:
        return [gr.Column(visible=True), gr.Column(visible=False)]

    def summarise(paper_id: str) -> Iterator[str]:
        turn = Turn(0, "Summary")  # no turn of the conversation has that number
        try:
            for event in setting.assistant.summarize(paper_id):
                turn = turn.after(event)
                yield cards.summary(turn)
        except AskPapersError as error:
            yield cards.failed(error)

    def ask(paper_id: str) -> list[Any]:
        return asking(setting, paper_id)

    paper.back.click(back, None, [table.column, paper.column], queue=False, **HIDDEN)
    paper.ask.click(ask, paper.paper, asked, queue=False, **HIDDEN)
    paper.summarise.click(summarise, paper.paper, paper.summary, concurrency_id="ask", **HIDDEN)
    paper.near.click(_opening(shelf), None, shelf.opened, **HIDDEN)


def asking(setting: Setting, paper_id: str) -> list[Any]:
    """New values of the question's box and of the tabs: a question about the paper."""
    found = setting.assistant.papers([paper_id]).get(paper_id)
    title = " ".join(found.title.split()) if found else ""
    return [gr.Textbox(value=f"What is “{title}” about?" if title else ""), gr.Tabs(selected="ask")]


def chosen_paper(event: gr.EventData) -> str:
    """The id of the paper that a script of ours has sent; it is not to be trusted."""
    data = event._data if isinstance(event._data, dict) else {}
    return str(data.get("paper", ""))[:100]


def _opening(shelf: Shelf) -> Callable[..., list[Any]]:
    def opening(event: gr.EventData) -> list[Any]:
        return shelf.open(chosen_paper(event))

    return opening


def _turned(shelf: Shelf, step: int) -> Callable[..., list[Any]]:
    def turned(first: int, *typed: str) -> list[Any]:
        return shelf.reload(max(0, first + step), *typed)

    return turned


def _removed(papers: int) -> str:
    return f"{papers:,} paper{'' if papers == 1 else 's'} removed."
