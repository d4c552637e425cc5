"""What a cluster is about: the words that stand in it and not in the others.

Class-based TF-IDF (Grootendorst, "BERTopic", 2022): all papers of a cluster c are one text, and a
term t weighs tf(t, c) · log(1 + A / f(t)), where tf counts papers of c that have it, f those of
all clusters, and A is how many terms a cluster has on average. Words are counted by their stems
and shown as they are written most often.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from rag.text import content_words, plain, terms

_WORDS = 3
_LEAST_LETTERS = 2
_SAID_BY = 2  # papers of a cluster in which a term of its name stands, where it has as many
_PAIR = 1.5  # what a pair of words weighs beside one: it says more
_WIDEST = 0.3  # share of all papers that may have a term of a name, where there are enough papers
_ENOUGH = 20
_COMMON = frozenset(
    "across algorithm also among approach associated based baseline baselines code compared "
    "computational consistently data dataset datasets demonstrate demonstrates enables "
    "enabling existing experiments extensive framework however improve improved improves "
    "improving increased introduce introduces large method methods model models new novel "
    "often performance present propose proposed provide provides rate respectively result "
    "results show shows significantly small space state-of-the-art studies study success "
    "conclusions objective http training use used using while work".split()
)


def names(texts: Sequence[str], labels: Sequence[int], count: int) -> list[tuple[str, ...]]:
    """Up to three terms for each of `count` clusters, the strongest first.

    Args:
        texts: Title and abstract of each paper.
        labels: The cluster of each, from 0.
        count: How many clusters there are.
    """
    written: dict[str, Counter[str]] = {}
    having: list[Counter[str]] = [Counter() for _ in range(count)]
    for text, label in zip(texts, labels, strict=True):
        said = dict(_terms(text))
        having[label].update(said.keys())
        for term, shown in said.items():
            written.setdefault(term, Counter())[shown] += 1
    everywhere: Counter[str] = Counter()
    for said_here in having:
        everywhere.update(said_here)
    average = everywhere.total() / max(count, 1)
    most = _WIDEST * len(texts) if len(texts) >= _ENOUGH else len(texts)
    wide = {term for term, n in everywhere.items() if n > most}
    sizes = Counter(labels)
    return [
        _named(having[cluster], everywhere, average, min(_SAID_BY, sizes[cluster]), written, wide)
        for cluster in range(count)
    ]


def _named(
    here: Counter[str],
    everywhere: Counter[str],
    average: float,
    least: int,
    written: dict[str, Counter[str]],
    wide: set[str],
) -> tuple[str, ...]:
    """The terms that weigh most, none of which repeats a word of another."""
    weights = {
        term: n * math.log(1 + average / everywhere[term]) * (_PAIR if " " in term else 1)
        for term, n in here.items()
        if n >= least and term not in wide
    }
    chosen: list[str] = []
    words: set[str] = set()
    for term in sorted(weights, key=lambda term: (-weights[term], term)):
        if len(chosen) == _WORDS:
            break
        if not words & set(term.split()):
            chosen.append(term)
            words |= set(term.split())
    return tuple(min(written[term], key=lambda w: (-written[term][w], w)) for term in chosen)


def _terms(text: str) -> Iterable[tuple[str, str]]:
    """Every term of a text, one word or two, by its stem: how it is written there."""
    words = [word for word in content_words(plain(text)) if _says_something(word)]
    stems = [_stem(word) for word in words]
    folded = text.casefold()
    yield from zip(stems, words, strict=True)
    for (a, first), (b, second) in pairwise(zip(stems, words, strict=True)):
        if a != b and f"{first} {second}" in folded:
            yield f"{a} {b}", f"{first} {second}"


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    return "".join(terms(word)[-1:]) or word


def _says_something(word: str) -> bool:
    return len(word) >= _LEAST_LETTERS and not word[0].isdigit() and word not in _COMMON
