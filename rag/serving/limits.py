"""How much one user may ask, so that others are answered too."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rag.errors import UsageError

MINUTE = 60.0


class LimitReached(UsageError):
    """A user asks too much; `seconds` is when to ask again."""

    def __init__(self, what: str, cause: str, seconds: float) -> None:
        self.seconds = max(1, math.ceil(seconds))
        super().__init__(what, cause=cause, remedy=f"Ask again in {self.seconds} s.")


class Limits:
    """Counts the questions of each user: within a minute, and being answered now.

    A limit of 0 is none. Safe for use by several threads.
    """

    def __init__(
        self, per_minute: int, at_once: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_minute = per_minute
        self._at_once = at_once
        self._clock = clock
        self._asked: dict[str, deque[float]] = {}
        self._now: dict[str, int] = {}
        self._lock = threading.Lock()

    @contextmanager
    def asking(self, user: str) -> Iterator[None]:
        """Count a question of `user`, as being answered until the block ends.

        Raises:
            LimitReached: the user has asked too many; this one is not counted.
        """
        with self._lock:
            self._check(user)
            self._asked.setdefault(user, deque()).append(self._clock())
            self._now[user] = self._now.get(user, 0) + 1
        try:
            yield
        finally:
            with self._lock:
                self._now[user] -= 1
                if not self._now[user]:
                    del self._now[user]

    def _check(self, user: str) -> None:
        if self._at_once and self._now.get(user, 0) >= self._at_once:
            raise LimitReached(
                f"{self._at_once} of your questions are being answered",
                "questions_at_once allows no more for one user",
                1.0,
            )
        now = self._clock()
        self._forget(now - MINUTE)
        asked = self._asked.get(user, deque())
        if self._per_minute and len(asked) >= self._per_minute:
            raise LimitReached(
                f"You asked {self._per_minute} questions within a minute",
                "questions_per_minute allows no more for one user",
                asked[0] + MINUTE - now,
            )

    def _forget(self, before: float) -> None:
        for user in list(self._asked):
            times = self._asked[user]
            while times and times[0] <= before:
                times.popleft()
            if not times:
                del self._asked[user]
