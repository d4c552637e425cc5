"""The answers that are being made, so that a server can end without breaking them off."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rag.answering.stop import Stop
from rag.errors import ModelError


class ShuttingDown(ModelError):
    """The server ends."""

    def __init__(self) -> None:
        super().__init__("The server is being ended", remedy="Ask again when it is back.")


class Running:
    """Counts answers in work. Safe for use by several threads."""

    def __init__(self) -> None:
        self._stops: set[Stop] = set()
        self._changed = threading.Condition()
        self.closing = False
        self.ended = False

    @contextmanager
    def counted(self, stop: Stop) -> Iterator[None]:
        """Count an answer, until the block ends.

        Raises:
            ShuttingDown: no more are begun.
        """
        with self._changed:
            if self.closing:
                raise ShuttingDown
            self._stops.add(stop)
        try:
            yield
        finally:
            with self._changed:
                self._stops.discard(stop)
                self._changed.notify_all()

    @property
    def count(self) -> int:
        """How many are in work."""
        return len(self._stops)

    def close(self) -> None:
        """Begin no more."""
        self.closing = True

    def end(self) -> None:
        """Stop those that are in work; each tells its reader."""
        self.ended = True
        with self._changed:
            stops = list(self._stops)
        for stop in stops:
            stop.give()

    def wait(self, seconds: float) -> bool:
        """Whether all ended within that time."""
        until = time.monotonic() + seconds
        with self._changed:
            return self._changed.wait_for(lambda: not self._stops, until - time.monotonic())
