"""Who answers which kind of question; what has nobody of its own is answered as a fact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rag.answering.bench import Bench, Case
from rag.answering.events import Event
from rag.answering.listing import list_papers
from rag.schema import Kind

Answerer = Callable[[Bench, Case], Iterator[Event]]

_ANSWERERS: Mapping[Kind, Answerer] = {"list": list_papers, "count": list_papers}


def answerer_of(kind: Kind) -> Answerer | None:
    """Who answers questions of that kind otherwise than a fact; None for nobody."""
    return _ANSWERERS.get(kind)
