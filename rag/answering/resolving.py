"""What a follow-up means: by its words, and where they leave it open, by a model and a search.

A model is asked only where the rules are unsure, and what it says counts only if it brings in no
name and no number that neither question nor conversation has, keeps the language, and is still
about what was asked. Where no model says more, the collection decides: a question that finds the
papers spoken of among the first is taken to be about them, any other can stand alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rag.answering.asking import MOST_CHARS, GivenUp, Reading, object_schema
from rag.answering.conversation import Conversation, names_paper
from rag.answering.events import Done, Event
from rag.answering.facts import names as names_in
from rag.answering.facts import numbers as numbers_in
from rag.answering.finding import Finder
from rag.answering.followed import Followed, Names
from rag.answering.following import follow
from rag.answering.speech import language_of
from rag.retrieval.query import Question
from rag.schema import Hit, Paper
from rag.text import content_words, legible, normalise, printable

_AMONG = 3  # papers
_TOKENS = 120
_LONGEST = 400  # characters
_FORM = object_schema("question", {"type": "string", "minLength": 1, "maxLength": _LONGEST})


@dataclass(frozen=True, slots=True)
class Resolver:
    """Understands questions of a conversation; `names` gives the paper of a name."""

    finder: Finder
    names: Callable[[str], Paper | None]

    def resolve(self, question: str, conversation: Conversation, reading: Reading) -> Followed:
        """The question as it can be understood alone; the first of a conversation stays as it is.

        Raises:
            IndexUnusable, ModelError: as a search.
        """
        names: Names = self.names
        found = follow(question, conversation, names)
        if found.sure:
            return found
        rewritten = self._by_model(question, conversation, reading)
        if rewritten and normalise(rewritten) != normalise(question):
            return Followed(rewritten, "model", _named(rewritten, found, conversation))
        return self._by_search(question, found)

    def _by_model(self, question: str, conversation: Conversation, reading: Reading) -> str:
        """What a model makes of the question, empty where there is none or it is not believed."""
        if self.finder.asker is None:
            return ""
        reading.notify("reading the question in its context")
        told = conversation.told()
        shown = {"conversation": told, "question": question[:MOST_CHARS]}
        try:
            reply = self.finder.asker.ask("follow-up", shown, _FORM, _TOKENS, reading)
        except GivenUp:
            return ""
        value = reply.value.get("question")
        text = " ".join(printable(legible(value)).split()) if isinstance(value, str) else ""
        return text if is_faithful(text, question, told) else ""

    def _by_search(self, question: str, found: Followed) -> Followed:
        """The guess of the rules, if the papers that it is about come first without it, too."""
        if not found.papers:
            return found
        hits = self.finder.searcher.search(Question(question), _AMONG).hits
        about = {paper.id for paper in found.papers}
        if any(hit.paper.id in about for hit in hits):
            return replace(found, sure=True)
        return Followed(question)


def unspoken(hits: Sequence[Hit], followed: Followed, before: Conversation | None) -> Iterator[Hit]:
    """What of the hits is asked for: without papers, or sentences, that were shown already."""
    shown = before.shown if before and followed.more else frozenset()
    for hit in hits:
        left = tuple(e for e in hit.evidence if (e.paper_id, e.index) not in shown)
        if hit.paper.id not in followed.without and (left or not followed.more):
            yield replace(hit, evidence=left)


def in_conversation(events: Iterator[Event], question: str, followed: Followed) -> Iterator[Event]:
    """Events of an answer to what a question was understood as, told as those of the question."""
    for event in events:
        if isinstance(event, Done):
            manifest = {**event.answer.manifest, **followed.told()}
            yield Done(replace(event.answer, question=question, manifest=manifest))
        else:
            yield event


def is_faithful(rewritten: str, question: str, told: str) -> bool:
    """Whether a rewritten question says nothing of its own, and still what was asked."""
    if not rewritten or len(rewritten) > _LONGEST:
        return False
    known = f"{told} {question}"
    new = (names_in(rewritten) - names_in(known)) | (numbers_in(rewritten) - numbers_in(known))
    kept = names_in(question) <= names_in(rewritten) and numbers_in(question) <= numbers_in(
        rewritten
    )
    asked, said = set(content_words(question)), set(content_words(rewritten))
    return (
        not new
        and kept
        and language_of(rewritten) is language_of(question)
        and (not asked or 2 * len(asked & said) >= len(asked))
        and said <= set(content_words(known))
    )


def _named(text: str, found: Followed, conversation: Conversation) -> tuple[Paper, ...]:
    """The papers of the conversation that a rewritten question calls by name."""
    known = {p.id: p for turn in conversation.turns for p in (*turn.subject, *turn.listed)}
    known |= {paper.id: paper for paper in found.papers}
    return tuple(paper for paper in known.values() if names_paper(text, paper))
