"""Silence: whether it came where it should, and how well confidence tells right from wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True, slots=True)
class Silence:
    """How often questions with and without an answer were answered and not."""

    answered: int
    wrongly_abstained: int
    wrongly_answered: int
    abstained: int

    @property
    def answer_rate(self) -> float | None:
        """The share of the answerable that were answered."""
        return _share(self.answered, self.answered + self.wrongly_abstained)

    @property
    def abstention_recall(self) -> float | None:
        """The share of the unanswerable that were left alone."""
        return _share(self.abstained, self.abstained + self.wrongly_answered)

    @property
    def abstention_precision(self) -> float | None:
        """The share of the abstentions that were right."""
        return _share(self.abstained, self.abstained + self.wrongly_abstained)


@dataclass(frozen=True, slots=True)
class Point:
    """At this share of questions answered, the share of the answered that are wrong."""

    coverage: float
    risk: float
    threshold: float


def silence(outcomes: Sequence[tuple[bool, bool]]) -> Silence:
    """The 2×2 of (answerable, abstained) over questions."""
    counts = {pair: outcomes.count(pair) for pair in set(outcomes)}
    return Silence(
        answered=counts.get((True, False), 0),
        wrongly_abstained=counts.get((True, True), 0),
        wrongly_answered=counts.get((False, False), 0),
        abstained=counts.get((False, True), 0),
    )


def risk_coverage(confidences: Sequence[float], right: Sequence[bool]) -> list[Point]:
    """Risk at each coverage when the least confident answers are withheld.

    For each threshold t, coverage is the share of questions with confidence ≥ t and risk the share
    of those that are wrong (El-Yaniv and Wiener 2010, "On the foundations of noise-free selective
    classification"). Equal confidences are withheld together.

    Raises:
        ValueError: the two are not of one length, or empty.
    """
    _check(confidences, right)
    points: list[Point] = []
    taken = wrong = 0
    order = sorted(zip(confidences, right, strict=True), key=lambda pair: -pair[0])
    for threshold, group in groupby(order, key=lambda pair: pair[0]):
        members = [is_right for _, is_right in group]
        taken += len(members)
        wrong += members.count(False)
        points.append(Point(taken / len(order), wrong / taken, threshold))
    return points


def area_under_risk_coverage(points: Sequence[Point]) -> float:
    """The mean risk over coverage, AURC (Geifman, Uziel and El-Yaniv 2019): less is better.

    Between the points of a tie risk is that of its end, as nothing lies between.
    """
    area = before = 0.0
    for point in points:
        area += (point.coverage - before) * point.risk
        before = point.coverage
    return area


def auroc(scores: Sequence[float], positive: Sequence[bool]) -> float | None:
    """The chance that a positive scores above a negative, a tie counting half.

    The Mann-Whitney statistic by mid-ranks (Hanley and McNeil 1982); None without both kinds.

    Raises:
        ValueError: the two are not of one length, or empty.
    """
    _check(scores, positive)
    positives = sum(positive)
    negatives = len(positive) - positives
    if not positives or not negatives:
        return None
    order = sorted(zip(scores, positive, strict=True))
    ranks = 0.0
    passed = 0
    for _, group in groupby(order, key=lambda pair: pair[0]):
        members = [is_positive for _, is_positive in group]
        ranks += (passed + (len(members) + 1) / 2) * members.count(True)
        passed += len(members)
    return (ranks - positives * (positives + 1) / 2) / (positives * negatives)


def _check(values: Sequence[float], of: Sequence[bool]) -> None:
    if not values or len(values) != len(of):
        raise ValueError(f"{len(values)} values for {len(of)} outcomes")


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
