"""A conversation as far as the next question needs it: what was asked, said, and cited.

It holds no more than its last turns, and of the earlier ones the numbers of their papers only, so
that a question costs the same after two hundred turns as after two. What was retrieved for an
earlier turn is not in it: an answer relies on the evidence of its own question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from rag.answering.talk import talk
from rag.schema import Answer, Paper
from rag.text import legible, normalise

KEPT = 6
"""Turns that a question can refer to."""

SHOWN_CHARS = 1_200
"""Characters of a conversation that a model is shown: the embedded one reads 300 in a second."""

_SAID_CHARS = 600
_LAST_CHARS = 400
_NAME_WORDS = 4
_SEVERAL = frozenset({"comparison", "list", "agreement", "overview"})
_MARKS = re.compile(r"\s*\[\d{1,3}(?:(?:, |-)\d{1,3})*\]")


@dataclass(frozen=True, slots=True)
class Turn:
    """A question that was answered.

    `question` is as it was typed, `asked` as it can be understood alone. `listed` are the papers
    that its answer showed, in their order; `subject` those of them that it was about. `shown`
    names the sentences that were cited, as (paper id, index).
    """

    question: str
    asked: str
    said: str
    listed: tuple[Paper, ...] = ()
    subject: tuple[Paper, ...] = ()
    shown: frozenset[tuple[str, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class Conversation:
    """The last turns, and the citation number of every paper that was cited in any, by its id."""

    turns: tuple[Turn, ...] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, answers: Iterable[Answer]) -> Self:
        """The conversation that these answers were given in."""
        conversation = cls()
        for answer in answers:
            conversation = conversation.after(answer)
        return conversation

    @classmethod
    def of_messages(cls, messages: Iterable[Mapping[str, Any]]) -> Self:
        """A conversation of which only the words are known, as chat programs keep them.

        A message is taken by its `role` and `content`, a text or a list of parts with texts;
        whatever else it has is passed over. Messages in a row by the same side are one. What
        comes before the first question, such as a greeting, is no turn, nor is a question
        without an answer.
        """
        turns: list[Turn] = []
        asked = said = ""
        for message in messages:
            text = _text_of(message.get("content"))
            if message.get("role") == "user":
                turns += [_spoken(asked, said)] if asked and said else []
                asked, said = (text, "") if said else (f"{asked} {text}".strip(), "")
            elif message.get("role") == "assistant" and asked:
                said = f"{said} {text}".strip()
        turns += [_spoken(asked, said)] if asked and said else []
        return cls(tuple([turn for turn in turns if not talk(turn.question)][-KEPT:]))

    def after(self, answer: Answer) -> Self:
        """The conversation once `answer` was given; talk leaves it as it was.

        "Thanks" is nothing that "and RISE?" could ask once more.
        """
        if answer.kind == "talk":
            return self
        cited = tuple(citation.paper for citation in answer.citations)
        listed = cited or tuple(nearest.paper for nearest in answer.nearest)
        places = {c.paper.id: {(s.start, s.end) for s in c.sentences} for c in answer.citations}
        turn = Turn(
            answer.question,
            asked_of(answer),
            _MARKS.sub("", legible(answer.text))[:_SAID_CHARS],
            _by_use(answer, listed),
            _subject(answer, listed) or self.subject,
            frozenset(
                (paper.id, index)
                for paper in cited
                for index, sentence in enumerate(paper.sentences)
                if (sentence.start, sentence.end) in places[paper.id]
            ),
        )
        numbers = {citation.paper.id: citation.number for citation in answer.citations}
        return type(self)((*self.turns, turn)[-KEPT:], {**self.numbers, **numbers})

    @property
    def subject(self) -> tuple[Paper, ...]:
        """The papers that are spoken of now."""
        return self.turns[-1].subject if self.turns else ()

    @property
    def listed(self) -> tuple[Paper, ...]:
        """What "the second one" counts: the last papers that were shown together, if any were.

        Where each answer showed one paper, they are those of the turns, in their order.
        """
        for turn in reversed(self.turns):
            if len(turn.listed) > 1:
                return turn.listed
        return tuple({paper.id: paper for turn in self.turns for paper in turn.subject}.values())

    @property
    def shown(self) -> frozenset[tuple[str, int]]:
        """Every sentence that was cited in these turns."""
        return frozenset(place for turn in self.turns for place in turn.shown)

    def numbered(self, number: int) -> Paper | None:
        """The paper that bears a citation number, if one of these turns showed it."""
        known = {paper.id: paper for turn in self.turns for paper in turn.listed}
        return next(
            (known[key] for key, n in self.numbers.items() if n == number and key in known), None
        )

    def told(self, most: int = SHOWN_CHARS) -> str:
        """The turns in at most `most` characters, as a model reads them: the last one whole.

        Of those before it the question is told and what it was about, and the oldest are left
        out first.
        """
        lines: list[str] = []
        for place, turn in enumerate(reversed(self.turns)):
            about = ", ".join(name for paper in turn.subject if (name := short_name(paper)))
            answer = legible(turn.said)[:_LAST_CHARS] if place == 0 else f"(about {about or '…'})"
            told = f"Reader: {turn.asked[:_LAST_CHARS]}\nAssistant: {answer}"
            if sum(map(len, lines)) + len(lines) + len(told) > most:
                break
            lines.append(told)
        return "\n".join(reversed(lines))


def asked_of(answer: Answer) -> str:
    """The question of an answer so that it can be understood alone."""
    return str(_follow_up(answer).get("text") or answer.question)


def short_name(paper: Paper) -> str:
    """What a paper is called in a sentence: its system's name or a short title, else nothing.

    Of "TinyOwl: Sparse Retrieval on a Budget" that is TinyOwl.
    """
    title = legible(paper.title)
    name = title.partition(": ")[0] if not paper.title_derived else title
    return name if len(name.split()) <= _NAME_WORDS else ""


def names_paper(text: str, paper: Paper) -> bool:
    """Whether `text` calls a paper by its short name."""
    name = normalise(short_name(paper))
    return bool(name) and bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", normalise(text)))


def _follow_up(answer: Answer) -> Mapping[str, Any]:
    told = answer.manifest.get("follow_up")
    return told if isinstance(told, Mapping) else {}


def _by_use(answer: Answer, papers: Sequence[Paper]) -> tuple[Paper, ...]:
    """Papers in the order in which the answer's claims come to them."""
    order = [evidence.paper_id for claim in answer.claims for evidence in claim.support]
    places = {key: place for place, key in reversed(list(enumerate(order)))}
    return tuple(sorted(papers, key=lambda paper: places.get(paper.id, len(order))))


