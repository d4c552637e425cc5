"""How many questions are asked at once: fewer when a server refuses, again more when it does not.

Additive increase, multiplicative decrease, as TCP finds the width of a network (Chiu and Jain 1989,
"Analysis of the increase and decrease algorithms for congestion avoidance"): a refusal halves the
width, and when as many questions in a row as are asked at once met none, it grows by one. What is
refused by reason of one and the same crowd halves it once: until as many questions have ended as
were being asked, further refusals only lengthen the pause.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

FIRST_PAUSE = 1.0  # seconds, where the server names none; doubled with each refusal in a row
LONGEST_PAUSE = 60.0
_SPARE_TRIES = 4  # questions refused in a row beyond those that were asked at once


class Pace:
    """At most `most` questions at once, fewer while the server has too much to do.

    Safe for use by several threads: refusals are heard in those that ask. Times are in seconds.
    """

    def __init__(
        self,
        most: int,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.most = most
        self.width = most
        self.least = most
        self.refusals = 0
        self._monotonic = monotonic
        self._sleep = sleep
        self._running = 0
        self._stale = 0  # questions of the crowd that was refused, which may be refused again
        self._in_row = 0  # questions that were refused for good, since the last that was not
        self._good = 0  # questions without any refusal, since the width has changed
        self._until = 0.0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """A question is begun."""
        with self._lock:
            self._running += 1

    def refused(self, seconds: float | None) -> None:
        """An attempt was refused; the server asks to wait so long, None where it does not say.

        No question is begun before that. A time beyond `LONGEST_PAUSE` is not waited for: where the
        server means it, its further refusals end the run.
        """
        with self._lock:
            self.refusals += 1
            self._good = 0
            pause = min(FIRST_PAUSE * 2.0**self._in_row, LONGEST_PAUSE)
            if seconds is not None and seconds <= LONGEST_PAUSE:
                pause = seconds
            self._until = max(self._until, self._monotonic() + pause)
            if self._stale:
                return
            self._stale = self._running
            self._set(max(self.width // 2, 1))

    def end(self, *, refused: bool, clean: bool) -> None:
        """A question has ended: refused for good, or else done; `clean`: without any refusal."""
        with self._lock:
            self._running -= 1
            self._stale = max(self._stale - 1, 0)
            self._in_row = self._in_row + 1 if refused else 0
            self._good = self._good + 1 if clean else 0
            if self._good >= self.width and self.width < self.most:
                self._set(self.width + 1)

    @property
    def is_hopeless(self) -> bool:
        """Whether so many questions in a row were refused that no narrower pace would help."""
        return self._in_row >= self.most + _SPARE_TRIES

    @property
    def has_room(self) -> bool:
        """Whether another question may be begun now."""
        return self._running < self.width and not self.left

    @property
    def left(self) -> float:
        """Seconds until the next question may be begun."""
        return max(self._until - self._monotonic(), 0.0)

    def pause(self) -> None:
        """Wait until the next question may be begun."""
        self._sleep(self.left)

    def facts(self) -> dict[str, int]:
        """For the manifest of a run: the width that was asked for, the narrowest, the refusals."""
        return {"most": self.most, "least": self.least, "refusals": self.refusals}

    def told(self) -> str:
        """How it goes, for whoever watches; empty while nothing was refused."""
        if not self.refusals:
            return ""
        times = "once" if self.refusals == 1 else f"{self.refusals} times"
        return f"{self.width} of {self.most} at once, the server asked for less {times}"

    def _set(self, width: int) -> None:
        self.width = width
        self.least = min(self.least, width)
        self._good = 0
