"""Ranking papers for a question.

Two lists find candidates, the papers' own vectors and BM25; the sentences of each candidate are
then compared exactly, with the whole question and with each of its parts. The four are joined by
weights that depend on how much of the question BM25 could meet.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from rag.index import lexical
from rag.index.embedding import Vectors
from rag.index.reader import IndexReader, IndexState
from rag.retrieval.evidence import Wanted, score_sentences, top
from rag.retrieval.fusion import Weights, best, fuse
from rag.retrieval.query import Question, aspects
from rag.schema import Hit
from rag.text import terms

_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Found:
    """Papers for a question, best first, and the state of the index that they come from.

    `timings` holds seconds by stage: embed, dense, lexical, sentences, fuse, evidence.
    """

    question: Question
    hits: tuple[Hit, ...]
    index_state: str
    coverage: float
    embedding_model: str
    timings: Mapping[str, float] = field(default_factory=dict, compare=False)


class Searcher:
    """Searches an index. Safe for use by several threads."""

    def __init__(self, reader: IndexReader, weights: Weights) -> None:
        self._reader = reader
        self._weights = weights

    def search(self, question: Question, limit: int, *, sentences: int = 2) -> Found:
        """The `limit` best papers, each with its `sentences` most relevant sentences.

        Raises:
            IndexUnusable: there is no index that can be searched with the present settings.
            ModelError: the embedding model failed, or gave what is no vector.
        """
        stages = _Stages()
        with self._reader.state() as state:
            with stages.timed("embed"):
                parts = aspects(question.text) if self._weights.aspect else []
                vectors = state.embed([question.text, *parts])
            return self._search(state, question, vectors, limit, sentences, stages)

    def _search(
        self,
        state: IndexState,
        question: Question,
        vectors: Vectors,
        limit: int,
        sentences: int,
        stages: _Stages,
    ) -> Found:
        depth = max(_DEPTH, limit)
        with stages.timed("dense"):
            dense = state.nearest(vectors[0], depth)
        with stages.timed("lexical"):
            words = lexical.search(state.snapshot, question.text, depth)
        with stages.timed("sentences"):
            matrices = state.chunk_matrices([*{**dense, **words.scores}])
            similar = compare(matrices, vectors)
        with stages.timed("fuse"):
            shares = self._weights.at(words.coverage)
            lists = {
                "dense": dense,
                "lexical": words.scores,
                "sentence": best({key: _sentence(s) for key, s in similar.items()}, depth),
                "aspect": best({key: _aspect(s) for key, s in similar.items()}, depth),
            }
            parts = fuse(lists, shares)
            ranked = best({key: sum(part.values()) for key, part in parts.items()}, limit)
        with stages.timed("evidence"):
            papers = state.snapshot.papers(ranked)
            wanted = _wanted(state, question, vectors[0], shares["lexical"])
            hits = []
            for key, score in ranked.items():
                spread = state.by_sentence(papers[key], similar[key][:, 0].tolist())
                evidence = top(score_sentences(papers[key], spread, wanted), sentences)
                hits.append(Hit(papers[key], score, evidence, parts[key]))
        facts = (state.name, words.coverage, state.embedding_model)
        return Found(question, tuple(hits), *facts, stages.seconds)


class _Stages:
    """How long each stage of a search took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time of the block to that of `stage`."""
        started = time.perf_counter()
        yield
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - started


def compare(matrices: Mapping[str, Vectors], vectors: Vectors) -> dict[str, Vectors]:
    """The cosine of each chunk of each paper to each of `vectors`, shape (chunks, vectors)."""
    if not matrices:
        return {}
    cosines = np.concatenate(list(matrices.values())) @ vectors.T
    ends = np.cumsum([len(matrix) for matrix in matrices.values()])
    return dict(zip(matrices, np.split(cosines, ends[:-1]), strict=True))


def _sentence(cosines: Vectors) -> float:
    """How near the best sentence is to the whole question."""
    return float(cosines[:, 0].max())


def _aspect(cosines: Vectors) -> float:
    """How near the best sentence for each part of the question is, in the mean over parts."""
    parts = cosines[:, 1:] if cosines.shape[1] > 1 else cosines
    return float(parts.max(axis=0).mean())


def _wanted(state: IndexState, question: Question, vector: Vectors, share: float) -> Wanted:
    frequencies = lexical.inverse_frequencies(state.snapshot, sorted(set(terms(question.text))))
    return Wanted(vector, frequencies, share)


__all__ = ["Found", "Searcher"]
