"""Taking an index over to another embedding model while it goes on serving.

    embed every text ─▶ switch ─▶ build a generation ─▶ drop the former model's vectors

The vectors of both models lie side by side in the catalog. Until the switch, one transaction, every
search is served by the former ones, and other writers add papers as ever: what they add is embedded
in a further pass. After it the catalog alone answers, exactly, until the generation is there. So
a process that is killed between any two steps leaves an index that answers, and the next run of
this or of `rag index` completes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np

from rag.errors import IndexLocked, IndexUnusable
from rag.index.building import Builder, done_so_far, leave, stay
from rag.index.built import BuiltWith, compare_probe, probe_of
from rag.index.catalog import LOCK, Catalog
from rag.index.embedding import SAME_MODEL, Embedder
from rag.index.engine import Embedded, Engine, embed
from rag.index.filling import batches, unembedded
from rag.index.lock import write_lock
from rag.index.report import Progress
from rag.index.serving import remove_bridge
from rag.index.snapshot import STORED, Snapshot
from rag.index.vectors.seam import VectorIndex
from rag.index.writer import Writer
from rag.schema import Paper

_OWN_LOCK = "reembed.lock"  # one at a time; other writers are let in


@dataclass(frozen=True, slots=True)
class Reembedded:
    """What a run did: `embedded` texts, and whether another model, `former`, served before."""

    embedding_model: str
    former: str
    embedded: int
    papers: int
    revision: int

    @property
    def switched(self) -> bool:
        """Whether the index is served with another model since."""
        return self.former != self.embedding_model


class Reembedder:
    """Takes one index over to the model of `built_with`, whose chunks are those of the index."""

    def __init__(
        self,
        catalog: Catalog,
        vectors: VectorIndex,
        embedder: Embedder,
        built_with: BuiltWith,
        engine: Engine,
        progress: Progress,
    ) -> None:
        self.catalog = catalog
        self.embedder = embedder
        self.built_with = built_with
        self._engine = engine
        self._builder = Builder(catalog, vectors, progress)
        self._progress = progress
        self._lock = catalog.path.parent / LOCK

    def run(self, *, wait: bool = False) -> Reembedded:
        """Embed what is not embedded yet, then switch; `wait` for those who write at the start.

        What was embedded is kept however the run ends. Once it has begun it waits for others.

        Raises:
            IndexUnusable: there is no index, or it has meanwhile been built with other chunks.
            IndexLocked: another process writes, or takes it over too.
            ModelError: the model failed.
            Unreachable: the index has switched, and its vectors could not be put where they are
                kept; the next run does it.
        """
        former = self.present().embedding_model  # before a lock is made where no index is
        with write_lock(self.catalog.path.parent / _OWN_LOCK, wait=wait):
            with write_lock(self._lock, wait=wait):
                self._builder.refresh()  # completes a run that was killed
                self._forget_other_weights()
            embedded = self._fill()
            while not self._switched():
                embedded += self._fill()
        with self.catalog.reading() as snapshot:
            papers, revision = snapshot.counts().papers, snapshot.revision
        return Reembedded(self.embedder.name, former, embedded, papers, revision)

    def present(self) -> BuiltWith:
        """What the index is built with now.

        Raises:
            IndexUnusable: there is none, or with other chunks than this run embeds.
        """
        with self.catalog.reading() as snapshot:
            return self._serving(snapshot)

    def embed(self, papers: Sequence[Paper]) -> Iterator[Embedded]:
        """The matrices of the new model for some papers; nothing is stored."""
        done = 0
        for matrices in self._engine.embed(batches(papers)):
            yield matrices
            done += len(matrices)
            self._progress("embedding", done, len(papers))

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """A change of the catalog, once another writer's long one is over.

        A batch of vectors is one transaction of a moment, and SQLite keeps it apart from those of
        other writers. The write lock is for work that spans several: holding it for each batch
        would now and then turn away a `rag index` that came just then.
        """
        with ExitStack() as stack:
            try:
                writer = stack.enter_context(self.catalog.writing())
            except IndexLocked:
                stack.enter_context(write_lock(self._lock, wait=True))
                writer = stack.enter_context(self.catalog.writing())
            yield writer

    def _serving(self, snapshot: Snapshot) -> BuiltWith:
        """What the index is built with now.

        Raises:
            IndexUnusable: with nothing yet, or with other chunks than this run embeds.
        """
        there = BuiltWith.recorded(snapshot)
        if there is None:
            raise IndexUnusable(
                f"The index in {self.catalog.path.parent} holds no papers",
                remedy="Run `rag index` on your files.",
            )
        if there.with_model(self.embedder.name) != self.built_with:
            raise IndexUnusable(
                "The index was built with other chunks while it was re-embedded",
                remedy="Run `rag reembed` again.",
            )
        return there

    def _forget_other_weights(self) -> None:
        """Drop what was stored under the model's name by other weights than those that are here.

        A text that has such vectors is embedded again, and either they agree or none of them is
        of this model.

        Raises:
            IndexUnusable: the index is served with a model of that name, by other weights.
        """
        key = self.built_with.key
        with self.catalog.reading() as snapshot:
            if self._serving(snapshot).embedding_model == self.embedder.name:
                if snapshot.count_unembedded(key):
                    compare_probe(snapshot, self.embedder)
                return
            sample = snapshot.drawn(key, 1, seed=0)
            stored = snapshot.vector_bytes(key, [text.content for text in sample])
        for text in sample:
            ((content, now),) = embed([text], self.embedder, self.built_with)
            then = np.frombuffer(stored[content], dtype=STORED).astype(np.float32)
            if then.size != now.size or (then.reshape(now.shape) * now).sum(1).min() < SAME_MODEL:
                with self.catalog.writing() as writer:
                    writer.forget_vectors(self.embedder.name)

    def _fill(self) -> int:
        """Embed every text that has no vectors of the model; how many there were."""
        key = self.built_with.key
        with self.catalog.reading() as snapshot:
            total = snapshot.count_texts()
            before = total - snapshot.count_unembedded(key)
        done = 0
        for matrices in self._engine.embed(batches(unembedded(self.catalog.reading, key))):
            with self.writing() as writer:
                writer.store_matrices(key, dict(matrices))
            done += len(matrices)
            self._progress("embedding", min(before + done, total), total)
        return done

    def _switched(self) -> bool:
        """Switch, if every text has its vectors; papers may have come in since that was tried."""
        with write_lock(self._lock, wait=True):
            with self.catalog.writing() as writer:
                there = self._serving(writer)
                if writer.count_unembedded(self.built_with.key):
                    return False
                if there.embedding_model != self.embedder.name:
                    self._switch(writer, there)
            with done_so_far(f"{self.embedder.name} serves now, but its vectors are not in place"):
                self._builder.refresh()
            return True

    def _switch(self, writer: Writer, former: BuiltWith) -> None:
        writer.raise_revision()
        self.built_with.record(writer, probe_of(self.embedder))
        stay(writer, self.embedder.name)
        leave(writer, former.embedding_model)
        remove_bridge(writer)
