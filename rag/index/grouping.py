"""Which records are one paper, kept true as records come, change and go.

Papers are the connected components of the records under "same identifier, same text or
near-identical text", save for pairs that a person has set apart. Only the components that a change
touches are formed anew: the cost is that of the change.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby, islice, pairwise
from operator import itemgetter

from rag.index.identity import (
    SHORT_TITLE,
    groups,
    near_identical,
    on_one_subject,
    same_authors,
    title_words,
)
from rag.index.snapshot import read_meta, written_meta
from rag.index.writer import Writer
from rag.schema import Metadata

_BATCH = 1_000
_MOST_ALIKE = 50  # texts that one text is compared with: a flood of copies hangs together anyway


@dataclass(frozen=True, slots=True)
class _Member:
    """A record as far as grouping needs to know it."""

    record: int
    paper: int | None
    text: int
    content: str
    title_derived: bool
    length: int
    path: str
    ordinal: int
    meta: str


def regroup(writer: Writer, records: Iterable[int]) -> None:
    """Find the papers of records that are new or changed."""
    revision = writer.revision
    waiting = iter(records)
    while batch := list(islice(waiting, _BATCH)):
        _link_near(writer, batch)
        _form(writer, _touched(writer, batch), revision)


def remove(writer: Writer, records: Sequence[int]) -> None:
    """Delete records; a paper without any goes too, one that others hold is formed anew."""
    revision = writer.revision
    waiting = iter(records)
    while batch := list(islice(waiting, _BATCH)):
        wanted = json.dumps(batch)
        papers = _column(
            writer,
            "SELECT DISTINCT paper FROM records WHERE id IN (SELECT value FROM json_each(?))"
            " AND paper IS NOT NULL ORDER BY paper",
            wanted,
        )
        writer.connection.execute(
            "DELETE FROM records WHERE id IN (SELECT value FROM json_each(?))", (wanted,)
        )
        left = _column(
            writer,
            "SELECT id FROM records WHERE paper IN (SELECT value FROM json_each(?))",
            json.dumps(papers),
        )
        _form(writer, left, revision, papers)


def set_apart(writer: Writer, one: Iterable[str], others: Iterable[str]) -> None:
    """Have the contents of `one` and of `others` never again be taken for the same paper."""
    rest = list(others)
    pairs = [sorted((a, b)) for a in one for b in rest if a != b]
    writer.connection.executemany("INSERT OR IGNORE INTO apart VALUES (?, ?)", pairs)


def forget_apart(writer: Writer, contents: Sequence[str]) -> list[str]:
    """Take back that any of `contents` is set apart from others, and those from each other.

    Returns all of them; none where nothing was set apart.
    """
    rows = writer.connection.execute(
        "SELECT a, b FROM apart WHERE a IN (SELECT value FROM json_each(?1))"
        " OR b IN (SELECT value FROM json_each(?1))",
        (json.dumps(list(contents)),),
    ).fetchall()
    found = sorted({content for pair in rows for content in pair})
    writer.connection.execute(
        "DELETE FROM apart WHERE a IN (SELECT value FROM json_each(?1))"
        " AND b IN (SELECT value FROM json_each(?1))",
        (json.dumps(found),),
    )
    return found


def _column(writer: Writer, query: str, *values: object) -> list[int]:
    return [row[0] for row in writer.connection.execute(query, values)]


def _link_near(writer: Writer, records: Sequence[int]) -> None:
    """Note which texts are near-identical to those of `records`."""
    texts = _column(
        writer,
        "SELECT DISTINCT text FROM records WHERE id IN (SELECT value FROM json_each(?))"
        " ORDER BY text",
        json.dumps(records),
    )
    for text in texts:
        rows = writer.connection.execute(
            "SELECT DISTINCT t.id, t.text FROM bands mine JOIN bands other ON"
            " other.band = mine.band AND other.text != mine.text JOIN texts t ON t.id = other.text"
            " WHERE mine.text = ? AND EXISTS (SELECT 1 FROM records r WHERE r.text = t.id)"
            " AND NOT EXISTS (SELECT 1 FROM near n WHERE n.a = min(mine.text, t.id)"
            " AND n.b = max(mine.text, t.id)) ORDER BY t.id LIMIT ?",
            (text, _MOST_ALIKE),
        ).fetchall()
        if rows:
            words = _said(writer, text)
            writer.connection.executemany(
                "INSERT OR IGNORE INTO near VALUES (?, ?)",
                [sorted((text, other)) for other, said in rows if near_identical(words, said)],
            )


def _touched(writer: Writer, records: Sequence[int]) -> list[int]:
    """The records, and all records of every paper that they belong to or may join."""
    return _column(
        writer,
        """
