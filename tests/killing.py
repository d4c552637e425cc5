"""Killing a process that indexes, at a chosen point of its work."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from command import ROOT, environment
from library import Library

PROGRAM = Path(__file__).with_name("library.py")
Watch = Callable[[Library, list[str]], bool]


def told(what: str) -> Watch:
    """Met when progress of that kind was told."""
    return lambda _, lines: any(line.startswith(what) for line in lines)


def there(pattern: str) -> Watch:
    """Met when there is such a path in the data folder."""
    return lambda library, _: any(library.data.glob(pattern))


def newer(library: Library, _: list[str]) -> bool:
    """Met when a generation stands beside the current one under its own name."""
    return any(name > library.generation for name in library.generations() if len(name) == 10)


@dataclass(frozen=True)
class Point:
    """When to kill: up to `within` seconds after `watch` is met. `action` is what runs then."""

    watch: Watch
    within: float
    action: str = "sync"


class Told:
    """The progress lines of a process, without waiting for more."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout
        self._stream = process.stdout
        self._text = ""
        os.set_blocking(self._stream.fileno(), False)

    def lines(self) -> list[str]:
        self._text += (self._stream.read() or b"").decode()
        return self._text.splitlines()


def killed(library: Library, point: Point, rng: random.Random) -> bool:
    """Run and kill a process at that point; False: it had ended before."""
    command = [sys.executable, str(PROGRAM), str(library.papers), str(library.data), "0"]
    process = subprocess.Popen(
        [*command, point.action], stdout=subprocess.PIPE, env=environment(), cwd=ROOT
    )
    told = Told(process)
    try:
        while process.poll() is None and not point.watch(library, told.lines()):
            time.sleep(0.0005)
        time.sleep(rng.uniform(0.0, point.within))
        return process.poll() is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert process.stdout
        process.stdout.close()
