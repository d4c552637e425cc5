"""Sentences of different papers that answer a question otherwise; pure.

Two abstracts that give another number for the same thing, or of which one denies what the other
says, are both shown: to choose one of them would settle what the collection does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.answering.facts import numbers
from rag.answering.prompting import Labelled
from rag.retrieval.evidence import refers_back
from rag.text import terms

_SAME = 0.8
_ASKED = 0.6
_DENIAL = re.compile(r"\b(?:not|no|never|neither|cannot|\w+n't|fails? to)\b", re.IGNORECASE)
_COUNTING = re.compile(r"^\d")


def conflicting(question: str, sentences: Sequence[Labelled]) -> list[Labelled]:
    """The sentences that disagree about what is asked, one of each paper; none where they agree.

    They say the same but for a number or a denial, and each of them has the question's words: what
    two papers say of their own methods, each with "It", is no disagreement.
    """
    able = [item for item in sentences if _answers(question, item)]
    for first in able:
        group = {first.paper.id: first}
        for other in able:
            if other.paper.id not in group and _differ(first, other):
                group[other.paper.id] = other
        if len(group) > 1:
            return list(group.values())
    return []


def _answers(question: str, item: Labelled) -> bool:
    asked = set(terms(question)) - _ASKING
    held = asked & set(terms(item.evidence.text))
    own = refers_back(item.evidence.text)
    return bool(asked) and not own and len(held) >= max(2, _ASKED * len(asked))


def _differ(one: Labelled, other: Labelled) -> bool:
    left, right = one.evidence.text, other.evidence.text
    if _denies(left) == _denies(right) and numbers(left) == numbers(right):
        return False
    if numbers(left) != numbers(right) and not (numbers(left) and numbers(right)):
        return False
    words, others = _words(left), _words(right)
    return len(words & others) >= _SAME * max(1, len(words | others))


def _words(text: str) -> set[str]:
    return {term for term in terms(_DENIAL.sub(" ", text)) if not _COUNTING.match(term)}


def _denies(text: str) -> bool:
    return bool(_DENIAL.search(text))


_ASKING = frozenset(terms("many much often large number give given report reported say does"))
