"""When the collection does not say."""

from __future__ import annotations

from rag.retrieval.search import Found

REFUSAL = "The collection does not say."
"""The one sentence of every abstention, shared by answers, tests and evaluation."""

_CLOSEST = 0.2
_COVERED = 0.15


def holds_nothing(found: Found) -> bool:
    """Whether nothing that was found comes near the question, in meaning or in words.

    The bounds are wide: they stop a question about another world, not one about a detail that
    an abstract leaves out.
    """
    best = max((e.score for hit in found.hits for e in hit.evidence), default=0.0)
    return best < _CLOSEST and found.coverage < _COVERED