WITH given AS (SELECT value AS id FROM json_each(?)),
said AS (SELECT r.id, r.text, r.paper FROM records r JOIN given USING (id)),
kin AS (
    SELECT paper FROM said
    UNION SELECT r.paper FROM said s JOIN records r ON r.text = s.text
    UNION SELECT r.paper FROM given g JOIN identities i ON i.record = g.id
        JOIN identities j ON j.key = i.key JOIN records r ON r.id = j.record
    UNION SELECT r.paper FROM said s JOIN near n ON n.a = s.text JOIN records r ON r.text = n.b
    UNION SELECT r.paper FROM said s JOIN near n ON n.b = s.text JOIN records r ON r.text = n.a
)
SELECT id FROM given UNION SELECT r.id FROM records r JOIN kin ON kin.paper = r.paper
""",
        json.dumps(records),
    )


def _form(
    writer: Writer, records: Sequence[int], revision: int, emptied: Iterable[int] = ()
) -> None:
    """Form the papers of `records`, which hold whole components."""
    members = {member.record: member for member in _members(writer, records)}
    links = [*_links(writer, records), *_titled(writer, members), *_near(writer, records)]
    components = groups(members, links, _apart(writer, members))
    held = {member.paper for member in members.values() if member.paper is not None}
    homes = _homes(writer, components, members, held)
    shown = {}
    for component in components:
        mine = [members[record] for record in component]
        shown.update(_write(writer, homes.get(component[0]), mine, revision))
    writer.show(shown)
    for paper in sorted((held | set(emptied)) - set(homes.values())):
        writer.delete_paper(paper)


def _members(writer: Writer, records: Sequence[int]) -> Iterator[_Member]:
    rows = writer.connection.execute(
        "SELECT r.id, r.paper, r.text, t.content, t.title_derived, length(t.text), f.path,"
        " r.ordinal, r.meta FROM records r JOIN texts t ON t.id = r.text"
        " JOIN files f ON f.id = r.file WHERE r.id IN (SELECT value FROM json_each(?))"
        " ORDER BY r.id",
        (json.dumps(records),),
    )
    for row in rows:
        yield _Member(*row)


def _links(writer: Writer, records: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of records with the same text or the same identifier."""
    wanted = json.dumps(records)
    found: list[tuple[int, int]] = []
    for query in (
        "SELECT text, id FROM records WHERE id IN (SELECT value FROM json_each(?)) ORDER BY 1, 2",
        "SELECT key, record FROM identities WHERE record IN (SELECT value FROM json_each(?))"
        " AND key NOT LIKE 'title:%' ORDER BY 1, 2",
    ):
        rows = writer.connection.execute(query, (wanted,)).fetchall()
        found += [(a[1], b[1]) for a, b in pairwise(rows) if a[0] == b[0]]
    return found


def _titled(writer: Writer, members: dict[int, _Member]) -> list[tuple[int, int]]:
    """Pairs with the same title, by authors who can be the same people.

    Each record joins the first circle of those before it that agrees with it as a whole: an initial
    must not bring two given names together.
    """
    rows = writer.connection.execute(
        "SELECT key, record FROM identities WHERE key LIKE 'title:%'"
        " AND record IN (SELECT value FROM json_each(?)) ORDER BY 1, 2",
        (json.dumps(list(members)),),
    )
    found: list[tuple[int, int]] = []
    for key, rows_of in groupby(rows, key=itemgetter(0)):
        agreed: list[list[_Member]] = []
        for member in (members[record] for _, record in rows_of):
            circle = next((c for c in agreed if _agree(writer, key, member, c)), None)
            if circle is None:
                agreed.append([member])
            else:
                found.append((circle[0].record, member.record))
                if _authors(member) not in map(_authors, circle):
                    circle.append(member)
    return found


def _agree(writer: Writer, key: str, member: _Member, circle: list[_Member]) -> bool:
    """Whether a record can be one paper with all of `circle`; a short title names many papers."""
    meta = read_meta(member.meta)
    return all(same_authors(meta, read_meta(other.meta)) for other in circle) and (
        len(title_words(key)) > SHORT_TITLE
        or on_one_subject(_said(writer, member.text), _said(writer, circle[0].text))
    )


