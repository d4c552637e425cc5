"""What is asked: the question as it came, and as it was understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from rag.errors import UsageError
from rag.index.browse import Filter
from rag.index.lexical import equally
from rag.text import printable

_ASPECT_WORDS = 8
_MOST_ASPECTS = 12


@dataclass(frozen=True, slots=True)
class Question:
    """A question that can be searched: `text` is trimmed and free of invisible characters."""

    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """A question as it was understood; each step of understanding takes one and gives the next.

    `text` is what is embedded: filters taken out, typos repaired, Chinese words translated.
    `terms` are what was asked for, by weight: 1 where typed, less where translated. `expansions`
    are other words for the same; they rank papers too, and nothing is missing where they are
    missing. `capitals` are the acronyms, which a paper is to have in these very letters, and what
    they stand for in small ones: with neither it has another word of the same letters. `papers`
    are the ones that `filters` and `phrases` leave, or None where there is neither. `notes` tell a
    person what was understood, each in a few words.
    """

    asked: Question
    text: str
    terms: Mapping[str, float]
    expansions: Mapping[str, float] = field(default_factory=dict)
    capitals: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    papers: frozenset[str] | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, question: Question) -> Self:
        """A question taken as it stands."""
        return cls(question, question.text, equally(question.text))

    def noting(self, note: str) -> Self:
        """The same with one more thing to tell."""
        return replace(self, notes=(*self.notes, note))

    def reading(self, text: str) -> Self:
        """The same with another text, whose terms are looked for in place of those before."""
        return replace(self, text=text, terms=equally(text))

    def expanded(self, terms: Mapping[str, float]) -> Self:
        """The same with more words for what is asked."""
        return replace(self, expansions={**terms, **self.expansions})

    def only(self, papers: frozenset[str]) -> Self:
        """The same among these papers."""
        return replace(self, papers=papers if self.papers is None else self.papers & papers)


def read_question(text: str, *, max_chars: int) -> Question:
    """Accept a question.

    Raises:
        UsageError: there is nothing in it, or it is longer than `max_chars`.
    """
    if len(text) > max_chars:
        raise UsageError(
            f"The question has {len(text):,} characters, the limit is {max_chars:,}",
            remedy="Shorten it, or raise max_question_chars.",
        )
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    clean = " ".join(printable(text.replace("\n", " ")).split())
    if not any(character.isalnum() for character in clean):
        what = "The question has no word in it" if clean else "The question is empty"
        raise UsageError(what, remedy="Ask it in words.")
    return Question(clean)


def aspects(text: str) -> list[str]:
    """What `text` asks, part by part: windows of eight words, each half over the one before.

    A question that tells several things of one paper is near to several of its sentences, each
    of which is far from the whole of it. A question of one window has no parts; a very long one
    has twelve, of more words.
    """
    words = text.strip(" ?").split()
    size = max(_ASPECT_WORDS, 2 * -(-len(words) // _MOST_ASPECTS))
    if len(words) <= size:
        return []
    starts = [*range(0, len(words) - size, size // 2), len(words) - size]
    return [" ".join(words[start : start + size]) for start in starts]
