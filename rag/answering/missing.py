"""What an abstention did not find, and where what the question says does stand; no model is asked.

A question that says something of one paper which stands in another has a false premise, or mixes
the two up: the sentence of the other is the best that can be told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag.answering.signals import FIRST, lacking, marks_of, share, short_name, whole
from rag.retrieval.search import Found
from rag.schema import Evidence, Hit, Paper
from rag.text import content_words, legible, terms

_MOST = 4  # phrases that are told
_OWNERS = 2  # papers that have what belongs to one of them
_TITLE_CHARS = 80
_WORD = re.compile(r"[^\W_]+(?:[-.'’/][^\W_]+)*")
_OTHER_LETTERS = re.compile(
    "[\u0400-\u04ff\u0600-\u06ff\u0900-\u097f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_ASKING = frozenset(
    "many much large long often big far well use used using give given get got take taken make "
    "made come came call called report reported obtain reach does compare relative tell say "
    "mention know think happen different exactly".split()
)


@dataclass(frozen=True, slots=True)
class Premise:
    """A name or number of the question, and the sentence of another paper that has it."""

    mark: str
    paper: Paper
    evidence: Evidence


def nearest_paper(found: Found) -> Hit | None:
    """The paper that a question is about: the one that it names by the name in its title.

    Else of the first few the one with most of its names, and where no paper has any, the first.
    """
    asked = set(terms(found.question.text))
    for hit in found.hits:
        name = set(terms(short_name(hit.paper)))
        if name and name <= asked:
            return hit
    marks = marks_of(found.question.text)
    first = found.hits[:FIRST]
    return min(first, key=lambda hit: len(lacking(marks, whole(hit))), default=None)


def missing(found: Found, premises: Sequence[Premise] = ()) -> str:
    """What is not found, in one or two sentences for a person."""
    hit = nearest_paper(found)
    if hit is None:
        return "No paper of the collection comes near the question."
    if _OTHER_LETTERS.search(found.question.text):
        return " ".join([f"The nearest paper is {_named(hit.paper)}.", *_elsewhere(premises)])
    about = f"The abstract of {_named(hit.paper)}"
    phrases = _phrases(found.question.text, whole(hit))
    if not phrases:
        said = f"{about} has the words of the question, but no sentence that answers it."
    elif share(terms(whole(hit)), found.weights) < 1 / 2:
        said = f"The nearest paper, {_named(hit.paper)}, does not mention {_listed(phrases)}."
    else:
        said = f"{about} does not mention {_listed(phrases)}."
    return " ".join([said, *_elsewhere(premises)])


def _elsewhere(premises: Sequence[Premise]) -> list[str]:
    """Where the names and numbers do stand, a sentence for each paper."""
    papers = {one.paper.id: one.paper for one in premises}
    told = []
    for key, paper in papers.items():
        marks = [one.mark for one in premises if one.paper.id == key]
        stand = "stands" if len(marks) == 1 else "stand"
        told.append(f"{' and '.join(marks)} {stand} in {_named(paper)}.")
    return told


def premises(found: Found) -> tuple[Premise, ...]:
    """The names and numbers that the paper asked about lacks, and another that was found has.

    Only where the question has some of the paper's own, else nothing is mixed up; and not what
    many papers have, such as LLM, nor a word in capitals alone, nor what another paper is called:
    the question asks of both.
    """
    marks = marks_of(found.question.text)
    hit = nearest_paper(found)
    if hit is None:
        return ()
    absent = lacking(marks, whole(hit))
    if not absent or len(absent) == len(marks):
        return ()
    others = [other for other in found.hits if other.paper.id != hit.paper.id]
    placed = (_place(mark, others) for mark in absent)
    return tuple(one for one in placed if one)


def _place(mark: str, hits: Iterable[Hit]) -> Premise | None:
    having = [hit.paper for hit in hits if not lacking([mark], hit.paper.text)]
    called = (set(terms(short_name(paper))) for paper in having)
    shouted = mark.isalpha() and mark.isupper()  # SELECT and GPU are words of anybody's
    if shouted or not 1 <= len(having) <= _OWNERS or set(terms(mark)) in called:
        return None
    paper = having[0]
    for index, said in enumerate(paper.sentences):
        if not lacking([mark], said.text):
            at = Evidence(paper.id, index, said.text, said.start, said.end, 0.0)
            return Premise(mark, paper, at)
    return None


def _phrases(question: str, text: str) -> list[str]:
    """What the question asks for and the text does not have: runs of its words, as it has them."""
    held = set(terms(text))
    runs: list[list[str]] = [[]]
    for word in _WORD.findall(question):
        wanted = set(terms(word)) if content_words(word) else set()
        if wanted and word.casefold() not in _ASKING and not wanted <= held:
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    return list(dict.fromkeys(" ".join(run) for run in runs if run))[:_MOST]


def _named(paper: Paper) -> str:
    title = legible(paper.title)
    if len(title.split()) == 1:
        return title
    cut = title if len(title) <= _TITLE_CHARS else f"{title[:_TITLE_CHARS].rsplit(' ', 1)[0]} …"
    return f"“{cut}”"


def _listed(phrases: Sequence[str]) -> str:
    quoted = [f"“{phrase}”" for phrase in phrases]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]] if quoted[1:] else quoted)
