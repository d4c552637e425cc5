"""Where the questions of all users come in: counted, in line, then answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from rag.answering.assistant import Assistant
from rag.answering.conversation import Conversation
from rag.answering.events import Event
from rag.answering.parts import choice_of
from rag.answering.stop import Stop
from rag.config import Config
from rag.models.llama import SLOTS
from rag.serving.access import LOCAL
from rag.serving.limits import Limits
from rag.serving.line import Line

AT_ONCE = {"local": SLOTS, "openai": 8, "none": 2}
"""Answers made at the same time: as many as whoever writes takes without slowing them all down."""


class Counter:
    """Answers the questions of many users over one assistant."""

    def __init__(self, assistant: Assistant, limits: Limits, line: Line) -> None:
        self.assistant = assistant
        self._limits = limits
        self._line = line

    @classmethod
    def of(cls, assistant: Assistant, config: Config) -> Counter:
        """The counter of the settings."""
        limits = Limits(config.questions_per_minute, config.questions_at_once)
        at_once = config.answers_at_once or AT_ONCE[choice_of(config)]
        return cls(assistant, limits, Line(at_once, config.most_waiting))

    @property
    def waiting(self) -> int:
        """How many questions stand in line."""
        return self._line.length

    @contextmanager
    def turn(self, user: str, notify: Callable[[str], None], stop: Stop) -> Iterator[None]:
        """Wait for a user's turn, which lasts until the block ends; `notify` hears of the place.

        For whatever is written beside answers, such as a table. Limits are for those who log in:
        where nobody has to, there is one user.

        Raises:
            LimitReached: the user asks too much.
            LineFull, Left: see `Line.turn`.
        """
        counted = nullcontext() if user == LOCAL else self._limits.asking(user)
        with counted, self._line.turn(user, notify, stop):
            yield

    def ask(
        self,
        question: str,
        *,
        user: str = LOCAL,
        conversation: Conversation | None = None,
        notify: Callable[[str], None],
        stop: Stop,
    ) -> Iterator[Event]:
        """As `Assistant.ask`, once it is the user's turn.

        Raises:
            LimitReached, LineFull, Left: see `turn`.
        """
        with self.turn(user, notify, stop):
            yield from self.assistant.ask(
                question, conversation=conversation, notify=notify, stop=stop
            )
