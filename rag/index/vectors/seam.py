"""What searching and indexing need of a vector index, wherever it is.

    VectorIndex ── current ─▶ Generation ── query ─▶ ids and cosines
         └──────── build ───────▲

A generation is a set of rows, one for each content, that is never changed once it is in use. It
is derived from the catalog and only makes a search fast: what the catalog has and a generation
has not is compared exactly, what the catalog no longer has is left out. So losing one loses time
and never a paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, Protocol

import numpy as np

from rag.index.catalog import Catalog
from rag.index.embedding import Vectors, paper_vector
from rag.index.manifest import Damaged, Unavailable, Unsearchable

_SELF_QUERIES = 20
_MOST_MISSED = 0.1
_ITSELF = 0.999  # the cosine of a row with itself, whatever a store rounds to


class Unreachable(Unavailable):
    """The vectors cannot be had now: their server is down, slow or at fault."""

    exit_code: ClassVar[int] = 4


class Refused(Unreachable):
    """The server answers, and the same request will be refused again: the settings must change."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a generation holds: `rows` vectors of papers up to a revision of the catalog.

    `model` is the key under which the catalog files the vectors that they were made of.
    """

    model: str
    dimension: int
    rows: int
    revision: int


class Generation(Protocol):
    """One set of rows that was verified when it was built."""

    @property
    def name(self) -> str:
        """What tells it from every other generation of its catalog."""

    @property
    def facts(self) -> Facts:
        """What it holds."""

    def query(self, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        """Contents and cosine similarities of the nearest rows, nearest first, at most `limit`.

        Raises:
            Damaged: it cannot be searched; Unreachable where it may be again later.
        """

    def verify(self) -> None:
        """Try whether it holds what it should.

        Raises:
            Damaged: it does not; Unreachable where that cannot be said now.
        """

    def close(self) -> None:
        """Let go of what is open; a later query opens it again."""


class VectorIndex(Protocol):
    """The generations of one catalog. Building and cleaning need the catalog's write lock."""

    @property
    def place(self) -> str:
        """Where they are, as people are told it."""

    def current(self) -> Generation | None:
        """The generation in force, or None where there is none yet; nothing is connected.

        Raises:
            Damaged: it is named but cannot be what it says.
        """

    def build(self, rows: Iterable[tuple[str, Vectors]], facts: Facts) -> Generation:
        """Make content ids and unit vectors, at least 2, a generation and the current one.

        Until it is verified the one before stays in force.

        Raises:
            Damaged: what was built does not verify.
            Unreachable: the server failed, and the next run has to do it again.
            ResourceError: no space or no permission.
        """

    def discard(self) -> None:
        """Have no generation in force: papers are searched exactly."""

    def clean(self) -> None:
        """Remove what a build that was killed left on this machine."""

    def ping(self) -> None:
        """Try whether the place answers at all.

        Raises:
            Unreachable: it does not.
        """

    def close(self) -> None:
        """Let go of what is open; later use opens it again."""


def batches(
    rows: Iterable[tuple[str, Vectors]], size: int, dimension: int
) -> Iterator[tuple[list[str], Vectors]]:
    """Contents with their vectors, shape (at most `size`, dimension).

    Raises:
        Damaged: a vector has another dimension, or is not finite.
    """
    iterator = iter(rows)
    while batch := list(islice(iterator, size)):
        vectors = np.stack([vector for _, vector in batch])
        if vectors.shape[1] != dimension or not np.isfinite(vectors).all():
            raise Damaged("A stored vector is not usable", remedy="Run `rag index --rebuild`.")
        yield [content for content, _ in batch], vectors


def find_themselves(generation: Generation, catalog: Catalog) -> None:
    """Look for a sample of the catalog's vectors: nine in ten must find a row in their own place.

    Raises:
        Unsearchable: they do not.
    """
    facts = generation.facts
    with catalog.reading() as snapshot:
        sample = snapshot.sample(facts.model, facts.revision, facts.dimension, _SELF_QUERIES)
    missed = sum(not _finds_itself(generation, paper_vector(matrix)) for matrix in sample)
    if missed > _MOST_MISSED * len(sample):
        raise Unsearchable(f"{missed} of {len(sample)} rows of {generation.name} are not found")


def _finds_itself(generation: Generation, vector: Vectors) -> bool:
    found = generation.query(vector, 1)
    return bool(found) and found[0][1] >= _ITSELF
