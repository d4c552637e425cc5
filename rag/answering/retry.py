"""When to try again, and how long to wait before it."""

from __future__ import annotations

import email.utils
import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from rag.answering.faults import EMPTY, Fault
from rag.errors import ServerError

BACKOFF_SECONDS = (0.5, 8.0)  # first and longest wait, where the server names none
JITTER = 0.25  # share of a wait that is left to chance, so that clients do not return together


@dataclass(frozen=True)
class Patience:
    """Bounds on waiting, in seconds. `answer_timeout` counts from the start of an answer."""

    answer_timeout: float
    max_retries: int
    max_retry_wait: float
    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = random.random

    def within(self, seconds: float | None) -> Patience:
        """The same with at most `seconds` for the answer; None: without that bound."""
        if seconds is None:
            return self
        return replace(self, answer_timeout=min(seconds, self.answer_timeout))

    def left(self, started: float) -> float:
        """Seconds that remain of an answer begun at `started`, on the clock of `monotonic`."""
        return self.answer_timeout - (self.monotonic() - started)

    def wait(
        self, fault: Fault, failures: int, started: float, notify: Callable[[str], None]
    ) -> None:
        """Wait before the next attempt, after `failures` attempts that failed.

        Raises:
            ServerError: no further attempt would help, is allowed, or fits into the time.
        """
        allowed = min(self.max_retries, 1) if fault.reason == EMPTY else self.max_retries
        if not fault.passing or failures > allowed:
            raise _counted(fault.error, failures) from None
        first, longest = BACKOFF_SECONDS
        backoff = min(first * 2.0 ** (failures - 1), longest) * (1 - JITTER * self.jitter())
        seconds = fault.wait or backoff
        limit = min(self.max_retry_wait, max(self.left(started), 0.0))
        if seconds > limit:
            raise _too_long(fault, seconds, limit) from None
        tries = f"try {failures + 1} of {allowed + 1}"
        shown = f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.2g}"
        notify(f"waiting {shown} s ({fault.reason}, {tries}), Ctrl-C to stop")
        self.sleep(seconds)


def _counted(error: ServerError, attempts: int) -> ServerError:
    if attempts < 2:
        return error
    cause = f"{error.cause}; tried {attempts} times" if error.cause else f"tried {attempts} times"
    return type(error)(error.what, cause=cause, remedy=error.remedy)


def _too_long(fault: Fault, seconds: float, limit: float) -> ServerError:
    kind = type(fault.error)
    if fault.wait is None:  # our own pause: the time for the answer is over
        return kind(
            fault.error.what,
            cause=f"{fault.error.cause}; no time is left for another try",
            remedy=fault.error.remedy,
        )
    until = datetime.fromtimestamp(time.time() + min(seconds, 1e9), UTC)
    return kind(
        f"{fault.error.what} and asks to wait {seconds:.0f} s, more than the {limit:.0f} s allowed",
        cause=fault.error.cause,
        remedy=f"Try again after {until:%H:%M} UTC, or raise max_retry_wait and answer_timeout.",
    )


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the server asks to wait: a number, an HTTP date, or None for anything else.

    `now` is the wall clock in seconds since the epoch, which dates are compared with.
    """
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        seconds = _seconds(headers.get(name, ""), now)
        if seconds is not None:
            return seconds / scale
    return None


def _seconds(value: str, now: float) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - now
        except (ValueError, TypeError, OverflowError):
            return None
        return max(0.0, seconds)
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
