"""A run in a process of its own, one at a time: begun, watched, and ended so that it can go on.

How far it is stands in its folder, where every question is a line as soon as it is done. It is
ended by SIGTERM, since a process that was begun in the background may not hear Ctrl-C.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pydantic import SecretStr

from evals.golden import ROOT
from evals.running.journal import MANIFEST
from evals.running.runs import asked, listed
from rag.config import PREFIX, Config
from rag.errors import EXIT_PARTLY_FAILED, EXIT_TERMINATED, InputError, UsageError

STOPPED = {EXIT_TERMINATED, -signal.SIGTERM}  # the latter before it could say anything
_PATIENCE = 10.0  # seconds in which a run that is ended may close its models
_LAST = 4_000  # bytes of what it said that are looked through for its last line


@dataclass(frozen=True, slots=True)
class State:
    """How the run is: `code` once it has ended, and `told`, why where it failed.

    `total` is 0 until the suite was read and indexed.
    """

    folder: Path
    done: int = 0
    total: int = 0
    code: int | None = None
    told: str = ""

    @property
    def running(self) -> bool:
        """Whether it goes on."""
        return self.code is None

    @property
    def line(self) -> str:
        """All that a person needs to know of it."""
        far = f"{self.done} of {self.total} questions" if self.total else "preparing"
        if self.code is None:
            return f"{self.folder.name}: {far}"
        if self.code in {0, EXIT_PARTLY_FAILED}:
            return f"{self.folder.name} has ended: {far}"
        if self.code in STOPPED and not self.total:
            return f"{self.folder.name} was stopped before its first question"
        if self.code in STOPPED:
            return f"{self.folder.name} was stopped: {far} are kept, and it can go on"
        return f"{self.folder.name} failed: {self.told}"


class Child:
    """The one run that is being made, or was last. Safe for use by several threads."""

    def __init__(self, config: Config) -> None:
        self._environment = environment_of(config)
        self._data_dir = config.data_dir
        self._guard = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None
        self._folder = Path()

    def start(self, arguments: Sequence[str], folder: Path) -> State:
        """Begin `python -m evals` with these arguments, which make the run in `folder`.

        Raises:
            UsageError: a run is being made already.
        """
        with self._guard:
            if self._process is not None and self._process.poll() is None:
                raise UsageError(
                    f"The run {self._folder.name} is being made",
                    cause="one at a time",
                    remedy="Stop it, or wait for its end.",
                )
            if self._said is not None:
                self._said.close()
            self._said = tempfile.TemporaryFile()  # noqa: SIM115
            self._folder = folder
            self._process = subprocess.Popen(
                [sys.executable, "-m", "evals", *arguments, "--data-dir", str(self._data_dir)],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                start_new_session=True,
            )
            return self._state()

    def state(self) -> State | None:
        """How the run is; None where none was begun."""
        with self._guard:
            return self._state() if self._process is not None else None

    def stop(self) -> None:
        """End the run; what was asked is kept."""
        with self._guard:
            if self._process is None or self._process.poll() is not None:
                return
            self._process.terminate()
            try:
                self._process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _state(self) -> State:
        assert self._process is not None
        code = self._process.poll()
        done, total = asked(self._folder), 0
        if (self._folder / MANIFEST).exists():
            try:
                total = listed(self._folder).total
            except InputError:
                total = 0
        return State(self._folder, done, total, code, "" if code is None else self._last_line())

    def _last_line(self) -> str:
        """The last thing that it said, which is its error where it failed."""
        assert self._said is not None
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(size - _LAST, 0))
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return lines[-1].removeprefix("error: ") if lines else ""


def environment_of(config: Config, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment in which a process has the same settings, wherever these came from."""
    kept = {k: v for k, v in (environ or os.environ).items() if not k.startswith(PREFIX)}
    settings = {
        f"{PREFIX}{name.upper()}": _written(getattr(config, name))
        for name in sorted(config.model_fields_set)
        if getattr(config, name) is not None
    }
    paths = [str(ROOT), *filter(None, [kept.get("PYTHONPATH")])]
    return {**kept, **settings, "PYTHONPATH": os.pathsep.join(paths)}


def _written(value: object) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return json.dumps(value) if isinstance(value, Mapping | bool) else str(value)
