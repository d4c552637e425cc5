"""Which questions a proposal is made from, and which decide on it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

from evals.suite import Item
from rag.errors import UsageError

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Split:
    """Questions to learn from and questions to decide by; no paper has questions in both."""

    train: tuple[Item, ...]
    held_back: tuple[Item, ...]


def least(looks: int) -> int:
    """How many papers must have held-back questions so that any revision can be kept.

    The smallest p of the randomisation test is 2 / 2^n, where all n differences have one sign, and
    each of `looks` decisions has its share of the 5%.
    """
    return math.floor(math.log2(2 * looks / ALPHA)) + 1


def split(items: Sequence[Item], most: int | None = None, looks: int = 1) -> Split:
    """About half of the questions on each side, by the hash of what they are about.

    So a question stays on its side when others are added to the suite. Follow-ups are left out, as
    they are not understood by themselves. `most` questions are taken over both sides, those of the
    smallest hashes. `looks` is how often the held-back ones are to decide.

    Raises:
        UsageError: there are too few for a decision.
    """
    alone = [item for item in items if not item.earlier]
    chosen = sorted(alone, key=lambda item: _hash(item.id))[:most]
    train = tuple(item for item in chosen if _hash(_about(item)) % 2)
    held_back = tuple(item for item in chosen if not _hash(_about(item)) % 2)
    if len({_about(item) for item in held_back}) < least(looks) or not train:
        raise UsageError(
            f"{len(train)} questions to learn from and {len(held_back)} to decide by are too few",
            cause=f"questions about at least {least(looks)} papers must decide",
            remedy="Use more with --questions, or a larger suite.",
        )
    return Split(train, held_back)


def _about(item: Item) -> str:
    gold = item.asked.paper_ids
    return gold[0] if gold else item.asked.same_as or item.id


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
