"""What whole commands cost: seconds from start to end, and memory of all their processes."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_SAMPLING_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Cost:
    """Medians over `runs` runs; `megabytes` is the resident peak, child processes included."""

    command: str
    seconds: float
    fastest: float
    slowest: float
    megabytes: float
    runs: int


@dataclass(frozen=True, slots=True)
class Run:
    """One run: seconds from start to end, seconds of all processors, peak megabytes.

    Those of the processors are nearly the same when the machine has other work too.
    """

    seconds: float
    processor: float
    megabytes: float


def measure(command: Sequence[str], environ: Mapping[str, str], runs: int) -> Cost:
    """Run a command `runs` times, after once to warm the disk cache.

    Raises:
        RuntimeError: it failed.
    """
    run_once(command, environ)
    results = [run_once(command, environ) for _ in range(runs)]
    seconds = [result.seconds for result in results]
    return Cost(
        " ".join(command),
        statistics.median(seconds),
        min(seconds),
        max(seconds),
        statistics.median(result.megabytes for result in results),
        runs,
    )


def run_once(command: Sequence[str], environ: Mapping[str, str]) -> Run:
    """What a command costs, its child processes included; no other is to end meanwhile.

    Raises:
        RuntimeError: it failed.
    """
    started, before = time.perf_counter(), _processor()
    process = subprocess.Popen(
        command,
        env=_as_installed(environ),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    watch = _Watch(process.pid)
    _, said = process.communicate()
    seconds = time.perf_counter() - started
    peak = watch.stop()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {said.strip()[-300:]}")
    return Run(seconds, _processor() - before, peak)


def _processor() -> float:
    """Seconds of the processes that have ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Watch:
    """Samples the resident memory of a process and its descendants."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()

    def stop(self) -> float:
        """End sampling; the peak in megabytes."""
        self._ended.set()
        self._thread.join()
        return self._peak

    def _sample(self) -> None:
        while not self._ended.wait(_SAMPLING_SECONDS):
            self._peak = max(self._peak, sum(_resident(pid) for pid in _family(self._pid)))


def _family(pid: int) -> list[int]:
    members = [pid]
    for member in members:
        for task in Path(f"/proc/{member}/task").glob("*/children"):
            try:
                members += [int(child) for child in task.read_text().split()]
            except OSError:
                continue  # it ended meanwhile
    return members


def _resident(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _as_installed(environ: Mapping[str, str]) -> dict[str, str]:
    """Without the variable that has Python compile every module anew, which nobody sets for use."""
    return {name: value for name, value in environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
