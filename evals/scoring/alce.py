"""Citations as the script of ALCE counts them, for figures to be compared with those it made.

`evals.scoring.citations` follows the paper. Its script (princeton-nlp/ALCE, `eval.py` at 3fdc2ed,
`compute_autoais` with citations) differs from the paper in this, and so does this module:

* only the first line of an answer counts;
* of the citations of a sentence only the first three count, repeated ones each time;
* a citation is an opening bracket with digits: `[1, 2]` is 1 alone, `[1-3]` is 1;
* numbers count from 1 into the documents, so that `[0]` is the last one, as Python counts;
* a sentence that cites beyond the documents has recall 0, and its citations are not counted;
* an answer without a sentence is left out; one without citations has precision 0.

What is not the same: sentences are split as everywhere here and not by NLTK, and whoever calls says
what entails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from evals.record import Record
from evals.scoring.statements import Passage
from rag.text import split_sentences

MOST = 3
_CITED = re.compile(r"\[(\d+)")

Entails = Callable[[Sequence[int], str], bool]
"""Whether documents, by place from 0 with -1 for the last, entail a claim together."""


@dataclass(frozen=True, slots=True)
class AlceScore:
    """Recall and precision of one answer, or their means over `answers`."""

    recall: float
    precision: float
    answers: int = 1


def alce(text: str, documents: int, entails: Entails) -> AlceScore | None:
    """The scores of an answer that was given so many documents; None: it has no sentence."""
    line = text.strip().split("\n")[0].replace("<|im_end|>", "")
    sentences = [line[start:end] for start, end in split_sentences(line)]
    if not sentences:
        return None
    supported = precise = counted = 0
    for sentence in sentences:
        places = [int(digits) - 1 for digits in _CITED.findall(sentence)]
        if not places or not documents or any(place >= documents for place in places):
            continue
        places = places[:MOST]
        counted += len(places)
        claim = bare(sentence)
        if entails(places, claim):
            supported += 1
            precise += sum(_needed(places, place, claim, entails) for place in places)
    return AlceScore(supported / len(sentences), precise / counted if counted else 0.0)


def alce_mean(scores: Iterable[AlceScore | None]) -> AlceScore | None:
    """The means over answers that have a sentence; None where no answer has."""
    found = [score for score in scores if score is not None]
    if not found:
        return None
    recall, precision = (fmean(values) for values in zip(*_pairs(found), strict=True))
    return AlceScore(recall, precision, len(found))


def bare(sentence: str) -> str:
    """A sentence as the script shows it to its judge, without citations."""
    return (
        re.sub(r"\[\d+", "", re.sub(r" \[\d+", "", sentence))
        .replace(" |", "")
        .replace("]", "")
        .strip()
    )


def documents_of(record: Record) -> list[Passage]:
    """The documents of a recorded answer in the order of their numbers, each whole."""
    cited = sorted(record.answer.get("citations", []), key=lambda one: int(one["number"]))
    papers = [(one["paper_id"], record.papers[one["paper_id"]]) for one in cited]
    return [Passage(key, paper.title, paper.text) for key, paper in papers]


def _needed(places: Sequence[int], place: int, claim: str, entails: Entails) -> bool:
    """Whether it is alone, entails by itself, or the others do not entail without it."""
    if len(places) == 1 or entails([place], claim):
        return True
    rest = list(places)
    rest.remove(place)
    return not entails(rest, claim)


def _pairs(scores: Iterable[AlceScore]) -> list[tuple[float, float]]:
    return [(score.recall, score.precision) for score in scores]
