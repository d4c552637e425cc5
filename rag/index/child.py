"""The process in which a vector index is built and tried out, watched from outside.

It is sent JSON and raw float32, and says "." after each step. Silence for longer than a step can
take, a crash or an error ends it, and the index that was in force before stays so.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

import numpy as np

from rag.errors import ResourceError
from rag.index.chroma import UNSEARCHABLE, Order
from rag.index.disk import with_space
from rag.index.embedding import Vectors
from rag.index.manifest import Damaged, Unsearchable

_BATCH = 2_000
_ROWS_PER_SECOND = 2_000  # a tenth of what two processors do


def build_in_child(
    folder: Path, rows: Iterable[tuple[str, Vectors]], order: Order, patience: float
) -> None:
    """Make the generation of `order` in an empty folder, with its manifest, and try it out.

    A step may take `patience` seconds, and more where there are many rows.

    Raises:
        Damaged: what was built does not hold what it should.
        ResourceError: it could not be written, or not in time.
    """
    with _Child("build", folder, patience + order.count / _ROWS_PER_SECOND) as child:
        child.send(json.dumps(asdict(order)).encode() + b"\n")
        child.await_step()
        for names, vectors in _batches(rows):
            child.send(json.dumps(names).encode() + b"\n" + vectors.tobytes())
            child.await_step()
        child.send(b"[]\n")
        child.await_end()


def verify_in_child(folder: Path, patience: float) -> None:
    """Try out a generation where it cannot take this process with it.

    Raises:
        Damaged: it does not hold what its manifest says, or does not answer.
        ResourceError: it cannot be opened for want of space.
    """
    with _Child("verify", folder, patience) as child:
        child.await_end()


class _Child:
    """One run of `rag.index.chroma`; it does not outlive the block."""

    def __init__(self, command: str, folder: Path, patience: float) -> None:
        self._folder = folder
        self._patience = patience
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rag.index.chroma", command, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        assert self._process.stdin and self._process.stdout
        self._input = self._process.stdin
        self._output = self._process.stdout.fileno()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()  # closes the pipes

    def send(self, data: bytes) -> None:
        """Write to the child, which reads whenever it has done what it was sent before."""
        try:
            view = memoryview(data)
            while view:
                view = view[self._input.write(view) :]
        except BrokenPipeError:
            self._fail()

    def await_step(self) -> None:
        """Wait until the child has done something."""
        if not self._moved():
            self._fail()

    def await_end(self) -> None:
        """Wait until the child is done with everything."""
        while self._moved():
            pass
        if self._process.wait(self._patience):
            self._fail()

    def _moved(self) -> bool:
        """Whether the child said that it goes on; False: it has ended."""
        ready, _, _ = select.select([self._output], [], [], self._patience)
        if not ready:
            raise ResourceError(
                f"The vectors in {self._folder.parent} could not be written",
                cause=f"nothing has happened for {self._patience:.0f} s",
                remedy="Your papers are stored; check the disk and run `rag index` again.",
            )
        return bool(os.read(self._output, 4096))

    def _fail(self) -> NoReturn:
        """Raise what the child has ended of."""
        _, told = self._process.communicate(timeout=self._patience)
        code = self._process.returncode
        lines = told.decode("utf-8", "replace").strip().splitlines()
        cause = lines[-1] if lines else f"its process ended with status {code}"
        if code == ResourceError.exit_code:
            raise unwritable(self._folder.parent, cause)
        kind = Unsearchable if code == UNSEARCHABLE else Damaged
        raise kind(f"The vectors in {self._folder} are not usable", cause=cause)


def unwritable(root: Path, cause: str) -> ResourceError:
    """The error of a generation that could not be written; the papers have their place already."""
    return ResourceError(
        f"The vectors in {root} cannot be written",
        cause=with_space(cause, root),
        remedy="Your papers are stored; make room or mend permissions and run `rag index` again.",
    )


def _batches(rows: Iterable[tuple[str, Vectors]]) -> Iterator[tuple[list[str], Vectors]]:
    iterator = iter(rows)
    while batch := list(islice(iterator, _BATCH)):
        yield [name for name, _ in batch], np.stack([vector for _, vector in batch])
