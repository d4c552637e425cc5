"""Asking the questions of a plan, several at a time, each bounded, and writing what happens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

from evals.judging.inline import Judging
from evals.record import Record
from evals.running.journal import Journal
from evals.running.plan import Plan, Purse
from evals.running.subject import Subject
from evals.suite import Item
from rag.answering.stop import Stop
from rag.errors import IndexUnusable, ModelError

_SILENT = 3  # questions in a row


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run did now: `asked` questions at `cost` dollars; `unasked` were not, and why."""

    asked: int
    cost: float
    unasked: int = 0
    reason: str = ""


class Runner:
    """Asks a subject, has every answer judged, and keeps each record as it is done."""

    def __init__(
        self,
        subject: Subject,
        judging: Judging,
        plan: Plan,
        state: Callable[[], str],
        progress: Callable[[int, int], None],
    ) -> None:
        """`state` names the content of the index: a run is of one and the same."""
        self._subject = subject
        self._judging = judging
        self._plan = plan
        self._state = state
        self._progress = progress
        self._stops = _Stops()

    def run(self, items: Sequence[Item], journal: Journal, spent: float = 0.0) -> Ran:
        """Ask what is not done; `spent` dollars have gone before.

        Raises:
            IndexUnusable: the index is not there, or has changed since the run began.
            ModelError: the model cannot be used; what was answered is kept.
            ResourceError: this machine has no room for a record.
        """
        waiting = list(self._plan.askings(items, journal.done))
        purse = Purse(self._plan.max_cost, spent)
        asked = 0
        with closing(self._records(waiting, purse)) as records:  # ends what runs, come what may
            for record in _reached(records):
                journal.add(record)
                purse.spent += record.cost
                asked += 1
                self._progress(asked, len(waiting))
        left = len(waiting) - asked
        return Ran(asked, purse.spent, left, purse.told() if left else "")

    def _records(
        self, waiting: Sequence[tuple[Item, int]], purse: Purse
    ) -> Generator[Record, None, None]:
        """Records as they are done; no more questions are begun than are asked at once."""
        pool = ThreadPoolExecutor(self._plan.at_once)
        state = self._state()
        running: set[Future[Record]] = set()
        left = iter(waiting)
        try:
            while True:
                while len(running) < self._plan.at_once and purse.is_open():
                    following = next(left, None)
                    if following is None:
                        break
                    running.add(pool.submit(self._record, *following, state))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                # What is done is kept before a failure ends the run.
                for future in sorted(done, key=lambda one: one.exception() is not None):
                    yield future.result()
        finally:
            self._stops.give()  # after an interruption nobody waits for a model
            pool.shutdown(cancel_futures=True)

    def _record(self, item: Item, repeat: int, state: str) -> Record:
        self._check(state)
        with self._stops.new() as stop:
            record = self._bounded(item, repeat, stop)
            self._check(state)
            judged = self._judging.judge(record, item.asked.rubric, stop)
        return self._plan.priced(judged)

    def _check(self, state: str) -> None:
        """Before a question and after it: no answer is of two states of an index."""
        if self._state() != state:
            raise IndexUnusable(
                "The index has changed since the run began",
                remedy="Begin another run with --new-run; this one keeps what was asked before.",
            )

    def _bounded(self, item: Item, repeat: int, stop: Stop) -> Record:
        """A question that is ended when its time is up; it has failed, whatever had come."""
        clock = threading.Timer(self._plan.timeout, stop.give)
        clock.daemon = True
        clock.start()
        try:
            record = self._subject.ask(item, repeat, stop)
        finally:
            clock.cancel()
        if not stop.given:
            return record
        reason = f"it took longer than {self._plan.timeout:g} s"
        return replace(record, ending="failed", reason=reason)


class _Stops:
    """The words that end the questions that are being asked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[Stop] = set()

    @contextmanager
    def new(self) -> Iterator[Stop]:
        """One for a question, while it is asked."""
        stop = Stop()
        with self._lock:
            self._running.add(stop)
        try:
            yield stop
        finally:
            with self._lock:
                self._running.remove(stop)

    def give(self) -> None:
        """End all questions."""
        with self._lock:
            running = list(self._running)
        for stop in running:
            stop.give()


def _reached(records: Iterator[Record]) -> Iterator[Record]:
    """Records, unless several in a row heard nothing from the model: then it is not there.

    Raises:
        ModelError: that is so; these records are not given on, and are asked again later.
    """
    silent: list[Record] = []
    anybody = False
    for record in records:
        if record.reached:
            yield from silent
            silent.clear()
            anybody = True
            yield record
            continue
        silent.append(record)
        if len(silent) == _SILENT:
            break
    if silent and (len(silent) == _SILENT or not anybody):
        raise ModelError(
            "The model cannot be used", cause=silent[-1].reason, remedy="Go on with --resume."
        )
    yield from silent
