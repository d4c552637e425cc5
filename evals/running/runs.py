"""The runs in a folder: what each is of, and how far it has come. Reading only; none is scored."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from evals.running.journal import MANIFEST, SAMPLES, Manifest, read_manifest
from rag.errors import InputError

_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Listed:
    """A run: `done` of `total` askings are recorded."""

    folder: Path
    manifest: Manifest
    done: int
    total: int

    @property
    def complete(self) -> bool:
        """Whether all that was planned was asked."""
        return self.done >= self.total

    @property
    def told(self) -> str:
        """Suite, who answered, how far, when."""
        begun = str(self.manifest.facts.get("begun", ""))[:16].replace("T", " ")
        far = f"{self.total} askings" if self.complete else f"{self.done} of {self.total} askings"
        writer = str(self.manifest.identity.get("writer", ""))
        return " · ".join(filter(None, (self.manifest.suite, writer, far, begun)))


def runs_in(folder: Path) -> list[Listed]:
    """The runs that stand in a folder, the newest first; what is none is passed over."""
    found: list[Listed] = []
    for path in folder.glob(f"*/{MANIFEST}"):
        with suppress(InputError, KeyError, TypeError, ValueError):
            found.append(listed(path.parent))
    return sorted(found, key=lambda one: str(one.manifest.facts.get("begun", "")), reverse=True)


def listed(folder: Path) -> Listed:
    """One run.

    Raises:
        InputError: there is none.
    """
    manifest = read_manifest(folder)
    total = int(manifest.identity["asked"]) * int(manifest.identity["repeats"])
    return Listed(folder, manifest, asked(folder), total)


def asked(folder: Path) -> int:
    """How many askings are recorded: a line each, counted without being read."""
    count = 0
    with suppress(OSError), (folder / SAMPLES).open("rb") as file:
        while piece := file.read(_PIECE):
            count += piece.count(b"\n")
    return count


def remedy_of(folder: Path) -> str:
    """How a run that is not complete is completed, in one sentence with the command."""
    command = shlex.join(["python", "-m", "evals", *going_on(listed(folder))])
    return f"Go on with `{command}`."


def going_on(run: Listed) -> list[str]:
    """The arguments of `python -m evals` that go on with a run as it was begun."""
    identity, facts = run.manifest.identity, run.manifest.facts
    config = facts.get("config") or {}
    suite = str(facts.get("suite file") or run.manifest.suite)
    judges: Sequence[object] = identity.get("judges") or ["none"]
    return [
        *("run", suite, "--limit", str(identity["asked"])),
        *("--repeats", str(identity["repeats"]), "--judges", ",".join(map(str, judges))),
        *(("--llm", str(config["llm"])) if config.get("llm") else ()),
        *("--out", str(run.folder), "--resume"),
    ]
