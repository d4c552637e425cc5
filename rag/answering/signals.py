"""What a search shows of whether the collection answers a question; no model is asked.

Each signal is a number of about the same size, so that a fitted model can weigh them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from rag.retrieval.search import Found
from rag.schema import Evidence, Hit, Paper
from rag.text import plain, terms

FIRST = 3
"""Papers that are looked at whole: an answer mostly comes from one of them."""

SEARCH = ("best", "gap", "named", "named_sentence", "absent", "amount")
YES = "yes"
"""The signal that a model gives: its log odds of yes to whether the sentences state the answer."""

_MARK = re.compile(
    r"(?<![\w-])(?=[\w-]*[A-Z0-9])"  # a capital or a digit, and not only at the beginning
    r"(?:[\w-]*[a-z0-9-][A-Z][\w-]*|[A-Z][A-Z0-9-]+\w*|[\w-]+\d[\w.]*|\d[\d.,]*\d)"
)
_PROPER = re.compile(r"(?<=[\w,;:)] )[A-Z][a-z]{2,}\b")
_DIGIT = re.compile(r"\d")
_AMOUNT = re.compile(
    r"\bhow (?:many|much|large|long|often|high|fast|big|far|well)\b"
    r"|\b(?:what|which)\b.{0,30}"
    r"\b(?:scores?|rates?|accurac\w+|percent\w*|number|values?|year|share)\b",
    re.IGNORECASE,
)


_ENGLISH = re.compile(
    r"\b(?:the|an?|of|does|do|did|is|are|was|were|what|whats|which|how|who|why|when|by|from|to)\b",
    re.IGNORECASE,
)
_OWN_WORDS = re.compile(
    r"\bstands? for\b|\babbreviat|\bacronym|\bshort (?:form|for)\b|\bin full\b"
    r"|\bfull (?:name|form)|\bspell(?:ed)? out\b|\bsumm?ar|\bsum up\b|\boverview\b|\babout\b",
    re.IGNORECASE,
)


def signals(found: Found, evidence: Sequence[Evidence]) -> dict[str, float]:
    """The signals of a search, by the names in `SEARCH`.

    `best` is the score of the best sentence, `gap` how far the second paper is behind the first.
    `named` says whether the question has names or numbers and `named_sentence` is the share of it,
    by inverse document frequency, that one sentence holds, for whoever names a system uses its
    paper's words; both are 0 where the words are the question's own: in another language, or where
    it asks what a name stands for or what a paper is about. `absent` is the
    share of the names and numbers that the paper which has most of them lacks. `amount` is what
    the best sentence's share loses if an amount is asked for and only those with a number count.
    """
    question, texts = found.query.text, [item.text for item in evidence]
    scores = [hit.score for hit in found.hits[:2]]
    marks = marks_of(question)
    sentence = _best_share(texts, found.weights)
    by_words = bool(marks) and _uses_the_papers_words(question)
    with_number = _best_share([text for text in texts if _DIGIT.search(text)], found.weights)
    return {
        "best": max((item.score for item in evidence), default=0.0),
        "gap": scores[0] - scores[1] if len(scores) == 2 else sum(scores),
        "named": float(by_words),
        "named_sentence": sentence if by_words else 0.0,
        "absent": _absent(marks, found.hits),
        "amount": sentence - with_number if _AMOUNT.search(question) else 0.0,
    }


def whole(hit: Hit) -> str:
    """All that is known of a paper's content."""
    return f"{hit.paper.title}\n{hit.paper.text}"


def marks_of(question: str) -> tuple[str, ...]:
    """The names and numbers of a question as it has them: RISE-2, Adam, ALFWorld, 512."""
    text = plain(question)
    found = [match.group().strip("-.,") for match in _MARK.finditer(text)]
    return tuple(dict.fromkeys([*found, *_PROPER.findall(text)]))


def lacking(marks: Iterable[str], text: str) -> list[str]:
    """Those names and numbers that do not stand in a text, compared by what they are found by."""
    held = set(terms(text))
    return [mark for mark in marks if not held.issuperset(_whole_terms(mark))]


def short_name(paper: Paper) -> str:
    """DEAR of `DEAR` or `DEAR: a title`; nothing where a title begins with several words."""
    name = paper.title.partition(":")[0].strip()
    return name if len(name.split()) == 1 else ""


def _uses_the_papers_words(question: str) -> bool:
    return bool(_ENGLISH.search(question)) and not _OWN_WORDS.search(question)


def _absent(marks: Sequence[str], hits: Sequence[Hit]) -> float:
    """The share of the marks that the best of the papers lacks.

    Where all of them are names of papers that were found, these are compared, and none is lacking.
    """
    if not lacking(marks, " ".join(short_name(hit.paper) for hit in hits)):
        return 0.0
    lacks = [len(lacking(marks, whole(hit))) for hit in hits[:FIRST]]
    return min(lacks, default=len(marks)) / len(marks)


def _whole_terms(mark: str) -> set[str]:
    """RISE-2 is there where rise2 is, and not where 2 is."""
    found = terms(mark)
    return {found[-1]} if len(found) > 1 else set(found)


def share(held: Iterable[str], weights: Mapping[str, float]) -> float:
    """How much of the question, by the weights of its terms, is among those that are held."""
    total = sum(weights.values())
    return sum(weights[term] for term in set(held) & weights.keys()) / total if total else 0.0


def _best_share(texts: Iterable[str], weights: Mapping[str, float]) -> float:
    return max((share(terms(text), weights) for text in texts), default=0.0)
