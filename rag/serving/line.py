"""The line before the writing model: each user in turn, whoever asked more waits no less.

Where one user has ten questions in the line and another comes with one, that one is next after
whatever is being written: users take turns, questions of one user keep their order.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rag.answering.stop import Stop
from rag.errors import ModelError

_AGAIN = 10  # seconds after which someone who was turned away may come back


class LineFull(ModelError):
    """So many wait already that another would wait too long; `seconds` is when to ask again."""

    def __init__(self, waiting: int) -> None:
        self.seconds = _AGAIN
        super().__init__(
            "Too many questions wait to be answered",
            cause=f"{waiting} in line, most_waiting allows no more",
            remedy=f"Ask again in {_AGAIN} s.",
        )


class Left(ModelError):
    """Whoever asked left the line."""

    def __init__(self) -> None:
        super().__init__("The question was taken back", cause="it was stopped while it waited")


class _Ticket:
    """A place in the line; `granted` once it is this one's turn."""

    def __init__(self, user: str) -> None:
        self.user = user
        self.granted = False


class Line:
    """Lets so many in at a time. Safe for use by several threads, each with one ticket."""

    def __init__(self, at_once: int, longest: int) -> None:
        """`at_once` is at least 1; `longest` is how many may wait."""
        self._free = at_once
        self._longest = longest
        self._waiting: OrderedDict[str, deque[_Ticket]] = OrderedDict()  # in the order of turns
        self._changed = threading.Condition()

    @property
    def length(self) -> int:
        """How many wait."""
        return sum(map(len, self._waiting.values()))

    @contextmanager
    def turn(self, user: str, notify: Callable[[str], None], stop: Stop) -> Iterator[None]:
        """Wait for a turn, which lasts until the block ends.

        `notify` hears how many come before, again whenever that changes.

        Raises:
            LineFull: too many wait.
            Left: `stop` was given meanwhile.
        """
        ticket = self._enter(user)
        try:
            with stop.cutting(self._wake):
                self._wait(ticket, notify, stop)
            yield
        finally:
            self._leave(ticket)

    def _enter(self, user: str) -> _Ticket:
        ticket = _Ticket(user)
        with self._changed:
            if not self._free and self.length >= self._longest:
                raise LineFull(self.length)
            self._waiting.setdefault(user, deque()).append(ticket)
            self._admit()
        return ticket

    def _wait(self, ticket: _Ticket, notify: Callable[[str], None], stop: Stop) -> None:
        told = -1
        while True:
            with self._changed:
                while not (ticket.granted or stop.given or self._before(ticket) != told):
                    self._changed.wait()
                if ticket.granted:
                    return
                if stop.given:
                    raise Left
                told = self._before(ticket)
            notify(f"in line, {told} before you" if told else "in line, you are next")

    def _before(self, ticket: _Ticket) -> int:
        """How many have their turn before a ticket that waits.

        A user's i-th ticket, from 0, comes in the i-th round: before it come the first i of every
        user, and one more of the users whose turn in that round is earlier.
        """
        place = self._waiting[ticket.user].index(ticket)
        count, later = place, 0
        for user, tickets in self._waiting.items():
            if user == ticket.user:
                later = 1
            else:
                count += min(len(tickets), place + 1 - later)
        return count

    def _leave(self, ticket: _Ticket) -> None:
        with self._changed:
            if ticket.granted:
                self._free += 1
            else:
                self._waiting[ticket.user].remove(ticket)
                if not self._waiting[ticket.user]:
                    del self._waiting[ticket.user]
            self._admit()

    def _admit(self) -> None:
        """Give what is free to those whose turn it is; their users go to the end."""
        while self._free and self._waiting:
            user, tickets = self._waiting.popitem(last=False)
            tickets.popleft().granted = True
            self._free -= 1
            if tickets:
                self._waiting[user] = tickets
        self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
