"""Ranking papers for a question.

Two lists find candidates, the papers' own vectors and BM25; the sentences of each candidate are
then compared exactly, with the whole question and with each of its parts. The four are joined by
weights that depend on how much of the question BM25 could meet.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from rag.errors import UsageError
from rag.index import lexical
from rag.index.browse import Filter
from rag.index.embedding import Vectors, unit
from rag.index.reader import IndexReader, IndexState
from rag.index.vocabulary import written
from rag.retrieval.evidence import Wanted, score_sentences, top
from rag.retrieval.expansion import Help
from rag.retrieval.fusion import Scores, Weights, best, fuse
from rag.retrieval.query import Query, Question, aspects
from rag.retrieval.understanding import understand
from rag.schema import Hit, Paper

_DEPTH = 100
_OTHER_CASE = 0.5  # what BM25 counts for a paper that has "sail" where SAIL was asked


@dataclass(frozen=True, slots=True)
class Found:
    """Papers for a question, best first, and the state of the index that they come from.

    `query` is what the question was understood as. `timings` holds seconds by stage: embed and, at
    the same time, understand and lexical, then dense, sentences, fuse, evidence. `vectors` has the
    vector of each sentence of each hit, shape (sentences, dimension), by paper id; `weights` the
    inverse document frequency of each term that was asked for; `help` is what a model did.
    """

    query: Query
    hits: tuple[Hit, ...]
    index_state: str
    coverage: float
    embedding_model: str
    timings: Mapping[str, float] = field(default_factory=dict, compare=False)
    vectors: Mapping[str, Vectors] = field(default_factory=dict, compare=False, repr=False)
    weights: Mapping[str, float] = field(default_factory=dict, compare=False, repr=False)
    help: Help = field(default_factory=Help)

    @property
    def question(self) -> Question:
        """The question as it was asked."""
        return self.query.asked


class Searcher:
    """Searches an index. Safe for use by several threads.

    `ahead`: a question is embedded as it was asked while it is still being understood, and once
    more in the few cases (one of seventeen in SciFact) where it is understood as another text. For
    a model of this machine; a server would be asked, and paid, for nothing.
    """

    def __init__(self, reader: IndexReader, weights: Weights, *, ahead: bool = False) -> None:
        self._reader = reader
        self._weights = weights
        self._ahead = ahead

    def search(
        self,
        question: Question,
        limit: int,
        *,
        sentences: int = 2,
        filters: Sequence[Filter] = (),
        beside: str = "",
    ) -> Found:
        """The `limit` best papers, each with its `sentences` most relevant sentences.

        `filters` say what papers must have beside what the question says. `beside` is a text such
        as an answer may have: what is searched by meaning is the mean of its vector and the
        question's (Gao et al. 2022, who average in the same way).

        Raises:
            UsageError: no paper is asked for.
            IndexUnusable: there is no index that can be searched with the present settings.
            ModelError: the embedding model failed, or gave what is no vector.
        """
        if limit < 1:
            raise UsageError(f"{limit} papers were asked for", remedy="Ask for one or more.")
        stages = _Stages()
        with self._reader.state() as state, ThreadPoolExecutor(1) as model:

            def embed(text: str) -> Future[Vectors]:
                return model.submit(self._embed, state, text, beside, stages)

            early = {question.text: embed(question.text)} if self._ahead else {}
            with stages.timed("understand"):
                query = understand(question, state.snapshot, filters)
            if query.papers is not None and not query.papers:
                return Found(query, (), state.name, 0.0, state.embedding_model, stages.seconds)
            vectors = early.get(query.text) or embed(query.text)
            return self._search(state, query, limit, sentences, vectors, stages)

    def _search(
        self,
        state: IndexState,
        query: Query,
        limit: int,
        sentences: int,
        embedding: Future[Vectors],
        stages: _Stages,
    ) -> Found:
        depth = max(_DEPTH, min(limit, state.snapshot.size()))
        with stages.timed("lexical"):
            words = _by_words(state, query, depth)
        with stages.timed("sentences"):
            matrices = state.chunk_matrices([*words.scores])
        vectors = embedding.result()  # the model computed all the while
        with stages.timed("dense"):
            dense = state.nearest(vectors[0], depth, query.papers)
        with stages.timed("sentences"):
            matrices |= state.chunk_matrices([key for key in dense if key not in matrices])
            similar = compare(matrices, vectors)
        with stages.timed("fuse"):
            shares = self._weights.at(words.coverage)
            whole, by_part = nearness(similar)
            lists = {
                "dense": dense,
                "lexical": words.scores,
                "sentence": best(whole, depth),
                "aspect": best(by_part, depth),
            }
            parts = fuse(lists, shares)
            ranked = best(_scores(parts, dense, words.scores, query), limit)
        with stages.timed("evidence"):
            papers = state.snapshot.papers(ranked)
            wanted = _wanted(state, query, vectors[0], shares["lexical"])
            hits, rows = [], {}
            for key, score in ranked.items():
                spread = state.by_sentence(papers[key], similar[key][:, 0].tolist())
                evidence = top(score_sentences(papers[key], spread, wanted), sentences)
                hits.append(Hit(papers[key], score, evidence, parts[key]))
                rows[key] = _of_sentences(state, papers[key], matrices[key])
        facts = (state.name, words.coverage, state.embedding_model)
        return Found(query, tuple(hits), *facts, stages.seconds, rows, wanted.frequencies)

    def _embed(self, state: IndexState, text: str, beside: str, stages: _Stages) -> Vectors:
        """The question's vector, then those of its parts."""
        with stages.timed("embed"):
            parts = aspects(text) if self._weights.aspect else []
            vectors = state.embed([text, *parts, *filter(None, [beside])])
            return _averaged(vectors, state.embedding_model) if beside else vectors


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


