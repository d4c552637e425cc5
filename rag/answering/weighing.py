"""How likely sentences say what a claim says: features of the two, weighed by a fitted model.

Two logistic regressions, fitted on SciFact's training claims (`python -m evals support --fit`):
whether the sentences decide the claim at all, and if they do, whether they bear it out. Their
coefficients stand in `weighing.json`, once with and once without the likeness in meaning, which
needs an embedding model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from functools import cache
from pathlib import Path

from rag.answering.facts import missing_names, missing_numbers
from rag.answering.polarity import denies_what_is_said, other_direction, says_what_is_denied
from rag.text import content_words, normalise, terms

COEFFICIENTS = Path(__file__).with_name("weighing.json")


@dataclass(frozen=True, slots=True)
class Features:
    """What is seen of a claim beside its sentences. Shares lie in [0, 1], the others are 0 or 1.

    `cover` is the share of the claim's terms that the sentences hold, `abstract` the share that
    their abstracts hold, `likeness` the cosine of the claim to the nearest sentence.
    """

    cover: float
    abstract: float
    number_missing: float
    name_missing: float
    denial: float
    direction: float
    likeness: float = 0.0


@dataclass(frozen=True, slots=True)
class Odds:
    """The probability that sentences bear a claim out, and that they contradict it."""

    support: float
    contradiction: float


def features(
    claim: str, sentences: str, abstracts: str, question: str, likeness: float | None
) -> Features:
    """See `Features`; the question's own words count as held, for a claim may repeat them."""
    return Features(
        cover(claim, sentences, question),
        cover(claim, abstracts, question),
        float(bool(missing_numbers(claim, sentences))),
        float(bool(missing_names(claim, abstracts, question))),
        float(denies_what_is_said(claim, sentences) or says_what_is_denied(claim, sentences)),
        float(bool(other_direction(claim, sentences))),
        likeness or 0.0,
    )


def cover(claim: str, sentences: str, question: str = "") -> float:
    """The share of the claim's terms that the sentences hold, those of the question aside."""
    wanted = set(terms(claim))
    held = set(terms(sentences))
    counted = wanted - (set(terms(question)) - held)
    return len(counted & held) / len(counted) if counted else 0.0


def left_over(claim: str, sentences: str, question: str) -> list[str]:
    """The longest run of words of a claim of which its sentences and the question have none."""
    held = set(terms(sentences)) | set(terms(question))
    longest: list[str] = []
    run: list[str] = []
    for word in content_words(claim):
        stems = set(terms(word))
        run = [] if not stems or stems & held else [*run, word]
        longest = max(longest, run, key=len)
    return longest


def weigh(seen: Features, *, with_likeness: bool) -> Odds:
    """The odds by the fitted model."""
    model = _coefficients()["with" if with_likeness else "without"]
    decides = _probability(seen, model["decides"])
    bears_out = _probability(seen, model["bears_out"])
    return Odds(decides * bears_out, decides * (1 - bears_out))


def is_verbatim(claim: str, sentences: str) -> bool:
    """Whether a claim stands in its sentences word for word."""
    said = normalise(claim).strip(" .…")
    return bool(said) and said in normalise(sentences)


NAMES = tuple(field.name for field in fields(Features))


def _probability(seen: Features, weights: Mapping[str, float]) -> float:
    values = zip(NAMES, astuple(seen), strict=True)
    score = weights["intercept"] + sum(weights.get(name, 0.0) * value for name, value in values)
    return 1 / (1 + math.exp(-score))


@cache
def _coefficients() -> dict[str, dict[str, dict[str, float]]]:
    read: dict[str, dict[str, dict[str, float]]] = json.loads(COEFFICIENTS.read_text("utf-8"))
    return read
