"""Whether the stated rate of wrong answers is kept, over random splits; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evals.scoring import resampling
from evals.scoring.abstention import Point, auroc
from evals.stats import SEED, Mean
from rag.answering.risk import threshold

SPLITS = 200


@dataclass(frozen=True, slots=True)
class Kept:
    """What came of a rate over `splits` random halves, one to calibrate on and one to test on.

    `rate` is what was promised, `realised` the mean share of questions of the tested halves that
    were answered without having an answer, `above` the share of splits in which it was higher than
    promised; by chance alone that is about half where the promise is used up. `answered` and
    `refused` are the shares of the answerable and of the others that were treated rightly.
    """

    rate: float
    realised: float
    above: float
    answered: float
    refused: float
    splits: int


def kept(
    confidences: Sequence[float],
    answerable: Sequence[bool],
    rate: float,
    splits: int = SPLITS,
    seed: int = SEED,
) -> Kept:
    """See `Kept`.

    Raises:
        ValueError: there are not two questions of each kind.
    """
    sure, known = np.asarray(confidences), np.asarray(answerable, dtype=bool)
    if min(known.sum(), (~known).sum()) < 2:
        raise ValueError("questions with and without an answer are needed")
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(splits):
        order = generator.permutation(len(sure))
        calibrating, tested = order[: len(order) // 2], order[len(order) // 2 :]
        wrong = sure[calibrating][~known[calibrating]]
        answers = sure[tested] > threshold(wrong.tolist(), len(calibrating), rate)
        able = known[tested]
        rows.append(
            (
                float((answers & ~able).mean()),
                float(answers[able].mean()) if able.any() else np.nan,
                float((~answers[~able]).mean()) if (~able).any() else np.nan,
            )
        )
    realised, answered, refused = np.array(rows).T
    return Kept(
        rate,
        float(realised.mean()),
        float((realised > rate).mean()),
        float(np.nanmean(answered)),
        float(np.nanmean(refused)),
        splits,
    )


def separation(
    confidences: Sequence[float], answerable: Sequence[bool], clusters: Sequence[str]
) -> Mean:
    """The AUROC of answerable against not, with its interval over resampled papers.

    Raises:
        ValueError: all are answerable, or none is.
    """
    value = auroc(confidences, answerable)
    if value is None:
        raise ValueError("questions with and without an answer are needed")
    resampled = resampling.auroc(confidences, answerable, resampling.weights(clusters))
    return resampling.interval(value, resampled, len(answerable))


def risk_of_answering(confidences: Sequence[float], answerable: Sequence[bool]) -> list[Point]:
    """For each threshold, the share of the answerable that is answered, and what that costs.

    Coverage here is that share, and risk the share of all questions that are answered without
    having an answer: the rate that is promised.
    """
    known = list(zip(confidences, answerable, strict=True))
    able = sum(answerable)
    points = []
    for least in sorted(set(confidences), reverse=True):
        answered = [is_able for sure, is_able in known if sure >= least]
        points.append(Point(sum(answered) / able, answered.count(False) / len(known), least))
    return points
