"""Who does the work of indexing that needs no catalog: reading files and embedding texts.

Results come in the order in which the work was given, whoever does it, so that the catalog is the
same byte for byte. Only a bounded share of the work is under way at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from rag.corpus import Limits
from rag.index.built import BuiltWith
from rag.index.embedding import Embedder, Vectors
from rag.index.reading import Job, Part, read
from rag.index.vetting import embed_vetted
from rag.schema import Paper

Embedded = list[tuple[str, Vectors]]
"""The content of each paper of a batch with its matrix, a row for each chunk, in order."""


class Engine(Protocol):
    """Reads and embeds, here or elsewhere."""

    def read(self, jobs: Iterable[Job], limits: Limits) -> Iterator[tuple[Job, Part]]:
        """The parts of each file, file after file in the order of `jobs`.

        Raises:
            ResourceError: this machine has no room for what an archive holds.
            ModelError: the machines that should do it are lost.
        """

    def embed(self, batches: Iterable[Sequence[Paper]]) -> Iterator[Embedded]:
        """The matrices of each batch, in order.

        Raises:
            ModelError: the model failed, or the machines that should run it are lost.
        """


class LocalEngine:
    """This process; the model itself uses every processor."""

    def __init__(self, embedder: Embedder, built_with: BuiltWith) -> None:
        self._embedder = embedder
        self._built_with = built_with

    def read(self, jobs: Iterable[Job], limits: Limits) -> Iterator[tuple[Job, Part]]:
        """See `Engine.read`."""
        return ((job, part) for job in jobs for part in read(job, limits))

    def embed(self, batches: Iterable[Sequence[Paper]]) -> Iterator[Embedded]:
        """See `Engine.embed`."""
        return (embed(batch, self._embedder, self._built_with) for batch in batches)


def embed(papers: Sequence[Paper], embedder: Embedder, built_with: BuiltWith) -> Embedded:
    """The chunk vectors of each paper, all embedded at once.

    Raises:
        ModelError: the model failed, or gave what are no vectors of these texts.
    """
    chunks = [built_with.chunks(paper, embedder.count_pieces) for paper in papers]
    vectors = embed_vetted(embedder, [piece.text for pieces in chunks for piece in pieces])
    matrices: Embedded = []
    start = 0
    for paper, pieces in zip(papers, chunks, strict=True):
        matrices.append((paper.content, vectors[start : start + len(pieces)]))
        start += len(pieces)
    return matrices
