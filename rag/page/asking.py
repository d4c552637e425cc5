"""What happens in a conversation of the page: asking, keeping, opening, judging; no gradio here."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from rag import jsonform
from rag.answering.assistant import Assistant
from rag.errors import AskPapersError, HistoryUnusable, ResourceError, UsageError
from rag.exporting import reference_of
from rag.history import Feedback, History, history_of
from rag.page.desk import Desk, Progress
from rag.page.setting import Setting
from rag.page.stored import INSTEAD, restored
from rag.page.talks import listed, mentioned
from rag.page.turns import Turn, next_turn
from rag.schema import Answer, Paper

KEPT = 30  # questions that a conversation shows


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation as one tab has it: its number in the history, 0 before it is kept."""

    turns: tuple[Turn, ...] = ()
    kept: int = 0


class Asking:
    """One page's conversations over one assistant; each call names whose they are."""

    def __init__(self, setting: Setting) -> None:
        self._assistant: Assistant = setting.assistant
        self._desk: Desk = setting.desk
        self._folder = setting.config.data_dir

    def history(self, owner: str) -> History:
        """The conversations of one owner."""
        return history_of(self._folder, owner)

    def ask(
        self, question: str, talk: Talk, *, reader: str, owner: str, instead_of: int = 0
    ) -> Iterator[tuple[Talk, Progress]]:
        """The conversation again and again until the answer is there, and then with it kept.

        A reader who leaves in the middle finds what had come, as stopped.
        """
        began = time.monotonic()
        progress = Progress(next_turn(talk.turns, question, instead_of))
        try:
            for step in self._desk.ask(reader, progress.turn, owner):
                progress = step
                if progress.waiting:
                    yield _with(talk, progress.turn), progress
        except GeneratorExit:
            self._keep(talk, progress.turn.cut(), owner)
            raise
        turn = replace(progress.turn, seconds=time.monotonic() - began)
        talk = self._keep(talk, turn.cut() if turn.stopped else turn, owner)
        yield talk, replace(progress, turn=talk.turns[-1])

    def stop(self, reader: str) -> None:
        """End the answer that a reader waits for; what has come of it is kept."""
        self._desk.stop(reader)

    def open(self, conversation: int, owner: str) -> Talk:
        """A kept conversation.

        Raises:
            UsageError: there is none of that number.
            HistoryUnusable, ResourceError: what is kept cannot be read.
        """
        return Talk(restored(self.history(owner).turns(conversation), self._known), conversation)

    def rate(self, talk: Talk, number: int, feedback: Feedback, owner: str) -> Talk:
        """The conversation once its reader has said what a turn's answer is worth.

        Raises:
            UsageError: the turn is not kept.
            HistoryUnusable, ResourceError: it could not be kept.
        """
        kept = next((turn.kept for turn in talk.turns if turn.number == number), 0)
        self.history(owner).rate(talk.kept, kept, feedback)
        turns = (
            replace(turn, helpful=feedback.good) if turn.number == number else turn
            for turn in talk.turns
        )
        return replace(talk, turns=tuple(turns))

    def right_papers(self, named: str) -> tuple[str, ...]:
        """The ids of papers that a reader names, one a line.

        Raises:
            PaperNotFound: no paper, or several, answer to a name.
        """
        lines = (line.strip() for line in named.splitlines())
        return tuple(dict.fromkeys(self._assistant.find(line).id for line in lines if line))

    def listed(self, owner: str, words: str, current: int) -> str:
        """The list of conversations, or where words stand in them; what goes wrong, as a line."""
        try:
            history = self.history(owner)
            if words.strip():
                return mentioned(history.search(words), current)
            return listed(history.conversations(), current)
        except UsageError:
            return mentioned((), current)
        except AskPapersError as error:
            return told(error)

    def _keep(self, talk: Talk, turn: Turn, owner: str) -> Talk:
        """The conversation with a turn at its end, which is kept if that is possible."""
        if turn.answer is None:
            return _with(talk, turn)
        value = jsonform.answer(_marked(turn, talk))
        references = [reference_of(paper) for paper in _papers(turn.answer)]
        history = self.history(owner)
        try:
            if talk.kept and _is_there(history, talk.kept):
                turn = replace(turn, kept=history.append(talk.kept, value, references))
            else:
                talk = replace(talk, kept=history.begin(value, references))
                turn = replace(turn, kept=1)
        except (HistoryUnusable, ResourceError, UsageError) as error:
            turn = replace(turn, unkept=f"This answer was not kept. {error}")
        return _with(talk, turn)

    def _known(self, ids: Iterable[str]) -> dict[str, Paper]:
        """Papers that are in the collection; without an index none is."""
        with suppress(AskPapersError):
            return self._assistant.papers(ids)
        return {}


def told(error: AskPapersError) -> str:
    """What went wrong, as a line of HTML."""
    from rag.display import as_typed

    return f'<p class="failure" role="alert">{as_typed(str(error))}</p>'


def _with(talk: Talk, turn: Turn) -> Talk:
    return replace(talk, turns=(*talk.turns, turn)[-KEPT:])


def _is_there(history: History, conversation: int) -> bool:
    """Whether a conversation was not deleted meanwhile, as in another tab."""
    with suppress(UsageError):
        return bool(history.conversation(conversation))
    return False


def _marked(turn: Turn, talk: Talk) -> Answer:
    """The answer of a turn, with the number of the kept one in whose place it stands."""
    assert turn.answer is not None
    old = next((one.kept for one in talk.turns if one.number == turn.instead_of), 0)
    if not old:
        return turn.answer
    return replace(turn.answer, manifest={**turn.answer.manifest, INSTEAD: old})


def _papers(answer: Answer) -> list[Paper]:
    cited = [one.paper for one in answer.citations]
    return [*cited, *(one.paper for one in answer.nearest)]
