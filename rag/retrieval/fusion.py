"""Joining ranked lists into one; pure functions of scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Scores = Mapping[str, float]
LISTS = ("dense", "lexical", "sentence", "aspect")

_LEAST = 1e-4


@dataclass(frozen=True, slots=True)
class Weights:
    """Shares of the lists in a paper's score; they need not sum to 1.

    `dense` is the paper's own vector, `lexical` BM25, `sentence` its best sentence against the
    whole question, `aspect` its best sentences against the question's parts.
    `full_coverage` is the coverage (see `lexical.LexicalHits`) from which BM25 has its whole
    share. Below it the share falls in proportion and goes to the other lists: a paraphrase that
    meets the collection in common words only is ranked by meaning.
    """

    dense: float
    lexical: float
    sentence: float
    full_coverage: float
    aspect: float = 0.0

    def at(self, coverage: float) -> dict[str, float]:
        """The share of each list, summing to 1, for a question of the given coverage."""
        by_meaning = {"dense": self.dense, "sentence": self.sentence, "aspect": self.aspect}
        others = sum(by_meaning.values())
        if not others:  # there is no list to give the rest to
            return {"lexical": 1.0, **by_meaning}
        trust = min(1.0, coverage / self.full_coverage) if self.full_coverage else 1.0
        lexical = trust * self.lexical / (self.lexical + others)
        rest = (1.0 - lexical) / others
        return {"lexical": lexical, **{name: rest * w for name, w in by_meaning.items()}}


def min_max(scores: Scores, anchors: Scores) -> dict[str, float]:
    """Scores scaled so that the worst and the best of `anchors` are 0 and 1, cut off beyond.

    Where all anchors are equal each counts 1: being found is all that the list says.
    """
    if not anchors:
        return {}
    low, high = min(anchors.values()), max(anchors.values())
    if high == low:
        return {key: float(score >= low) for key, score in scores.items()}
    return {key: min(1.0, max(0.0, (s - low) / (high - low))) for key, s in scores.items()}


def best(scores: Scores, limit: int) -> dict[str, float]:
    """The `limit` highest scores, highest first; ties in the order of ids."""
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit])


def fuse(lists: Mapping[str, Scores], shares: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """What each list gives to each paper: its min-max normalised score times the list's share.

    A paper that a list does not have gets nothing from it, and the last one that it has gets
    next to nothing: being found is more than not being found. The sum over lists is the paper's
    score, between 0 and 1 (Fox and Shaw's CombSUM on normalised scores, weighted).
    """
    parts: dict[str, dict[str, float]] = {}
    for name, scores in lists.items():
        for key, score in min_max(scores, scores).items():
            parts.setdefault(key, {})[name] = shares[name] * max(score, _LEAST)
    return parts
