"""Who answers which kind of question; what has nobody of its own is answered as a fact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from rag.answering.bench import Bench, Case
from rag.answering.events import Done, Event
from rag.answering.facts import names
from rag.answering.listing import list_papers
from rag.answering.prompting import Labelled
from rag.answering.stances import weigh
from rag.answering.summing import summarise_named
from rag.answering.survey import survey
from rag.answering.tables import Tables
from rag.answering.talk import talk
from rag.answering.work import Work
from rag.schema import Kind, Paper
from rag.text import legible


def answer_by_kind(bench: Bench, case: Case) -> Iterator[Event] | None:
    """The events of an answer in the form of its kind; None: it is answered as a fact."""
    answerer = _ANSWERERS.get(case.kind)
    return answerer(bench, case) if answerer else None


def both_sides(work: Work, case: Case, both: Sequence[Labelled]) -> Iterator[Event]:
    """What each of several papers says where they disagree, with its name and year."""
    yield work.head("The abstracts disagree")
    for item in both:
        text = f"{_named(item.paper)}: {legible(item.evidence.text)}"
        yield from work.state(text, [(item.paper, item.evidence)])
    yield Done(replace(work.finish(), kind=case.kind))


def evenly(question: str, sentences: Sequence[Labelled]) -> list[Labelled]:
    """The same sentences, those of a comparison's papers in turn: the best of each before others.

    They are the papers that bear a name of the question, or all where fewer than two do.
    """
    asked = names(question)
    bearing = {s.paper.id for s in sentences if asked & names(f"{s.paper.title} {s.paper.text}")}
    able = bearing if len(bearing) > 1 else {s.paper.id for s in sentences}
    best = {id_: max(s.relevance for s in sentences if s.paper.id == id_) for id_ in able}
    return [
        replace(s, relevance=s.relevance + len(sentences))
        if s.relevance == best.get(s.paper.id)
        else s
        for s in sentences
    ]


def _named(paper: Paper) -> str:
    year = f" ({paper.meta.year})" if paper.meta.year else ""
    return f"{legible(paper.title)}{year}"


def _talk(bench: Bench, case: Case) -> Iterator[Event]:
    """No paper has a part in it, so nothing is searched."""
    said = talk(case.question.text)
    answer = bench.work(case, None).finish()
    text = said.text if said else answer.text
    yield Done(replace(answer, status="answered", text=text, kind="talk"))


def _compare(bench: Bench, case: Case) -> Iterator[Event] | None:
    """A table, where the question names papers to compare or asks for one."""
    tables = Tables(bench.config, bench.reader, bench.finder, bench.writer, bench.asker)
    return tables.asked(case.question, case.reading, case.numbers)


_ANSWERERS: Mapping[Kind, Callable[[Bench, Case], Iterator[Event] | None]] = {
    "comparison": _compare,
    "list": list_papers,
    "count": list_papers,
    "summary": summarise_named,
    "overview": survey,
    "agreement": weigh,
    "talk": _talk,
}
