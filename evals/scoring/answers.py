"""Whether an answer is right: required strings, overlap of words, numbers, labels, patterns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from evals.matching import holds
from evals.scoring.quantities import is_quantity, matches, tokens_of
from evals.suite import Question


def correct(asked: Question, response: str) -> float | None:
    """1 if the response holds the required answers: all of them or any, as the question says.

    An answer is there if one of its forms stands in the response as whole words, signs and LaTeX
    made equal, or if it is a number and the response has the same number in another form. None
    where the suite has no answers to compare with.
    """
    if not asked.answers:
        return None
    found = [
        any(_has(response, form) for form in (answer, *asked.aliases.get(answer, ())))
        for answer in asked.answers
    ]
    return float(all(found) if asked.must_all else any(found))


def token_f1(asked: Question, response: str) -> float | None:
    """The F1 of the words that response and answer share, the best over the answers.

    With c shared words, counted as often as both have them: precision c / words of the response,
    recall c / words of the answer, F1 their harmonic mean (Rajpurkar et al. 2016, "SQuAD", section
    5). Where all answers are required they are joined. Against a `reference` where there are no
    answers; None where there is neither.
    """
    golds = [" ".join(asked.answers)] if asked.must_all else list(asked.answers)
    golds = golds or [one for one in (asked.reference,) if one]
    if not golds:
        return None
    given = list(tokens_of(response))
    return max(f1(list(tokens_of(gold)), given) for gold in golds)


def f1(gold: Sequence[str], given: Sequence[str]) -> float:
    """The F1 of two bags of words; 1 if both are empty, 0 if one is."""
    if not gold or not given:
        return float(not gold and not given)
    shared = (Counter(gold) & Counter(given)).total()
    return 2 * shared / (len(gold) + len(given))


def numeric(asked: Question, response: str) -> float | None:
    """1 if every answer that is a number stands in the response, in any form and unit of it.

    With `must_all`; else one is enough. None where no answer is a number.
    """
    numbers = [answer for answer in asked.answers if is_quantity(answer)]
    if not numbers:
        return None
    found = [matches(answer, response) for answer in numbers]
    return float(all(found) if asked.must_all else any(found))


def said(asked: Question, response: str) -> float | None:
    """1 if the response matches one pattern of `must_say` and none of `must_not_say`.

    What it only repeats from the question counts for neither. None where there are no patterns.
    """
    if not (asked.must_say or asked.must_not_say):
        return None
    text = " ".join(response.replace(asked.question, " ").split())
    wanted = not asked.must_say or any(re.search(one, text, re.I) for one in asked.must_say)
    unwanted = any(re.search(one, text, re.I) for one in asked.must_not_say)
    return float(wanted and not unwanted)


def label_of(response: str) -> str:
    """Yes, no or maybe, where a response begins with the word; empty where it does not."""
    first = re.match(r"\W*(yes|no|maybe|unclear|perhaps)\b", response, re.I)
    word = first[1].lower() if first else ""
    return "maybe" if word in {"unclear", "perhaps"} else word


def labelled(asked: Question, response: str) -> float | None:
    """1 if the response begins with the label of a question of yes, no or maybe, else 0.

    None where the suite has no such label.
    """
    if asked.label not in {"yes", "no", "maybe"}:
        return None
    return float(label_of(response) == asked.label)


def _has(response: str, answer: str) -> bool:
    return holds(response, answer) or (is_quantity(answer) and matches(answer, response))
