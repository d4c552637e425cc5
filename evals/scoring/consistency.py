"""Whether a system says the same when it is asked again, or in other words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from evals.scoring.answers import f1
from evals.scoring.quantities import tokens_of


def agreement(texts: Sequence[str]) -> float | None:
    """The mean token F1 of all pairs of answers; None for fewer than two."""
    words = [list(tokens_of(text)) for text in texts]
    pairs = [f1(one, other) for one, other in combinations(words, 2)]
    return sum(pairs) / len(pairs) if pairs else None


def same_sources(cited: Sequence[frozenset[str]]) -> float | None:
    """The mean Jaccard overlap |A ∩ B| / |A ∪ B| of the papers that pairs of answers cite.

    Two that cite nothing agree; None for fewer than two.
    """
    pairs = [
        len(one & other) / len(one | other) if one | other else 1.0
        for one, other in combinations(cited, 2)
    ]
    return sum(pairs) / len(pairs) if pairs else None


def stable(right: Sequence[bool]) -> float | None:
    """1 if all answers are right or all are wrong, else 0; None for fewer than two."""
    return float(len(set(right)) == 1) if len(right) > 1 else None
