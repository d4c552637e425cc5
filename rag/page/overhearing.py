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
from contextlib import contextmanager
from dataclasses import dataclass

from rag.answering.asking import Reading
from rag.answering.events import Done, Event, Notice
from rag.answering.stop import Stop
from rag.errors import AskPapersError
from rag.schema import Answer

TICK = 0.25  # seconds between two looks at whether the reader stopped or left
log = logging.getLogger("askpapers.page")
Make = Callable[[Reading], Iterator[Event]]


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


class Readers:
    """What readers have begun, each one thing at a time. Safe for use by several threads."""

    def __init__(self) -> None:
        self._running: dict[str, Stop] = {}
        self._guard = threading.Lock()

    def work(self, reader: str, begun: str, make: Make) -> Generator[Step, None, None]:
        """Do what `make` does, telling again and again how far it is; `begun` is its first word.

        Closing the iterator, as gradio does when a reader leaves, ends the work. What was done
        before a stop is kept where the work has a part to show.
        """
        with self._stop(reader) as stop:
            waiting, since = begun, time.monotonic()
            yield Step(waiting)
            for event in _overheard(make, stop):
                if isinstance(event, AskPapersError):
                    yield Step(failure=str(event))
                    return
                if isinstance(event, Done):
                    yield Step(answer=event.answer, stopped=stop.given)
                    return
                if isinstance(event, Notice):
                    waiting = event.text.removesuffix(", Ctrl-C to stop")
                yield Step(f"{waiting} … {time.monotonic() - since:.0f} s")
            yield Step(stopped=True)

    def stop(self, reader: str) -> None:
        """End what `reader` waits for."""
        if stop := self._running.get(reader):
            stop.give()

    @contextmanager
    def _stop(self, reader: str) -> Iterator[Stop]:
        self.stop(reader)
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


def _overheard(make: Make, stop: Stop) -> Iterator[Event | AskPapersError | None]:
    """The events of what another thread does; None while there is nothing new."""
    heard: queue.SimpleQueue[Event | AskPapersError | None] = queue.SimpleQueue()

    def work() -> None:
        try:
            for event in make(Reading(lambda text: heard.put(Notice(text)), stop)):
                heard.put(event)
        except AskPapersError as error:
            heard.put(error)
        except Exception:
            heard.put(_unforeseen())
        heard.put(None)

    threading.Thread(target=work, name="bench", daemon=True).start()
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
