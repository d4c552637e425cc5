"""The command line as its user runs it: in this process, or in one of its own.

A process of its own takes a second or two to load what a command needs. It is for what only a
process shows: signals, standard input, limits, what is loaded, what survives its end.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag import cli

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
    ours = ("RAG_", "OPENAI_", "FORCE_COLOR")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    # A terminal as wide as that, so that no line of a result is wrapped.
    return {**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "400", "NO_COLOR": "1", **variables}


def rag(
    *arguments: str | Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    data: Path | None = None,
    typed: str = "",
) -> Ran:
    """Run `rag` in this process; `data` is its --data-dir, `typed` its standard input."""
    return _run(cli.main, ["rag", *_given(arguments, data)], env, cwd, typed)


def evals(
    *arguments: str | Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    typed: str = "",
) -> Ran:
    """Run `python -m evals` in this process; `typed` is its standard input."""
    from evals.__main__ import main

    return _run(main, ["evals", *map(str, arguments)], env, cwd, typed)


def rag_apart(
    *arguments: str | Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    data: Path | None = None,
    timeout: float = 240.0,
) -> Ran:
    """Run `rag` in a process of its own."""
    done = subprocess.run(
        [*COMMAND, *_given(arguments, data)],
        capture_output=True,
        env=environment(**(env or {})),
        cwd=cwd or ROOT,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def _given(arguments: Sequence[str | Path], data: Path | None) -> list[str]:
    return [*map(str, arguments), *(["--data-dir", str(data)] if data else [])]


def _run(
    main: Callable[[], None],
    argv: list[str],
    env: Mapping[str, str] | None,
    cwd: Path | None,
    typed: str,
) -> Ran:
    out, err = _Written(), _Written()
    with (
        _surroundings(environment(**(env or {})), cwd or ROOT, argv, typed),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
    return Ran(code, out.text, err.text)


class _Written(io.TextIOWrapper):
    """A stream of bytes, like those of a process that writes to files."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    @property
    def text(self) -> str:
        self.seek(0)
        return self.read()


@contextlib.contextmanager
def _surroundings(env: Mapping[str, str], cwd: Path, argv: list[str], typed: str) -> Iterator[None]:
    """What a process is started with; afterwards all is as it was."""
    environ, folder, arguments, stdin = dict(os.environ), Path.cwd(), sys.argv, sys.stdin
    handler = signal.getsignal(signal.SIGTERM)
    try:
        os.environ.clear()
        os.environ.update(env)
        os.chdir(cwd)
        sys.argv, sys.stdin = argv, io.TextIOWrapper(io.BytesIO(typed.encode()), encoding="utf-8")
        yield
    finally:
        os.environ.clear()
        os.environ.update(environ)
        os.chdir(folder)
        sys.argv, sys.stdin = arguments, stdin
        signal.signal(signal.SIGTERM, handler)


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
