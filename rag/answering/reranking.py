"""The first papers of a search, put in order by a model that reads what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from rag.answering.abstention import holds_nothing
from rag.answering.asking import MOST_CHARS, Asker, GivenUp, Reading, object_schema
from rag.retrieval.expansion import Help, Step
from rag.retrieval.search import Found
from rag.schema import Hit
from rag.text import legible

_PAPERS = 8
_SENTENCES = 3
_CHARS = 300  # of a sentence: a model reads the first papers whole rather than one at length
_TOKENS = 120
_NAME = "rerank"
_TOLD = "ordering the papers"


class Reranker(Protocol):
    """Puts the papers of a search in another order."""

    def rerank(self, found: Found, reading: Reading) -> tuple[Found, Help]:
        """The same papers, best first, and what was done; as they are where that fails."""


class ModelReranker:
    """Asks a model once for the order of the first papers (listwise: Sun et al. 2023).

    Only where it is `needed`: with a question whose words a paper has, that paper is first anyway.
    """

    def __init__(self, asker: Asker, below: float = 1.1) -> None:
        """`below`: the coverage under which a search is reranked."""
        self._asker = asker
        self._below = below

    def rerank(self, found: Found, reading: Reading) -> tuple[Found, Help]:
        """See `Reranker.rerank`."""
        first = found.hits[:_PAPERS]
        if len(first) < 2 or found.coverage >= self._below or holds_nothing(found):
            return found, Help()
        reading.notify(_TOLD)
        labels = [f"P{number}" for number in range(1, len(first) + 1)]
        form = {
            "type": "array",
            "items": {"type": "string", "enum": labels},
            "maxItems": len(labels),
        }
        values = {"question": found.question.text[:MOST_CHARS], "papers": show(first, labels)}
        try:
            reply = self._asker.ask(_NAME, values, object_schema("order", form), _TOKENS, reading)
        except GivenUp as reason:
            return found, Help(given_up={_TOLD: str(reason)})
        named = _order(reply.value.get("order"), labels)
        hits = (*reordered(first, named), *found.hits[len(first) :])
        said = tuple(labels[place] for place in named)
        return replace(found, hits=hits), Help((Step(_NAME, said, reply.prompt),))


def show(hits: Sequence[Hit], labels: Sequence[str]) -> str:
    """The papers as a model reads them: label, title, best sentences in the order of the text."""
    return "\n".join(
        f"[{label}] {_titled(hit)}{_said(hit)}" for label, hit in zip(labels, hits, strict=True)
    )


def _titled(hit: Hit) -> str:
    """The title that its source gives; our own says nothing that the sentences do not."""
    return "" if hit.paper.title_derived else f"{legible(hit.paper.title)}: "


def _said(hit: Hit) -> str:
    best = sorted(hit.evidence[:_SENTENCES], key=lambda item: item.index)
    return " ".join(legible(item.text)[:_CHARS] for item in best)


def _order(value: object, labels: Sequence[str]) -> list[int]:
    """The places of the labels that a reply names, once each; what is no label is passed over."""
    places = {label: place for place, label in enumerate(labels)}
    named = [str(item).strip(" []()").upper() for item in value] if isinstance(value, list) else []
    return list(dict.fromkeys(places[name] for name in named if name in places))


def reordered(hits: Sequence[Hit], named: Sequence[int]) -> list[Hit]:
    """The hits at the `named` places first, the others behind them as they were.

    A place keeps its score, so that scores still fall from hit to hit: the order is the model's,
    how good the best and the next are remains what the search found.
    """
    rest = [place for place in range(len(hits)) if place not in named]
    order = [hits[place] for place in (*named, *rest)]
    return [replace(hit, score=was.score) for hit, was in zip(order, hits, strict=True)]
