"""What stands in the conversation's tab, and what is new in it when something has happened."""

from dataclasses import dataclass
from typing import Any

import gradio as gr

from rag.display import as_typed
from rag.page.answers import conversation
from rag.page.asking import Talk
from rag.page.desk import Progress
from rag.page.shelf import sources
from rag.page.turns import Turn

Update = dict[Any, Any]  # of components, and new values or settings of theirs


@dataclass(frozen=True)
class Opinion:
    """Where a reader says what is wrong with an answer; `about` is the number of its turn."""

    about: gr.State
    form: gr.Column
    why: gr.Textbox
    papers: gr.Textbox
    unanswerable: gr.Checkbox
    send: gr.Button
    cancel: gr.Button
    fault: gr.HTML


@dataclass(frozen=True)
class Shown:
    """The components of the tab. `kept` is the conversation's number, `editing` a turn's."""

    turns: gr.State
    kept: gr.State
    editing: gr.State
    search: gr.Textbox
    listed: gr.HTML
    welcome: gr.Column
    chat: gr.Markdown
    status: gr.HTML
    hint: gr.HTML
    box: gr.Textbox
    shelf: gr.Markdown
    address: gr.HTML
    bridge: gr.HTML
    opinion: Opinion

    @property
    def changing(self) -> list[Any]:
        """What is another with every conversation and every answer."""
        form = self.opinion
        states = [self.turns, self.kept, self.editing]
        return [*states, self.chat, self.shelf, self.address, self.welcome, self.hint, form.form]


def progress(shown: Shown, talk: Talk, progress: Progress, last: Turn | None) -> Update:
    """New values; whatever is as it was before is left out."""
    first, over = last is None, not progress.waiting
    update: Update = {shown.status: _status(progress)}
    if first:
        update |= {
            shown.welcome: gr.Column(visible=False),
            shown.box: gr.Textbox(value="", submit_btn=False, stop_btn="Stop"),
            shown.editing: 0,
            shown.hint: "",
            shown.opinion.form: gr.Column(visible=False),
        }
    if progress.turn is not last or over:
        update |= of_talk(shown, talk)
    if over and progress.turn.failure:
        question = progress.turn.question
        update[shown.box] = gr.Textbox(value=question, submit_btn="Ask", stop_btn=False)
    elif over:
        update[shown.box] = gr.Textbox(submit_btn="Ask", stop_btn=False)
    return update


def of_talk(shown: Shown, talk: Talk) -> Update:
    """A conversation and its sources."""
    return {
        shown.turns: talk.turns,
        shown.kept: talk.kept,
        shown.chat: conversation(talk.turns, talk.kept),
        shown.shelf: sources(talk.turns),
        shown.address: f'<span id="kept" data-conversation="{talk.kept or ""}"></span>',
    }


def _status(progress: Progress) -> str:
    """What is waited for; once it is there, that is said to those who do not see it."""
    if progress.waiting:
        what, _, seconds = progress.waiting.partition(" … ")
        clock = f'<span aria-hidden="true">… {as_typed(seconds)}</span>' if seconds else ""
        return f"<p>{as_typed(what)} {clock}</p>"
    turn = progress.turn
    if turn.failure:
        return f'<span class="unseen">{as_typed(turn.failure)}</span>'
    count = len(turn.claims)
    said = f"Answered with {count} claim{'s' if count != 1 else ''}" if count else "No answer found"
    return f'<span class="unseen">{"Stopped" if turn.stopped else said}</span>'


def opened(shown: Shown, talk: Talk) -> Update:
    """A conversation that was opened, or begun."""
    return {
        **of_talk(shown, talk),
        shown.welcome: gr.Column(visible=not talk.turns),
        shown.editing: 0,
        shown.hint: "",
        shown.status: "",
        shown.opinion.form: gr.Column(visible=False),
    }


def turn_of(turns: tuple[Turn, ...], number: str) -> Turn | None:
    """The turn that has a number, as a button tells it."""
    return next((turn for turn in turns if str(turn.number) == number), None)
