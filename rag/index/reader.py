"""The index as a search sees it: one state of the catalog, and nearest papers in it.

What the catalog has and the current generation has not is searched exactly; what the catalog no
longer has is taken out of the generation's hits. So a reader is always right, and a generation
only makes it fast.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from rag.errors import IndexUnusable
from rag.index.catalog import Catalog
from rag.index.chunking import chunk, spread
from rag.index.embedding import PROBE, SAME_MODEL, Embedder, Vectors, unit
from rag.index.manifest import Damaged, Unavailable
from rag.index.snapshot import Snapshot
from rag.index.vectors import Generation, Generations
from rag.schema import Chunk, Paper

REBUILD = "Run `rag index --rebuild`, or go back to the former setting."


@dataclass(frozen=True, slots=True)
class BuiltWith:
    """The settings that an index depends on: another value needs another index."""

    embedding_model: str
    chunk_sentences: int
    chunk_word_pieces: int

    @property
    def key(self) -> str:
        """What vectors are filed under."""
        return f"{self.embedding_model}/{self.chunk_sentences}/{self.chunk_word_pieces}"

    def chunks(self, paper: Paper, embedder: Embedder) -> list[Chunk]:
        """The chunks of `paper`, in the order of the rows of its matrix."""
        return chunk(
            paper,
            sentences=self.chunk_sentences,
            word_pieces=self.chunk_word_pieces,
            count_pieces=embedder.count_pieces,
        )

    def compare(self, snapshot: Snapshot) -> None:
        """Check that the index in `snapshot` was built with these settings.

        Raises:
            IndexUnusable: it was not; both values are named.
        """
        for name in self.__slots__:
            stored, wanted = snapshot.setting(name), str(getattr(self, name))
            if stored is not None and stored != wanted:
                raise IndexUnusable(
                    f"The index was built with {name} = {stored}, the settings say {wanted}",
                    remedy=REBUILD,
                )


def compare_probe(snapshot: Snapshot, embedder: Embedder) -> None:
    """Check that the embedder gives the vectors that the index was built with.

    Two models can share a name and a dimension; a probe sentence tells them apart.

    Raises:
        IndexUnusable: it is another model.
    """
    stored = snapshot.setting("probe")
    if stored is None:
        return
    then = np.frombuffer(bytes.fromhex(stored), dtype=np.float32)
    now = embedder.embed([PROBE])[0]
    if then.shape != now.shape or float(then @ now) < SAME_MODEL:
        raise IndexUnusable(
            f"The weights of {embedder.name} are not the ones that the index was built with",
            cause="a probe sentence has another vector",
            remedy="Run `rag models verify`, then `rag index --rebuild`.",
        )


def paper_vector(matrix: Vectors) -> Vectors:
    """A paper's own vector: the direction of the mean of its chunks' vectors, shape (dim,)."""
    mean: Vectors = matrix.mean(axis=0, keepdims=True)
    return cast("Vectors", unit(mean, "in the catalog")[0])


class IndexReader:
    """Opens states of the index for searching. Safe for use by several threads.

    `repair` is called once when the current generation is found damaged, with the reason; it may
    build another. It is also told of one that is only unavailable. Until there is another, papers
    are searched exactly.
    """

    def __init__(
        self,
        catalog: Catalog,
        generations: Generations,
        embedder: Embedder,
        built_with: BuiltWith,
        repair: Callable[[Damaged | Unavailable], None],
    ) -> None:
        self._catalog = catalog
        self._generations = generations
        self._embedder = embedder
        self._built_with = built_with
        self._repair = repair
        self._guard = threading.Lock()
        self._generation: Generation | None = None
        self._retired: Generation | None = None  # searches that began before a switch use it
        self._broken: Path | None = None
        self._probed: str | None = None

    @contextmanager
    def state(self) -> Iterator[IndexState]:
        """One state of the index, the same until the block ends.

        Raises:
            IndexUnusable: there is no index, it is empty, or it was built with other settings.
        """
        generation = self._current_generation()  # before the snapshot, so that it is not newer
        with self._catalog.reading() as snapshot:
            if snapshot.is_empty():
                raise IndexUnusable(
                    f"The index in {self._catalog.path.parent} holds no papers",
                    remedy="Run `rag index` on your files.",
                )
            self._built_with.compare(snapshot)
            self._probe(snapshot)
            yield IndexState(snapshot, generation, self._built_with, self._embedder, self._lost)

    def close(self) -> None:
        """Close what is open."""
        with self._guard:
            for generation in (self._generation, self._retired):
                if generation is not None:
                    generation.close()
            self._generation = self._retired = None
        self._catalog.close()

    def _lost(self, generation: Generation, fault: Damaged | Unavailable) -> None:
        """Give up a generation, and have it repaired unless another is in its place already."""
        with self._guard:
            known = self._broken == generation.folder
            self._broken = generation.folder
        if isinstance(fault, Damaged):
            generation.close()
        if not known and self._is_current(generation):
            self._repair(fault)

    def _is_current(self, generation: Generation) -> bool:
        try:
            found = self._generations.current()
        except Damaged:
            return True
        return found is not None and found.folder == generation.folder

    def _current_generation(self) -> Generation | None:
        """The generation to search, or None: then everything is searched exactly."""
        if not self._catalog.exists():
            return None
        try:
            return self._adopt(self._generations.current())
        except Damaged as damage:
            self._repair(damage)
        try:
            return self._adopt(self._generations.current())
        except Damaged:  # it could not be repaired now
            return None

    def _adopt(self, found: Generation | None) -> Generation | None:
        """Keep the open generation while it is current; a former one closes a switch later."""
        with self._guard:
            ours = self._generation
            if ours is None or found is None or found.folder != ours.folder:
                if self._retired is not None:
                    self._retired.close()
                self._retired, self._generation = ours, found
            usable = self._generation
        if usable is None or usable.folder == self._broken:
            return None
        return usable if usable.manifest.model == self._built_with.key else None

    def _probe(self, snapshot: Snapshot) -> None:
        stored = snapshot.setting("probe")
        if stored != self._probed:
            compare_probe(snapshot, self._embedder)
            self._probed = stored


class IndexState:
    """One state of the index."""

    def __init__(
        self,
        snapshot: Snapshot,
        generation: Generation | None,
        built_with: BuiltWith,
        embedder: Embedder,
        lost: Callable[[Generation, Damaged | Unavailable], None],
    ) -> None:
        self.snapshot = snapshot
        self._generation = generation
        self._built_with = built_with
        self._embedder = embedder
        self._lost = lost
        self._key = built_with.key
        self._dimension = embedder.dimension

    @property
    def name(self) -> str:
        """What tells this state from others, for an answer's manifest."""
        folder = self._generation.folder.name if self._generation else "exact"
        return f"revision {self.snapshot.revision}, {folder}"

    def nearest(self, vector: Vectors, limit: int) -> dict[str, float]:
        """Cosine similarity by paper id of the `limit` papers nearest to a unit vector.

        A generation that breaks is given up, and every paper compared instead.
        """
        since = 0
        found: dict[str, float] = {}
        if self._generation is not None:
            try:
                found = self._from_generation(self._generation, vector, limit)
                since = self._generation.manifest.revision
            except (Damaged, Unavailable) as fault:
                self._lost(self._generation, fault)
                self._generation = None
        for paper_id, _, matrix in self.snapshot.matrices_since(self._key, since, self._dimension):
            found[paper_id] = float(paper_vector(matrix) @ vector)
        best = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        return dict(best[:limit])

    def chunk_matrices(self, paper_ids: list[str]) -> dict[str, Vectors]:
        """Chunk vectors of the named papers, shape (chunks, dimension)."""
        return self.snapshot.matrices(self._key, paper_ids, self._dimension)

    def by_sentence(self, paper: Paper, similarities: Sequence[float]) -> list[float]:
        """Similarity of each sentence of `paper` from those of its chunks."""
        return spread(paper, self._built_with.chunks(paper, self._embedder), similarities)

    def _from_generation(
        self, generation: Generation, vector: Vectors, limit: int
    ) -> dict[str, float]:
        """Papers whose present content is hit; asked again for more where many are gone."""
        asked = limit
        while True:
            hits = dict(generation.query(vector, asked))
            shown = self.snapshot.shown(hits)
            if len(shown) >= limit or len(hits) < asked or asked >= generation.manifest.rows:
                return {shown[content]: hits[content] for content in hits if content in shown}
            asked *= 2
