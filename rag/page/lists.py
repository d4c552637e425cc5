"""The tab that lists every paper of which something holds, each with its reason.

Annotations are not postponed here: gradio evaluates those of the handlers.
"""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import gradio as gr

from rag import jsonform
from rag.answering.asking import Reading
from rag.answering.events import Event
from rag.answering.kinds import kind_of
from rag.errors import AskPapersError
from rag.exporting import reference_of, rendered, selection_of
from rag.index.browse import Filter, filters_of
from rag.page import benchview
from rag.page.overhearing import Make, Readers, Step
from rag.page.parts import HIDDEN, delimiters
from rag.page.readers import user_of
from rag.page.setting import Setting
from rag.schema import Answer, Kind

TAB = "list"
_ASKED: frozenset[Kind] = frozenset({"list", "count", "agreement", "overview"})
_EMPTY = "Write what the papers should have, such as: safe reinforcement learning"
_ABOUT = (
    "<h2>List papers</h2><p>Every paper of the collection is checked, and each one listed shows "
    "the sentence that puts it there. Ask which papers do something, how many there are, or "
    "whether they agree.</p>"
)


def build(setting: Setting) -> None:
    """The tab."""
    desk = Listing(setting)
    with gr.Column(elem_id="list", elem_classes="bench"):
        gr.HTML(_ABOUT, padding=False)
        box = gr.Textbox(label="Which papers?", placeholder="evaluate on robots", submit_btn="List")
        with gr.Row(elem_classes="fields"):
            year = gr.Textbox(label="Years", placeholder="2020-2024")
            venue = gr.Textbox(label="Venue")
            author = gr.Textbox(label="Author")
            source = gr.Textbox(label="File")
        end = gr.Button("Stop", visible=False, elem_id="list-stop")
        status = gr.HTML(elem_classes="told", padding=False)
        kept = gr.State(None)
        words = gr.Textbox(label="Show only those with", visible=False, elem_id="list-words")
        saves = gr.HTML(padding=False)
        papers = gr.Markdown(elem_classes="result", latex_delimiters=delimiters())
    shows = [kept, status, words, saves, papers, end]
    given = [box, year, venue, author, source]
    box.submit(desk.collect, given, shows, concurrency_id="tables", **HIDDEN)
    words.change(desk.narrow, [kept, words], [saves, papers], trigger_mode="always_last", **HIDDEN)
    end.click(desk.stop, queue=False, **HIDDEN)


class Listing:
    """What the tab does."""

    def __init__(self, setting: Setting) -> None:
        self._assistant = setting.assistant
        self._meter = setting.meter
        self._readers = Readers(setting.turn)

    def collect(
        self, asked: str, year: str, venue: str, author: str, source: str, request: gr.Request
    ) -> Iterator[list[Any]]:
        """The list, again and again until it is there."""
        fields = {"year": year, "venue": venue, "author": author, "source": source}
        try:
            make = self._make(asked, {name: text.strip() for name, text in fields.items()})
        except AskPapersError as error:
            yield _update(Step(failure=str(error)))
            return
        if make is None:
            yield _update(Step(failure=_EMPTY))
            return
        reader = str(request.session_hash)
        metered = partial(self._metered, reader, asked, make)
        begun = "checking every paper"
        for step in self._readers.work(reader, begun, metered, user_of(request)):
            yield _update(step)

    def narrow(self, answer: Answer | None, words: str) -> list[Any]:
        """Those of the papers that have the words; what is saved are these."""
        if answer is None:
            return [gr.skip(), gr.skip()]
        return [_saves(answer, words), benchview.list_of(answer, TAB, words)]

    def stop(self, request: gr.Request) -> None:
        """End the list."""
        self._readers.stop(str(request.session_hash))

    def _make(self, asked: str, fields: dict[str, str]) -> Make | None:
        """How the list is made: a question that asks for one is asked, else it is a condition."""
        if not asked.strip():
            return None
        filters = filters_of(**fields)
        if not filters and kind_of(asked) in _ASKED:
            return partial(self._ask, asked)
        return partial(self._list, asked, filters)

    def _metered(self, reader: str, asked: str, make: Make, reading: Reading) -> Iterator[Event]:
        return self._meter.heard(reader, asked, make(reading))

    def _ask(self, asked: str, reading: Reading) -> Iterator[Event]:
        return self._assistant.ask(asked, notify=reading.notify, stop=reading.stop)

    def _list(self, condition: str, filters: Sequence[Filter], reading: Reading) -> Iterator[Event]:
        return self._assistant.list_papers(
            condition, filters=filters, notify=reading.notify, stop=reading.stop
        )


def _update(step: Step) -> list[Any]:
    """New values in the order of what is shown; the last list stays until the next is there."""
    end = gr.Button(visible=not step.over)
    answer = step.answer
    if answer is None:
        told = benchview.told(step.waiting, step.failure, "Stopped." if step.stopped else "")
        return [gr.skip(), told, gr.skip(), gr.skip(), gr.skip(), end]
    words = gr.Textbox(value="", visible=len(answer.claims) > 1)
    return [answer, "", words, _saves(answer, ""), benchview.list_of(answer, TAB), end]


def _saves(answer: Answer, words: str) -> str:
    papers = benchview.papers_of(answer, words)
    if not papers:
        return ""
    export = selection_of(map(reference_of, papers))
    value = json.dumps(jsonform.answer(answer), ensure_ascii=False, indent=2)
    files = [
        ("BibTeX", "bib", rendered(export, "bibtex")),
        ("RIS", "ris", rendered(export, "ris")),
        ("CSL-JSON", "csl.json", rendered(export, "csl")),
        ("Markdown", "md", rendered(export, "markdown")),
        ("the whole answer as JSON", "json", value + "\n"),
    ]
    return benchview.downloads("papers", files)