def _subject(answer: Answer, listed: Sequence[Paper]) -> tuple[Paper, ...]:
    """What an answer is about: the papers it was asked about, else those it was found in.

    Where nothing was cited, only a paper that was asked about by name counts.
    """
    if answer.kind in {"list", "count"} and answer.citations:
        return tuple(listed)
    meant = set(_follow_up(answer).get("papers") or ())
    near = {nearest.paper.id: nearest.paper for nearest in answer.nearest}
    known = {**near, **{paper.id: paper for paper in listed}}
    if chosen := tuple(paper for key, paper in known.items() if key in meant):
        return chosen
    asked = normalise(asked_of(answer))
    if named := [paper for paper in known.values() if names_paper(asked, paper)]:
        return tuple(sorted(named, key=lambda paper: asked.find(normalise(short_name(paper)))))
    if not answer.citations:
        return ()
    if answer.kind in _SEVERAL:
        return tuple(listed)
    found: Any = answer.manifest.get("found") or ()
    cited = {paper.id: paper for paper in listed}
    return next(((cited[key],) for key in found if key in cited), tuple(listed[:1]))


def _spoken(asked: str, said: str) -> Turn:
    return Turn(asked, asked, _MARKS.sub("", legible(said))[-_SAID_CHARS:])


def _text_of(content: object) -> str:
    """The text of a message; parts without any, such as pictures, are passed over."""
    if isinstance(content, str):
        return legible(content)
    parts = content if isinstance(content, Sequence) else ()
    texts = (part.get("text") for part in parts if isinstance(part, Mapping))
    return legible(" ".join(text for text in texts if isinstance(text, str)))
