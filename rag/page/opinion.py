"""Where a reader says what is wrong with an answer, and which paper would have been right.

Annotations are not postponed here: gradio evaluates those of the handlers.
"""

import gradio as gr
from gradio.components import Component

from rag.errors import AskPapersError
from rag.history import Feedback
from rag.page.asking import Asking, Talk, told
from rag.page.parts import HIDDEN
from rag.page.readers import owner
from rag.page.shown import Opinion, Shown, Update, of_talk
from rag.page.turns import Turn


def build() -> Opinion:
    """The form, not shown until a reader wants it."""
    with gr.Column(visible=False, elem_id="opinion") as form:
        gr.HTML("<h3>What is wrong with this answer?</h3>", padding=False)
        why = gr.Textbox(label="Reason", max_lines=3)
        papers = gr.Textbox(label="Papers that would have been right, one a line", max_lines=4)
        unanswerable = gr.Checkbox(label="The collection does not answer this question")
        fault = gr.HTML(padding=False)
        with gr.Row():
            send = gr.Button("Keep this", size="sm", variant="primary")
            cancel = gr.Button("Cancel", size="sm")
    return Opinion(gr.State(0), form, why, papers, unanswerable, send, cancel, fault)


def wire(asking: Asking, shown: Shown) -> None:
    """What the form does."""
    form = shown.opinion

    def send(
        turns: tuple[Turn, ...],
        kept: int,
        about: int,
        why: str,
        papers: str,
        unanswerable: bool,
        request: gr.Request,
    ) -> Update:
        try:
            ids = asking.right_papers(papers)
            answerable = False if unanswerable else True if ids else None
            feedback = Feedback(False, why, ids, answerable)
            talk = asking.rate(Talk(turns, kept), about, feedback, owner(request))
        except AskPapersError as error:
            return {form.fault: told(error)}
        return {**of_talk(shown, talk), **cancel()}

    def cancel() -> Update:
        empty = {form.why: "", form.papers: "", form.unanswerable: False, form.fault: ""}
        return {form.form: gr.Column(visible=False), **empty}

    fields: list[Component] = [form.why, form.papers, form.unanswerable, form.fault]
    outputs = [*shown.changing, *fields]
    inputs = [shown.turns, shown.kept, form.about, form.why, form.papers, form.unanswerable]
    form.send.click(send, inputs, outputs, queue=False, **HIDDEN)
    form.cancel.click(cancel, None, [form.form, *fields], queue=False, **HIDDEN)
