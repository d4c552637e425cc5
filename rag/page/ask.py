"""The conversation: ask, watch the claims come, see each one's sentence in its abstract.

Annotations are not postponed here: gradio evaluates those of the handlers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component

from rag import display
from rag.display import Turn
from rag.page.desk import Desk, Progress
from rag.page.parts import HIDDEN, delimiters
from rag.page.setting import Setting

KEPT = 30  # questions that a conversation shows
EXAMPLES = (
    "What does RN-DPO normalize?",
    "How can offline imitation learning be made safe?",
    "What error bound does the anytime GDRO algorithm have?",
    "How is documentation generated for a whole repository?",
)
WELCOME = """<h2>Ask the papers</h2>
<p>Every sentence of an answer is backed by a sentence of an abstract, which is shown beside it.</p>
"""


@dataclass(frozen=True, slots=True)
class Conversing:
    """What other tabs may use: the turns so far (`tuple[Turn, ...]`), and the question's box."""

    turns: gr.State
    box: gr.Textbox


def build(setting: Setting) -> Conversing:
    """A conversation, and the sources of its answers beside it."""
    turns = gr.State(())
    with gr.Row(elem_id="columns"):
        with gr.Column(elem_id="conversation"):
            with gr.Column(elem_id="welcome") as welcome:
                gr.HTML(WELCOME, padding=False)
                examples = [gr.Button(text, elem_classes="example") for text in EXAMPLES]
            chat = gr.Markdown(elem_id="chat", latex_delimiters=delimiters())
            status = gr.HTML(elem_id="status", padding=False)
            box = _box()
        with gr.Column(elem_id="panel"):
            gr.HTML("<h2>Sources</h2>", padding=False)
            shelf = gr.Markdown(
                display.sources(()), latex_delimiters=delimiters(), elem_id="sources"
            )
    _wire(setting.desk, turns, [turns, welcome, chat, status, box, shelf], examples, box)
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


def _wire(
    desk: Desk,
    turns: gr.State,
    shown: list[Component],
    examples: list[gr.Button],
    box: gr.Textbox,
) -> None:
    def ask(
        question: str, before: tuple[Turn, ...], request: gr.Request
    ) -> Iterator[dict[Any, Any] | list[Any]]:
        if not question.strip():
            yield [gr.skip() for _ in shown]
            return
        last: Turn | None = None
        turn = _next(before, question)
        for progress in desk.ask(str(request.session_hash), turn):
            yield _update((*before, progress.turn)[-KEPT:], progress, last)
            last = progress.turn

    def stop(request: gr.Request) -> None:
        desk.stop(str(request.session_hash))

    box.submit(ask, [box, turns], shown, concurrency_id="ask", **HIDDEN)
    for example in examples:
        example.click(ask, [example, turns], shown, concurrency_id="ask", **HIDDEN)
    box.stop(stop, queue=False, **HIDDEN)


def _next(before: tuple[Turn, ...], question: str) -> Turn:
    """A turn that goes on about the ones before it."""
    if not before:
        return Turn(1, question)
    return Turn(before[-1].number + 1, question, spoken=before[-1].spoken)


def _update(turns: tuple[Turn, ...], progress: Progress, last: Turn | None) -> list[Any]:
    """New values in the order of `shown`; whatever is as it was before is left alone."""
    first, over = last is None, not progress.waiting
    fresh = progress.turn is not last or over
    box: Any = gr.skip()
    if over and progress.turn.failure:
        box = gr.Textbox(value=progress.turn.question, submit_btn="Ask", stop_btn=False)
    elif over:
        box = gr.Textbox(submit_btn="Ask", stop_btn=False)
    elif first:
        box = gr.Textbox(value="", submit_btn=False, stop_btn="Stop")
    return [
        turns if fresh else gr.skip(),
        gr.Column(visible=False) if first else gr.skip(),
        display.conversation(turns) if fresh else gr.skip(),
        "" if over else f'<p role="status">{display.as_typed(progress.waiting)}</p>',
        box,
        display.sources(turns) if fresh else gr.skip(),
    ]
