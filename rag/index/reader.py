"""The index as a search sees it: one state of the catalog, and nearest papers in it.

What the catalog has and the current generation has not is searched exactly; what the catalog no
longer has is taken out of the generation's hits. So a reader is always right, and a generation
only makes it fast.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from rag.errors import IndexUnusable
from rag.index.built import BuiltWith
from rag.index.catalog import Catalog
from rag.index.chunking import spread
from rag.index.delta import Deltas
from rag.index.embedding import Embedder, Vectors, paper_vector
from rag.index.manifest import Damaged, Unavailable
from rag.index.serving import Chooser, Models, Serving
from rag.index.snapshot import Snapshot
from rag.index.vectors.seam import Generation, VectorIndex
from rag.schema import Paper

LEFT_ALONE = 30.0  # seconds for which a server that failed is not asked again
_COMPARED = 5_000  # papers, some 30 MB of vectors


class IndexReader:
    """Opens states of the index for searching. Safe for use by several threads.

    `repair` is called once when the current generation is found damaged, with the reason; it may
    build another. It is also told of one that is only unavailable, which is tried again after
    `left_alone` seconds. Until then, or until there is another, papers are searched exactly.

    `models` gives the model of an index that is served with another one than `embedder`, and
    `notify` hears of it.
    """

    def __init__(
        self,
        catalog: Catalog,
        vectors: VectorIndex,
        embedder: Embedder,
        built_with: BuiltWith,
        repair: Callable[[Damaged], None],
        left_alone: float = LEFT_ALONE,
        models: Models | None = None,
        notify: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._catalog = catalog
        self._vectors = vectors
        self._chooser = Chooser(embedder, built_with, models, notify)
        self._repair = repair
        self._left_alone = left_alone
        self._guard = threading.Lock()
        self._generation: Generation | None = None
        self._retired: Generation | None = None  # searches that began before a switch use it
        self._broken = ""  # the name of a generation that is not to be asked
        self._again = math.inf  # until this time
        self._deltas = Deltas()

    @contextmanager
    def state(self) -> Iterator[IndexState]:
        """One state of the index, the same until the block ends.

        Raises:
            IndexUnusable: there is no index, it is empty, or it was built with other settings.
            ModelError: the model of the index failed.
        """
        generation = self._current_generation()  # before the snapshot, so that it is not newer
        with self._catalog.reading() as snapshot:
            if snapshot.is_empty():
                raise IndexUnusable(
                    f"The index in {self._catalog.path.parent} holds no papers",
                    remedy="Run `rag index` on your files.",
                )
            serving = self._chooser.choose(snapshot)
            if generation is not None and generation.facts.model != serving.built_with.key:
                generation = None  # it is of the model before, and the next one is being built
            yield IndexState(snapshot, generation, serving, self._deltas, self._lost)

    def close(self) -> None:
        """Close what is open."""
        with self._guard:
            for generation in (self._generation, self._retired):
                if generation is not None:
                    generation.close()
            self._generation = self._retired = None
        self._vectors.close()
        self._catalog.close()

    def _lost(self, generation: Generation, fault: Damaged) -> None:
        """Give up a generation, and have it repaired unless another is in its place already."""
        passing = isinstance(fault, Unavailable)
        with self._guard:
            known = self._broken == generation.name and time.monotonic() < self._again
            self._broken = generation.name
            self._again = time.monotonic() + self._left_alone if passing else math.inf
        if not passing:
            generation.close()
        if not known and self._is_current(generation):
            self._repair(fault)

    def _is_current(self, generation: Generation) -> bool:
        try:
            found = self._vectors.current()
        except Damaged:
            return True
        return found is not None and found.name == generation.name

    def _current_generation(self) -> Generation | None:
        """The generation to search, or None: then everything is searched exactly."""
        if not self._catalog.exists():
            return None
        try:
            return self._adopt(self._vectors.current())
        except Damaged as damage:
            self._repair(damage)
        try:
            return self._adopt(self._vectors.current())
        except Damaged:  # it could not be repaired now
            return None

    def _adopt(self, found: Generation | None) -> Generation | None:
        """Keep the open generation while it is current; a former one closes a switch later."""
        with self._guard:
            ours = self._generation
            if ours is None or found is None or found.name != ours.name:
                if self._retired is not None:
                    self._retired.close()
                self._retired, self._generation = ours, found
            usable = self._generation
        if usable is None or (usable.name == self._broken and time.monotonic() < self._again):
            return None
        return usable


class IndexState:
    """One state of the index."""

    def __init__(
        self,
        snapshot: Snapshot,
        generation: Generation | None,
        serving: Serving,
        deltas: Deltas,
        lost: Callable[[Generation, Damaged], None],
    ) -> None:
        self.snapshot = snapshot
        self.embedding_model = serving.name
        self._generation = generation
        self._serving = serving
        self._deltas = deltas
        self._lost = lost
        self._key = serving.built_with.key
        self._dimension = serving.dimension

    @property
    def name(self) -> str:
        """What tells this state from others, for an answer's manifest."""
        generation = self._generation.name if self._generation else "exact"
        return f"revision {self.snapshot.revision}, {generation}"

    def embed(self, questions: Sequence[str]) -> Vectors:
        """Questions as unit vectors among those of this state, shape (questions, dimension).

        Raises:
            ModelError: the embedding model failed, or gave what is no vector.
        """
        return self._serving.embed(questions)

    def nearest(
        self, vector: Vectors, limit: int, among: Collection[str] | None = None
    ) -> dict[str, float]:
        """Cosine similarity by paper id of the `limit` papers nearest to a unit vector.

        `among` names the papers that may be found; all where it is None. Few are compared one by
        one. A generation that breaks is given up, and every paper compared instead.
        """
        if among is not None and len(among) <= _COMPARED:
            matrices = self.chunk_matrices(sorted(among))
            return _best({k: float(paper_vector(m) @ vector) for k, m in matrices.items()}, limit)
        since = 0
        found: dict[str, float] = {}
        if self._generation is not None:
            try:
                found = self._from_generation(self._generation, vector, limit, among)
                since = self._generation.facts.revision
            except Damaged as fault:
                self._lost(self._generation, fault)
                self._generation = None
        delta = self._deltas.since(self.snapshot, since, self._key, self._dimension)
        compared = delta.compare(vector)
        found |= {k: c for k, c in compared.items() if among is None or k in among}
        return _best(found, limit)

    def chunk_matrices(self, paper_ids: list[str]) -> dict[str, Vectors]:
        """Chunk vectors of the named papers, shape (chunks, dimension)."""
        return self.snapshot.matrices(self._key, paper_ids, self._dimension)

    def by_sentence(self, paper: Paper, similarities: Sequence[float]) -> list[float]:
        """Similarity of each sentence of `paper` from those of its chunks."""
        return spread(paper, self._serving.chunks(paper), similarities)

    def _from_generation(
        self,
        generation: Generation,
        vector: Vectors,
        limit: int,
        among: Collection[str] | None,
    ) -> dict[str, float]:
        """Papers whose present content is hit; asked again for more where many do not count."""
        asked = limit
        while True:
            hits = dict(generation.query(vector, asked))
            shown = {
                content: paper_id
                for content, paper_id in self.snapshot.shown(hits).items()
                if among is None or paper_id in among
            }
            if len(shown) >= limit or len(hits) < asked or asked >= generation.facts.rows:
                return {shown[content]: hits[content] for content in hits if content in shown}
            asked *= 2


def _best(found: dict[str, float], limit: int) -> dict[str, float]:
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))[:limit])
