"""One asking of a question as a page shows it: pure functions of the scored record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.record import Opinion, Record, Span
from evals.reporting.beside import Beside, is_better, moved, word_diff
from evals.reporting.forms import MAIN, number, signed
from evals.scoring.measures import BY_NAME
from evals.scoring.scored import Scored
from evals.scoring.statements import passages_of, statements_of

_IN_LINE = 4  # measures beside a question
_ON_RUBRIC = "/rubric"  # ends the name that opinions on the rubric are under


@dataclass(frozen=True, slots=True)
class Relied:
    """A citation of a claim and the sentences of its paper that the claim relies on."""

    number: int
    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """A claim of an answer, what it cites, what the product's own check and each judge said of it.

    `verdict`, `probability` and `reason` are the product's; empty or None where it gives none.
    """

    text: str
    verdict: str
    probability: float | None
    reason: str
    relied: tuple[Relied, ...]
    unknown: tuple[int, ...]
    opinions: tuple[tuple[str, Opinion], ...]


@dataclass(frozen=True, slots=True)
class Given:
    """A paper that the writer was given sentences of; a mark says what else a sentence is."""

    title: str
    paper_id: str
    is_gold: bool
    sentences: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure of one asking, as it is written; `change` is empty where there is none."""

    name: str
    value: str
    before: str = ""
    change: str = ""
    verdict: str = ""  # better or worse


@dataclass(frozen=True, slots=True)
class Sample:
    """Everything about one asking. `place` counts from 1 and names it within the page."""

    place: int
    scored: Scored
    record: Record
    before: Scored | None
    figures: tuple[Figure, ...]
    claims: tuple[Said, ...]
    given: tuple[Given, ...]

    @property
    def brief(self) -> list[Figure]:
        """The measures that stand beside the question."""
        return [one for one in self.figures if _is_quality(one)][:_IN_LINE]

    @property
    def values(self) -> str:
        """All measures as JSON, for the filter of the page."""
        return json.dumps({name: round(v, 4) for name, v in self.scored.values.items()})

    @property
    def on_rubric(self) -> list[tuple[str, str, Opinion]]:
        """Each judge's opinion of each item of the rubric: judge, item, opinion."""
        rubric = self.scored.item.asked.rubric
        return [
            (judge.removesuffix(_ON_RUBRIC), rubric[one.claim].name, one)
            for judge, of in self.record.opinions.items()
            for one in of
            if judge.endswith(_ON_RUBRIC) and one.claim < len(rubric)
        ]

    @property
    def about(self) -> list[str]:
        """What the product tells of its answer beside the text."""
        answer = self.record.answer
        told = [f"taken for {kind}"] if (kind := answer.get("kind", "").replace("_", "/")) else []
        if self.record.confidence is not None:
            told.append(f"confidence {self.record.confidence:.2f}")
        if looked := answer.get("coverage"):
            told.append(f"{looked['checked']} of {looked['total']} papers looked at")
        return told

    @property
    def answer(self) -> str:
        """The text that was shown, empty where there is none."""
        return _text(self.record)

    @property
    def change(self) -> str:
        """How the main measures moved: better, worse, mixed, words (the text alone) or empty."""
        ways = {one.verdict for one in self.figures if one.change and _is_quality(one)}
        if len(ways) > 1:
            return "mixed"
        if ways:
            return ways.pop()
        return "words" if self.before is not None and self.differs else ""

    @property
    def differs(self) -> bool:
        """Whether the other run has another text or another outcome."""
        before = self.before
        return before is not None and (
            before.outcome != self.scored.outcome or _text(before.record) != self.answer
        )

    @property
    def diff(self) -> list[tuple[str, str]]:
        """Both answers as one text (see `word_diff`)."""
        return list(word_diff(_text(self.before.record), self.answer)) if self.before else []


def samples(scored: Sequence[Scored], since: Beside | None) -> Iterator[Sample]:
    """What a page shows of each asking, in the order of the suite."""
    for place, one in enumerate(scored, start=1):
        before = since.askings.get((one.item.id, one.repeat)) if since else None
        record = one.record or Record(one.item.id, one.repeat, "failed", one.item.asked.question)
        yield Sample(
            place,
            one,
            record,
            before,
            tuple(_figures(one, before)),
            tuple(_claims(record)),
            tuple(_given(record)),
        )


def _figures(now: Scored, before: Scored | None) -> Iterator[Figure]:
    moves = moved(now, before)
    then: Mapping[str, float] = before.values if before else {}
    for name, value in now.values.items():
        if name == "cost" and not value:
            continue
        there = number(name, then[name]) if name in then else ""
        if name not in moves:
            yield Figure(name, number(name, value), there)
            continue
        verdict = "better" if is_better(name, moves[name]) else "worse"
        yield Figure(name, number(name, value), there, signed(name, moves[name]), verdict)


def _claims(record: Record) -> Iterator[Said]:
    claims = record.answer.get("claims") or []
    abstained = record.ending == "abstained"
    for place, statement in enumerate([] if abstained else statements_of(record)):
        relied = tuple(
            Relied(number, passage.title, passage.sentences or (passage.text,))
            for number in statement.known
            for passage in passages_of(record, place, (number,))
        )
        made: Mapping[str, Any] = claims[place] if place < len(claims) else {}
        opinions = tuple(
            (judge, one)
            for judge, of in record.opinions.items()
            for one in of
            if one.claim == place and not judge.endswith(_ON_RUBRIC)
        )
        yield Said(
            statement.text,
            str(made.get("verdict", "")),
            made.get("probability"),
            str(made.get("reason", "")),
            relied,
            statement.unknown,
            opinions,
        )


def _given(record: Record) -> Iterator[Given]:
    """The evidence by paper, in the order in which the papers come first."""
    cited = {
        (citation["paper_id"], sentence["start"]): citation["number"]
        for citation in record.answer.get("citations", [])
        for sentence in citation["sentences"]
    }
    golden = {(one.paper_id, one.start) for one in record.gold_evidence}
    papers: dict[str, list[Span]] = {}
    for span in record.evidence:
        papers.setdefault(span.paper_id, []).append(span)
    for paper_id, spans in papers.items():
        sentences = tuple((span.text, _mark(span, cited, golden)) for span in spans)
        source = record.papers.get(paper_id)
        gold = paper_id in record.gold.values()
        yield Given(source.title if source else paper_id, paper_id, gold, sentences)


def _mark(span: Span, cited: Mapping[tuple[str, int], int], golden: set[tuple[str, int]]) -> str:
    place = (span.paper_id, span.start)
    marks = [
        *(["gold"] if place in golden else []),
        *([f"[{cited[place]}]"] if place in cited else []),
    ]
    return " ".join(marks)


def _is_quality(figure: Figure) -> bool:
    return figure.name in MAIN and BY_NAME[figure.name].unit == "share"


def _text(record: Record | None) -> str:
    return str(record.answer.get("text", "")) if record else ""
