"""Answers for many readers at once, each with one at a time; no gradio here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from rag.answering.asking import Reading
from rag.answering.conversation import Conversation
from rag.answering.events import Event, Notice
from rag.answering.stop import Stop
from rag.errors import AskPapersError
from rag.page.metering import Meter
from rag.page.overhearing import Stops, overheard
from rag.page.turns import Turn


@dataclass(frozen=True, slots=True)
class Progress:
    """What is to be shown now: the turn so far, and what it waits for (nothing: it is over)."""

    turn: Turn
    waiting: str = ""


class Answers(Protocol):
    """Whoever answers a user's question, such as `rag.serving.counter.Counter`."""

    def ask(
        self,
        question: str,
        *,
        user: str,
        conversation: Conversation | None = None,
        notify: Callable[[str], None],
        stop: Stop,
    ) -> Iterator[Event]:
        """See `Assistant.ask`; `notify` hears of a place in line too."""


class Desk:
    """Answers the questions of many readers, each with one at a time."""

    def __init__(self, answers: Answers, meter: Meter | None = None) -> None:
        """`meter` measures what each reader's answers take."""
        self._answers = answers
        self._meter = meter or Meter()
        self._stops = Stops()

    def ask(self, reader: str, turn: Turn, user: str = "") -> Iterator[Progress]:
        """What is to be shown, again and again until the answer is there.

        A reader is a page that is open, `user` the name that its owner signed in with.

        Closing the iterator, as gradio does when a reader leaves, ends the writing.
        """
        with self._stops.begun(reader) as stop:
            waiting, since = "searching", time.monotonic()
            yield Progress(turn, waiting)
            ask = self._meter.asking(reader, partial(self._answers.ask, user=user))
            for event in overheard(partial(_answering, ask, turn), stop):
                if stop.given:
                    break
                if isinstance(event, AskPapersError):
                    turn = replace(turn, failure=str(event))
                elif isinstance(event, Notice):
                    waiting = event.text.removesuffix(", Ctrl-C to stop")
                elif event is not None:
                    waiting, turn = "writing", turn.after(event)
                yield Progress(turn, f"{waiting} … {time.monotonic() - since:.0f} s")
            yield Progress(replace(turn, stopped=stop.given and turn.answer is None))

    def stop(self, reader: str) -> None:
        """End the answer that `reader` waits for."""
        self._stops.give(reader)

    def close(self) -> None:
        """End every answer."""
        self._stops.give_all()


def _answering(
    ask: Callable[..., Iterator[Event]], turn: Turn, reading: Reading
) -> Iterator[Event]:
    return ask(turn.question, conversation=turn.spoken, notify=reading.notify, stop=reading.stop)
