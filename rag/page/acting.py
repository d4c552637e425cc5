"""What buttons and links of a conversation do at once: open, begin, rename, delete, edit, judge.

Annotations are not postponed here: gradio evaluates those of the handlers.
"""

import gradio as gr

from rag.errors import AskPapersError
from rag.history import Feedback
from rag.page.asking import Asking, Talk, told
from rag.page.parts import HIDDEN
from rag.page.readers import owner
from rag.page.shown import Shown, Update, of_talk, opened, turn_of
from rag.page.turns import Turn

EDITING = """<p class="editing">The new answer will stand in place of the last one.
<button type="button" class="do" name="keep">Cancel</button></p>"""


def wire(asking: Asking, shown: Shown) -> None:
    """What the buttons and links do, and what is shown to one who arrives."""

    def act(turns: tuple[Turn, ...], kept: int, request: gr.Request, event: gr.EventData) -> Update:
        said: dict[str, str] = event._data
        try:
            return _act(asking, shown, Talk(turns, kept), said, request)
        except (AskPapersError, ValueError) as error:
            fault = error if isinstance(error, AskPapersError) else AskPapersError(str(error))
            return {shown.status: told(fault)}

    def arrive(request: gr.Request) -> Update:
        number = str(request.query_params.get("conversation", ""))
        update: Update = {shown.listed: asking.listed(owner(request), "", 0)}
        if number.isdecimal():
            said = {"name": "open", "value": number}
            try:
                return _act(asking, shown, Talk(), said, request)
            except AskPapersError as error:
                update[shown.status] = told(error)
        return update

    def search(words: str, kept: int, request: gr.Request) -> str:
        return asking.listed(owner(request), words, kept)

    outputs = [*shown.changing, shown.status, shown.box, shown.listed, shown.opinion.about]
    shown.bridge.click(act, [shown.turns, shown.kept], outputs, queue=False, **HIDDEN)
    shown.search.change(
        search, [shown.search, shown.kept], shown.listed, queue=False, trigger_mode="always_last",
        **HIDDEN,
    )  # fmt: skip
    page = gr.context.Context.root_block
    assert page is not None
    page.load(arrive, None, outputs, queue=False, **HIDDEN)


def _act(
    asking: Asking, shown: Shown, talk: Talk, said: dict[str, str], request: gr.Request
) -> Update:
    name, value, who = said["name"], said["value"], owner(request)
    if name == "edit":
        return _edit(shown, talk, value)
    if name == "keep":
        return {shown.editing: 0, shown.hint: "", shown.box: gr.Textbox(value="")}
    if name in {"good", "bad"}:
        return _judge(asking, shown, talk, said, who)
    if name == "rename":
        asking.history(who).rename(int(value), said.get("text", ""))
        return {shown.listed: asking.listed(who, "", talk.kept)}
    now = _other(asking, talk, name, value, who)
    update: Update = {shown.listed: asking.listed(who, "", now.kept)}
    return update if now is talk else update | opened(shown, now)


def _other(asking: Asking, talk: Talk, name: str, value: str, who: str) -> Talk:
    """The conversation that is shown after opening one, beginning one, or deleting one."""
    if name == "open":
        return asking.open(int(value.partition("#")[0]), who)
    if name == "delete":
        asking.history(who).delete([int(value)])
        return Talk() if int(value) == talk.kept else talk
    return Talk()


def _edit(shown: Shown, talk: Talk, value: str) -> Update:
    turn = turn_of(talk.turns, value)
    if turn is None:
        return {}
    return {
        shown.box: gr.Textbox(value=turn.question),
        shown.editing: turn.number,
        shown.hint: EDITING,
    }


def _judge(asking: Asking, shown: Shown, talk: Talk, said: dict[str, str], who: str) -> Update:
    number = int(said["value"])
    if said["name"] == "bad":
        return {shown.opinion.form: gr.Column(visible=True), shown.opinion.about: number}
    talk = asking.rate(talk, number, Feedback(good=True), who)
    return {**of_talk(shown, talk), shown.status: '<span class="unseen">Kept</span>'}
