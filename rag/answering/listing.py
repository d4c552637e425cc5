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
from rag.answering.conditions import OTHER_LANGUAGES, Condition, condition_of
from rag.answering.demands import Demand, demand_of
from rag.answering.events import Done, Event
from rag.answering.parts import choice_of
from rag.answering.prompting import name_of
from rag.answering.published import unrecorded
from rag.answering.screening import screen
from rag.answering.speech import is_english
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

    `number` is how many meet it, where not all of them are held here. `demand` is what a sentence
    must say beside the condition's words, `unjudged` what no paper's record can tell.
    """

    condition: Condition
    found: Found
    papers: tuple[Checked, ...]
    open: tuple[Checked, ...]
    coverage: Coverage
    number: int
    demand: Demand | None = None
    unjudged: str = ""


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
    with bench.reader.state() as state:
        text, unjudged = unrecorded(read.query.text, state.snapshot)
    condition = _without_names(condition_of(text), read.query)
    if not terms(condition.text):
        return _nothing_left(bench, read, unjudged) if unjudged else _all(bench, condition, read)
    listed = _checked(bench, condition, read.query.filters)
    return _demanding(bench, replace(listed, unjudged=unjudged), demand_of(text), read.query)


def _nothing_left(bench: Bench, read: Found, unjudged: str) -> Listed:
    """What is left where only the papers' records could tell, and they do not."""
    with bench.reader.state() as state:
        coverage = Coverage(0, state.snapshot.size())
    return Listed(Condition("", False), read, (), (), coverage, 0, unjudged=unjudged)


def _demanding(bench: Bench, listed: Listed, demand: Demand | None, query: Query) -> Listed:
    """The list with the papers of which a sentence meets the demand; a model may judge others."""
    if demand is None:
        return listed
    rest = _without_names(condition_of(demand.rest), query)
    held = {one.hit.paper.id: one for one in (*listed.papers, *listed.open)}
    also = _checks(bench, rest, listed.found) if terms(rest.text) else []
    able = {one.hit.paper.id for one in also if one.meets} if also else None
    met = [
        said
        for hit in listed.found.hits
        if (able is None or hit.paper.id in able)
        and (said := _said_to_meet(hit, demand, held.get(hit.paper.id)))
    ]
    taken = {one.hit.paper.id for one in met}
    left = tuple(one for key, one in held.items() if key not in taken)
    return replace(listed, papers=tuple(met), open=left, number=len(met), demand=demand)


def _said_to_meet(hit: Hit, demand: Demand, held: Checked | None) -> Checked | None:
    """The paper with its sentence that meets the demand, or that denies the condition's words."""
    for item in sorted(hit.evidence, key=lambda item: -item.score):
        if demand.met_by(item.text):
            return Checked(hit, item, item.score, True)
    return held if demand.is_denial and held is not None and held.meets else None


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


def _not_found(question: str, listed: Listed) -> tuple[str, str]:
    """What is missing, and why nothing is listed: "none" is said only where that is so."""
    if listed.unjudged and not listed.condition.text:
        return listed.unjudged, f"{listed.unjudged}, so that this cannot be judged."
    if listed.demand:
        said = f"No abstract states {listed.demand.told} ({told(listed.coverage)})"
        return listed.demand.told, f"{said}; those that are silent on it are left open."
    missing, checked = f"a paper{_sought(listed)}", told(listed.coverage)
    if not is_english(question) or OTHER_LANGUAGES.search(normalise(question)):
        return missing, (
            f"The abstracts are in English and were not compared in meaning: no paper has the words"
            f" “{listed.condition.text}” ({checked}). Ask in English, or with a model."
        )
    return missing, f"No paper was{_sought(listed)} ({checked})."


def _left_open(listed: Listed) -> Iterator[str]:
    """What a reader should know of the papers that are not listed, and of those that are."""
    if listed.unjudged and listed.condition.text:
        yield f"{listed.unjudged}: that was not judged"
    if listed.demand and listed.papers and not listed.demand.act:
        yield "papers whose abstracts are silent on it are not counted"


def _done(work: Work, case: Case, listed: Listed, note: str) -> Done:
    answer = work.finish()
    text, missing = answer.text, answer.missing
    if not listed.papers:
        missing, said = _not_found(case.question.text, listed)
        text = f"{REFUSAL} {said}"
    notes = "; ".join(filter(None, (answer.note, note, *_left_open(listed))))
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
