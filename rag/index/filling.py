"""Computing the vectors that the catalog has not yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext

from rag.errors import IndexUnusable
from rag.index.built import BuiltWith, compare_probe
from rag.index.catalog import Catalog
from rag.index.embedding import Embedder
from rag.index.engine import Engine
from rag.index.report import Progress
from rag.index.snapshot import Snapshot
from rag.index.writer import Writer
from rag.schema import Paper

_BATCH_SENTENCES = 1_024
_READ_TEXTS = 256


class Filler:
    """Embeds texts and keeps their vectors by content; the caller holds the write lock."""

    def __init__(
        self,
        catalog: Catalog,
        embedder: Embedder,
        built_with: BuiltWith,
        engine: Engine,
        progress: Progress,
    ) -> None:
        self._catalog = catalog
        self._embedder = embedder
        self._built_with = built_with
        self._engine = engine
        self._progress = progress

    def fill(self) -> int:
        """Embed every text that has no vectors; how many there were.

        Each batch is kept as it is done, so that an interrupted run goes on where it was.

        Raises:
            IndexUnusable: the model is not the one that the other vectors were made with.
            ModelError: the model failed; what was done before is kept.
        """
        key = self._built_with.key
        with self._catalog.reading() as snapshot:
            total = snapshot.count_unembedded(key)
            if total and is_same_model(snapshot, self._embedder):
                compare_probe(snapshot, self._embedder)
        done = 0
        waiting = unembedded(self._catalog.reading, key)
        for matrices in self._engine.embed(batches(waiting)):
            with self._catalog.writing() as writer:
                writer.store_matrices(key, dict(matrices))
            done += len(matrices)
            self._progress("embedding", done, total)
        return done

    def refill(self, writer: Writer) -> int:
        """Embed every text anew, in the one transaction of `writer`; how many there are.

        Weights of the same name have changed, so that old and new vectors cannot be told apart.
        """
        key, done = self._built_with.key, 0
        writer.forget_vectors(self._built_with.embedding_model)
        total = writer.count_unembedded(key)
        waiting = unembedded(lambda: nullcontext(writer), key)
        for matrices in self._engine.embed(batches(waiting)):
            writer.store_matrices(key, dict(matrices))
            done += len(matrices)
            self._progress("embedding", done, total)
        return done

    def has_other_weights(self, snapshot: Snapshot) -> bool:
        """Whether the model of that name gives other vectors than those that are stored."""
        if not is_same_model(snapshot, self._embedder):
            return False
        try:
            compare_probe(snapshot, self._embedder)
        except IndexUnusable:
            return True
        return False


def is_same_model(snapshot: Snapshot, embedder: Embedder) -> bool:
    """Whether the index was built with a model of that name."""
    return snapshot.setting("embedding_model") == embedder.name


def unembedded(
    reading: Callable[[], AbstractContextManager[Snapshot]], key: str
) -> Iterator[Paper]:
    """The texts that have no vectors, read a few at a time, so that others may write between."""
    last = 0
    while True:
        with reading() as snapshot:
            found = snapshot.unembedded(key, last, _READ_TEXTS)
        if not found:
            return
        last = found[-1][0]
        yield from (paper for _, paper in found)


def batches(papers: Iterable[Paper]) -> Iterator[list[Paper]]:
    """Papers in batches that are embedded and stored at once."""
    batch: list[Paper] = []
    size = 0
    for paper in papers:
        batch.append(paper)
        size += len(paper.sentences)
        if size >= _BATCH_SENTENCES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
