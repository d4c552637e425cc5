"""The command line as its user runs it: a process of its own, from the tree under test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SEEDS = ROOT / "seeds"
WEIGHTS = "RAG_WEIGHTS_DIR"
COMMAND = [sys.executable, "-c", "from rag.cli import main; main()"]


@dataclass(frozen=True)
class Ran:
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error_line(self) -> str:
        """The one line that tells a failure; nothing else may stand beside it."""
        lines = self.err.strip().splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("error: "), self.err
        return lines[0]


def environment(**variables: str) -> dict[str, str]:
    """The environment without any setting of ours, with the tree under test first on the path."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RAG_", "OPENAI_"))}
    # A terminal as wide as that, so that no line of a result is wrapped.
    return {**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "400", "NO_COLOR": "1", **variables}


def rag(
    *arguments: str | Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    data: Path | None = None,
    timeout: float = 120.0,
) -> Ran:
    """Run `rag`; `data` is its --data-dir."""
    command = [*COMMAND, *map(str, arguments), *(["--data-dir", str(data)] if data else [])]
    done = subprocess.run(
        command,
        capture_output=True,
        env=environment(**(env or {})),
        cwd=cwd or ROOT,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def start(
    arguments: Sequence[str | Path], env: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Run `rag` without waiting for it."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        env=environment(**(env or {})),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
