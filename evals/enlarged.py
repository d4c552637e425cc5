"""Indexes of any size without the hours of embedding them: real papers, and mixtures of them.

The first papers are those of a collection. Beyond them each one is about half of the sentences of
two real papers, and has their vectors turned by a little, so that no two are alike; only sentences
that were never seen are embedded. All of it goes through the indexer that users have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from evals.collection import Document
from evals.ingest import Sentences
from evals.systems.product import write_papers
from rag.answering.parts import built_with, embedder_of, vectors_of
from rag.config import Config
from rag.index.embedding import PROBE, Embedder, Vectors
from rag.index.sync import Indexer
from rag.index.vetting import embed_vetted
from rag.text import split_sentences

_TURN = 0.3  # noise for each unit of a vector: a cosine of 1 / √(1 + 0.3²) = .96 to the original
_PER_FILE = 5_000

Remembered = dict[str, Vectors]
"""The vectors of sentences, kept from one index to the next."""


class Recalling:
    """An embedder that embeds a text once, and then gives vectors near to that one."""

    def __init__(self, embedder: Embedder, remembered: Remembered, seed: int) -> None:
        self.name = embedder.name
        self.dimension = embedder.dimension
        self._embedder = embedder
        self._remembered = remembered
        self._given = {PROBE}  # whose vector is the model's own, always
        self._pieces: dict[str, int] = {}
        self._chance = np.random.default_rng(seed)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The model's vector for a text that comes the first time, else one turned from it."""
        new = [text for text in dict.fromkeys(texts) if text not in self._remembered]
        if new:
            vectors = embed_vetted(self._embedder, new)
            self._remembered.update(zip(new, vectors, strict=True))
        found = np.stack([self._remembered[text] for text in texts])
        again = np.array([not self._first(text) for text in texts])
        noise = self._chance.standard_normal(found.shape, dtype=np.float32)
        found[again] += _TURN / np.sqrt(self.dimension) * noise[again]
        turned: Vectors = found / np.linalg.norm(found, axis=1, keepdims=True)
        return turned

    def count_pieces(self, text: str) -> int:
        """The model's own count."""
        if text not in self._pieces:
            self._pieces[text] = self._embedder.count_pieces(text)
        return self._pieces[text]

    def _first(self, text: str) -> bool:
        if text in self._given:
            return text == PROBE
        self._given.add(text)
        return True


def enlarged(documents: Sequence[Document], size: int, seed: int) -> Iterator[Document]:
    """`size` documents: the given ones, then mixtures of two each, the same for the same seed."""
    yield from documents[:size]
    source = Sentences(
        tuple(
            tuple(one.text[start:end] for start, end in split_sentences(one.text))
            for one in documents
            if one.text.strip()
        )
    )
    more = source.abstracts(max(0, size - len(documents)), seed)
    for number, one in enumerate(more):
        yield Document(f"mixed-{number}", one["title"], one["abstract"])


def build(
    config: Config,
    papers: Iterator[Document],
    remembered: Remembered,
    seed: int,
    progress: Callable[[str, int, int], None],
) -> int:
    """Index papers in the data folder of `config`; how many the index holds."""
    folder = config.data_dir.parent / "papers"
    _write(folder, papers)
    embedder = Recalling(embedder_of(config), remembered, seed)
    indexer = Indexer(config.data_dir, embedder, built_with(config), progress, vectors_of(config))
    try:
        return indexer.sync([folder]).total.papers
    finally:
        indexer.close()


def _write(folder: Path, papers: Iterator[Document]) -> None:
    folder.mkdir()
    number = 0
    while some := list(islice(papers, _PER_FILE)):
        write_papers(folder / f"{number:05}.jsonl", some)
        number += 1
