"""The topic map: hover for a paper, click to ask about it or open it.

Annotations are not postponed here: gradio evaluates those of the handlers.
"""

from typing import Any

import gradio as gr

from rag.errors import AskPapersError
from rag.mapping.drawing import drawing, script
from rag.page import cards
from rag.page.ask import Conversing
from rag.page.collection import Collection
from rag.page.papers import Shelf, asking, chosen_paper
from rag.page.parts import HIDDEN
from rag.page.setting import Setting
from rag.page.turns import Turn

_CHOSEN = (
    "const chosen = (action, paper) => trigger(action === 'ask' ? 'submit' : 'click', { paper });"
)


def build(
    setting: Setting,
    collection: Collection,
    conversing: Conversing,
    shelf: Shelf,
    tab: gr.Tab,
    tabs: gr.Tabs,
) -> None:
    """The tab; the map is drawn when it is first looked at, and anew when papers have changed."""
    plot = gr.HTML(
        elem_id="map", padding=False, js_on_load=f"{_CHOSEN}{script()}\nwatch('value', start);"
    )

    def draw(turns: tuple[Turn, ...]) -> str:
        try:
            return drawing(collection.drawn(), hits_of(turns), with_actions=True)
        except AskPapersError as error:
            return cards.failed(error)

    def ask(event: gr.EventData) -> list[Any]:
        return asking(setting, chosen_paper(event))

    def open_paper(event: gr.EventData) -> list[Any]:
        return [*shelf.open(chosen_paper(event)), gr.Tabs(selected="papers")]

    tab.select(draw, conversing.turns, plot, api_visibility="private", show_progress="minimal")
    plot.submit(ask, None, [conversing.box, tabs], **HIDDEN)
    plot.click(open_paper, None, [*shelf.opened, tabs], **HIDDEN)


def hits_of(turns: tuple[Turn, ...]) -> frozenset[str]:
    """The papers of the last answer: those that it cites, or the nearest ones."""
    if not turns:
        return frozenset()
    last = turns[-1]
    cited = {one.paper.id for one in last.citations}
    nearest = last.answer.nearest if last.answer else ()
    return frozenset(cited or {one.paper.id for one in nearest})
