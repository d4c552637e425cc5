"""The tab that tells who answers, what is held and sent where, and what answers took.

Annotations are not postponed here: gradio evaluates those of the handlers.
"""

import gradio as gr

from rag.doctor import examine
from rag.errors import AskPapersError
from rag.index.holdings import holdings_of
from rag.page import benchview, statusview
from rag.page.parts import HIDDEN
from rag.page.setting import Setting


def build(setting: Setting, tab: gr.Tab) -> None:
    """The contents of `tab`, told anew each time it is opened."""
    desk = Standing(setting)
    with gr.Column(elem_id="status-tab", elem_classes="bench"):
        gr.HTML("<h2>Status</h2>", padding=False)
        facts = gr.HTML(padding=False)
        gr.HTML("<h3>Health</h3>", padding=False)
        with gr.Row(elem_classes="actions"):
            check = gr.Button("Check everything", elem_id="status-check")
        found = gr.HTML(padding=False)
        gr.HTML("<h3>The answers of this session</h3>", padding=False)
        costs = gr.HTML(padding=False)
    tab.select(desk.tell, None, [facts, costs], **HIDDEN)
    check.click(lambda: benchview.told("checking"), None, found, queue=False, **HIDDEN).then(
        desk.check, None, found, concurrency_limit=1, **HIDDEN
    )


class Standing:
    """What the tab does."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    def tell(self, request: gr.Request) -> tuple[str, str]:
        """Facts, and what the reader's answers took."""
        config, assistant = self._setting.config, self._setting.assistant
        try:
            held = holdings_of(config.data_dir)
            facts = statusview.standing(assistant.writer_name, config, held)
        except AskPapersError as error:
            facts = benchview.told(failure=str(error))
        taken = self._setting.meter.of(str(request.session_hash))
        return facts, statusview.costs(taken, config)

    def check(self) -> str:
        """What `rag doctor` says; nothing is repaired from here."""
        try:
            return statusview.health(examine(self._setting.config, repair=False))
        except AskPapersError as error:
            return benchview.told(failure=str(error))
