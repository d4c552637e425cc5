"""Answers for many readers at once, each with one at a time; no gradio here."""

from __future__ import annotations

import logging
import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from rag.answering.assistant import Assistant
from rag.answering.events import Event, Notice
from rag.answering.stop import Stop
from rag.display import Turn
from rag.errors import AskPapersError

TICK = 0.25  # seconds between two looks at whether the reader stopped or left
log = logging.getLogger("askpapers.page")


@dataclass(frozen=True, slots=True)
class Progress:
    """What is to be shown now: the turn so far, and what it waits for (nothing: it is over)."""

    turn: Turn
    waiting: str = ""


class Desk:
    """Answers the questions of many readers, each with one at a time."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._running: dict[str, Stop] = {}

    def ask(self, reader: str, turn: Turn) -> Iterator[Progress]:
        """What is to be shown, again and again until the answer is there.

        Closing the iterator, as gradio does when a reader leaves, ends the writing.
        """
        with self._stop(reader) as stop:
            waiting, since = "searching", time.monotonic()
            yield Progress(turn, waiting)
            for event in _overheard(self._assistant, turn, stop):
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
        if stop := self._running.get(reader):
            stop.give()

    def close(self) -> None:
        """End every answer."""
        for stop in list(self._running.values()):
            stop.give()

    @contextmanager
    def _stop(self, reader: str) -> Iterator[Stop]:
        self.stop(reader)  # a reader waits for one answer at a time
        stop = self._running[reader] = Stop()
        try:
            yield stop
        finally:
            stop.give()
            if self._running.get(reader) is stop:
                del self._running[reader]


def _overheard(
    assistant: Assistant, turn: Turn, stop: Stop
) -> Iterator[Event | AskPapersError | None]:
    """The events of an answer that another thread makes; None while there is nothing new.

    Whoever waits in an iterator can neither be told of a wait nor be closed, so the waiting is
    done by a thread of its own. What goes wrong there is an event as well.
    """
    heard: queue.SimpleQueue[Event | AskPapersError | None] = queue.SimpleQueue()
    make = partial(_make, assistant, turn, stop, heard.put)
    threading.Thread(target=make, name="answer", daemon=True).start()
    while True:
        try:
            event = heard.get(timeout=TICK)
        except queue.Empty:
            yield None
            continue
        if event is None:
            return
        yield event


def _make(
    assistant: Assistant,
    turn: Turn,
    stop: Stop,
    tell: Callable[[Event | AskPapersError | None], None],
) -> None:
    """Make an answer, telling of all that happens and, last, of the end as None."""
    try:
        events = assistant.ask(
            turn.question,
            conversation=turn.spoken,
            notify=lambda text: tell(Notice(text)),
            stop=stop,
        )
        for event in events:
            tell(event)
    except AskPapersError as error:
        tell(error)
    except Exception:
        tell(_unforeseen())
    tell(None)


def _unforeseen() -> AskPapersError:
    """A failure that only the log tells about; the number joins the two."""
    number = secrets.token_hex(4)
    log.exception("error %s", number)
    return AskPapersError(
        "Something went wrong here",
        cause=f"error {number}",
        remedy="The log of the page's program says more.",
    )
