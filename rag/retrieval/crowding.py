"""Papers of one source that say nearly the same count as few, however many they are; pure.

A handful of planted abstracts in one voice is enough to steer an answer (PoisonedRAG,
arXiv:2402.07867, needs five). So of papers that share most of their words, and come from one
source, only the first is read: the place of the others goes to papers that may say otherwise.
Of SciFact's first 1,500 abstracts no two are so alike, of the seeds none by far.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rag.schema import Hit, Paper
from rag.text import terms

MOST = 1
"""Papers of one voice that are read."""

_ALIKE = 0.6
"""Share of the shorter text's terms that two papers of one voice have in common."""

_FEWEST = 15  # terms of the shorter text; two short ones are soon alike


def uncrowded(hits: Sequence[Hit], most: int = MOST) -> list[Hit]:
    """The hits in their order without those of a voice that was heard `most` times."""
    kept: list[Hit] = []
    words: dict[str, frozenset[str]] = {}
    for hit in hits:
        own = words[hit.paper.id] = frozenset(terms(hit.paper.text))
        heard = sum(
            one.paper.source == hit.paper.source and _alike(words[one.paper.id], own)
            for one in kept
        )
        if heard < most:
            kept.append(hit)
    return kept


def voices(papers: Iterable[Paper]) -> list[list[Paper]]:
    """Papers grouped by whose words they have, whatever their source, in their order."""
    groups: list[list[Paper]] = []
    words: dict[str, frozenset[str]] = {}
    for paper in papers:
        own = words[paper.id] = frozenset(terms(paper.text))
        group = next((one for one in groups if _alike(words[one[0].id], own)), None)
        if group is None:
            groups.append([paper])
        else:
            group.append(paper)
    return groups


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shorter = min(len(one), len(other))
    return shorter >= _FEWEST and len(one & other) >= _ALIKE * shorter
