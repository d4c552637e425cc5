"""The tab that compares papers in a table, each cell with the sentence that says it.

Annotations are not postponed here: gradio evaluates those of the handlers.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from rag import jsonform
from rag.answering.asking import Reading
from rag.answering.columns import DEFAULT
from rag.answering.columns import MOST as MOST_COLUMNS
from rag.answering.cues import KNOWN
from rag.answering.events import Event
from rag.answering.tableform import as_csv, markdown_document, name_of
from rag.answering.tabling import FEWEST, MOST
from rag.errors import AskPapersError
from rag.page import benchview
from rag.page.overhearing import Readers, Step
from rag.page.parts import HIDDEN, delimiters
from rag.page.readers import user_of
from rag.page.setting import Setting
from rag.page.turns import Turn
from rag.schema import Answer, Paper

TAB = "compare"
_FOUND = 8
_LEFT = "No last answer cites a paper. Ask a question first, or find papers here."
_TOO_FEW = f"Choose {FEWEST} to {MOST} papers: a name, a DOI or file:number, or find them below."
_NO_COLUMN = "Choose a column, or write what else to ask each paper for."


@dataclass(frozen=True, slots=True)
class Seen:
    """What papers are called, by their places, and which of them were found last."""

    names: Mapping[str, str] = field(default_factory=dict)
    found: tuple[str, ...] = ()

    def with_found(self, papers: Sequence[Paper]) -> "Seen":
        """The same once these were found."""
        names = _names(papers)
        return Seen({**self.names, **names}, tuple(names))


def build(setting: Setting, turns: gr.State) -> None:
    """The tab; `turns` are those of the conversation (`tuple[Turn, ...]`)."""
    desk = Comparing(setting)
    with gr.Column(elem_id="compare", elem_classes="bench"):
        gr.HTML("<h2>Compare papers</h2>", padding=False)
        seen = gr.State(Seen())
        chosen = _picker("Papers", [], MOST, "A name, a DOI or file:number")
        with gr.Row(elem_classes="fields"):
            find = gr.Textbox(
                label="Find papers", placeholder="Words or a question", submit_btn="Find", scale=3
            )
            last = gr.Button("Add the papers of the last answer", scale=1)
        found = gr.CheckboxGroup(label="Found: tick to add", visible=False, elem_id="compare-found")
        columns = _picker("Columns", DEFAULT.split(","), MOST_COLUMNS, "Or your own words")
        with gr.Row(elem_classes="actions"):
            go = gr.Button("Compare", variant="primary", elem_id="compare-go")
            end = gr.Button("Stop", visible=False, elem_id="compare-stop")
        status = gr.HTML(elem_classes="told", padding=False)
        saves = gr.HTML(padding=False)
        table = gr.Markdown(elem_classes="result", latex_delimiters=delimiters())
    find.submit(desk.find, [find, chosen, seen], [found, seen, status], **HIDDEN)
    found.input(desk.tick, [found, chosen, seen], chosen, **HIDDEN)
    last.click(desk.of_last, [turns, chosen, seen], [chosen, seen, status], **HIDDEN)
    shows = [status, saves, table, go, end]
    go.click(desk.compare, [chosen, columns], shows, concurrency_id="tables", **HIDDEN)
    end.click(desk.stop, queue=False, **HIDDEN)


class Comparing:
    """What the tab does."""

    def __init__(self, setting: Setting) -> None:
        self._assistant = setting.assistant
        self._meter = setting.meter
        self._readers = Readers(setting.turn)

    def find(self, words: str, chosen: list[str], seen: Seen) -> tuple[Any, Seen, str]:
        """Papers to tick, those that are chosen already being so."""
        try:
            hits = self._hits(words)
        except AskPapersError as error:
            return gr.skip(), seen, benchview.told(failure=str(error))
        if not hits:
            return gr.CheckboxGroup(visible=False), seen, benchview.told(note="No paper was found.")
        now = seen.with_found(hits)
        choices = [(now.names[place], place) for place in now.found]
        ticked = [place for place in now.found if place in chosen]
        return gr.CheckboxGroup(choices=choices, value=ticked, visible=True), now, ""

    def tick(self, ticked: list[str], chosen: list[str], seen: Seen) -> Any:
        """The chosen papers once some of those found were ticked or unticked."""
        kept = [one for one in chosen if one not in seen.found or one in ticked]
        return _chosen([*kept, *ticked], seen)

    def of_last(
        self, turns: tuple[Turn, ...], chosen: list[str], seen: Seen
    ) -> tuple[Any, Seen, str]:
        """The chosen papers with those that the last answer cites."""
        cited = [one.paper for one in turns[-1].citations] if turns else []
        if not cited:
            return gr.skip(), seen, benchview.told(note=_LEFT)
        now = Seen({**seen.names, **_names(cited)}, seen.found)
        return _chosen([*chosen, *map(benchview.place_of, cited)], now), now, ""

    def compare(
        self, chosen: list[str], columns: list[str], request: gr.Request
    ) -> Iterator[list[Any]]:
        """The table, again and again until it is there."""
        refusal = "" if len(chosen) >= FEWEST else _TOO_FEW
        refusal = refusal or ("" if columns else _NO_COLUMN)
        if refusal:
            yield [benchview.told(failure=refusal), *[gr.skip()] * 4]
            return
        reader, title = str(request.session_hash), f"Compare {', '.join(chosen)}"

        def make(reading: Reading) -> Iterator[Event]:
            events = self._assistant.tables.compare(chosen, ",".join(columns), reading)
            return self._meter.heard(reader, title, events)

        for step in self._readers.work(reader, "reading", make, user_of(request)):
            yield _update(step)

    def stop(self, request: gr.Request) -> None:
        """End the table; what was read of it is shown."""
        self._readers.stop(str(request.session_hash))

    def _hits(self, words: str) -> list[Paper]:
        if not words.strip():
            return []
        return [hit.paper for hit in self._assistant.search(words, _FOUND).hits]


def _picker(label: str, value: list[str], most: int, info: str) -> gr.Dropdown:
    columns = label == "Columns"
    return gr.Dropdown(
        choices=list(KNOWN) if columns else [],
        value=value,
        multiselect=True,
        allow_custom_value=True,
        max_choices=most,
        label=label,
        info=info,
        elem_id=f"compare-{label.lower()}",
    )


def _chosen(places: Sequence[str], seen: Seen) -> Any:
    """The picker with these papers, shown by their names where they have one."""
    kept = list(dict.fromkeys(places))[:MOST]
    return gr.Dropdown(choices=[(seen.names.get(one, one), one) for one in kept], value=kept)


def _names(papers: Sequence[Paper]) -> dict[str, str]:
    return {benchview.place_of(paper): _named(paper) for paper in papers}


def _named(paper: Paper) -> str:
    year = f" ({paper.meta.year})" if paper.meta.year else ""
    return f"{name_of(paper)}{year} · {benchview.place_of(paper)}"


def _update(step: Step) -> list[Any]:
    """New values in the order of what is shown; the last table stays until the next is there."""
    buttons = [gr.Button(visible=step.over), gr.Button(visible=not step.over)]
    if step.answer is None:
        note = "Stopped." if step.stopped else ""
        return [benchview.told(step.waiting, step.failure, note), gr.skip(), gr.skip(), *buttons]
    note = "Stopped: these papers were read before." if step.stopped else ""
    saves = benchview.downloads("comparison", files_of(step.answer)) if step.answer.claims else ""
    return [benchview.told(note=note), saves, benchview.table_of(step.answer, TAB), *buttons]


def files_of(answer: Answer) -> Sequence[tuple[str, str, str]]:
    """A table as files: what each is called, its ending, and its content."""
    assert answer.table is not None
    value = json.dumps(jsonform.answer(answer), ensure_ascii=False, indent=2)
    return (
        ("CSV", "csv", as_csv(answer.table)),
        ("Markdown", "md", markdown_document(answer.table, answer.citations)),
        ("JSON", "json", value + "\n"),
    )
