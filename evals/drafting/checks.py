"""What code can tell of a drafted question without a person; pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from evals.judging.protocol import Case
from evals.judging.scorer import SupportJudge
from evals.matching import holds
from evals.scoring.answers import f1
from evals.scoring.quantities import is_quantity, matches, tokens_of
from evals.scoring.statements import Passage
from rag.text import terms

_SAME = 0.8  # token F1 from which two questions are one
_ANSWER_WORDS = 12
_QUESTION_WORDS = 4
_POINTS_AT_PAPER = re.compile(
    r"\b(?:this|the|these|given|above|following|presented|provided|cited)\s+(?:\w+\s+)?(?:papers?"
    r"|abstracts?|stud(?:y|ies)|authors?|works?|articles?|research|texts?|passages?|sentences?"
    r"|excerpts?|researchers)\b"
    r"|\b(?:the|this)\s+(?:(?:newly\s+)?(?:proposed|presented|introduced|described|new|novel)\s+)"
    r"(?:\w+\s+)?(?:methods?|frameworks?|models?|approach(?:es)?|algorithms?|systems?|techniques?)\b"
    r"|\b(?:the|this)\s+(?:methods?|frameworks?|approach|algorithm)\b(?!\s+(?:of|for|that|called|named"
    r"|in|by|used|to)\b)"
    r"|\b(?:the|this)\s+(?:benchmark|data ?set|experiments?|evaluation|analysis)\s*\?$"
    r"|\b(?:we|our|us)\b|\baccording to\b|\bS\d+\b",
    re.IGNORECASE,
)


_GENERIC = frozenset(
    terms(
        "problem study studied paper method approach framework model system result finding main "
        "key propose proposed new novel name purpose goal aim challenge limitation question answer "
        "work technique algorithm solution contribution introduce introduced present used address "
        "phenomenon outcome conclusion benefit advantage term called tested evaluated formalization"
    )
)  # what the question of any paper may be made of


def check(question: str, answer: str, sentence: str, others: Iterable[str]) -> dict[str, bool]:
    """Which checks a draft passes, by name.

    - `evidence`: the sentence that it names is there;
    - `answer`: its numbers and names stand in that sentence, and most of its words;
    - `hidden`: the question does not tell the answer;
    - `alone`: it can be understood without seeing the paper: it does not point at it, and names
      something besides what every paper has;
    - `form`: it is a question of several words with a short answer;
    - `new`: no question of `others` has nearly the same words.
    """
    return {
        "evidence": bool(sentence),
        "answer": bool(sentence) and stands(answer, sentence),
        "hidden": not _tells(question, answer),
        "alone": _is_alone(question),
        "form": _is_formed(question, answer),
        "new": not any(_same(question, other) for other in others),
    }


def passes(checks: dict[str, bool]) -> bool:
    """Whether a draft passes every check."""
    return all(checks.values())


def _is_alone(question: str) -> bool:
    return not _POINTS_AT_PAPER.search(question) and not set(terms(question)) <= _GENERIC


def stands(answer: str, sentence: str) -> bool:
    """Whether a sentence says it, by the product's check of claims or as the number that it is."""
    if is_quantity(answer):
        return matches(answer, sentence)
    passage = Passage("", "", sentence)
    return holds(sentence, answer) or SupportJudge().judge(Case(answer, (passage,))).label == (
        "support"
    )


def _tells(question: str, answer: str) -> bool:
    words = set(terms(answer))
    return holds(question, answer) or (bool(words) and words <= set(terms(question)))


def _is_formed(question: str, answer: str) -> bool:
    asks = question.rstrip().endswith(("?", "？"))
    several = len(question.split()) >= _QUESTION_WORDS or not question.isascii()
    return asks and several and len(answer.split()) <= _ANSWER_WORDS


def _same(question: str, other: str) -> bool:
    return f1(list(tokens_of(other)), list(tokens_of(question))) >= _SAME
