"""Lists and counts over the whole collection: every paper is checked, and each one listed cites.

A list does not stop at the papers that a search returns, and a count is the length of a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from rag.answering.abstention import REFUSAL
from rag.answering.bench import Bench, Case
from rag.answering.census import Checked, Yardstick, alternatives, best_of
from rag.answering.conditions import Condition, condition_of
from rag.answering.events import Done, Event
from rag.answering.parts import choice_of
from rag.answering.prompting import name_of
from rag.answering.screening import screen
from rag.answering.work import Work
from rag.index.browse import Filter
from rag.retrieval.query import Query, Question
from rag.retrieval.search import Found
from rag.schema import Coverage, Evidence, Hit
from rag.text import legible, normalise, terms, tokens

_ALL_SENTENCES = 10_000
_SCREENED = {"local": 8}
_SCREENED_BY_SERVER = 24


@dataclass(frozen=True, slots=True)
class Listed:
    """The papers that meet a condition, those that may, and how many were checked for it.

    `number` is how many meet it, where not all of them are held here.
    """

    condition: Condition
    found: Found
    papers: tuple[Checked, ...]
    open: tuple[Checked, ...]
    coverage: Coverage
    number: int


def list_papers(bench: Bench, case: Case) -> Iterator[Event]:
    """Answer a question for a list or a count of papers."""
    case.tell("checking every paper")
    listed = census(bench, case)
    listed, note = _screened(bench, case, listed)
    work = bench.work(case, listed.found)
    shown = listed.papers[: bench.config.most_listed]
    if shown:
        yield work.head(_title(listed, len(shown)))
    for one in shown:
        yield from work.state(said_by(one), [(one.hit.paper, one.evidence)])
    yield _done(work, case, listed, note)


def census(bench: Bench, case: Case) -> Listed:
    """Hold every paper that passes the question's filters against its condition.

    Of a collection larger than `most_checked` these are the papers nearest to the condition, and
    the coverage says so.
    """
    read = bench.finder.find(case.question, 1, case.reading, filters=case.filters)
    condition = _without_names(condition_of(read.query.text), read.query)
    if not terms(condition.text):
        return _all(bench, condition, read)
    return _checked(bench, condition, read.query.filters)


def census_of(bench: Bench, case: Case, condition: Condition) -> Listed:
    """Hold every paper against a condition that is known, with the filters of the case alone."""
    return _checked(bench, condition, case.filters)


def _checked(bench: Bench, condition: Condition, filters: Sequence[Filter]) -> Listed:
    with bench.reader.state() as state:
        total = state.snapshot.size()
    limit = min(bench.config.most_checked, total)
    found = bench.finder.searcher.search(
        Question(condition.text), limit, sentences=_ALL_SENTENCES, filters=filters
    )
    ranked = sorted(_checks(bench, condition, found), key=lambda one: -one.score)
    meets = tuple(one for one in ranked if one.meets)
    left = tuple(one for one in ranked if one.meets is None)
    among = found.query.papers
    checked = limit if among is None else min(limit, len(among))
    return Listed(condition, found, meets, left, Coverage(checked, total), len(meets))


def _without_names(condition: Condition, query: Query) -> Condition:
    """The condition without what its filters say: where they are all, the text still has them."""
    if not query.terms:
        return replace(condition, text="")
    named = {word for one in query.filters for word in tokens(f"{one.author} {one.venue}")}
    kept = [word for word in condition.text.split() if not named.issuperset(tokens(word))]
    return replace(condition, text=" ".join(kept)) if named else condition


def _all(bench: Bench, condition: Condition, read: Found) -> Listed:
    """Every paper that passes the filters, in the order of files and places, by its beginning."""
    among = read.query.papers
    with bench.reader.state() as state:
        total = state.snapshot.size()
        papers = (one for one in state.snapshot.all_papers() if among is None or one.id in among)
        named = [Hit(paper, 0.0) for paper in islice(papers, bench.config.most_listed)]
    checked = tuple(_begun(hit) for hit in named if hit.paper.sentences)
    number = total if among is None else len(among)
    return Listed(condition, read, checked, (), Coverage(total, total), number)


def _checks(bench: Bench, condition: Condition, found: Found) -> list[Checked]:
    wanted, known = alternatives(condition), found.query.expansions
    with bench.reader.state() as state:
        vectors = state.embed([one.text for one in wanted])
        size = state.snapshot.size()
        measures = [
            Yardstick.of(one, state.snapshot.holding(terms(one.text)), size, vector, known)
            for one, vector in zip(wanted, vectors, strict=True)
        ]
    return [
        best_of([measure.check(hit, found.vectors[hit.paper.id]) for measure in measures])
        for hit in found.hits
        if hit.paper.sentences
    ]


def _begun(hit: Hit) -> Checked:
    first = hit.paper.sentences[0]
    evidence = Evidence(hit.paper.id, 0, first.text, first.start, first.end, 0.0)
    return Checked(hit, evidence, hit.score, True)


def _screened(bench: Bench, case: Case, listed: Listed) -> tuple[Listed, str]:
    """The list with those of the open papers that a model says yes to."""
    if bench.asker is None or not listed.open:
        return listed, ""
    case.tell("reading the papers that are left open")
    most = _SCREENED.get(choice_of(bench.config), _SCREENED_BY_SERVER)
    taken, note = screen(listed.condition.text, listed.open, bench.asker, case.reading, most)
    left = tuple(one for one in listed.open if one not in taken)
    papers = (*listed.papers, *taken)
    return replace(listed, papers=papers, open=left, number=len(papers)), note


def said_by(one: Checked) -> str:
    """The sentence that speaks for a paper, word for word, behind its name if it has one."""
    name = name_of(one.hit.paper)
    quote = legible(one.evidence.text)
    return quote if not name or normalise(name) in normalise(quote) else f"{name}: {quote}"


def _title(listed: Listed, shown: int) -> str:
    number = listed.number
    papers = f"{number:,} paper" if number == 1 else f"{number:,} papers"
    more = f"; the first {shown:,} are listed" if shown < number else ""
    return f"{papers}{_sought(listed)} ({told(listed.coverage)}{more})"


def _sought(listed: Listed) -> str:
    text = listed.condition.text.strip('"“”')
    about = f" found for “{text}”" if text else " in the collection"
    return ", ".join([about, *(wanted.told() for wanted in listed.found.query.filters)])


def told(coverage: Coverage) -> str:
    """How many papers were checked, in words."""
    return f"checked {coverage.checked:,} of {coverage.total:,} abstracts"


def _done(work: Work, case: Case, listed: Listed, note: str) -> Done:
    answer = work.finish()
    text, missing = answer.text, answer.missing
    if not listed.papers:
        missing = f"a paper{_sought(listed)}"
        text = f"{REFUSAL} No paper was{_sought(listed)} ({told(listed.coverage)})."
    notes = "; ".join(filter(None, (answer.note, note)))
    return Done(
        replace(
            answer,
            text=text,
            missing=missing,
            note=notes,
            kind=case.kind,
            coverage=listed.coverage,
        )
    )
