"""How likely the collection answers a question: signals, weighed by a fitted model.

The file `confidence.json` has two logistic regressions, of the search alone and with a model's yes
or no, and with each the confidences of known questions that have no answer, by which the threshold
is chosen. `python -m evals abstention --fit` writes it and says what it was fitted on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from rag.answering.risk import threshold
from rag.answering.signals import YES

COEFFICIENTS = Path(__file__).with_name("confidence.json")

_SUREST = 6.0  # log odds: no model is believed more than 400 to 1


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic regression over signals, and what is known of its confidences.

    `wrong` are the confidences that those of `n` known questions got that have no answer, by a
    regression fitted without them.
    """

    weights: Mapping[str, float]
    intercept: float
    wrong: tuple[float, ...]
    n: int

    def confidence(self, signals: Mapping[str, float]) -> float:
        """The probability that there is an answer; a signal that is missing counts 0."""
        weighed = (weight * signals.get(name, 0.0) for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-(self.intercept + sum(weighed))))

    def threshold(self, rate: float) -> float:
        """What a confidence must be above to answer; see `rag.answering.risk`."""
        return threshold(self.wrong, self.n, rate)


def log_odds(probability: float) -> float:
    """ln(p / (1 - p)), bounded: a model's probabilities of 0 and 1 are rounded."""
    least = 1 / (1 + math.exp(_SUREST))
    kept = min(max(probability, least), 1 - least)
    return math.log(kept / (1 - kept))


def calibration_for(signals: Mapping[str, float]) -> Calibration:
    """The one for the signals that there are."""
    return calibration("yes" if YES in signals else "search")


@cache
def calibration(name: Literal["search", "yes"]) -> Calibration:
    """A calibration as it stands in its file, which is read once."""
    value = json.loads(COEFFICIENTS.read_text(encoding="utf-8"))[name]
    return Calibration(value["weights"], value["intercept"], tuple(value["wrong"]), value["n"])
