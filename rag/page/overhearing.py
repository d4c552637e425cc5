"""Work whose events a reader hears while another thread does it; no gradio here.

Whoever waits in an iterator can neither be told of a wait nor leave, so the waiting is done by a
thread of its own.
"""

from __future__ import annotations

import logging
import queue
import secrets
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

from rag.answering.asking import Reading
from rag.answering.events import Done, Event, Notice
from rag.answering.stop import Stop
from rag.errors import AskPapersError
from rag.schema import Answer

TICK = 0.25  # seconds between two looks at whether the reader stopped or left
log = logging.getLogger("askpapers.page")
Make = Callable[[Reading], Iterator[Event]]
InTurn = Callable[[str, Callable[[str], None], Stop], AbstractContextManager[None]]
"""Waits until it is a user's turn, which lasts until the block ends; see `Readers`."""


def at_once(user: str, notify: Callable[[str], None], stop: Stop) -> AbstractContextManager[None]:  # noqa: ARG001
    """Nobody waits: it is everybody's turn."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Step:
    """How far the work is: what it waits for, and once it is over what came or why nothing did."""

    waiting: str = ""
    answer: Answer | None = None
    failure: str = ""
    stopped: bool = False

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return not self.waiting


class Stops:
    """How what readers have begun is ended, each one thing at a time. Safe for several threads."""

    def __init__(self) -> None:
        self._running: dict[str, Stop] = {}
        self._guard = threading.Lock()

    @contextmanager
    def begun(self, reader: str) -> Iterator[Stop]:
        """The stop of what begins now and lasts until the block ends; what went on before ends."""
        self.give(reader)
        stop = Stop()
        with self._guard:
            self._running[reader] = stop
        try:
            yield stop
        finally:
            stop.give()
            with self._guard:
                if self._running.get(reader) is stop:
                    del self._running[reader]

    def give(self, reader: str) -> None:
        """End what `reader` waits for."""
        if stop := self._running.get(reader):
            stop.give()

    def give_all(self) -> None:
        """End everything."""
        for stop in list(self._running.values()):
            stop.give()


class Readers:
    """What readers have begun, each one thing at a time. Safe for use by several threads."""

    def __init__(self, turn: InTurn = at_once) -> None:
        """`turn` has a user wait in line, for as long as others are served."""
        self._turn = turn
        self._stops = Stops()

    def work(
        self, reader: str, begun: str, make: Make, user: str = ""
    ) -> Generator[Step, None, None]:
        """Do what `make` does, telling again and again how far it is; `begun` is its first word.

        A reader is a page that is open, `user` the name that its owner signed in with.

        Closing the iterator, as gradio does when a reader leaves, ends the work. What was done
        before a stop is kept where the work has a part to show.
        """
        with self._stops.begun(reader) as stop:
            waiting, since = begun, time.monotonic()
            yield Step(waiting)
            for event in overheard(make, stop, partial(self._turn, user)):
                if isinstance(event, AskPapersError) and not stop.given:
                    yield Step(failure=str(event))
                    return
                if isinstance(event, AskPapersError):
                    break
                if isinstance(event, Done):
                    yield Step(answer=event.answer, stopped=stop.given)
                    return
                if isinstance(event, Notice):
                    waiting = event.text.removesuffix(", Ctrl-C to stop")
                yield Step(f"{waiting} … {time.monotonic() - since:.0f} s")
            yield Step(stopped=True)

    def stop(self, reader: str) -> None:
        """End what `reader` waits for."""
        self._stops.give(reader)


def overheard(
    make: Make,
    stop: Stop,
    turn: Callable[..., AbstractContextManager[None]] = lambda *_: nullcontext(),
) -> Iterator[Event | AskPapersError | None]:
    """The events of what another thread does; None while there is nothing new.

    What goes wrong there is an event as well.
    """
    heard: queue.SimpleQueue[Event | AskPapersError | None] = queue.SimpleQueue()

    def work() -> None:
        reading = Reading(lambda text: heard.put(Notice(text)), stop)
        try:
            with turn(reading.notify, stop):
                for event in make(reading):
                    heard.put(event)
        except AskPapersError as error:
            heard.put(error)
        except Exception:
            heard.put(_unforeseen())
        heard.put(None)

    threading.Thread(target=work, name="answer", daemon=True).start()
    while True:
        try:
            event = heard.get(timeout=TICK)
        except queue.Empty:
            yield None
            continue
        if event is None:
            return
        yield event


def _unforeseen() -> AskPapersError:
    """A failure that only the log tells about; the number joins the two."""
    number = secrets.token_hex(4)
    log.exception("error %s", number)
    return AskPapersError(
        "Something went wrong here",
        cause=f"error {number}",
        remedy="The log of the page's program says more.",
    )
