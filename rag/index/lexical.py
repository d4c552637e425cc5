"""BM25 over the catalog's own full-text table, in the same transaction as the papers.

SQLite's FTS5 keeps postings inside the catalog, so the lexical index can be neither stale nor
lost; its bm25() is Robertson's with k1 = 1.2, b = 0.75.

FTS5 scores every paper that holds any term of a query. In a large collection most of them hold
only terms that half of all papers hold; so candidates are found by the rarest terms, as many as
come to a bounded number of postings, and what the others add is computed for the best of them.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from rag.index.snapshot import Snapshot
from rag.text import terms

TERMS_VERSION = "2"  # raised whenever `index_terms` gives other terms for the same paper
_COVERAGE_DEPTH = 20
POSTINGS = 30_000  # read for a search, about 1 µs each
_DEEPER = 4  # times as many candidates where terms were left out
_K1, _B = 1.2, 0.75

_Row = tuple[str, float, str]


@dataclass(frozen=True, slots=True)
class LexicalHits:
    """Scores by paper id, best first, and how much of the question the best papers hold.

    `coverage` is the largest share of the question's inverse document frequency that one paper
    holds: near 1 when the words of the question are the paper's own, near 0 when only common
    words meet, and then the order of this list says little.
    """

    scores: dict[str, float]
    coverage: float


def index_terms(title: str, text: str, *, title_derived: bool) -> str:
    """What is stored for a paper to be found by."""
    return " ".join(terms(text if title_derived else f"{title}\n{text}"))


def search(
    snapshot: Snapshot,
    wanted: Mapping[str, float],
    limit: int,
    postings: int = POSTINGS,
    *,
    expansions: Mapping[str, float] | None = None,
    among: Collection[str] | None = None,
) -> LexicalHits:
    """The `limit` papers that share most, by BM25, with weighted terms; ties in the order of ids.

    `expansions` are more terms to rank by, and do not enter the coverage. `among` names the papers
    that may be found; all where it is None. Otherwise candidates are found by the rarest terms
    that come to at most `postings`, at least by one.
    """
    weights = {**(expansions or {}), **wanted}
    held = _held_by(snapshot, sorted(weights))
    named = {term: times for term, times in _times(weights).items() if term in held.papers}
    if not named:
        return LexicalHits({}, 0.0)
    rare, common = (list(named), []) if among is not None else _split(named, held.papers, postings)
    depth = limit * _DEEPER if common else limit
    rows = _matching(snapshot, [term for term in rare for _ in range(named[term])], depth, among)
    if common:
        rows = _completed(rows, {term: named[term] for term in common}, held)[:limit]
    best = [set(row[2].split()) for row in rows[:_COVERAGE_DEPTH]]
    coverage = _coverage(
        {term: weight * held.weight(term) for term, weight in wanted.items()}, best
    )
    return LexicalHits({row[0]: row[1] for row in rows}, coverage)


def equally(text: str) -> dict[str, float]:
    """The terms of a text, each with weight 1."""
    return dict.fromkeys(sorted(set(terms(text))), 1.0)


def _times(weights: Mapping[str, float]) -> dict[str, int]:
    """How often a query names each term: one that is named twice counts twice in BM25.

    So a weight is told in halves, and at least one; where all are equal each is named once.
    """
    if len(set(weights.values())) == 1:
        return dict.fromkeys(weights, 1)
    return {term: max(1, round(2 * weight)) for term, weight in weights.items()}


def _split(
    wanted: Collection[str], papers: Mapping[str, int], most: int
) -> tuple[list[str], list[str]]:
    """The rarest terms, with at most `most` postings together, and the others."""
    ordered = sorted(wanted, key=lambda term: (papers[term], term))
    postings = list(accumulate(papers[term] for term in ordered))
    kept = max(1, bisect_right(postings, most))
    return ordered[:kept], ordered[kept:]


def _matching(
    snapshot: Snapshot, wanted: Sequence[str], limit: int, among: Collection[str] | None
) -> list[_Row]:
    condition, values = "", [" OR ".join(quoted(term) for term in wanted)]
    if among is not None:
        condition = (  # the sign keeps FTS5 from asking anew for every row
            " AND +rowid IN (SELECT id FROM papers WHERE paper_id IN"
            " (SELECT value FROM json_each(?)))"
        )
        values.append(json.dumps(sorted(among)))
    return snapshot.connection.execute(
        "SELECT p.paper_id, -m.score, m.terms FROM"
        " (SELECT rowid, bm25(postings) AS score, terms FROM postings"
        f"  WHERE postings MATCH ?{condition} ORDER BY rank LIMIT ?) m"
        " JOIN papers p ON p.id = m.rowid ORDER BY m.score, p.paper_id",
        (*values, limit),
    ).fetchall()


def _completed(rows: Sequence[_Row], common: Mapping[str, int], held: _Held) -> list[_Row]:
    """`rows` with what the terms that were left out add to their scores, best first.

    The mean length of a paper, which BM25 compares with, is that of these papers.
    """
    counts = [Counter(row[2].split()) for row in rows]
    lengths = [count.total() for count in counts]
    mean = sum(lengths) / max(1, len(lengths))
    done = []
    for (paper_id, score, text), count, length in zip(rows, counts, lengths, strict=True):
        norm = _K1 * (1 - _B + _B * length / mean)
        more = sum(
            times * held.bm25_weight(term) * count[term] * (_K1 + 1) / (count[term] + norm)
            for term, times in common.items()
        )
        done.append((paper_id, score + more, text))
    return sorted(done, key=lambda row: (-row[1], row[0]))


def quoted(term: str) -> str:
    """A term as a full-text query has it, where bare words may be operators."""
    return f'"{term}"'


def inverse_frequencies(snapshot: Snapshot, wanted: Sequence[str]) -> dict[str, float]:
    """ln((N - n + 1/2) / (n + 1/2) + 1) for each term; one that no paper has weighs most."""
    held = _held_by(snapshot, wanted)
    return {term: held.weight(term) for term in wanted}


@dataclass(frozen=True, slots=True)
class _Held:
    """How many of `total` papers hold each term."""

    papers: Mapping[str, int]
    total: int

    def weight(self, term: str) -> float:
        """Inverse document frequency that is never negative."""
        return math.log(self._odds(term) + 1)

    def bm25_weight(self, term: str) -> float:
        """The one of FTS5: next to nothing for a term that half of all papers hold."""
        return max(1e-6, math.log(self._odds(term)))

    def _odds(self, term: str) -> float:
        count = self.papers.get(term, 0)
        return (self.total - count + 0.5) / (count + 0.5)


def _held_by(snapshot: Snapshot, wanted: Sequence[str]) -> _Held:
    return _Held(snapshot.holding(wanted), snapshot.size())


def _coverage(frequencies: dict[str, float], held: list[set[str]]) -> float:
    total = sum(frequencies.values())
    best = max((sum(w for t, w in frequencies.items() if t in has) for has in held), default=0.0)
    return best / total if total else 0.0
