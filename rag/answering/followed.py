"""A question of a conversation as it can be understood alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rag.answering.conversation import Conversation
from rag.index.browse import Filter
from rag.retrieval.query import Question
from rag.schema import Paper

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

    def told(self) -> dict[str, object]:
        """What the manifest of an answer says of it: nothing where nothing was done."""
        if not self.rule:
            return {}
        papers = [paper.id for paper in self.papers]
        return {"follow_up": {"text": self.text, "rule": self.rule, "papers": papers}}


Rule = Callable[[str, Conversation, Names], Followed | None]
