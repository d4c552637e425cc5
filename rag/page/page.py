"""The page: a line about what is here, and the tabs."""

from collections.abc import Sequence

import gradio as gr

from rag import display
from rag.answering.assistant import Assistant
from rag.page import ask, compare, lists, papers, status, upload, watching
from rag.page import map as topics
from rag.page.collection import Collection
from rag.page.parts import HIDDEN
from rag.page.readers import user_of
from rag.page.setting import Other, Setting

TITLE = "askpapers"
KEPT = (600, 3_600)  # seconds between two looks for files that were sent, and how old they get
AT_A_TIME, WAITING = 16, 64  # answers at once (a local model takes two, in turns), and waiting

_LEAVING = """<form method="post" action="/logout"><span>{user}</span>
<button type="submit">Log out</button></form>"""


def build(setting: Setting, others: Sequence[Other] = ()) -> gr.Blocks:
    """The interface; `others` are tabs that are made elsewhere."""
    page = gr.Blocks(title=TITLE, analytics_enabled=False, fill_width=True, delete_cache=KEPT)
    with page, gr.Column(elem_id="page"):
        about = gr.HTML(elem_id="about", padding=False)
        with gr.Tabs(elem_id="tabs") as tabs:
            with gr.Tab("Ask", id="ask"):
                conversing = ask.build(setting)
            _collection(setting, conversing, tabs)
            with gr.Tab("Compare", id="compare"):
                compare.build(setting, conversing.turns)
            with gr.Tab("List", id="list"):
                lists.build(setting)
            with gr.Tab("Watch", id="watch") as tab:
                watching.build(setting, tab)
            for name, fill in others:
                with gr.Tab(name, id=name.lower()) as tab:
                    fill(setting, tab)
            with gr.Tab("Status", id="status") as tab:
                status.build(setting, tab)

        def headed(request: gr.Request) -> str:
            return _header(setting.assistant, user_of(request))

        page.load(headed, None, about, queue=False, **HIDDEN)
    page.queue(max_size=WAITING, default_concurrency_limit=AT_A_TIME, api_open=False)
    return page


def _collection(setting: Setting, conversing: ask.Conversing, tabs: gr.Tabs) -> None:
    """The tabs of what the collection holds: its papers, and the map of them."""
    collection = Collection(setting.config)
    with gr.Tab("Papers", id="papers") as shelves:
        adding = upload.build(setting)
        shelf = papers.build(setting, collection, tabs, conversing.box)
        upload.wire(setting, adding, shelf)
    shelves.select(shelf.reload, shelf.asked, shelf.shown, **HIDDEN)
    with gr.Tab("Map", id="map") as tab:
        topics.build(setting, collection, conversing, shelf, tab, tabs)


def _header(assistant: Assistant, user: str) -> str:
    """`user` is who signed in; empty where nobody has to."""
    leaving = _LEAVING.format(user=display.as_typed(user)) if user else ""
    return f"<h1>{TITLE}</h1><p>{display.as_typed(description(assistant))}</p>{leaving}"


def description(assistant: Assistant) -> str:
    """How many papers there are, who answers, and what leaves this machine."""
    papers = assistant.counts().papers
    name = assistant.writer_name
    model, at, host = name.rpartition(" at ")
    who = "quoting, no model" if name == "quoting" else name
    leaves = f"questions and evidence are sent to {host}" if at and model else ""
    return f"{papers:,} papers · {who} · {leaves or 'nothing leaves this machine'}"
