"""Prompts, systems, judges and labels of people on real data: which sentence bears out a claim.

SciFact's annotators marked the sentences of an abstract that decide a claim. A prompt is a claim
with its abstract, a system picks one sentence of it by a simple rule, and people's label is whether
that sentence is one of those they marked. Judges are cheap measures of claim and sentence, none of
which knows the mark. So there is a label for every cell, and what few labels give can be checked.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evals.judging.labelled import Split
from evals.judging.protocol import Case
from evals.judging.scorer import SupportJudge
from evals.known import public
from evals.scoring.answers import f1
from evals.scoring.grid import Grid
from evals.scoring.statements import Passage
from rag.answering.support import numbers
from rag.text import terms


@dataclass(frozen=True, slots=True)
class Marked:
    """A claim, the sentences of the abstract that decides it, and which of them people marked."""

    claim: str
    title: str
    sentences: tuple[str, ...]
    marked: frozenset[int]


def marked(split: Split) -> Iterator[Marked]:
    """The claims of a split that an abstract decides, each with the first such abstract.

    Raises:
        InputError: the data is not there.
    """
    papers = {str(one["id"]): one for one in public("scifact", "corpus.jsonl")}
    for claim in public("scifact", "claims.jsonl"):
        if claim["split"] == split and claim["evidence"]:
            key, sets = next(iter(claim["evidence"].items()))
            paper = papers[key]
            found = frozenset(place for one in sets for place in one["sentences"])
            sentences = tuple(str(sentence).strip() for sentence in paper["sentences"])
            yield Marked(str(claim["claim"]), str(paper["title"]), sentences, found)


def picked(claims: Sequence[Marked]) -> Grid:
    """The scores and labels of every system's pick for every claim."""
    weights = _weights(claims)
    scores = np.empty((len(claims), len(SYSTEMS), len(JUDGES)))
    labels = np.empty((len(claims), len(SYSTEMS)))
    for p, one in enumerate(claims):
        for s, pick in enumerate(SYSTEMS.values()):
            place = pick(one, weights)
            labels[p, s] = place in one.marked
            scores[p, s] = [judge(one, place, weights) for judge in JUDGES.values()]
    names = tuple(one.claim for one in claims)
    return Grid(scores, labels, names, tuple(SYSTEMS), tuple(JUDGES))


Weights = Mapping[str, float]
"""The inverse document frequency of a term over the abstracts."""


def _weights(claims: Sequence[Marked]) -> Weights:
    counts = Counter(term for one in claims for term in set(terms(" ".join(one.sentences))))
    return {term: math.log(1 + len(claims) / count) for term, count in counts.items()}


def _cover(one: Marked, place: int, weights: Weights) -> float:
    """The share of the claim's terms that the sentence has, rare ones weighing more."""
    wanted = set(terms(one.claim))
    held = wanted & set(terms(one.sentences[place]))
    most = max(weights.values(), default=1.0)
    total = sum(weights.get(term, most) for term in wanted)
    return sum(weights.get(term, most) for term in held) / total if total else 0.0


def _overlap(one: Marked, place: int, _: Weights) -> float:
    return f1(list(terms(one.claim)), list(terms(one.sentences[place])))


def _grams(one: Marked, place: int, _: Weights) -> float:
    """Shared runs of four characters, which see words of one stem."""
    claim, sentence = _of_four(one.claim), _of_four(one.sentences[place])
    return f1(claim, sentence)


def _of_four(text: str) -> list[str]:
    text = text.lower()
    return [text[i : i + 4] for i in range(len(text) - 3)]


def _supports(one: Marked, place: int, _: Weights) -> float:
    """The product's own check, with in part as half."""
    text = " ".join(one.sentences)
    passage = Passage("paper", one.title, text, (one.sentences[place],))
    found = SupportJudge().judge(Case(one.claim, (passage,)))
    return {"support": 1.0, "contradict": 0.5}.get(found.label or "", 0.0)


def _same_numbers(one: Marked, place: int, _: Weights) -> float:
    """The share of the claim's numbers that the sentence has; half where it has none."""
    wanted = numbers(one.claim)
    return len(wanted & numbers(one.sentences[place])) / len(wanted) if wanted else 0.5


def _late(one: Marked, place: int, _: Weights) -> float:
    """How far down the sentence stands: results come late."""
    return place / max(len(one.sentences) - 1, 1)


def _like_title(one: Marked, place: int, _: Weights) -> float:
    return f1(list(terms(one.title)), list(terms(one.sentences[place])))


Judging = Callable[[Marked, int, Weights], float]
Picking = Callable[[Marked, Weights], int]

JUDGES: Mapping[str, Judging] = {
    "support": _supports,
    "cover": _cover,
    "overlap": _overlap,
    "grams": _grams,
    "numbers": _same_numbers,
    "late": _late,
    "title": _like_title,
}


def _best(judge: Judging, rank: int = 0) -> Picking:
    """The sentence that a measure likes best, or the next best ones."""

    def pick(one: Marked, weights: Weights) -> int:
        order = sorted(
            range(len(one.sentences)), key=lambda place: (-judge(one, place, weights), place)
        )
        return order[min(rank, len(order) - 1)]

    return pick


SYSTEMS: Mapping[str, Picking] = {
    "most cover": _best(_cover),
    "most overlap": _best(_overlap),
    "most grams": _best(_grams),
    "next cover": _best(_cover, 1),
    "third overlap": _best(_overlap, 2),
    "like the title": _best(_like_title),
    "first": lambda _, __: 0,
    "last": lambda one, _: len(one.sentences) - 1,
    "last but one": lambda one, _: max(len(one.sentences) - 2, 0),
    "longest": lambda one, _: max(range(len(one.sentences)), key=lambda n: len(one.sentences[n])),
}
