"""How many papers there are, and in how many each term stands, while the catalog stays as it is.

FTS5 counts the papers of a term by walking through all of them: 8 ms for a word that stands in half
of 200,000, which every question about such a collection has. A search asks two to four times.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence

REMEMBERED = 50_000  # terms, some 5 MB


class TermCounts:
    """Counts of one revision of one catalog, none of those before it. Safe for several threads."""

    def __init__(self, limit: int = REMEMBERED) -> None:
        self._limit = limit
        self._revision = -1
        self._known: dict[str, int] = {}
        self._papers: int | None = None
        self._lock = threading.Lock()

    def of(
        self,
        revision: int,
        terms: Collection[str],
        count: Callable[[Sequence[str]], dict[str, int]],
    ) -> dict[str, int]:
        """How many papers have each of the terms, by `count` where it is not known; 0 for none."""
        with self._lock:
            self._turn_to(revision)
            known = self._known if revision == self._revision else {}
            found = {term: known[term] for term in terms if term in known}
        missing = sorted(set(terms) - found.keys())
        if missing:
            counted = count(missing)
            fresh = {term: counted.get(term, 0) for term in missing}
            self._keep(revision, fresh)
            found |= fresh
        return found

    def papers(self, revision: int, count: Callable[[], int]) -> int:
        """How many papers there are, by `count` where it is not known."""
        with self._lock:
            self._turn_to(revision)
            if revision == self._revision and self._papers is not None:
                return self._papers
        counted = count()
        with self._lock:
            if revision == self._revision:
                self._papers = counted
        return counted

    def _turn_to(self, revision: int) -> None:
        if revision > self._revision:
            self._revision, self._known, self._papers = revision, {}, None

    def _keep(self, revision: int, fresh: dict[str, int]) -> None:
        with self._lock:
            if revision != self._revision:
                return
            if len(self._known) + len(fresh) > self._limit:
                self._known = {}
            self._known |= dict(list(fresh.items())[: self._limit])
