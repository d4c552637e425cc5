"""Whether papers agree: who speaks for a statement, who against it, each in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from rag.answering.abstention import holds_nothing
from rag.answering.asking import MOST_CHARS, GivenUp
from rag.answering.bench import Bench, Case
from rag.answering.conflicts import conflicting
from rag.answering.events import Done, Event
from rag.answering.forms import DENIAL, denies
from rag.answering.phrases.questions import COURTESY
from rag.answering.prompting import Labelled, label, name_of, show
from rag.retrieval.evidence import choose
from rag.text import legible, normalise, terms

_STATES = re.compile(r"\b(?:that|whether)\b", re.IGNORECASE)
PROMPT = "stance"
_TOKENS = 120
_PAPERS = 12
_SENTENCES = 20
_HOLDS = 0.75
_FRAME = re.compile(
    r"^(?:where |on what |why )?(?:do|does|did|is|are)\b.{0,30}?\b(?:papers|abstracts|articles"
    r"|studies|works|authors|researchers|results|findings|sources|literature|collection)?\b ?"
    r"(?:(?:dis)?agree|contradict(?: each other)?|conflict)\b(?: with each other)?"
    r"(?: (?:on|about|that|whether|over|in))?"
    r"|^(?:is|are) there (?:an? |any )?(?:scientific )?(?:agreement|disagreement|consensus|evidence"
    r"|contradictions?|controversy|debate|conflicting \w+)(?: in the (?:papers|abstracts|collection"
    r"|literature))?(?: (?:on|about|that|whether|over|for and against|for or against|for|against))?"
    r"|^what (?:is|are) the (?:evidence|arguments|pros and cons)(?: for and against| of)?",
    re.IGNORECASE,
)

Stance = str
FOR, AGAINST, DIFFER, SAID = "for", "against", "differ", "said"
_TITLES = {
    FOR: "For",
    AGAINST: "Against",
    DIFFER: "The abstracts disagree",
    SAID: "What the abstracts say of it",
}


def statement_of(question: str) -> str:
    """What a question wants agreement on: "reward hacking" of "Do papers agree on it?"."""
    bare = re.sub(COURTESY, "", " ".join(question.split()), flags=re.IGNORECASE)
    return _FRAME.sub("", bare).strip(" ?.!:,")


def weigh(bench: Bench, case: Case) -> Iterator[Event]:
    """Answer whether papers agree, with quotes from each side."""
    asked = statement_of(case.question.text) or case.question.text
    question = replace(case.question, text=asked)
    found = bench.finder.find(question, _PAPERS, case.reading, sentences=_SENTENCES)
    budget = replace(bench.budget, papers=_PAPERS)
    chosen = choose(found.hits, found.vectors, budget)
    work = bench.work(case, found)
    sentences = label([(hit.paper, item) for hit, item in chosen])
    sides = {} if holds_nothing(found) else _sides(bench, case, asked, sentences)
    counted = {side: _one_each(items) for side, items in sides.items() if items}
    for number, (side, items) in enumerate(counted.items()):
        first = _verdict(counted) if number == 0 else ""
        yield work.head(f"{first}{_headed(side, items)}")
        for item in items:
            name = name_of(item.paper)
            quote = legible(item.evidence.text)
            text = quote if not name or normalise(name) in normalise(quote) else f"{name}: {quote}"
            yield from work.state(text, [(item.paper, item.evidence)])
    yield Done(replace(work.finish(), kind="agreement"))


def _sides(
    bench: Bench, case: Case, asked: str, sentences: Sequence[Labelled]
) -> dict[Stance, list[Labelled]]:
    """Who is for and who against: by a model where one is there, else by the words."""
    if bench.asker is not None and sentences:
        case.tell("weighing the evidence")
        form = {"type": "array", "items": {"type": "string", "enum": [s.label for s in sentences]}}
        schema: dict[str, object] = {
            "type": "object",
            "properties": {FOR: form, AGAINST: form},
            "required": [FOR, AGAINST],
            "additionalProperties": False,
        }
        values = {"statement": asked[:MOST_CHARS], "evidence": show(sentences)}
        try:
            reply = bench.asker.ask(PROMPT, values, schema, _TOKENS, case.reading)
            return _named(reply.value, sentences)
        except GivenUp:
            pass
    if sides := by_words(asked, sentences):
        topic = not _STATES.search(case.question.text) and DIFFER not in sides
        both = [*sides.get(FOR, []), *sides.get(AGAINST, [])]
        return {SAID: both} if topic else sides
    return {}


def _named(value: object, sentences: Sequence[Labelled]) -> dict[Stance, list[Labelled]]:
    """The sides that a reply names; what it puts on both is on neither."""
    given = value if isinstance(value, dict) else {}
    said = {
        side: {str(name).strip(" []") for name in names} if isinstance(names, list) else set[str]()
        for side in (FOR, AGAINST)
        for names in [given.get(side)]
    }
    both = said[FOR] & said[AGAINST]
    return {side: [s for s in sentences if s.label in said[side] - both] for side in said}


def by_words(asked: str, sentences: Sequence[Labelled]) -> dict[Stance, list[Labelled]]:
    """Sentences with nearly all words of a statement, parted by whether they deny one of them.

    Those that say the same with other numbers contradict each other, whatever was asked.
    """
    wanted = set(terms(asked))
    sides: dict[Stance, list[Labelled]] = {FOR: [], AGAINST: []}
    for item in sentences:
        held = wanted & set(terms(item.evidence.text))
        if wanted and len(held) >= _HOLDS * len(wanted):
            against = denies(item.evidence.text, wanted) != bool(DENIAL.search(asked))
            sides[AGAINST if against else FOR].append(item)
    both = [] if all(sides.values()) else conflicting(asked, sentences)
    return {DIFFER: both} if both else sides


def _one_each(items: Sequence[Labelled]) -> list[Labelled]:
    """The best sentence of each paper."""
    best: dict[str, Labelled] = {}
    for item in sorted(items, key=lambda item: -item.relevance):
        best.setdefault(item.paper.id, item)
    return list(best.values())


def _verdict(sides: dict[Stance, list[Labelled]]) -> str:
    if {FOR, AGAINST} <= sides.keys():
        return "Mixed. "
    papers = {item.paper.id for items in sides.values() for item in items}
    if {DIFFER, SAID} & sides.keys():
        return ""
    return "Only one paper speaks of it. " if len(papers) == 1 else "The abstracts agree. "


def _headed(side: Stance, items: Sequence[Labelled]) -> str:
    papers = "1 paper" if len(items) == 1 else f"{len(items)} papers"
    return f"{_TITLES[side]} ({papers})"
