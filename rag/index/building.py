"""Deriving a generation of vectors from the catalog, as the catalog says that they were made.

No embedding model is needed for it. The caller holds the write lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rag.index.built import BuiltWith, recorded_dimension
from rag.index.catalog import Catalog
from rag.index.embedding import paper_vector
from rag.index.manifest import Damaged, Unsearchable
from rag.index.report import Progress
from rag.index.vectors.seam import Facts, Unreachable, VectorIndex
from rag.index.writer import Writer

_SMALLEST_GENERATION = 16
_DELTA_ROWS = 256
_DELTA_SHARE = 0.1
_ALIKE = "papers too much alike for an index of vectors"  # how many there were; see Unsearchable
_LEAVING = "leaving_model"  # a model that no longer serves, until its vectors are gone
_DROPPED_AT_ONCE = 5_000


class Builder:
    """Builds the generations of one catalog."""

    def __init__(self, catalog: Catalog, vectors: VectorIndex, progress: Progress) -> None:
        self._catalog = catalog
        self._vectors = vectors
        self._progress = progress

    def refresh(self) -> None:
        """Build a generation when there is none that is sound and nearly complete.

        Then no search needs the vectors of a model that was replaced, and they go.
        """
        self._vectors.clean()
        if not self._is_fresh():
            self.build()
        self._drop_left()

    def build(self) -> None:
        """Build a generation of all papers; of few, or of too many alike, have none in force."""
        with self._catalog.reading() as snapshot:
            built, dimension = BuiltWith.recorded(snapshot), recorded_dimension(snapshot)
            total = snapshot.counts().papers
            if built is None or total < _SMALLEST_GENERATION:
                self._vectors.discard()
                return
            rows = (
                (content, paper_vector(matrix))
                for _, content, matrix in snapshot.matrices_since(built.key, 0, dimension)
            )
            self._progress("building", 0, total)
            try:
                self._vectors.build(rows, Facts(built.key, dimension, total, snapshot.revision))
                alike = ""
            except Unsearchable:
                self._vectors.discard()  # searched exactly
                alike = str(total)
        with self._catalog.writing() as writer:
            writer.set(_ALIKE, alike)
        self._progress("building", total, total)

    def _is_fresh(self) -> bool:
        """Whether what is outside the current generation is little, or none could be searched."""
        try:
            current = self._vectors.current()
        except Damaged:
            current = None
        with self._catalog.reading() as snapshot:
            built = BuiltWith.recorded(snapshot)
            total = snapshot.counts().papers
            if current is not None and built is not None and current.facts.model == built.key:
                added = snapshot.count_since(current.facts.revision)
                gone = current.facts.rows - (total - added)
                if added + gone <= max(_DELTA_ROWS, _DELTA_SHARE * total):
                    return True
            alike = snapshot.setting(_ALIKE)
        return bool(current is None and alike and abs(total - int(alike)) <= _DELTA_SHARE * total)

    def _drop_left(self) -> None:
        """Remove the vectors of a model that was replaced, some at a time: others write between."""
        with self._catalog.reading() as snapshot:
            model = snapshot.setting(_LEAVING)
            if model is None:
                return
            rows = snapshot.vector_rows(model)
        for start in range(0, len(rows), _DROPPED_AT_ONCE):
            with self._catalog.writing() as writer:
                writer.drop_vectors(rows[start : start + _DROPPED_AT_ONCE])
            self._progress("removing", min(start + _DROPPED_AT_ONCE, len(rows)), len(rows))
        with self._catalog.writing() as writer:
            writer.unset(_LEAVING)
        self._catalog.checkpoint()


def leave(writer: Writer, embedding_model: str) -> None:
    """Have the vectors of a model go once a generation of its successor is in force."""
    writer.set(_LEAVING, embedding_model)


def stay(writer: Writer, embedding_model: str) -> None:
    """Have the vectors of a model stay, should they have been about to go."""
    if writer.setting(_LEAVING) == embedding_model:
        writer.unset(_LEAVING)


@contextmanager
def done_so_far(what: str) -> Iterator[None]:
    """Tell with a failure of the vectors' server what is done all the same."""
    try:
        yield
    except Unreachable as error:
        raise type(error)(
            f"{what}: {error.what}",
            cause=error.cause,
            remedy=f"{error.remedy} Until the next `rag index` they are searched exactly.".strip(),
        ) from error