def _averaged(vectors: Vectors, model: str) -> Vectors:
    """The first row and the last become one, half of each."""
    mean = vectors[:1] + vectors[-1:]
    return np.concatenate([unit(mean, model), vectors[1:-1]])


def nearness(similar: Mapping[str, Vectors]) -> tuple[dict[str, float], dict[str, float]]:
    """Of each paper, how near its best chunk is to the whole question, and to each part of it.

    The latter in the mean over parts; a question without parts is its own.
    """
    if not similar:
        return {}, {}
    starts = np.cumsum([0, *(len(cosines) for cosines in similar.values())])[:-1]
    nearest = np.maximum.reduceat(np.concatenate(list(similar.values())), starts)
    parts = nearest[:, 1:] if nearest.shape[1] > 1 else nearest
    whole = dict(zip(similar, nearest[:, 0].tolist(), strict=True))
    return whole, dict(zip(similar, parts.mean(axis=1).tolist(), strict=True))


def _of_sentences(state: IndexState, paper: Paper, matrix: Vectors) -> Vectors:
    """The vector of each sentence: that of the last chunk which holds it."""
    if len(matrix) == len(paper.sentences):
        return matrix
    holders = state.by_sentence(paper, list(map(float, range(len(matrix)))))
    return cast("Vectors", matrix[np.array(holders, dtype=int)])


def _scores(
    parts: Mapping[str, Mapping[str, float]], dense: Scores, words: Scores, query: Query
) -> dict[str, float]:
    """The score of each paper that was found: what the lists gave.

    A paper is found by a word, by a meaning that is not the contrary (a cosine below 0), or by
    having passed a filter; that the index can name a nearest paper to anything is no finding.
    """
    near = {key for key, cosine in dense.items() if cosine >= 0}
    found = words.keys() | near if query.papers is None else query.papers
    scores = {key: sum(part.values()) for key, part in parts.items() if key in found}
    return {key: score for key, score in scores.items() if score > 0}


def _by_words(state: IndexState, query: Query, limit: int) -> lexical.LexicalHits:
    """What BM25 finds; an acronym in capitals prefers the papers that write it so, if any does."""
    found = lexical.search(
        state.snapshot, query.terms, limit, expansions=query.expansions, among=query.papers
    )
    exact = written(state.snapshot, query.capitals, found.scores) if query.capitals else None
    if not exact:
        return found
    scores = {k: s if k in exact else _OTHER_CASE * s for k, s in found.scores.items()}
    return replace(found, scores=best(scores, limit))


def _wanted(state: IndexState, query: Query, vector: Vectors, share: float) -> Wanted:
    frequencies = lexical.inverse_frequencies(state.snapshot, sorted(query.terms))
    weighted = {term: query.terms[term] * weight for term, weight in frequencies.items()}
    return Wanted(vector, weighted, share)


__all__ = ["Found", "Searcher"]
