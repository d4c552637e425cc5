"""What the page shows of a conversation: its turns, while they are made and afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rag.answering.conversation import Conversation
from rag.answering.events import CitationAdded, ClaimMade, Done, Event, Heading
from rag.schema import Answer, Citation, Claim, Section

STOPPED = "Stopped by the reader"


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and what has come of its answer so far. `number` counts a conversation's turns.

    `answer` is there once the answer is complete or was stopped, `failure` where there will be
    none. `heard` is the conversation that the question goes on about, `spoken` the one that the
    next question does: this turn is in it once it is answered. The answer stands in place of that
    of turn `instead_of`, if that is not 0.

    `kept` is the turn's number in the history, 0 where it is not kept, and `unkept` says why.
    `gone` are ids of papers that have left the collection since, `changed` of those that have
    another text now. `helpful` is what the reader thought. `seconds` is how long the answer took.
    """

    number: int
    question: str
    claims: tuple[Claim, ...] = ()
    citations: tuple[Citation, ...] = ()
    answer: Answer | None = None
    failure: str = ""
    stopped: bool = False
    sections: tuple[Section, ...] = ()
    heard: Conversation = field(default_factory=Conversation)
    spoken: Conversation = field(default_factory=Conversation)
    instead_of: int = 0
    kept: int = 0
    unkept: str = ""
    gone: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    helpful: bool | None = None
    seconds: float = 0.0

    def after(self, event: Event) -> Turn:
        """The turn once `event` has happened."""
        if isinstance(event, ClaimMade):
            return replace(self, claims=(*self.claims, event.claim))
        if isinstance(event, Heading):
            section = Section(event.title, len(self.claims))
            return replace(self, sections=(*self.sections, section))
        if isinstance(event, CitationAdded):
            return replace(self, citations=_with(self.citations, event.citation))
        if isinstance(event, Done):
            return self.ended(event.answer)
        return self

    def ended(self, answer: Answer) -> Turn:
        """The turn with its answer."""
        return replace(
            self,
            claims=answer.claims,
            citations=answer.citations,
            sections=answer.sections,
            answer=answer,
            spoken=self.heard.after(answer),
        )

    def cut(self) -> Turn:
        """The turn as the reader stopped it: what had come is an answer that is not complete."""
        if self.answer is not None or not self.claims:
            return replace(self, stopped=self.answer is None)
        text = " ".join(claim.text for claim in self.claims)

        answer = Answer(
            self.question,
            "partial",
            text,
            self.claims,
            self.citations,
            dropped=(),
            nearest=(),
            manifest={},
            note=STOPPED,
            complete=False,
            sections=self.sections,
        )
        return replace(self.ended(answer), stopped=True)


def next_turn(before: Sequence[Turn], question: str, instead_of: int = 0) -> Turn:
    """A turn that goes on about those before it, or about what the one that it replaces did."""
    number = before[-1].number + 1 if before else 1
    old = next((turn for turn in before if turn.number == instead_of), None)
    if old is not None:
        return beginning(number, question, old.heard, instead_of)
    return beginning(number, question, before[-1].spoken if before else Conversation())


def beginning(number: int, question: str, heard: Conversation, instead_of: int = 0) -> Turn:
    """A turn before anything has come of it."""
    return Turn(number, question, heard=heard, spoken=heard, instead_of=instead_of)


def replaced(turns: Sequence[Turn]) -> frozenset[int]:
    """The numbers of turns in whose place another one stands."""
    return frozenset(turn.instead_of for turn in turns if turn.instead_of and not turn.failure)


def _with(citations: Sequence[Citation], new: Citation) -> tuple[Citation, ...]:
    """A citation takes the place of the one with its number."""
    numbered = {citation.number: citation for citation in citations} | {new.number: new}
    return tuple(numbered[number] for number in sorted(numbered))
