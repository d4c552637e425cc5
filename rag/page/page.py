"""The page: a line about what is here, and the tabs."""

import gradio as gr

from rag import display
from rag.answering.assistant import Assistant
from rag.page import ask
from rag.page.parts import HIDDEN
from rag.page.setting import Setting

TITLE = "askpapers"
AT_A_TIME, WAITING = 16, 64  # answers at once (a local model takes two, in turns), and waiting


def build(setting: Setting) -> gr.Blocks:
    """The interface."""
    page = gr.Blocks(title=TITLE, analytics_enabled=False, fill_width=True)
    with page, gr.Column(elem_id="page"):
        about = gr.HTML(elem_id="about", padding=False)
        with gr.Tabs(elem_id="tabs"), gr.Tab("Ask", id="ask"):
            ask.build(setting)
        page.load(lambda: _header(setting.assistant), None, about, queue=False, **HIDDEN)
    page.queue(max_size=WAITING, default_concurrency_limit=AT_A_TIME, api_open=False)
    return page


def _header(assistant: Assistant) -> str:
    return f"<h1>{TITLE}</h1><p>{display.as_typed(description(assistant))}</p>"


def description(assistant: Assistant) -> str:
    """How many papers there are, who answers, and what leaves this machine."""
    papers = assistant.counts().papers
    name = assistant.writer_name
    model, at, host = name.rpartition(" at ")
    who = "quoting, no model" if name == "quoting" else name
    leaves = f"questions and evidence are sent to {host}" if at and model else ""
    return f"{papers:,} papers · {who} · {leaves or 'nothing leaves this machine'}"
