"""Changing recorded answers: claims, citations, texts. Every change leaves the rest as it was."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evals.record import Record
from evals.suite import Item

NUMBER = re.compile(r"\d[\d.]*\s*[%×MKB]?")
_DENIAL = re.compile(
    r"\b(?:not?|never|neither|nor|cannot|without|fail(?:s|ed)?|unable|lacks?|unlike|rather|\w+n't)\b",
    re.IGNORECASE,
)
_INVENTED = "Penguins migrate across frozen seas every winter."


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its records, one for each repeat, all of the same answer."""

    item: Item
    records: tuple[Record, ...]

    @property
    def claims(self) -> list[dict[str, Any]]:
        """The claims of its answer."""
        return list(self.records[0].answer["claims"])

    @property
    def papers(self) -> frozenset[str]:
        """What it cites."""
        return frozenset(self.records[0].papers)

    @property
    def is_numeric(self) -> bool:
        """Whether one of its answers is a number."""
        return any(NUMBER.fullmatch(answer) for answer in self.item.asked.answers)

    @property
    def denies(self) -> bool:
        """Whether its sentences deny anything, so that a denial more is not certainly wrong."""
        return any(_DENIAL.search(claim["text"]) for claim in self.claims)

    @property
    def forms(self) -> list[str]:
        """All that would answer it, folded."""
        asked = self.item.asked
        every = [*asked.answers, *(form for forms in asked.aliases.values() for form in forms)]
        return [form.casefold() for form in every]


@dataclass(frozen=True, slots=True)
class Done:
    """All records after a change, and the questions that were changed, as they had been."""

    records: tuple[Record, ...]
    cases: tuple[Case, ...]


def cases_of(items: Iterable[Item], records: Iterable[Record]) -> list[Case]:
    """The records of each question together."""
    together: dict[str, list[Record]] = {}
    for record in records:
        together.setdefault(record.item, []).append(record)
    return [Case(item, tuple(together[item.id])) for item in items]


def answerable(cases: Sequence[Case]) -> int:
    """How many questions have an answer."""
    return sum(case.item.answerable for case in cases)


def half(
    cases: Sequence[Case], fits: Callable[[Case], bool], change: Callable[[Case], Case]
) -> Done:
    """Change every other one of the questions with an answer that fit."""
    chosen = [case for case in cases if case.item.answerable and fits(case)][::2]
    return Done(merged(cases, [change(case) for case in chosen]), tuple(chosen))


def swapped(
    cases: Sequence[Case],
    fits: Callable[[Case, Case], bool],
    change: Callable[[Case, Case], Case],
) -> Done:
    """Change pairs of questions that cite one paper each: `change(one, other)` is the new one."""
    single = [case for case in cases if case.item.answerable and len(case.papers) == 1][::2]
    pairs = [pair for pair in zip(single[::2], single[1::2], strict=False) if fits(*pair)]
    moved = [new for one, other in pairs for new in (change(one, other), change(other, one))]
    return Done(merged(cases, moved), tuple(case for pair in pairs for case in pair))


def merged(cases: Sequence[Case], changed: Iterable[Case]) -> tuple[Record, ...]:
    """All records, those of changed questions in place of what they were."""
    new = {case.item.id: case for case in changed}
    return tuple(record for case in cases for record in new.get(case.item.id, case).records)


def each(case: Case, change: Callable[[Record], Record]) -> Case:
    """The same change in every repeat."""
    return Case(case.item, tuple(change(record) for record in case.records))


def with_claims(case: Case, claims: Sequence[Mapping[str, Any]]) -> Case:
    """Other claims; the text of the answer is theirs."""
    text = " ".join(str(claim["text"]) for claim in claims)
    new = {"claims": [dict(claim) for claim in claims], "text": text}
    return each(case, lambda record: replace(record, answer={**record.answer, **new}))


def with_texts(case: Case, texts: Mapping[int, str]) -> Case:
    """Other words in the claims of these places."""
    claims = [
        {**claim, "text": texts.get(place, claim["text"])}
        for place, claim in enumerate(case.claims)
    ]
    return with_claims(case, claims)


def first_citing(case: Case, *numbers: int) -> Case:
    """The first claim cites these numbers too."""
    first, *others = case.claims
    cited = [*first["citations"], *numbers]
    return with_claims(case, [{**first, "citations": cited}, *others])


def appended(case: Case, *citations: int) -> Case:
    """One claim more, that no paper says."""
    return with_claims(case, [*case.claims, {"text": _INVENTED, "citations": list(citations)}])


def citing(case: Case, other: Case) -> Case:
    """Its claims, with the citations of another answer."""
    source = other.records[0]

    def change(record: Record) -> Record:
        answer = {**record.answer, "citations": source.answer["citations"]}
        return replace(record, answer=answer, papers=source.papers)

    return each(case, change)


def also_citing(case: Case, other: Case) -> Case:
    """The first claim cites the first paper of another answer too, as number 2."""
    source = other.records[0]
    added = {**source.answer["citations"][0], "number": 2}

    def change(record: Record) -> Record:
        answer = {**record.answer, "citations": [*record.answer["citations"], added]}
        return replace(record, answer=answer, papers={**record.papers, **source.papers})

    return each(first_citing(case, 2), change)


def second_answering(case: Case, other: Case) -> Case:
    """The last repeat has the answer of another question."""
    source = other.records[0]
    *first, last = case.records
    moved = replace(last, answer=source.answer, papers=source.papers)
    return Case(case.item, (*first, moved))


def number_places(case: Case) -> dict[int, str]:
    """The claims that hold the number which answers, with another in its place."""
    answer = case.item.asked.answers[0]
    digits = re.match(r"[\d.]+", answer)
    if digits is None:
        return {}
    said = re.compile(rf"(?<![\w.]){re.escape(digits[0])}(?!\d|\.\d)")
    other = f"7{digits[0]}".replace(".", "7") + ".3"
    return {
        place: said.sub(other, claim["text"])
        for place, claim in enumerate(case.claims)
        if said.search(claim["text"])
    }


def before_answer(case: Case) -> str:
    """The first claim up to where an answer begins; empty where it holds none."""
    text = str(case.claims[0]["text"])
    starts = [at for form in case.forms if (at := text.casefold().find(form)) >= 0]
    return text[: min(starts, default=0)].rstrip(" ,;(*")


def strangers(one: Case, other: Case) -> bool:
    """Whether two cite different papers and neither answer answers the other question."""
    texts = [case.records[0].answer["text"].casefold() for case in (one, other)]
    answers = any(form in texts[1] for form in one.forms) or any(
        form in texts[0] for form in other.forms
    )
    return one.papers != other.papers and not answers