def _authors(member: _Member) -> tuple[str, ...]:
    return read_meta(member.meta).authors


def _said(writer: Writer, text: int) -> str:
    row = writer.connection.execute("SELECT text FROM texts WHERE id = ?", (text,)).fetchone()
    return str(row[0])


def _near(writer: Writer, records: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of records with near-identical texts."""
    return writer.connection.execute(
        "WITH given AS (SELECT value AS id FROM json_each(?))"
        " SELECT ra.id, rb.id FROM given g JOIN records ra ON ra.id = g.id"
        " JOIN near n ON n.a = ra.text JOIN records rb ON rb.text = n.b"
        " WHERE rb.id IN (SELECT id FROM given) ORDER BY 1, 2",
        (json.dumps(records),),
    ).fetchall()


def _apart(writer: Writer, members: dict[int, _Member]) -> set[frozenset[int]]:
    by_content: dict[str, list[int]] = {}
    for member in members.values():
        by_content.setdefault(member.content, []).append(member.record)
    rows = writer.connection.execute(
        "SELECT a, b FROM apart WHERE a IN (SELECT value FROM json_each(?))",
        (json.dumps(list(by_content)),),
    )
    return {
        frozenset((x, y)) for a, b in rows for x in by_content[a] for y in by_content.get(b, ())
    }


def _homes(
    writer: Writer, components: list[list[int]], members: dict[int, _Member], held: set[int]
) -> dict[int, int]:
    """The paper that each component goes on as, by its first record; the oldest paper wins.

    Where a paper falls apart it stays with the record that it shows, if that is still there.
    """
    place = {record: component[0] for component in components for record in component}
    shown = dict(
        writer.connection.execute(
            "SELECT id, record FROM papers WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(held)),),
        ).fetchall()
    )
    homes: dict[int, int] = {}
    for paper in sorted(held):
        heir = shown.get(paper)
        if heir not in members or members[heir].paper != paper:
            heir = min(record for record, one in members.items() if one.paper == paper)
        homes.setdefault(place[heir], paper)
    return homes


def _write(
    writer: Writer, paper: int | None, members: list[_Member], revision: int
) -> dict[int, int]:
    """Make one paper what its records say together; the paper and its text if that is new."""
    shown = {}
    best = min(members, key=lambda m: (m.title_derived, -m.length, m.path, m.ordinal))
    meta = written_meta(_joined([best, *(m for m in members if m is not best)]))
    if paper is None:
        paper = _new_paper(writer, best, meta, revision)
        shown[paper] = best.text
    else:
        (before,) = writer.connection.execute(
            "SELECT text FROM papers WHERE id = ?", (paper,)
        ).fetchone()
        writer.connection.execute(
            "UPDATE papers SET record = ?, meta = ? WHERE id = ?", (best.record, meta, paper)
        )
        if before != best.text:
            writer.connection.execute(
                "UPDATE papers SET text = ?, version = version + (revision != ?), revision = ?"
                " WHERE id = ?",
                (best.text, revision, revision, paper),
            )
            shown[paper] = best.text
    writer.connection.executemany(
        "UPDATE records SET paper = ? WHERE id = ?",
        [(paper, m.record) for m in members if m.paper != paper],
    )
    return shown


def _new_paper(writer: Writer, best: _Member, meta: str, revision: int) -> int:
    """A paper under the name of its content, or the next one where that name is taken."""
    name, number = best.content, 1
    while writer.connection.execute("SELECT 1 FROM papers WHERE paper_id = ?", (name,)).fetchone():
        number += 1
        name = f"{best.content}-{number}"
    (paper,) = writer.connection.execute(
        "INSERT INTO papers (paper_id, record, text, meta, version, created, revision)"
        " VALUES (?, ?, ?, ?, 1, ?, ?) RETURNING id",
        (name, best.record, best.text, meta, revision, revision),
    ).fetchone()
    return int(paper)


def _joined(members: Sequence[_Member]) -> Metadata:
    """The metadata of the first record, its gaps filled from the others in order."""
    joined = read_meta(members[0].meta)
    for member in members[1:]:
        found = read_meta(member.meta)
        gaps = [f.name for f in fields(Metadata) if not getattr(joined, f.name)]
        joined = replace(joined, **{name: getattr(found, name) for name in gaps})
    return joined
