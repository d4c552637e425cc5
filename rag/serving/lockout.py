"""Who failed to log in too often waits, longer each time; pure but for the clock it is given."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

FREE = 5  # failures without a wait: people mistype
FIRST_WAIT, LONGEST_WAIT = 2.0, 900.0  # seconds; doubled with every further failure
FORGOTTEN = 3_600.0  # seconds without a failure, after which all is forgotten
_MOST_KEYS = 10_000


@dataclass(frozen=True, slots=True)
class _Failures:
    count: int
    last: float

    @property
    def until(self) -> float:
        """When the next attempt is allowed."""
        beyond = self.count - FREE
        wait = min(FIRST_WAIT * 2.0 ** min(beyond, 20), LONGEST_WAIT) if beyond >= 0 else 0.0
        return self.last + wait


class Lockout:
    """Counts failures by keys, such as an address and a name. Safe for use by several threads.

    A name is counted whether it exists or not, so that waits do not tell which do.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, _Failures] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, keys: Iterable[str]) -> float:
        """Seconds until an attempt under these keys is allowed; 0: now."""
        now = self._clock()
        with self._lock:
            until = [self._failures[key].until for key in keys if key in self._failures]
        return max(0.0, max(until, default=now) - now)

    def failed(self, keys: Iterable[str]) -> None:
        """Count a failure under each of these keys."""
        now = self._clock()
        with self._lock:
            for key in keys:
                before = self._failures.pop(key, _Failures(0, now))
                count = 0 if now - before.last > FORGOTTEN else before.count
                self._failures[key] = _Failures(count + 1, now)
            while len(self._failures) > _MOST_KEYS:
                self._failures.popitem(last=False)

    def succeeded(self, keys: Iterable[str]) -> None:
        """Forget the failures under these keys."""
        with self._lock:
            for key in keys:
                self._failures.pop(key, None)
