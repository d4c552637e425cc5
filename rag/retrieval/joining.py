"""Several searches for one question become one result; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag.retrieval.search import Found
from rag.schema import Evidence, Hit


def join(whole: Found, parts: Sequence[Found], limit: int) -> Found:
    """The papers of a question and of its parts, each as good as the best search for it says.

    A comparison asks about several papers, and each of its parts about one; so the highest score
    counts (Fox and Shaw's CombMAX), of a paper as of each of its sentences, and not the sum,
    which prefers papers that are a little about every part. The state of the index is that of
    `whole`.
    """
    best: dict[str, Hit] = {}
    for found in (whole, *parts):
        for hit in found.hits:
            known = best.get(hit.paper.id)
            best[hit.paper.id] = _better(known, hit) if known else hit
    ranked = sorted(best.values(), key=lambda hit: (-hit.score, hit.paper.id))[:limit]
    vectors = {key: rows for found in (whole, *parts) for key, rows in found.vectors.items()}
    kept = {hit.paper.id: vectors[hit.paper.id] for hit in ranked if hit.paper.id in vectors}
    return replace(whole, hits=tuple(ranked), vectors=kept)


def _better(one: Hit, other: Hit) -> Hit:
    """The hit with the higher score, its sentences with the higher of theirs, best first."""
    sentences: dict[int, Evidence] = {}
    for item in (*one.evidence, *other.evidence):
        known = sentences.get(item.index)
        if known is None or item.score > known.score:
            sentences[item.index] = item
    most = max(len(one.evidence), len(other.evidence))
    kept = sorted(sentences.values(), key=lambda item: (-item.score, item.index))[:most]
    return replace(max(one, other, key=lambda hit: hit.score), evidence=tuple(kept))
