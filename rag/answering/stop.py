"""How whoever reads an answer ends it while another thread waits for more of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stop:
    """A word, given once and from any thread, that no more of an answer is wanted.

    An iterator cannot be closed while a thread waits in it, and a model may let it wait for
    minutes. So whoever waits on a connection leaves here how to cut it.
    """

    def __init__(self) -> None:
        self._given = threading.Event()
        self._lock = threading.Lock()
        self._cuts: list[Callable[[], None]] = []

    @property
    def given(self) -> bool:
        """Whether the word was given."""
        return self._given.is_set()

    def give(self) -> None:
        """End what runs, and whatever would begin later for this answer."""
        with self._lock:
            self._given.set()
            cuts = list(self._cuts)
        for cut in cuts:
            cut()

    @contextmanager
    def cutting(self, cut: Callable[[], None]) -> Iterator[None]:
        """Call `cut` when the word is given before the block ends, or was given already."""
        with self._lock:
            self._cuts.append(cut)
            given = self.given
        try:
            if given:
                cut()
            yield
        finally:
            with self._lock:
                self._cuts.remove(cut)
