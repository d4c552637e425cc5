"""Papers of one topic parted into themes, each with the words that set it apart; pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from rag.index.embedding import Vectors
from rag.schema import Paper
from rag.text import plain, terms

_PER_GROUP = 4
_LARGEST = 6
_HEADING_PHRASES = 2
_WORD = re.compile(r"[A-Za-z][\w-]{2,}|[\u3400-\u9fff]{2,}")
_SAID_OF_ANY = frozenset(
    terms(
        "across also approach based both demonstrate existing experiments extensive first framework"
        " further however improve introduce learn method model novel often outperform paper perform"
        " performance problem propose provide require result show study task theory train training"
        " two use using while within work data evaluate evaluation setting standard benchmark"
        " effective available code existing achieve enable strong large key new under these without"
        " real-world systematic single multiple different various including collected estimator"
    )
)


def grouped(vectors: Vectors) -> list[list[int]]:
    """Places of papers in groups of like ones, by average linkage; the first paper's group first.

    `vectors` holds a unit vector for each paper, shape (papers, dimension). The two groups that
    are most alike are joined (Sokal and Michener 1958, UPGMA) until there is one group for every
    four papers; none has more than six.
    """
    groups = [[place] for place in range(len(vectors))]
    similar = vectors @ vectors.T
    while len(groups) > -(-len(vectors) // _PER_GROUP) and (pair := _closest(groups, similar)):
        left, right = pair
        groups[left] = sorted(groups[left] + groups.pop(right))
    return sorted(groups)


def _closest(groups: Sequence[Sequence[int]], similar: Vectors) -> tuple[int, int] | None:
    """The two groups to join next, or None where each pair would be too large."""
    likeness = {
        (left, right): float(similar[np.ix_(groups[left], groups[right])].mean())
        for left in range(len(groups))
        for right in range(left + 1, len(groups))
        if len(groups[left]) + len(groups[right]) <= _LARGEST
    }
    return max(likeness, key=lambda pair: (likeness[pair], -pair[0]), default=None)


def heading(inside: Sequence[Paper], others: Sequence[Paper], topic: str) -> str:
    """What several papers of a theme name and few `others` do, in words of their own.

    Two words that follow each other say more than one; words that any abstract has, and those of
    the topic, say nothing. Where nothing is left, the theme goes by its papers' names.
    """
    here = Counter(phrase for paper in inside for phrase in _phrases(paper))
    there = Counter(phrase for paper in others for phrase in _phrases(paper))
    plainly = _SAID_OF_ANY | set(terms(topic))
    scores = {
        phrase: (number / len(inside) - there[phrase] / max(1, len(others))) * len(phrase)
        for phrase, number in here.items()
        if number > 1 and plainly.isdisjoint(phrase)
    }
    written = [_phrases(paper) for paper in inside]
    taken: list[tuple[str, ...]] = []
    for phrase in sorted(scores, key=lambda one: (-scores[one], one)):
        if len(taken) < _HEADING_PHRASES and not any(set(phrase) & set(one) for one in taken):
            taken.append(phrase)
    told = [next(said[phrase] for said in written if phrase in said) for phrase in taken]
    named = ", ".join(told or [paper.title for paper in inside])
    return f"{named[:1].upper()}{named[1:]}"


def _phrases(paper: Paper) -> dict[tuple[str, ...], str]:
    """Each word of a paper and each two neighbours, by their terms, as the paper writes them."""
    found: dict[tuple[str, ...], str] = {}
    for sentence in paper.sentences:
        words = [(terms(word), word) for word in _WORD.findall(plain(sentence.text))]
        for place, (own, word) in enumerate(words):
            after = words[place + 1] if place + 1 < len(words) else ([], "")
            if len(own) == 1:
                found.setdefault((own[0],), _small(word))
            if len(own) == 1 and len(after[0]) == 1:
                found.setdefault((own[0], after[0][0]), f"{_small(word)} {_small(after[1])}")
    return found


def _small(word: str) -> str:
    """A word in small letters, unless it is an acronym or a name."""
    return word if sum(map(str.isupper, word)) > 1 else word.lower()
