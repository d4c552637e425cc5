"""What words the collection has, and the texts that have them; asked while a question is read.

The vocabulary is FTS5's own view of the postings, so it is never behind the papers. It holds
terms (see `rag.text.terms`), which for English words are stems.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence

from rag.index.lexical import quoted
from rag.index.snapshot import Snapshot
from rag.text import normalise, terms

_LAST = chr(0x10FFFF)
_NORMALISED = re.compile(r"[\\<&${}*_`]|-\s*\n")  # what the normal form of ASCII differs by
_READ = 500  # papers among which a text is looked for


def beginning(snapshot: Snapshot, start: str) -> dict[str, int]:
    """The terms that begin with `start`, each with the number of papers that have it."""
    rows = snapshot.connection.execute(
        "SELECT term, doc FROM vocabulary WHERE term >= ? AND term < ?", (start, start + _LAST)
    )
    return dict(rows.fetchall())


def texts_with(
    snapshot: Snapshot, wanted: Sequence[str], limit: int, *, holding: Sequence[str] = ("",)
) -> list[str]:
    """Title and text of `limit` papers with all the terms and, as they stand, any of `holding`.

    In the order in which papers came; not more than 500 of those with the terms are read.
    """
    if not wanted:
        return []
    rows = snapshot.connection.execute(
        "SELECT t.title || char(10) || t.text FROM"
        " (SELECT rowid FROM postings WHERE postings MATCH ? LIMIT ?) m"
        " JOIN papers p ON p.id = m.rowid JOIN texts t ON t.id = p.text WHERE EXISTS"
        " (SELECT 1 FROM json_each(?) j WHERE instr(t.title || char(10) || t.text, j.value))"
        " LIMIT ?",
        (_all_of(wanted), _READ, json.dumps(list(holding)), limit),
    )
    return [row[0] for row in rows]


def written(snapshot: Snapshot, forms: Sequence[str], among: Collection[str]) -> frozenset[str]:
    """Those of the papers in which one of the forms stands.

    A form with a capital stands in these very letters; one without in any case.
    """
    rows = snapshot.connection.execute(
        "SELECT m.paper_id FROM (SELECT p.paper_id, t.title || char(10) || t.text AS whole"
        " FROM papers p JOIN texts t ON t.id = p.text"
        " WHERE p.paper_id IN (SELECT value FROM json_each(?))) m"
        " WHERE EXISTS (SELECT 1 FROM json_each(?) j WHERE instr(m.whole, j.value)"
        " OR (j.value = lower(j.value) AND instr(lower(m.whole), j.value)))",
        (json.dumps(sorted(among)), json.dumps(list(forms))),
    )
    return frozenset(row[0] for row in rows)


def having_phrase(snapshot: Snapshot, phrase: str) -> frozenset[str]:
    """The papers whose title or text has the phrase, hyphens and spaces being the same.

    One of words that every text has is looked for in all texts, and there as it is written.
    """
    form = comparable(phrase)
    wanted = sorted(set(terms(form)))
    snapshot.connection.create_function(
        "has_phrase", 1, lambda text: _has(form, text), deterministic=True
    )
    source, condition, values = "papers p", "1", []
    if wanted:
        source = (
            "(SELECT rowid FROM postings WHERE postings MATCH ?) m JOIN papers p ON p.id = m.rowid"
        )
        values = [_all_of(wanted)]
    else:
        condition = "(t.text LIKE ?1 OR t.title LIKE ?1)"
        values = [f"%{form.strip()}%"]
    rows = snapshot.connection.execute(
        f"SELECT p.paper_id FROM {source} JOIN texts t ON t.id = p.text"
        f" WHERE {condition} AND has_phrase(t.title || char(10) || t.text)",
        values,
    )
    return frozenset(row[0] for row in rows)


def comparable(text: str) -> str:
    """The normal form of a text with spaces in place of hyphens, and one at either end."""
    return f" {' '.join(normalise(text).replace('-', ' ').split())} "


def _has(form: str, text: str) -> bool:
    """Whether a comparable phrase stands in the text, at the bounds of words."""
    inner = form.strip()
    plain = text.isascii() and not _NORMALISED.search(text)
    found = f" {' '.join(text.lower().replace('-', ' ').split())} " if plain else comparable(text)
    at = found.find(inner)
    while at >= 0:
        before, after = found[at - 1], found[at + len(inner)]
        if not (_joined(before, inner[0]) or _joined(inner[-1], after)):
            return True
        at = found.find(inner, at + 1)
    return False


def _joined(left: str, right: str) -> bool:
    """Whether two neighbouring characters belong to one word; CJK has no bounds to see."""
    return left.isalnum() and right.isalnum() and left < "\u2e80" and right < "\u2e80"


def _all_of(wanted: Iterable[str]) -> str:
    return " AND ".join(quoted(term) for term in wanted)
