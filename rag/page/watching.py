"""The tab of standing questions: keep one, ask them again, see what is new.

Annotations are not postponed here: gradio evaluates those of the handlers.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import gradio as gr

from rag.display import as_typed
from rag.errors import AskPapersError
from rag.index.catalog import Catalog
from rag.page import watchview
from rag.page.parts import HIDDEN, delimiters
from rag.page.readers import LOCAL, owner
from rag.page.setting import Setting
from rag.watching import Outcome, Standing, Watchlist, revision_of, run, watchlist_of


def build(setting: Setting, tab: gr.Tab | None = None) -> None:
    """The tab; `tab` is where it stands, so that the list is read anew when it is opened."""
    desk = Watching(setting)
    with gr.Column(elem_id="watch"):
        gr.HTML("<h2>Standing questions</h2>", padding=False)
        with gr.Row(elem_classes="fields"):
            box = gr.Textbox(
                label="Question", placeholder="What you want to know, now and later", scale=3
            )
            year = gr.Textbox(label="Years", placeholder="2024- (may be empty)", scale=1)
            add = gr.Button("Keep asking this", elem_id="watch-add", scale=1)
        listed = gr.CheckboxGroup(label="Kept: tick some, or none for all", elem_id="watch-kept")
        with gr.Row(elem_classes="actions"):
            go = gr.Button("Ask again", variant="primary", elem_id="watch-run")
            again = gr.Checkbox(label="Also where the index is as it was", container=False)
            show = gr.Button("Show the last answers", elem_id="watch-show")
            remove = gr.Button("Remove the ticked ones", elem_id="watch-remove")
        status = gr.HTML(elem_id="watch-status", padding=False)
        result = gr.Markdown(elem_id="watch-result", latex_delimiters=delimiters())
    add.click(desk.add, [box, year], [listed, box, status], **HIDDEN)
    box.submit(desk.add, [box, year], [listed, box, status], **HIDDEN)
    shows = [listed, status, result]
    go.click(desk.run, [listed, again], shows, concurrency_id="ask", **HIDDEN)
    show.click(desk.show, listed, [status, result], **HIDDEN)
    remove.click(desk.remove, listed, shows, **HIDDEN)
    if tab is not None:
        tab.select(desk.opened, None, [listed, status], **HIDDEN)


class Watching:
    """What the tab does, for each reader with their own questions."""

    def __init__(self, setting: Setting) -> None:
        self._assistant = setting.assistant
        self._data = setting.config.data_dir

    def opened(self, request: gr.Request) -> list[Any]:
        """The kept questions, and nothing told."""
        return self._told(request, lambda _: "")[:2]

    def add(self, question: str, year: str, request: gr.Request) -> list[Any]:
        """Keep a question."""
        told = self._told(request, lambda mine: _added(*mine.add(question, {"year": year.strip()})))
        return [told[0], gr.skip() if "failure" in told[1] else "", told[1]]

    def remove(self, numbers: Sequence[int], request: gr.Request) -> list[Any]:
        """Remove the ticked questions."""

        def removed(mine: Watchlist) -> str:
            mine.remove(numbers)
            return f"{len(numbers)} removed."

        return [*self._told(request, removed), ""]

    def show(self, numbers: Sequence[int], request: gr.Request) -> list[Any]:
        """The last answers to the ticked questions, or to all."""
        try:
            shown = [self._kept(one) for one in self._chosen(request, numbers)]
        except AskPapersError as error:
            return [_failure(error), ""]
        return [_line("" if shown else watchview.NONE_YET), "\n\n".join(shown)]

    def run(self, numbers: Sequence[int], again: bool, request: gr.Request) -> Iterator[list[Any]]:
        """Ask the ticked questions, or all, and show each outcome as it comes."""
        shown: list[str] = []
        try:
            chosen = self._chosen(request, numbers)
            yield [gr.skip(), _line(_asking(0, len(chosen))), ""]
            mine = self._mine(request)
            for one in run(self._assistant, mine, chosen, again=again):
                shown.append(self._outcome(one))
                yield [gr.skip(), _line(_asking(len(shown), len(chosen))), "\n\n".join(shown)]
        except AskPapersError as error:
            yield [gr.skip(), _failure(error), "\n\n".join(shown)]
            return
        yield [*self.opened(request), "\n\n".join(shown)]

    def _told(self, request: gr.Request, act: Any) -> list[Any]:
        """Do it; the list as it is then, and what there is to tell."""
        mine = self._mine(request)
        try:
            told = _line(act(mine))
        except AskPapersError as error:
            told = _failure(error)
        try:
            found = mine.questions()
            named = watchview.choices(found, self._revision())
        except AskPapersError as error:
            return [gr.CheckboxGroup(choices=[], value=[]), _failure(error)]
        told = told or _line("" if found else watchview.NONE_YET)
        return [gr.CheckboxGroup(choices=named, value=[]), told]

    def _chosen(self, request: gr.Request, numbers: Sequence[int]) -> list[Standing]:
        mine = self._mine(request)
        return [mine.question(one) for one in numbers] or mine.questions()

    def _mine(self, request: gr.Request) -> Watchlist:
        """Whoever sits at this machine shares them with `rag watch`."""
        who = owner(request)
        return watchlist_of(self._data, "" if who == LOCAL else who)

    def _revision(self) -> int:
        with closing(Catalog(self._data / "catalog.sqlite3")) as catalog:
            return revision_of(catalog)

    def _kept(self, one: Standing) -> str:
        change = one.last.change if one.last else None
        return watchview.kept(one, self._assistant.papers(watchview.named(change)))

    def _outcome(self, one: Outcome) -> str:
        return watchview.outcome(one, self._assistant.papers(watchview.named(one.change)))


def _added(_number: int, new: bool) -> str:
    return "It is kept." if new else "It was kept before."


def _asking(done: int, total: int) -> str:
    return f"asking {done + 1} of {total} …" if done < total else ""


def _line(text: str) -> str:
    return f'<p role="status">{as_typed(text)}</p>' if text else ""


def _failure(error: AskPapersError) -> str:
    return f'<p role="alert" class="failure">{as_typed(str(error))}</p>'
