"""A summary of one paper that a question names in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from rag.answering.bench import Bench, Case
from rag.answering.conditions import condition_of
from rag.answering.events import Done, Event
from rag.answering.helping import to_summarise
from rag.answering.prompting import label
from rag.answering.writing import Task
from rag.retrieval.query import Question
from rag.schema import Evidence, Paper
from rag.text import normalise

_SENTENCES = 20
_CLAIMS = 3
_SURE = 0.5
_SUMMARISE = "Summarise this paper."
_COUNTS = {word: n for n, word in enumerate("one two three four five".split(), start=1)}
_ASKED_FOR = re.compile(r"\b(one|two|three|four|five|[1-5])[ -]sentences?\b")
_FRAME = re.compile(
    r"\b(?:in|using|with) (?:\w+|\d)[ -]sentences?\b|\b(?:\w+|\d)-sentence\b"
    r"|\b(?:please|give|write|me|an?|short|brief|summari[sz]e|sum up|summary of|describe|tldr|of"
    r"|what|does|do|is|find|finds|and|propose|proposes|about|paper|abstract|the|that)\b",
    re.IGNORECASE,
)


def summarise_named(bench: Bench, case: Case) -> Iterator[Event] | None:
    """A summary of the paper that the question names; None where it is not clear which one."""
    named = " ".join(re.sub(r"[?!,.:]+(?=\s|$)", " ", _FRAME.sub(" ", case.question.text)).split())
    text = named or condition_of(case.question.text).text
    found = bench.finder.find(Question(text), 2, case.reading, filters=case.filters)
    if not found.hits or found.coverage < _SURE:
        return None
    paper = found.hits[0].paper
    work = bench.work(case, found)
    wanted = most(case.question.text)
    sentences = to_summarise(bench.config, label(_said(paper)), wanted)
    task = Task("summary", _SUMMARISE, sentences, wanted)
    return (_as_summary(event) for event in work.write(task))


def most(question: str) -> int:
    """How many sentences are asked for; three where that is left open."""
    found = _ASKED_FOR.search(normalise(question))
    if not found:
        return _CLAIMS
    return _COUNTS.get(found[1]) or int(found[1])


def _said(paper: Paper) -> list[tuple[Paper, Evidence]]:
    return [
        (paper, Evidence(paper.id, place, s.text, s.start, s.end, 0.0))
        for place, s in enumerate(paper.sentences[:_SENTENCES])
    ]


def _as_summary(event: Event) -> Event:
    return Done(replace(event.answer, kind="summary")) if isinstance(event, Done) else event
