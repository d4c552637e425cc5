"""What an answer is made of while it is being made, in the order in which it happens."""

from __future__ import annotations

from dataclasses import dataclass

from rag.schema import Answer, Citation, Claim


@dataclass(frozen=True, slots=True)
class ClaimMade:
    """A claim that was checked and may be shown."""

    claim: Claim


@dataclass(frozen=True, slots=True)
class CitationAdded:
    """A paper was cited for the first time, or more of its sentences are relied on."""

    citation: Citation


@dataclass(frozen=True, slots=True)
class Heading:
    """What stands over the claims that follow, such as how many papers they name.

    It tells no more than these claims do, so it has no citation of its own.
    """

    title: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that a waiting reader should know, such as a pause that a server asked for."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The whole answer; always the last event."""

    answer: Answer


Event = ClaimMade | CitationAdded | Heading | Notice | Done
