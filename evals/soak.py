"""Load and soak: many readers at once for a while, generations switched under them.

Searches and answers run in threads of one process over one open assistant, as the page's do;
sessions are opened and closed, one conversation goes on all the time, and another process makes
the generation of vectors anew. What is told: how many of each, what failed, times, and whether
memory and open files grew between the first and the last fifth of the time.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evals.stats import percentile
from rag.answering.conversation import Conversation
from rag.errors import AskPapersError
from rag.page.desk import Desk
from rag.page.turns import Turn
from rag.serving.counter import Counter

_LOOKS = 0.5  # seconds between two looks at memory and files
_KEPT_TURNS = 500  # of the conversation that goes on; then it begins anew


@dataclass(frozen=True, slots=True)
class Load:
    """How many of each there are at once, and for how long."""

    seconds: float
    searching: int = 50
    asking: int = 20
    sessions: int = 1_000
    switches: int = 20


@dataclass(frozen=True, slots=True)
class Look:
    """What the process held at a moment: bytes resident, open files, threads."""

    memory: int
    files: int
    threads: int


@dataclass(slots=True)
class Soaked:
    """What came of it; `times` in seconds by what was done."""

    times: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    turns: int = 0
    switched: int = 0

    def as_json(self) -> dict[str, object]:
        """Counts, percentiles in seconds, and growth from the first to the last fifth."""
        return {
            "done": {what: len(times) for what, times in self.times.items()},
            "p50": {what: percentile(times, 0.5) for what, times in self.times.items()},
            "p95": {what: percentile(times, 0.95) for what, times in self.times.items()},
            "turns": self.turns,
            "switched": self.switched,
            "errors": self.errors[:20],
            "failed": len(self.errors),
            "memory": self._growth(lambda look: look.memory),
            "files": self._growth(lambda look: look.files),
            "threads": self._growth(lambda look: look.threads),
        }

    @property
    def grown(self) -> float:
        """Memory of the last fifth over that of the second."""
        before, after = self._growth(lambda look: look.memory)
        return after / before

    def _growth(self, of: Callable[[Look], int]) -> list[int]:
        fifth = max(1, len(self.looks) // 5)
        parts = (self.looks[fifth : 2 * fifth] or self.looks, self.looks[-fifth:])
        return [sorted(map(of, part))[len(part) // 2] for part in parts]


class Soak:
    """One run of a load over an open assistant."""

    def __init__(self, counter: Counter, questions: Sequence[str], load: Load) -> None:
        self._assistant = counter.assistant
        self._questions = questions
        self._load = load
        self._desk = Desk(counter)
        self._over = threading.Event()
        self._guard = threading.Lock()
        self._sessions = iter(range(load.sessions))
        self.result = Soaked()

    def run(self, data_dir: Path) -> Soaked:
        """Keep up the load until the time is over and every switch was made."""
        work = [*[self._search] * self._load.searching, *[self._ask] * self._load.asking]
        threads = [
            threading.Thread(target=self._again, args=(what, number))
            for number, what in enumerate([*work, self._session, self._session, self._talk()])
        ]
        for thread in threads:
            thread.start()
        ends = time.monotonic() + self._load.seconds
        switching = threading.Thread(target=self._switch, args=(data_dir, ends))
        switching.start()
        while time.monotonic() < ends or switching.is_alive():
            self.result.looks.append(look())
            time.sleep(_LOOKS)
        self._over.set()
        for thread in [*threads, switching]:
            thread.join()
        return self.result

    def _again(self, work: Callable[[random.Random], None], number: int) -> None:
        chance = random.Random(number)
        while not self._over.is_set():
            began = time.monotonic()
            name = getattr(work, "__name__", "talk").strip("_")
            try:
                work(chance)
            except StopIteration:
                return
            except Exception as error:  # whatever it is: it is what a soak is run for
                with self._guard:
                    self.result.errors.append(f"{name}: {type(error).__name__}: {error}")
            with self._guard:
                self.result.times.setdefault(name, []).append(time.monotonic() - began)

    def _search(self, chance: random.Random) -> None:
        if not self._assistant.search(chance.choice(self._questions)).hits:
            raise AskPapersError("Nothing was found")

    def _ask(self, chance: random.Random) -> None:
        self._assistant.answer(chance.choice(self._questions))

    def _session(self, chance: random.Random) -> None:
        """A reader comes, asks, and in half of the cases leaves before the answer."""
        with self._guard:
            number = next(self._sessions)
        progress = self._desk.ask(f"reader {number}", Turn(1, chance.choice(self._questions)))
        for _ in progress:
            if number % 2:
                progress.close()  # type: ignore[attr-defined]
                return

    def _talk(self) -> Callable[[random.Random], None]:
        """A conversation that goes on and on."""
        said = [Conversation()]

        def talk(chance: random.Random) -> None:
            question = chance.choice([*self._questions, "And how was it measured?", "Why?"])
            said[0] = said[0].after(self._assistant.answer(question, conversation=said[0]))
            self.result.turns += 1
            if self.result.turns % _KEPT_TURNS == 0:
                said[0] = Conversation()

        return talk

    def _switch(self, data_dir: Path, ends: float) -> None:
        """Another process makes the generation anew, evenly over the time."""
        apart = self._load.seconds / max(1, self._load.switches)
        for number in range(self._load.switches):
            program = "from rag.cli import main; main()"
            command = [sys.executable, "-c", program, "index", "--compact", "-q"]
            done = subprocess.run(
                [*command, "--data-dir", str(data_dir)], capture_output=True, text=True, check=False
            )
            with self._guard:
                self.result.switched += done.returncode == 0
                if done.returncode:
                    self.result.errors.append(f"switch: {done.stderr.strip()}")
            self._over.wait(
                max(0.0, ends - self._load.seconds + (number + 1) * apart - time.monotonic())
            )


def look() -> Look:
    """What this process holds now; on Linux."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    files = len(list(Path("/proc/self/fd").iterdir()))
    return Look(pages * os.sysconf("SC_PAGE_SIZE"), files, threading.active_count())
