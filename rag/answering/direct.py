"""A question answered from the sentences that come nearest to it, as most questions are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rag.answering.asked_of import speaking, untold
from rag.answering.asking import Reading
from rag.answering.bench import Bench, Case
from rag.answering.conflicts import conflicting
from rag.answering.conversation import Conversation, short_name
from rag.answering.events import Done, Event
from rag.answering.facts import names
from rag.answering.followed import Followed
from rag.answering.helping import MOST_CLAIMS, quotes_of
from rag.answering.missing import nearest_paper
from rag.answering.narrowing import SHORTER
from rag.answering.prompting import Labelled, label
from rag.answering.published import What, asks_for, silent_on, told_of
from rag.answering.resolving import unspoken
from rag.answering.speech import writes_in
from rag.answering.support import Judgement
from rag.answering.ungiven import gives_address, ungiven
from rag.answering.work import Work
from rag.answering.writing import QuotingWriter, Task
from rag.index.browse import Filter
from rag.retrieval.crowding import uncrowded
from rag.retrieval.evidence import Chosen, choose
from rag.retrieval.query import Question
from rag.retrieval.search import Found
from rag.schema import Evidence, Paper
from rag.text import legible

_FEW = 3  # papers that a name tells from the others
_SENTENCES = 20  # of each paper, from which those to read are chosen


def answer_directly(
    bench: Bench, case: Case, followed: Followed, before: Conversation
) -> Iterator[Event]:
    """Search, decide whether what was found answers, and have it written."""
    wanted = (bench, followed.searched, case.reading, followed, before, case.filters)
    found, chosen = evidence_for(*wanted)
    sentences = label([(hit.paper, evidence) for hit, evidence in chosen])
    decision = bench.decider.decide(found, sentences, case.reading, bench.config.persona)
    work = bench.work(case, found, decision, followed)
    yield from work.begin()
    if what := asks_for(followed.text):
        yield from from_its_record(bench, work, what, followed, found)
        return
    given = gives_address(followed.text, [hit.paper for hit in found.hits])
    if followed.absent or not (decision.answers or given or (followed.without and sentences)):
        yield work.abstain()
        return
    if case.kind == "comparison":
        sentences = evenly(followed.text, sentences)
    if both := conflicting(followed.text, sentences):
        yield from both_sides(work, case, both)
        return
    if aspect := "" if given else _aspect_missing(followed, found):
        yield Done(replace(work.abstain().answer, missing=aspect))
        return
    if isinstance(bench.writer, QuotingWriter):  # a model may leave out what it reads
        sentences = bearing(followed.text, sentences)
    sentences = list(speaking(followed.text, sentences))
    case.tell("reading the evidence")
    task = Task(
        *("answer", followed.text, tuple(sentences)),
        1 if followed.rule == SHORTER else MOST_CLAIMS,
        case.reading.stop,
        bench.config.persona,
        writes_in(followed.text),
        quotes=0 if followed.rule == SHORTER else quotes_of(bench.config),
    )
    yield from work.write(task, case.kind)


def _aspect_missing(followed: Followed, found: Found) -> str:
    """What a question asks of a paper that it names and whose abstract does not give it."""
    for hit in found.hits:
        if thing := untold(followed.text, hit.paper):
            return f"The abstract of {short_name(hit.paper)} does not mention “{thing}”."
    return ungiven(followed.text, [hit.paper for hit in found.hits])


def from_its_record(
    bench: Bench, work: Work, what: What, followed: Followed, found: Found
) -> Iterator[Event]:
    """By whom, when or where a paper was published, or that the collection does not give that."""
    hit = nearest_paper(found)
    papers = followed.papers[:1] or ((hit.paper,) if hit else ())
    for paper in papers:
        name = short_name(paper) or f"“{legible(paper.title)}”"
        if (said := told_of(paper, what, name)) and paper.sentences:
            first = paper.sentences[0]
            shown = Evidence(paper.id, 0, first.text, first.start, first.end, 0.0)
            judged = Judgement(
                "supported", "the record of the paper says it, not its abstract", 1.0
            )
            yield from work.state(said, [(paper, shown)], judged)
            yield Done(work.finish())
            return
        with bench.reader.state() as state:
            silent = silent_on(state.snapshot, what, name)
        yield Done(replace(work.abstain().answer, missing=silent))
        return
    yield work.abstain()


def evidence_for(
    bench: Bench,
    asked: Question,
    reading: Reading,
    followed: Followed,
    before: Conversation | None = None,
    filters: Sequence[Filter] = (),
) -> tuple[Found, list[Chosen]]:
    """What is found for a question, and the sentences to answer from, most wanted first.

    `filters` are those of the case, which has those of `followed` among them.
    """
    found = bench.finder.find(
        asked,
        bench.config.top_k + len(followed.without),
        reading,
        sentences=_SENTENCES,
        filters=filters,
    )
    found = replace(found, hits=tuple(unspoken(found.hits, followed, before)))
    return found, choose(uncrowded(found.hits), found.vectors, bench.budget, found.query.text)


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


def bearing(question: str, sentences: list[Labelled]) -> list[Labelled]:
    """The sentences of the papers that bear a name of the question, where few papers do.

    What others say is not about what is asked. A name that many have, such as LLM, tells nothing.
    """
    asked = names(question)
    texts = {item.paper.id: f"{item.paper.title} {item.paper.text}" for item in sentences}
    having = {id_ for id_, text in texts.items() if asked & names(text)}
    if not 1 <= len(having) <= _FEW:
        return sentences
    return [item for item in sentences if item.paper.id in having]


def _named(paper: Paper) -> str:
    year = f" ({paper.meta.year})" if paper.meta.year else ""
    return f"{legible(paper.title)}{year}"
