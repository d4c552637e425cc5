"""The folder of a run: what was run (`manifest.json`) and what happened (`samples.jsonl`).

Lines are only ever added, each whole and on the disk before the next question counts as done. So
a process that is killed loses the questions it was at, and nothing else: a last line that is torn
is cut off when the run goes on.
"""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.record import Record
from rag.errors import IndexLocked, InputError, ResourceError, UsageError
from rag.index.disk import write_durably
from rag.index.lock import write_lock

MANIFEST, SAMPLES, LOCK = "manifest.json", "samples.jsonl", "run.lock"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a run is of.

    `identity` is what makes its figures: suite, settings, models and their weights, prompts, index,
    judges, repeats. Runs that differ in it are different runs. `facts` are for the reader: versions
    of packages, machine, time.
    """

    identity: Mapping[str, Any]
    facts: Mapping[str, Any]

    @property
    def suite(self) -> str:
        """The name of the suite."""
        return str(self.identity["suite"])

    def differences(self, other: Manifest) -> list[str]:
        """What differs in identity, told as "name: there, here"."""
        names = sorted({*self.identity, *other.identity})
        pairs = [(name, self.identity.get(name), other.identity.get(name)) for name in names]
        return [
            f"{name}: {_told(there)}, {_told(here)}" for name, there, here in pairs if there != here
        ]


class Journal:
    """A run that is being written; held by one process."""

    def __init__(self, folder: Path, done: frozenset[tuple[str, int]]) -> None:
        self.folder = folder
        self.done = done
        self._guard = threading.Lock()

    def add(self, record: Record) -> None:
        """Write a record so that it lasts. Safe for use by several threads.

        Raises:
            ResourceError: it cannot be written; what was written before can be read.
        """
        line = f"{record.line()}\n".encode()
        with self._guard:
            path = self.folder / SAMPLES
            try:
                with path.open("ab") as file:
                    size = file.tell()
                    _append(file.fileno(), line, size)
            except OSError as error:
                raise ResourceError(
                    f"{path} cannot be written",
                    cause=error.strerror or str(error),
                    remedy="Make room and go on with --resume.",
                ) from error

    def tell(self, name: str, value: object) -> None:
        """Add a fact to the manifest: how it went, which nobody knew when the run began."""
        manifest = read_manifest(self.folder)
        _write(self.folder, Manifest(manifest.identity, {**manifest.facts, name: value}))


@contextmanager
def writing(folder: Path, manifest: Manifest, *, resume: bool) -> Iterator[Journal]:
    """A new run in `folder`, or with `resume` the one that is there.

    Raises:
        UsageError: a run is there and is not to be resumed, or is of something else.
        IndexLocked: another process writes to it.
        InputError: what is there is no run.
        ResourceError: the folder cannot be written.
    """
    with _held(folder):
        there = (folder / MANIFEST).exists()
        if there and not resume:
            raise UsageError(
                f"{folder} holds a run already",
                remedy="Go on with --resume, or name another --out.",
            )
        if there:
            _check_same(folder, manifest)
            done = _mend(folder)
        else:
            done = frozenset()
            _begin(folder, manifest)
        yield Journal(folder, done)


def read_manifest(folder: Path) -> Manifest:
    """What a run is of.

    Raises:
        InputError: there is no run.
    """
    path = folder / MANIFEST
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        return Manifest(dict(value["identity"]), dict(value["facts"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        cause = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(
            f"{folder} holds no run", cause=f"{path.name}: {cause}", remedy="Name its folder."
        ) from None


def read_records(folder: Path) -> list[Record]:
    """The records of a run. A torn last line is left out: its question counts as not asked.

    Raises:
        InputError: the folder holds no run, or a line within it is damaged; the line is named.
    """
    read_manifest(folder)
    return read_lines(folder)


def read_lines(folder: Path) -> list[Record]:
    """The records in a folder, whether or not it says what they are of.

    Raises:
        InputError: a line within the file is damaged; the line is named.
    """
    return _records(folder)[0]


def _records(folder: Path) -> tuple[list[Record], int]:
    """The whole records, and how many bytes of the file they fill."""
    path = folder / SAMPLES
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise InputError(f"{path} cannot be read", cause=error.strerror or "") from error
    records: list[Record] = []
    lines = content.split(b"\n")
    whole = lines[:-1]  # what follows the last line feed is torn, or nothing
    for number, line in enumerate(whole, start=1):
        try:
            records.append(Record.read(line.decode()))
        except ValueError as error:
            raise InputError(
                f"{path}:{number} is damaged", cause=str(error), remedy="Remove that line."
            ) from None
    for (item, repeat), times in Counter(record.key for record in records).items():
        if times > 1:
            raise InputError(f"{path} holds the question {item!r}, repeat {repeat}, {times} times")
    return records, len(content) - len(lines[-1])


def _mend(folder: Path) -> frozenset[tuple[str, int]]:
    """Cut off a torn last line; what is done."""
    records, size = _records(folder)
    path = folder / SAMPLES
    if path.exists() and path.stat().st_size != size:
        os.truncate(path, size)
    return frozenset(record.key for record in records)


def _begin(folder: Path, manifest: Manifest) -> None:
    samples = folder / SAMPLES
    if samples.exists() and samples.stat().st_size:
        raise InputError(
            f"{folder} holds {SAMPLES} without {MANIFEST}: nobody knows what it is of",
            remedy="Name another --out.",
        )
    samples.touch()  # its name is on the disk with that of the manifest
    _write(folder, manifest)


def _write(folder: Path, manifest: Manifest) -> None:
    value = {"identity": manifest.identity, "facts": manifest.facts}
    write_durably(folder / MANIFEST, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _check_same(folder: Path, manifest: Manifest) -> None:
    different = read_manifest(folder).differences(manifest)
    if different:
        raise UsageError(
            f"{folder} holds a run of something else",
            cause="; ".join(different),
            remedy="Begin another with --new-run.",
        )


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(write_lock(folder / LOCK))
        except IndexLocked as error:
            raise IndexLocked(
                f"The run in {folder} is being written",
                cause=error.cause,
                remedy="Wait for it to end.",
            ) from None
        except ResourceError as error:
            raise ResourceError(f"{folder} cannot be written", cause=error.cause) from None
        yield


def _append(descriptor: int, line: bytes, size: int) -> None:
    """All of a line, or on a full disk nothing of it."""
    try:
        left = memoryview(line)
        while left:
            left = left[os.write(descriptor, left) :]
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def _told(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    return text if len(text) <= 60 else f"{text[:59]}…"
