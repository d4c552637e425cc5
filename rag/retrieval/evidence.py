"""Choosing the sentences that would answer a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag.index.embedding import Vectors
from rag.schema import Evidence, Hit, Paper
from rag.text import terms


@dataclass(frozen=True, slots=True)
class Wanted:
    """A question as sentences are compared with it.

    `frequencies` holds the inverse document frequency of each of its terms; `lexical` is how much
    of a sentence's score comes from the terms that it shares, the rest is cosine similarity.
    """

    vector: Vectors
    frequencies: Mapping[str, float]
    lexical: float


def score_sentences(paper: Paper, similarities: Sequence[float], wanted: Wanted) -> list[Evidence]:
    """Every sentence of `paper` with its relevance, in the order of the text.

    `similarities` holds the cosine of each sentence's chunk to the question.
    """
    total = sum(wanted.frequencies.values()) or 1.0
    scored = []
    for index, (sentence, similarity) in enumerate(zip(paper.sentences, similarities, strict=True)):
        shared = set(terms(sentence.text)) & wanted.frequencies.keys()
        cover = sum(wanted.frequencies[term] for term in shared) / total
        score = wanted.lexical * cover + (1 - wanted.lexical) * similarity
        scored.append(Evidence(paper.id, index, sentence.text, sentence.start, sentence.end, score))
    return scored


def top(evidence: Sequence[Evidence], limit: int) -> tuple[Evidence, ...]:
    """The `limit` most relevant sentences, most relevant first."""
    return tuple(sorted(evidence, key=lambda e: (-e.score, e.index))[:limit])


def choose(
    hits: Sequence[Hit], *, papers: int, sentences: int, chars: int
) -> list[tuple[Hit, Evidence]]:
    """The sentences to answer from: the most relevant of the first `papers` hits.

    Together they have at most `chars` characters, the most relevant one whatever its length: a
    small model reads some 300 characters in a second, and one that does not fit gives way to a
    shorter one behind it.

    A sentence is preferred by its own relevance and by its paper's: one of a paper that the
    question is about beats an equally similar one of another.
    """
    pool = [
        (hit.score + evidence.score, hit, evidence)
        for hit in hits[:papers]
        for evidence in hit.evidence
    ]
    pool.sort(key=lambda item: (-item[0], item[1].paper.id, item[2].index))
    kept: list[tuple[Hit, Evidence]] = []
    for _, hit, evidence in pool:
        size = len(evidence.text)
        if len(kept) < sentences and (not kept or size <= chars):
            kept.append((hit, evidence))
            chars -= size
    return kept
