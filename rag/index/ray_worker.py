"""What one worker of a cluster does: it reads and embeds what it is sent.

Plain classes without Ray, so that the same work can be done and tested in one process.
"""

from __future__ import annotations

import hashlib
import io
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from rag.corpus import Limits
from rag.errors import ModelError
from rag.index.built import BuiltWith
from rag.index.embedding import PROBE, Embedder, Recipe
from rag.index.engine import Embedded, embed
from rag.index.reading import Job, Part, read
from rag.schema import Paper

_RECORDS_AT_ONCE = 1_000

Answer = tuple[int, Part | None]
"""Which of the jobs sent together, and a part of it; None: its file is not to be seen here."""


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes that travel with a job, opened as a file is."""

    data: bytes

    def __call__(self) -> BinaryIO:
        """The bytes from their beginning."""
        return io.BytesIO(self.data)


@dataclass(frozen=True, slots=True)
class Mark:
    """By what a file that is named on two machines is known to be one and the same."""

    path: Path
    inode: int
    size: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> Mark | None:
        """The mark of a file as it is seen here; None: it is not."""
        try:
            status = path.stat()
        except OSError:
            return None
        return cls(path, status.st_ino, status.st_size, status.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class Sent:
    """A job on its way to a worker, None if it is not for one.

    `mark` is that of its file; None: the job brings its bytes.
    """

    job: Job | None
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Weight:
    """A file of the model's weights: where it is on the driver's machine, and how to fetch it."""

    path: Path
    sha256: str
    fetch: Callable[[], bytes]


class Worker:
    """One process of the cluster; it loads the model once, when it first embeds.

    Every method raises a ModelError where this is another release than the driver's, which could
    give other results: a worker may find itself on any machine of the cluster.
    """

    def __init__(
        self,
        recipe: Recipe,
        built_with: BuiltWith,
        weights: Sequence[Weight],
        release: str,
    ) -> None:
        self._foreign = release != release_hash()
        self._recipe = recipe
        self._built_with = built_with
        self._weights = weights

    def check(self) -> None:
        """Whether this worker may work."""
        if self._foreign:
            raise ModelError(
                "A machine of the cluster has another askpapers than this one",
                remedy="Install the same release on every machine of the cluster.",
            )

    def read(self, jobs: Sequence[Sent], limits: Limits) -> Iterator[list[Answer]]:
        """The parts of each job in order, small ones together."""
        self.check()
        answers: list[Answer] = []
        records = 0
        for index, sent in enumerate(jobs):
            for part in _read(sent, limits):
                answers.append((index, part))
                records += len(part.records) if part else 0
                if records >= _RECORDS_AT_ONCE:
                    yield answers
                    answers, records = [], 0
        if answers:
            yield answers

    def embed(self, papers: Sequence[Paper]) -> Iterator[Embedded]:
        """The matrices of one batch."""
        self.check()
        yield embed(papers, self._embedder, self._built_with)

    @cached_property
    def _embedder(self) -> Embedder:
        """The model, with the processor that a worker has; what was fetched for it goes again."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [_at_hand(weight, Path(folder)) for weight in self._weights]
            embedder = self._recipe.make(paths, 1)
            embedder.embed([PROBE])  # loads all of it
            embedder.count_pieces(PROBE)
        return embedder


def release_hash() -> str:
    """The hash of this package's source: what another machine must run to give the same results."""
    root = Path(__file__).resolve().parents[1]
    sha = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        sha.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return sha.hexdigest()


def _read(sent: Sent, limits: Limits) -> Iterator[Part | None]:
    if sent.job is None or (sent.mark and Mark.of(sent.mark.path) != sent.mark):
        yield None
    else:
        yield from read(sent.job, limits)


def _at_hand(weight: Weight, folder: Path) -> Path:
    """A file of the weights on this machine: under its own path, else fetched."""
    try:
        if hashlib.sha256(weight.path.read_bytes()).hexdigest() == weight.sha256:
            return weight.path
    except OSError:
        pass
    fetched = folder / weight.path.name
    fetched.write_bytes(weight.fetch())
    return fetched
