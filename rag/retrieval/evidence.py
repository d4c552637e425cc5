"""Choosing the sentences that would answer a question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.index.embedding import Vectors
from rag.retrieval.expecting import Expected, expected, gives
from rag.schema import Evidence, Hit, Paper
from rag.text import terms

_PAPER = 0.4
_BESIDE = 0.1
_SAMENESS = 0.1
_REPEATED = 0.95
_REFERENCE = re.compile(
    r"(?:(?:however|moreover|furthermore|additionally|thus|therefore|hence|as a result),? )?"
    r"(?:it|its|they|their|this|these|those|such|both|he|she|the (?:former|latter|two)|"
    r"our (?:method|approach|model|framework|system))\b",
    re.IGNORECASE,
)


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


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be read: sentences of the first `papers`, and characters of them together."""

    papers: int
    sentences: int
    chars: int


Chosen = tuple[Hit, Evidence]
FloatArray = NDArray[np.float64]


def choose(
    hits: Sequence[Hit], vectors: Mapping[str, Vectors], budget: Budget, question: str = ""
) -> list[Chosen]:
    """The sentences to answer from, most wanted first.

    A sentence is wanted for its relevance, mostly its own, partly its paper's and a little that
    of the sentence beside it; the more if it gives what `question` asks for; and the less the
    nearer it is to one that is there already: maximal marginal relevance (Carbonell and
    Goldstein 1998) over `vectors`, of shape (sentences, dimension) for each paper. One that
    says what a sentence of another paper says, as a preprint does beside its journal version,
    is no second support and left out; with other numbers it contradicts, and stays.

    One that cannot be understood alone ("It improves …") brings along the sentence before it.
    Together they keep within the budget, the first whatever its length; one that is too long
    gives way to a shorter one behind it.
    """
    pool = [(hit, item) for hit in hits[: budget.papers] for item in hit.evidence]
    if not pool:
        return []
    rows = np.stack([vectors[item.paper_id][item.index] for _, item in pool])
    selection = _Selection(pool, _relevance(pool, expected(question)), rows @ rows.T, budget)
    while (place := selection.most_wanted()) is not None:
        selection.take(place)
    return selection.kept


def _relevance(pool: Sequence[Chosen], wanted: frozenset[Expected]) -> FloatArray:
    """How much each sentence is wanted, whatever else is chosen; of the size of a cosine."""
    scores = {(item.paper_id, item.index): item.score for _, item in pool}

    def own(item: Evidence) -> float:
        beside = [scores.get((item.paper_id, item.index + step), 0.0) for step in (-1, 1)]
        return (1 - _BESIDE) * item.score + _BESIDE * max(beside) + gives(item.text, wanted)

    return np.array([_PAPER * hit.score + (1 - _PAPER) * own(item) for hit, item in pool])


class _Selection:
    """Sentences being chosen: `left` marks those of the pool that may still be."""

    def __init__(
        self, pool: Sequence[Chosen], relevance: FloatArray, similar: Vectors, budget: Budget
    ) -> None:
        self.kept: list[Chosen] = []
        self._pool = pool
        self._similar = similar
        self._budget = budget
        self._places = {(item.paper_id, item.index): n for n, (_, item) in enumerate(pool)}
        self._papers = np.array([item.paper_id for _, item in pool])
        self._numbers = np.array([" ".join(_numbers(item.text)) for _, item in pool])
        self._relevance = relevance
        self._nearest = np.zeros(len(pool))
        self._left = np.ones(len(pool), dtype=bool)
        self._chars = budget.chars

    def most_wanted(self) -> int | None:
        """The place of the next sentence to try; ties in the order of the pool."""
        if not self._left.any() or len(self.kept) >= self._budget.sentences:
            return None
        wanted = self._relevance - _SAMENESS * self._nearest
        return int(np.where(self._left, wanted, -np.inf).argmax())

    def take(self, place: int) -> None:
        """Keep the sentence at `place` if it fits, and the one that it needs if that does too."""
        self._left[place] = False
        if not self._fits(place):
            return
        self._keep(place)
        before = self._needed(place)
        if before is not None and self._fits(before):
            self._keep(before)

    def _fits(self, place: int) -> bool:
        size = len(self._pool[place][1].text)
        room = len(self.kept) < self._budget.sentences
        return room and (not self.kept or size <= self._chars)

    def _needed(self, place: int) -> int | None:
        item = self._pool[place][1]
        if not refers_back(item.text):
            return None
        before = self._places.get((item.paper_id, item.index - 1))
        return before if before is not None and self._left[before] else None

    def _keep(self, place: int) -> None:
        self._left[place] = False
        self.kept.append(self._pool[place])
        self._chars -= len(self._pool[place][1].text)
        near = self._similar[place]
        self._nearest = np.maximum(self._nearest, near)
        elsewhere = self._papers != self._papers[place]
        same = self._numbers == self._numbers[place]
        self._left &= ~((near > _REPEATED) & elsewhere & same)


def refers_back(sentence: str) -> bool:
    """Whether a sentence begins with a word for something that the one before it names."""
    return bool(_REFERENCE.match(sentence))


def _numbers(text: str) -> list[str]:
    return sorted({term for term in terms(text) if term[0].isdigit()})
