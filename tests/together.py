"""Several commands one after the other in one process, each ending as its own process would.

It is run as a program: JSON lists of arguments on standard input, JSON results on standard output.
With an audit hook in place every attempt to look up a name or to reach an address is told too.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from command import ROOT, Ran, environment

REACHES = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto")


@dataclass(frozen=True)
class Together:
    """How each command ended, and what was reached for: the event and its address."""

    ran: list[Ran]
    reached: list[str]


def together(
    *commands: Sequence[str | Path],
    data: Path,
    env: Mapping[str, str] | None = None,
    prefix: Sequence[str] = (),
) -> Together:
    """Run the commands, each with `data` as its --data-dir; `prefix` begins the process."""
    asked = [[*map(str, one), "--data-dir", str(data)] for one in commands]
    done = subprocess.run(
        [*prefix, sys.executable, __file__],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        env=environment(PYTHONPATH=f"{ROOT}:{ROOT / 'tests'}", **(env or {})),
        cwd=ROOT,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    return Together([Ran(*one) for one in told["ran"]], told["reached"])


def _run(arguments: list[str]) -> tuple[int, str, str]:
    from rag.cli import app
    from rag.exits import run

    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    sys.argv[1:] = arguments
    code = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            run(app, "rag")
        except SystemExit as ended:
            code = int(ended.code or 0)
    return code, _text(out), _text(err)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def main() -> None:
    """Read the commands, run them, tell how they ended."""
    reached: list[str] = []

    def hook(name: str, arguments: tuple[object, ...]) -> None:
        if name in REACHES:
            reached.append(f"{name} {arguments[-1] if 'connect' in name else arguments}")

    sys.addaudithook(hook)
    ran = [_run(one) for one in json.loads(sys.stdin.read())]
    sys.stdout.write(json.dumps({"ran": ran, "reached": reached}) + "\n")


if __name__ == "__main__":
    main()
