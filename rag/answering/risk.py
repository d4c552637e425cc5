"""How sure one must be to answer, so that wrong answers stay below a stated rate.

Conformal risk control (Angelopoulos, Bates, Fisch, Lei and Schuster 2024, "Conformal Risk
Control"). A question costs 1 if it is answered, its confidence being above the threshold, though
it should not be, else 0: a loss that falls as the threshold rises and is at most B = 1. With the
mean loss R(t) over n questions whose outcome is known, the least t with

    n / (n + 1) · R(t) + 1 / (n + 1) ≤ rate

keeps the expected loss of a further question, exchangeable with those, within the rate.

To abstain is never wrong, so that this is also risk-controlled post-processing with a fallback
that is exactly safe: of all rules that keep the rate by confidence, the least t departs from the
answers that would be given anyway on the fewest questions, and on those where to be silent cuts
the risk most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

NEVER = 1.0
"""The threshold above which no confidence lies."""

_ROUNDING = 1e-9  # 20 · 0.05 is to allow 1, whatever the floating point says


def threshold(wrong: Sequence[float], n: int, rate: float) -> float:
    """The confidence that an answer must be above.

    `wrong` are the confidences of those of `n` known questions that should not be answered. 0 where
    all may be answered; `NEVER` where n is too small for the rate, which needs 1 / rate - 1.

    Raises:
        ValueError: there are more wrong ones than questions.
    """
    if len(wrong) > n:
        raise ValueError(f"{len(wrong)} wrong of {n}")
    allowed = math.floor((n + 1) * rate - 1 + _ROUNDING)
    if allowed < 0:
        return NEVER
    if allowed >= len(wrong):
        return 0.0
    return sorted(wrong, reverse=True)[allowed]
