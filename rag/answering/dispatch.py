"""Who answers which kind of question; what has nobody of its own is answered as a fact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from rag.answering.bench import Bench, Case
from rag.answering.events import Done, Event
from rag.answering.listing import list_papers
from rag.answering.stances import weigh
from rag.answering.summing import summarise_named
from rag.answering.survey import survey
from rag.answering.tables import Tables
from rag.answering.talk import talk
from rag.schema import Kind

UNFILTERED: frozenset[Kind] = frozenset({"comparison", "agreement"})
"""Kinds whose answerers look at the whole collection, whatever filters were given."""


def answer_by_kind(bench: Bench, case: Case) -> Iterator[Event] | None:
    """The events of an answer in the form of its kind; None: it is answered as a fact."""
    answerer = _ANSWERERS.get(case.kind)
    return answerer(bench, case) if answerer else None


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
