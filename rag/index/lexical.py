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
from collections.abc import Mapping, Sequence
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


def search(snapshot: Snapshot, question: str, limit: int, postings: int = POSTINGS) -> LexicalHits:
    """The `limit` papers that share most, by BM25, with `question`; ties in the order of ids.

    Candidates are found by the rarest terms that come to at most `postings`, at least by one.
    """
    wanted = sorted(set(terms(question)))
    if not wanted:
        return LexicalHits({}, 0.0)
    held = _held_by(snapshot, wanted)
    rare, common = _split(wanted, held.papers, postings)
    rows = _matching(snapshot, rare, limit * _DEEPER if common else limit)
    if common:
        rows = _completed(rows, common, held)[:limit]
    best = [set(row[2].split()) for row in rows[:_COVERAGE_DEPTH]]
    coverage = _coverage({term: held.weight(term) for term in wanted}, best)
    return LexicalHits({row[0]: row[1] for row in rows}, coverage)


def _split(
    wanted: Sequence[str], papers: Mapping[str, int], most: int
) -> tuple[list[str], list[str]]:
    """The rarest terms, with at most `most` postings together, and the others."""
    ordered = sorted(wanted, key=lambda term: papers.get(term, 0))
    postings = list(accumulate(papers.get(term, 0) for term in ordered))
    kept = max(1, bisect_right(postings, most))
    return ordered[:kept], ordered[kept:]


def _matching(snapshot: Snapshot, wanted: Sequence[str], limit: int) -> list[_Row]:
    return snapshot.connection.execute(
        "SELECT p.paper_id, -m.score, m.terms FROM"
        " (SELECT rowid, bm25(postings) AS score, terms FROM postings"
        "  WHERE postings MATCH ? ORDER BY rank LIMIT ?) m"
        " JOIN papers p ON p.id = m.rowid ORDER BY m.score, p.paper_id",
        (" OR ".join(quoted(term) for term in wanted), limit),
    ).fetchall()


def _completed(rows: Sequence[_Row], common: Sequence[str], held: _Held) -> list[_Row]:
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
            held.bm25_weight(term) * count[term] * (_K1 + 1) / (count[term] + norm)
            for term in common
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
    total = snapshot.connection.execute("SELECT count(*) FROM papers").fetchone()[0]
    rows = snapshot.connection.execute(
        "SELECT term, doc FROM vocabulary WHERE term IN (SELECT value FROM json_each(?))",
        (json.dumps(list(wanted)),),
    )
    return _Held(dict(rows), total)


def _coverage(frequencies: dict[str, float], held: list[set[str]]) -> float:
    total = sum(frequencies.values())
    best = max((sum(w for t, w in frequencies.items() if t in has) for has in held), default=0.0)
    return best / total if total else 0.0
