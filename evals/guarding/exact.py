"""A share of successes with its exact interval; pure."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

_TAIL = 0.025
_HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Share:
    """`found` of `n`, and the exact 95% interval of the share (Clopper and Pearson 1934)."""

    found: int
    n: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """The share itself; 0 of nothing."""
        return self.found / self.n if self.n else 0.0

    def __str__(self) -> str:
        return f"{self.found}/{self.n} = {self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def share(found: int, n: int) -> Share:
    """The share of `found` in `n`; of nothing the interval is all of [0, 1].

    The ends are the shares at which a count as high, or as low, as the one that was seen has the
    probability .025.
    """
    low = 0.0 if not found else _where(lambda p: 1 - _at_most(found - 1, n, p) < _TAIL)
    high = 1.0 if found == n else _where(lambda p: _at_most(found, n, p) > _TAIL)
    return Share(found, n, low, high)


def _where(below: Callable[[float], bool]) -> float:
    """Where `below` ceases to hold between 0 and 1."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return (low + high) / 2


def _at_most(k: int, n: int, p: float) -> float:
    """The probability of at most `k` successes in `n` trials, 0 < p < 1."""
    whole = math.lgamma(n + 1)
    return math.fsum(
        math.exp(
            whole
            - math.lgamma(i + 1)
            - math.lgamma(n - i + 1)
            + i * math.log(p)
            + (n - i) * math.log1p(-p)
        )
        for i in range(k + 1)
    )
