"""How likely a text is an injection: a logistic regression over what is seen of it and its vector.

There is one regression for questions, which may well speak of "you" and "your answer", and one for
sentences of papers, which do not. Each is fitted with the vectors of one embedding model and once
without any, for every other model and where no vector is at hand. `weights.json` holds them and the
thresholds; `python -m evals guard --fit` writes it on one part of public attacks and harmless
texts, `python -m evals guard` measures it on the rest.

A guard marks. Attacks that were made to pass it will, so that no promise of the product rests on
it, and a false alarm must cost no more than a note.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from rag.guarding.features import NAMES, features
from rag.guarding.planted import hidden, instruction

WEIGHTS = Path(__file__).with_name("weights.json")
WORDS = "words"
"""The name of the regressions that need no vector."""

MARK = "may hold instructions to the machine"
"""What a reader is told of a text that was found."""

Subject = Literal["question", "passage"]


@dataclass(frozen=True, slots=True)
class Detector:
    """A regression over `rag.guarding.features` and, unless `vector` is empty, a unit vector.

    `threshold` is a probability: what reaches it is marked.
    """

    weights: Mapping[str, float]
    vector: tuple[float, ...]
    intercept: float
    threshold: float

    def probability(self, text: str, vector: Sequence[float] = ()) -> float:
        """How likely `text` is an injection; `vector` has the length of the detector's own.

        Raises:
            ValueError: it has not.
        """
        seen = zip(NAMES, astuple(features(text)), strict=True)
        score = self.intercept + sum(self.weights[name] * value for name, value in seen)
        score += sum(a * float(b) for a, b in zip(self.vector, vector, strict=True))
        return 1 / (1 + math.exp(-score))

    def marks(self, text: str, vector: Sequence[float] = ()) -> bool:
        """Whether a reader is told of `text`; what nobody sees is always told of."""
        return bool(hidden(text)) or self.probability(text, vector) >= self.threshold


def detector(subject: Subject, model: str = WORDS) -> Detector:
    """The one fitted with the vectors of an embedding model; without vectors where none was."""
    fitted = _fitted()[subject]
    return fitted.get(model, fitted[WORDS])


def suspicious(sentence: str) -> bool:
    """Whether a sentence of a paper looks like an order to a model, by its words alone."""
    return bool(instruction(sentence)) or detector("passage").marks(sentence)


@cache
def _fitted() -> dict[str, dict[str, Detector]]:
    """What stands in the file, which is read once."""
    read = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return {
        subject: {
            model: Detector(
                one["weights"], tuple(one["vector"]), one["intercept"], one["threshold"]
            )
            for model, one in models.items()
        }
        for subject, models in read.items()
    }
