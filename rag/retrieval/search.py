"""Ranking papers for a question.

Two lists find candidates, the papers' own vectors and BM25; the best sentence of each candidate
is then compared exactly. The three are joined by weights that depend on how much of the question
BM25 could meet.
"""

from __future__ import annotations

from dataclasses import dataclass

from rag.index import lexical
from rag.index.embedding import Vectors
from rag.index.reader import IndexReader, IndexState
from rag.retrieval.evidence import Wanted, score_sentences, top
from rag.retrieval.fusion import Weights, best, fuse
from rag.retrieval.query import Question
from rag.schema import Hit
from rag.text import terms

_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Found:
    """Papers for a question, best first, and the state of the index that they come from."""

    question: Question
    hits: tuple[Hit, ...]
    index_state: str
    coverage: float
    embedding_model: str


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
        with self._reader.state() as state:
            vector = state.embed(question.text)
            return self._search(state, question, vector, limit, sentences)

    def _search(
        self, state: IndexState, question: Question, vector: Vectors, limit: int, sentences: int
    ) -> Found:
        depth = max(_DEPTH, limit)
        dense = state.nearest(vector, depth)
        words = lexical.search(state.snapshot, question.text, depth)
        matrices = state.chunk_matrices([*{**dense, **words.scores}])
        similar = {paper_id: matrix @ vector for paper_id, matrix in matrices.items()}
        by_sentence = best({key: float(s.max()) for key, s in similar.items()}, depth)
        shares = self._weights.at(words.coverage)
        parts = fuse({"dense": dense, "lexical": words.scores, "sentence": by_sentence}, shares)
        ranked = best({key: sum(part.values()) for key, part in parts.items()}, limit)
        papers = state.snapshot.papers(ranked)
        frequencies = lexical.inverse_frequencies(state.snapshot, sorted(set(terms(question.text))))
        wanted = Wanted(vector, frequencies, shares["lexical"])
        hits = []
        for key, score in ranked.items():
            spread = state.by_sentence(papers[key], similar[key].tolist())
            evidence = top(score_sentences(papers[key], spread, wanted), sentences)
            hits.append(Hit(papers[key], score, evidence, parts[key]))
        model = state.embedding_model
        return Found(question, tuple(hits), state.name, words.coverage, model)


__all__ = ["Found", "Searcher"]
