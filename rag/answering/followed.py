"""A question of a conversation as it can be understood alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rag.answering.conversation import Conversation
from rag.answering.referring import called, formed_names, squeezed
from rag.index.browse import Filter
from rag.retrieval.query import Question
from rag.schema import Paper

_NAME_CHARS = 5

Names = Callable[[str], Paper | None]
"""The paper of the collection that has a name, if there is one."""


@dataclass(frozen=True, slots=True)
class Followed:
    """A question as it can be understood alone.

    `rule` says how it was understood, empty for one that needed nothing. `papers` are those that
    alone can answer it, `without` the ids of those that cannot, being talked of already. `search`
    is what is looked for where that is not `text`. `more` asks for what was not shown yet.
    """

    text: str
    rule: str = ""
    papers: tuple[Paper, ...] = ()
    without: frozenset[str] = frozenset()
    search: str = ""
    more: bool = False
    sure: bool = True

    @property
    def searched(self) -> Question:
        """What is to be searched."""
        return Question(self.search or self.text)

    @property
    def filters(self) -> tuple[Filter, ...]:
        """What papers must have to answer."""
        return (Filter(papers=tuple(paper.id for paper in self.papers)),) if self.papers else ()

    @property
    def absent(self) -> str:
        """A name in the question that no paper has which alone could answer it, else nothing.

        Acronyms of a few letters do not count: a paper may spell them out.
        """
        texts = [squeezed(f"{paper.title} {paper.text}") for paper in self.papers]
        named = [name for name in formed_names(self.text) if len(name) >= _NAME_CHARS]
        absent = (n for n in named if not any(squeezed(n) in text for text in texts))
        return next(absent, "") if texts else ""

    @property
    def missing(self) -> str:
        """What the papers that are asked do not have, in a sentence; empty where nothing is."""
        name = called(self.papers) or "the papers spoken of"
        return f"{self.absent} is not mentioned in {name}" if self.absent else ""

    def told(self) -> dict[str, object]:
        """What the manifest of an answer says of it: nothing where nothing was done."""
        if not self.rule:
            return {}
        papers = [paper.id for paper in self.papers]
        return {"follow_up": {"text": self.text, "rule": self.rule, "papers": papers}}


Rule = Callable[[str, Conversation, Names], Followed | None]
