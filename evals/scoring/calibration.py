"""Whether confidence is to be believed: of what is held to be 80% sure, 80% should be right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of like confidence: their mean confidence, the share that is right, how many."""

    low: float
    high: float
    confidence: float
    right: float
    n: int


def reliability(confidences: Sequence[float], right: Sequence[bool], bins: int = 10) -> list[Bin]:
    """Answers in bins of equal width over [0, 1]; a bin without any is left out.

    The reliability diagram of DeGroot and Fienberg 1983. A confidence on a border belongs to the
    bin above it, 1 to the last.

    Raises:
        ValueError: the two are not of one length, or a confidence is outside of [0, 1].
    """
    if len(confidences) != len(right):
        raise ValueError(f"{len(confidences)} confidences for {len(right)} outcomes")
    if any(not 0 <= one <= 1 for one in confidences):
        raise ValueError("a confidence lies outside of [0, 1]")
    members: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for confidence, is_right in zip(confidences, right, strict=True):
        members[min(int(confidence * bins), bins - 1)].append((confidence, is_right))
    return [_bin(place, of, bins) for place, of in enumerate(members) if of]


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """The expected calibration error, Σ n/N · |right - confidence| (Guo et al. 2017, equation 3).

    None where there are no answers.
    """
    total = sum(one.n for one in bins)
    if not total:
        return None
    return sum(one.n * abs(one.right - one.confidence) for one in bins) / total


def _bin(place: int, of: list[tuple[float, bool]], bins: int) -> Bin:
    return Bin(
        place / bins,
        (place + 1) / bins,
        sum(confidence for confidence, _ in of) / len(of),
        sum(is_right for _, is_right in of) / len(of),
        len(of),
    )
