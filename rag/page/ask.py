"""The conversation: ask, watch the claims come, see each one's sentence in its abstract.

Annotations are not postponed here: gradio evaluates those of the handlers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.components import Component

from rag.page import acting, opinion
from rag.page.asking import Asking, Talk
from rag.page.parts import HIDDEN, delimiters
from rag.page.readers import owner
from rag.page.setting import Setting
from rag.page.shelf import sources
from rag.page.shown import Shown, Update, progress, turn_of
from rag.page.turns import Turn

EXAMPLES = (
    "What does RN-DPO normalize?",
    "How can offline imitation learning be made safe?",
    "What error bound does the anytime GDRO algorithm have?",
    "How is documentation generated for a whole repository?",
)
WELCOME = """<h2>Ask the papers</h2>
<p>Every sentence of an answer is backed by a sentence of an abstract, which is shown beside it.</p>
"""
TOP = """<div class="bar"><button type="button" class="do talks" name="talks">Conversations</button>
<button type="button" class="do new" name="new">New conversation</button></div>"""


@dataclass(frozen=True)
class Conversing:
    """What other tabs may use: the turns so far (`tuple[Turn, ...]`), and the question's box."""

    turns: gr.State
    box: gr.Textbox


def build(setting: Setting) -> Conversing:
    """The kept conversations, the open one, and the sources of its answers."""
    turns, kept, editing = gr.State(()), gr.State(0), gr.State(0)
    with gr.Row(elem_id="columns"):
        with gr.Column(elem_id="talks"):
            gr.HTML("<h2>Conversations</h2>", padding=False)
            search = gr.Textbox(
                label="Search conversations",
                placeholder="Search conversations",
                show_label=False,
                container=False,
                max_lines=1,
                elem_id="search",
            )
            listed = gr.HTML(elem_id="list", padding=False)
        with gr.Column(elem_id="conversation"):
            gr.HTML(TOP, elem_id="top", padding=False)
            with gr.Column(elem_id="welcome") as welcome:
                gr.HTML(WELCOME, padding=False)
                examples = [gr.Button(text, elem_classes="example") for text in EXAMPLES]
            chat = gr.Markdown(elem_id="chat", latex_delimiters=delimiters())
            status = gr.HTML(elem_id="status", padding=False)
            form = opinion.build()
            hint = gr.HTML(elem_id="hint", padding=False)
            box = _box()
        with gr.Column(elem_id="panel"):
            gr.HTML("<h2>Sources</h2>", padding=False)
            shelf = gr.Markdown(sources(()), latex_delimiters=delimiters(), elem_id="sources")
        address = gr.HTML(elem_id="address", padding=False)
        script = Path(__file__).with_name("page.js").read_text(encoding="utf-8")
        bridge = gr.HTML(js_on_load=script, elem_id="bridge", padding=False)
    shown = Shown(
        turns, kept, editing, search, listed, welcome, chat, status, hint, box, shelf, address,
        bridge, form,
    )  # fmt: skip
    asking = Asking(setting)
    _wire(asking, shown, examples)
    acting.wire(asking, shown)
    opinion.wire(asking, shown)
    return Conversing(turns, box)


def _box() -> gr.Textbox:
    return gr.Textbox(
        placeholder="Ask about the papers",
        label="Question",
        show_label=False,
        container=False,
        max_lines=6,
        submit_btn="Ask",
        autofocus=True,
        elem_id="question",
    )


def _wire(asking: Asking, shown: Shown, examples: list[gr.Button]) -> None:
    """A question may be typed, chosen, suggested, or asked once more."""

    def typed(
        question: str, turns: tuple[Turn, ...], kept: int, editing: int, request: gr.Request
    ) -> Iterator[Update]:
        if question.strip():
            yield from _asked(asking, shown, question, Talk(turns, kept), editing, request)
        else:
            yield {shown.box: gr.skip()}

    def chosen(
        turns: tuple[Turn, ...], kept: int, request: gr.Request, event: gr.EventData
    ) -> Iterator[Update]:
        talk, value = Talk(turns, kept), str(event._data["value"])
        if event._data["name"] == "ask":
            yield from _asked(asking, shown, value, talk, 0, request)
        elif old := turn_of(turns, value):
            yield from _asked(asking, shown, old.question, talk, old.number, request)

    def stop(request: gr.Request) -> None:
        asking.stop(str(request.session_hash))

    outputs = [*shown.changing, shown.status, shown.box, shown.listed]
    queued: dict[str, Any] = {"concurrency_id": "ask", **HIDDEN}
    state: list[Component] = [shown.turns, shown.kept, shown.editing]
    shown.box.submit(typed, [shown.box, *state], outputs, **queued)
    for example in examples:
        example.click(typed, [example, *state], outputs, **queued)
    shown.bridge.submit(chosen, state[:2], outputs, **queued)
    shown.box.stop(stop, queue=False, **HIDDEN)


def _asked(
    asking: Asking, shown: Shown, question: str, talk: Talk, instead: int, request: gr.Request
) -> Iterator[Update]:
    """What is new on the page, until the answer is there and kept."""
    last: Turn | None = None
    who = owner(request)
    steps = asking.ask(
        question, talk, reader=str(request.session_hash), owner=who, instead_of=instead
    )
    for talk, step in steps:
        update = progress(shown, talk, step, last)
        if not step.waiting:  # in one update: of two that come at once the page may show the last
            update[shown.listed] = asking.listed(who, "", talk.kept)
        yield update
        last = step.turn
