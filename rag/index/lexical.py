"""BM25 over the catalog's own full-text table, in the same transaction as the papers.

SQLite's FTS5 keeps postings inside the catalog, so the lexical index can be neither stale nor
lost; its bm25() is Robertson's with k1 = 1.2, b = 0.75.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from rag.index.snapshot import Snapshot
from rag.text import terms

TERMS_VERSION = "2"  # raised whenever `index_terms` gives other terms for the same paper
_COVERAGE_DEPTH = 20


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


def search(snapshot: Snapshot, question: str, limit: int) -> LexicalHits:
    """The `limit` papers that share most, by BM25, with `question`; ties in the order of ids."""
    wanted = sorted(set(terms(question)))
    if not wanted:
        return LexicalHits({}, 0.0)
    rows = snapshot.connection.execute(
        "SELECT p.paper_id, -m.score, m.terms FROM"
        " (SELECT rowid, bm25(postings) AS score, terms FROM postings"
        "  WHERE postings MATCH ? ORDER BY rank LIMIT ?) m"
        " JOIN papers p ON p.id = m.rowid ORDER BY m.score, p.paper_id",
        (" OR ".join(quoted(term) for term in wanted), limit),
    ).fetchall()
    held = [set(row[2].split()) for row in rows[:_COVERAGE_DEPTH]]
    coverage = _coverage(inverse_frequencies(snapshot, wanted), held)
    return LexicalHits({row[0]: row[1] for row in rows}, coverage)


def quoted(term: str) -> str:
    """A term as a full-text query has it, where bare words may be operators."""
    return f'"{term}"'


def inverse_frequencies(snapshot: Snapshot, wanted: Sequence[str]) -> dict[str, float]:
    """ln((N - n + 1/2) / (n + 1/2) + 1) for each term; one that no paper has weighs most."""
    total = snapshot.connection.execute("SELECT count(*) FROM papers").fetchone()[0]
    found = dict(
        snapshot.connection.execute(
            "SELECT term, doc FROM vocabulary WHERE term IN (SELECT value FROM json_each(?))",
            (json.dumps(list(wanted)),),
        )
    )
    return {
        term: math.log((total - found.get(term, 0) + 0.5) / (found.get(term, 0) + 0.5) + 1)
        for term in wanted
    }


def _coverage(frequencies: dict[str, float], held: list[set[str]]) -> float:
    total = sum(frequencies.values())
    best = max((sum(w for t, w in frequencies.items() if t in has) for has in held), default=0.0)
    return best / total if total else 0.0
