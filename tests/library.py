"""A folder of papers and an index of it, with an embedder whose similarities are known."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Self

from fakes import TOPICS, HandEmbedder

from rag.errors import ResourceError
from rag.index.built import BuiltWith
from rag.index.catalog import Catalog
from rag.index.embedding import PROBE, Embedder, Vectors
from rag.index.engine import Engine, LocalEngine
from rag.index.intake import DEFAULT
from rag.index.manifest import Damaged, Unavailable
from rag.index.reader import IndexReader, IndexState
from rag.index.reembedding import Reembedded, Reembedder
from rag.index.report import Progress
from rag.index.serving import Models
from rag.index.sync import Indexer, Options, Report
from rag.index.vectors import VectorIndex
from rag.index.vectors.local import Generations
from rag.retrieval.fusion import Weights
from rag.retrieval.query import Question
from rag.retrieval.search import Found, Searcher
from rag.schema import Paper, Sentence

WEIGHTS = Weights(0.25, 0.5, 0.25, 0.35)
BY_MEANING = Weights(1.0, 0.0, 0.0, 0.35)


def abstract(*topics: str, about: str = "one case") -> str:
    """Two sentences, each with every topic once; `about` sets papers of the same topics apart."""
    named = " ".join(topics)
    return f"We study {named} in {about} with care. The {named} were measured twice."


def sentences(text: str) -> list[str]:
    """The two sentences of an `abstract`."""
    first, second = text.split(". ")
    return [f"{first}.", second]


def paper(name: str, *texts: str) -> Paper:
    """A paper of the given sentences."""
    text = " ".join(texts)
    starts = [text.index(one) for one in texts]
    cut = tuple(Sentence(t, s, s + len(t)) for t, s in zip(texts, starts, strict=True))
    return Paper(name, "f.txt", 1, 0, text, name, True, cut)


def one_for_each_topic() -> str:
    return "\n\n".join(abstract(topic) for topic in TOPICS)


class Library:
    """`papers` holds the files, `data` the index, `vectors` makes the vector index of a folder."""

    def __init__(self, root: Path, embedder: HandEmbedder | None = None) -> None:
        self.vectors: Callable[[Path], VectorIndex] = lambda data: Generations(data / "vectors")
        self.papers = root / "papers"
        self.data = root / "data"
        self.embedder = embedder or HandEmbedder()
        self.built_with = BuiltWith(self.embedder.name, 1, 254)
        self.notices: list[str] = []
        self.left_alone = 60.0
        self.models: Models | None = None
        self.papers.mkdir(parents=True, exist_ok=True)

    def like(self, embedder: HandEmbedder, built_with: BuiltWith | None = None) -> Self:
        """The same library seen with other settings."""
        other = type(self)(self.papers.parent, embedder)
        other.built_with = built_with or other.built_with
        other.papers, other.data, other.vectors = self.papers, self.data, self.vectors
        other.models = self.models
        return other

    def copy(self, data: Path) -> Self:
        """The same papers with a copy of the index."""
        other = self.like(HandEmbedder())
        other.data = Path(shutil.copytree(self.data, data))
        return other

    def write(self, name: str, *abstracts: str) -> Path:
        path = self.papers / name
        path.write_text("\n\n".join(abstracts), encoding="utf-8")
        return path

    def indexer(self) -> Indexer:
        vectors = self.vectors(self.data)
        return Indexer(self.data, self.embedder, self.built_with, lambda *_: None, vectors)

    def index(self, *paths: Path, options: Options = DEFAULT) -> Report:
        indexer = self.indexer()
        try:
            return indexer.sync(paths or [self.papers], options)
        finally:
            indexer.close()

    def rebuild(self) -> Report:
        indexer = self.indexer()
        try:
            return indexer.rebuild()
        finally:
            indexer.close()

    def compact(self) -> None:
        indexer = self.indexer()
        indexer.rebuild_vectors()
        indexer.close()

    @contextmanager
    def reembedding(
        self,
        embedder: Embedder,
        progress: Progress = lambda *_: None,
        engine: Engine | None = None,
    ) -> Iterator[Reembedder]:
        catalog, vectors = Catalog(self.data / "catalog.sqlite3"), self.vectors(self.data)
        built = self.built_with.with_model(embedder.name)
        engine = engine or LocalEngine(embedder, built)
        try:
            yield Reembedder(catalog, vectors, embedder, built, engine, progress)
        finally:
            vectors.close()
            catalog.close()

    def reembed(self, embedder: Embedder) -> Reembedded:
        with self.reembedding(embedder) as reembedder:
            return reembedder.run()

    @contextmanager
    def reader(self) -> Iterator[IndexReader]:
        def repair(fault: Damaged) -> None:
            self.notices.append(str(fault))
            try:
                if not isinstance(fault, Unavailable):
                    self.compact()
            except ResourceError as error:
                self.notices.append(str(error))

        reader = IndexReader(
            Catalog(self.data / "catalog.sqlite3"),
            self.vectors(self.data),
            self.embedder,
            self.built_with,
            repair,
            self.left_alone,
            self.models,
            self.notices.append,
        )
        try:
            yield reader
        finally:
            reader.close()

    @contextmanager
    def state(self) -> Iterator[IndexState]:
        with self.reader() as reader, reader.state() as state:
            yield state

    def search(self, question: str, limit: int = 10, weights: Weights = WEIGHTS) -> Found:
        with self.reader() as reader:
            searcher = Searcher(reader, weights)
            return searcher.search(Question(question), limit)

    def nearest(self, topic: str, limit: int = 3) -> list[tuple[str, float]]:
        """First sentence and cosine of the papers nearest to a topic."""
        with self.state() as state:
            near = state.nearest(state.embed([topic])[0], limit)
            papers = state.snapshot.papers(near)
        return [(papers[key].sentences[0].text, round(cosine, 3)) for key, cosine in near.items()]

    def stored(self) -> dict[str, Paper]:
        """What is shown, by content: the same however it came about, unlike ids and versions."""
        with self.state() as state:
            papers = list(state.snapshot.all_papers())
        return {paper.content: replace(paper, id=paper.content, version=1) for paper in papers}

    def labels(self) -> list[str]:
        """How each file is named, in order."""
        return sorted({paper.source for paper in self.stored().values()})

    def texts(self) -> set[str]:
        return {paper.text for paper in self.stored().values()}

    def newly_embedded(self) -> list[str]:
        """What was embedded since the last call, the probe left out."""
        texts = [text for text in self.embedder.embedded if text != PROBE]
        self.embedder.embedded.clear()
        return texts

    @property
    def generation(self) -> str:
        """The name of the current generation, empty where there is none."""
        current = self.data / "vectors" / "CURRENT"
        return current.read_text().strip() if current.exists() else ""

    def generations(self) -> list[str]:
        return sorted(path.name for path in (self.data / "vectors").glob("gen-*"))


class Template:
    """An index that is built once: each test finds it as it was, in the same place."""

    def __init__(self, folder: Path, *abstracts: str) -> None:
        self._root = folder / "library"
        self._kept = folder / "kept"
        library = Library(self._root)
        library.write("a.txt", *abstracts)
        library.index()
        shutil.copytree(self._root, self._kept)

    def fresh(self) -> Library:
        """The library again; nothing of the one before may be open."""
        shutil.rmtree(self._root)
        shutil.copytree(self._kept, self._root)
        return Library(self._root)


def same(found: Found, other: Found) -> bool:
    """Whether two searches gave the same papers with the same scores and sentences.

    Ties are in the order of ids, which are those of a paper's first version.
    """

    def shown(result: Found) -> list[tuple[float, str, list[tuple[int, float]]]]:
        hits = [
            (
                -round(hit.score, 4),
                hit.paper.content,
                [(item.index, round(item.score, 4)) for item in hit.evidence],
            )
            for hit in result.hits
        ]
        return sorted(hits)

    return shown(found) == shown(other)


class SlowEmbedder(HandEmbedder):
    """Takes a while for each text, so that a process can be met at work."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def embed(self, texts: Sequence[str]) -> Vectors:
        for _ in texts:
            time.sleep(self.seconds)
        return super().embed(texts)


def main(folder: str, data: str, seconds: str = "0", action: str = "sync") -> None:
    """Index a folder in this process, or only build a generation, each step a line of output."""
    embedder: Embedder = SlowEmbedder(float(seconds))

    def progress(what: str, done: int, total: int) -> None:
        sys.stdout.write(f"{what} {done}/{total}\n")
        sys.stdout.flush()

    if action == "reembed":
        library = Library(Path(data).parent)
        library.data = Path(data)
        with library.reembedding(HandEmbedder("turned", turned=3), progress) as reembedder:
            reembedder.run()
        return
    indexer = Indexer(Path(data), embedder, BuiltWith(embedder.name, 1, 254), progress)
    if action == "compact":
        indexer.rebuild_vectors()
    else:
        indexer.sync([Path(folder)], Options(allow_shrink=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
