"""Fitting the weights of the check of claims to claims that people have labelled."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evals.judging.labelled import Labelled, Split, scifact
from evals.judging.protocol import Label
from evals.judging.scorer import pinned
from evals.judging.sentences import marked
from evals.scoring.statements import Passage
from rag.answering.support import Likeness, Pinned
from rag.answering.weighing import NAMES, Features, features
from rag.index.embedding import Embedder

_NAMED = 3  # sentences of an abstract that stand for those a claim would name
_RIDGE = 1e-3
_STEPS = 50
_SEED = 20_261_201

Array = NDArray[np.float64]
Weights = dict[str, float]


@dataclass(frozen=True, slots=True)
class Example:
    """What is seen of a labelled claim, and its label."""

    seen: Features
    label: Label


def likeness_of(embedder: Embedder) -> Likeness:
    """The cosine of a claim to the nearest of some sentences, by an embedding model."""

    def likeness(claim: str, sentences: Sequence[str]) -> float:
        vectors = embedder.embed([claim, *sentences])
        return float((vectors[1:] @ vectors[0]).max())

    return likeness


def examples(split: Split, embedder: Embedder) -> list[Example]:
    """SciFact's claims of a split, each beside the sentences nearest to it in its abstracts.

    Raises:
        InputError: the data is not there.
    """
    likeness = likeness_of(embedder)
    return [
        _example(one.case.claim, nearest(one, embedder), one.label, likeness)
        for one in scifact(split)
    ]


def lessons(split: Split, embedder: Embedder) -> list[Example]:
    """What is learned from: beside the above, claims with the sentences that decide them.

    And with as many others of the same abstract, which do not: a citation of the right paper can
    be one of the wrong sentence.

    Raises:
        InputError: the data is not there.
    """
    likeness = likeness_of(embedder)
    chance = random.Random(_SEED)
    labels = {one.case.claim: one.label for one in scifact(split)}
    found = examples(split, embedder)
    for one in marked(split):
        every = pinned(Passage("", one.title, " ".join(one.sentences), one.sentences))
        others = [place for place in range(len(every)) if place not in one.marked]
        chosen = sorted(chance.sample(others, min(len(one.marked), len(others))))
        deciding = [every[place] for place in sorted(one.marked)]
        found.append(_example(one.claim, deciding, labels[one.claim], likeness))
        if chosen:
            beside = [every[place] for place in chosen]
            found.append(_example(one.claim, beside, "neither", likeness))
    return found


def _example(claim: str, support: Sequence[Pinned], label: Label, likeness: Likeness) -> Example:
    texts = [evidence.text for _, evidence in support]
    abstracts = " ".join(f"{paper.title} {paper.text}" for paper, _ in support)
    seen = features(claim, " ".join(texts), abstracts, "", likeness(claim, texts))
    return Example(seen, label)


def nearest(one: Labelled, embedder: Embedder) -> list[Pinned]:
    """The sentences of the labelled abstracts that are nearest to the claim, in their order."""
    every = [found for passage in one.case.passages for found in pinned(passage)]
    vectors = embedder.embed([one.case.claim, *(evidence.text for _, evidence in every)])
    best = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")[:_NAMED]
    return [every[place] for place in sorted(best.tolist())]


def fitted(rows: Sequence[Example]) -> dict[str, dict[str, Weights]]:
    """The weights with and without likeness, as `rag.answering.weighing` reads them."""
    without = [replace(row, seen=replace(row.seen, likeness=0.0)) for row in rows]
    return {"with": _both(rows), "without": _both(without)}


def _both(rows: Sequence[Example]) -> dict[str, Weights]:
    decided = [row for row in rows if row.label != "neither"]
    return {
        "decides": _weights(rows, [row.label != "neither" for row in rows]),
        "bears_out": _weights(decided, [row.label == "support" for row in decided]),
    }


def _weights(rows: Sequence[Example], wanted: Sequence[bool]) -> Weights:
    data = np.array([(*astuple(row.seen), 1.0) for row in rows])
    found = logistic(data, np.array(wanted, dtype=float))
    return dict(zip((*NAMES, "intercept"), np.round(found, 4).tolist(), strict=True))


def logistic(data: Array, wanted: Array) -> Array:
    """The weights of a logistic regression with a small ridge, by Newton's method.

    `data` has shape (n, features), `wanted` holds 0 or 1, shape (n,).
    """
    weights = np.zeros(data.shape[1])
    ridge = _RIDGE * len(data) * np.eye(data.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-(data @ weights)))
        slope = data.T @ (chance - wanted) + ridge @ weights
        curve = (data * (chance * (1 - chance))[:, None]).T @ data + ridge
        step = np.linalg.solve(curve, slope)
        weights -= step
        if np.abs(step).max() < 1e-9:
            break
    return weights
