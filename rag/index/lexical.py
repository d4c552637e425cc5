"""BM25 over the catalog's own full-text table, in the same transaction as the papers.

SQLite's FTS5 keeps postings inside the catalog, so the lexical index can be neither stale nor
lost; its bm25() is Robertson's with k1 = 1.2, b = 0.75.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
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


def search(
    snapshot: Snapshot,
    wanted: Mapping[str, float],
    limit: int,
    *,
    expansions: Mapping[str, float] | None = None,
    among: Collection[str] | None = None,
) -> LexicalHits:
    """The `limit` papers that share most, by BM25, with weighted terms; ties in the order of ids.

    `expansions` are more terms to rank by, and do not enter the coverage. `among` names the papers
    that may be found; all where it is None.
    """
    weights = {**(expansions or {}), **wanted}
    if not weights:
        return LexicalHits({}, 0.0)
    condition, values = "", [_match(weights)]
    if among is not None:
        condition = (
            " AND rowid IN (SELECT id FROM papers WHERE paper_id IN"
            " (SELECT value FROM json_each(?)))"
        )
        values.append(json.dumps(sorted(among)))
    rows = snapshot.connection.execute(
        "SELECT p.paper_id, -m.score, m.terms FROM"
        " (SELECT rowid, bm25(postings) AS score, terms FROM postings"
        f"  WHERE postings MATCH ?{condition} ORDER BY rank LIMIT ?) m"
        " JOIN papers p ON p.id = m.rowid ORDER BY m.score, p.paper_id",
        (*values, limit),
    ).fetchall()
    held = [set(row[2].split()) for row in rows[:_COVERAGE_DEPTH]]
    frequencies = inverse_frequencies(snapshot, sorted(wanted))
    coverage = _coverage({t: wanted[t] * idf for t, idf in frequencies.items()}, held)
    return LexicalHits({row[0]: row[1] for row in rows}, coverage)


def equally(text: str) -> dict[str, float]:
    """The terms of a text, each with weight 1."""
    return dict.fromkeys(sorted(set(terms(text))), 1.0)


def _match(weights: Mapping[str, float]) -> str:
    """A full-text query for any of the terms. A term that is named twice counts twice in BM25.

    So a weight is told in halves, and at least one; where all are equal each is named once.
    """
    if len(set(weights.values())) == 1:
        return " OR ".join(quoted(term) for term in weights)
    copies = ([term] * max(1, round(2 * weight)) for term, weight in weights.items())
    return " OR ".join(quoted(term) for terms_ in copies for term in terms_)


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
