"""What people would search with, each behind the same two calls, the product among them.

A system is made from the settings, indexes a collection once, and then ranks documents for
queries. Its packages are imported when it is made, so that neither its start nor a missing peer
costs the others anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from evals.collection import Document
from rag.config import Config
from rag.errors import UsageError

Ranking = Sequence[tuple[str, float]]
"""Document ids with scores, best first, no document twice."""

_HOMES = {
    "askpapers": "evals.systems.product:Product",
    "llamaindex-dense": "evals.systems.llamaindex:Dense",
    "llamaindex-fusion": "evals.systems.llamaindex:Fusion",
    "bm25": "evals.systems.bm25:BM25",
    "dense": "evals.systems.dense:WholeText",
}
NAMES = tuple(_HOMES)
PRODUCT = NAMES[0]
PACKAGES = (
    *("askpapers", "numpy", "openvino", "chromadb", "bm25s", "pystemmer"),
    *("llama-index-core", "llama-index-vector-stores-chroma"),
)
"""Whose versions a report names."""


class System(Protocol):
    """A way to find papers, made for one collection."""

    def index(self, documents: Sequence[Document]) -> None:
        """Take in the documents; called once."""

    def search(self, query: str, k: int) -> Ranking:
        """At most `k` documents for a query; fewer where it finds no more."""

    def close(self) -> None:
        """Let go of files and connections."""


def make(name: str, config: Config) -> System:
    """The system of that name, with the embedding model of the settings.

    Raises:
        UsageError: there is none, or a package that it needs is not installed.
    """
    if name not in _HOMES:
        raise UsageError(f"No system is called {name!r}", remedy=f"Choose from {', '.join(NAMES)}.")
    module, _, kind = _HOMES[name].partition(":")
    try:
        of_kind = getattr(import_module(module), kind)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"The system {name} cannot be measured",
            cause=str(error),
            remedy="Install its packages with `uv pip install --group bench`.",
        ) from error
    return cast("System", of_kind(config))


def best_chunks(found: Sequence[tuple[str, float]], k: int) -> Ranking:
    """The first `k` documents of a ranking of their chunks: the best chunk of each counts."""
    best: dict[str, float] = {}
    for document, score in found:
        best[document] = max(score, best.get(document, score))
    return sorted(best.items(), key=lambda item: -item[1])[:k]
