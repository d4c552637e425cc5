"""Asking the questions of a plan, several at a time, each bounded, and writing what happens."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

from evals.judging.inline import Judging
from evals.record import Record
from evals.running.journal import Journal
from evals.running.pace import Pace
from evals.running.plan import Asking, Plan, Purse
from evals.running.subject import Subject
from evals.suite import Item
from rag.answering.faults import RateLimited
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
        pace: Pace,
    ) -> None:
        """`state` names the content of the index: a run is of one and the same."""
        self._subject = subject
        self._judging = judging
        self._plan = plan
        self._state = state
        self._progress = progress
        self._pace = pace
        self._stops = _Stops()

    def run(self, items: Sequence[Item], journal: Journal, spent: float = 0.0) -> Ran:
        """Ask what is not done; `spent` dollars have gone before.

        Raises:
            IndexUnusable: the index is not there, or has changed since the run began.
            ModelError: the model cannot be used, or its server refuses however little is asked
                of it; what was answered is kept.
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

    def _records(self, waiting: Sequence[Asking], purse: Purse) -> Generator[Record, None, None]:
        """Records as they are done; what was refused for the crowd stands in line again."""
        pool, pace = ThreadPoolExecutor(self._plan.at_once), self._pace
        state = self._state()
        running: set[Future[Record | Asking]] = set()
        left = deque(waiting)
        try:
            while running or (left and purse.is_open()):
                while left and pace.has_room and purse.is_open():
                    pace.begin()
                    running.add(pool.submit(self._asked, left.popleft(), state))
                if not running:
                    pace.pause()
                    continue
                until = pace.left if left else 0.0
                done, running = wait(running, until or None, FIRST_COMPLETED)
                for record in self._ended(done):
                    if isinstance(record, Asking):
                        left.appendleft(record)
                    else:
                        yield record
        finally:
            self._stops.give()  # after an interruption nobody waits for a model
            pool.shutdown(cancel_futures=True)

    def _ended(self, done: set[Future[Record | Asking]]) -> Iterator[Record | Asking]:
        """What came of questions that have ended; what is done comes before a failure.

        Raises:
            RateLimited: so many were refused in a row that the server will not have them.
        """
        for future in sorted(done, key=lambda one: one.exception() is not None):
            ended = future.result()
            if isinstance(ended, Record):
                clean = not any(reply.refusals for reply in ended.replies)
                self._pace.end(refused=False, clean=clean)
                yield ended
                continue
            self._pace.end(refused=True, clean=False)
            if self._pace.is_hopeless:
                raise RateLimited(
                    "The model cannot be used", cause=ended.refusal, remedy="Go on with --resume."
                )
            yield ended

    def _asked(self, asking: Asking, state: str) -> Record | Asking:
        """The record of a question; or what is still to do, where a server refused it."""
        record = asking.answered
        try:
            with self._stops.new() as stop:
                if record is None:
                    self._check(state)
                    record = self._bounded(asking.item, asking.repeat, stop)
                    self._check(state)
                judged = self._judging.judge(record, asking.item.asked.rubric, stop)
        except RateLimited as error:
            return replace(asking, answered=record, refusal=str(error))
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
