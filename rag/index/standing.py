"""What is wrong with files for as long as they stay as they are: told in every run that names them.

A file that has not changed is not read again. What it holds that could not be taken, and names that
it gives to different papers, are in the catalog, so that no run reports a sound collection while
papers are missing from it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from itertools import groupby
from operator import itemgetter

from rag.index.report import Conflict, Failure, Place
from rag.index.snapshot import Snapshot
from rag.index.writer import Writer


def keep_refused(writer: Writer, path: str, failures: Iterable[Failure], most: int) -> None:
    """Note which records of the published file at `path` were not taken.

    `most` is how many characters a record could have.
    """
    (file,) = writer.connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    writer.connection.execute("DELETE FROM refused WHERE file = ?", (file,))
    writer.connection.executemany(
        "INSERT OR REPLACE INTO refused VALUES (?, ?, ?, ?, ?, ?)",
        [(file, one.ordinal, one.line or 0, one.reason, one.remedy, most) for one in failures],
    )


def refused(snapshot: Snapshot, labels: Mapping[str, str]) -> list[Failure]:
    """The records that were not taken of the files that `labels` names by their paths."""
    rows = snapshot.connection.execute(
        "SELECT f.path, r.ordinal, r.line, r.reason, r.remedy FROM refused r"
        " JOIN files f ON f.id = r.file WHERE f.path IN (SELECT value FROM json_each(?))"
        " ORDER BY f.path, r.ordinal",
        (json.dumps(list(labels)),),
    )
    return [
        Failure(labels[path], reason, remedy, ordinal, line)
        for path, ordinal, line, reason, remedy in rows
    ]


def read_under_other(snapshot: Snapshot, most: int) -> frozenset[str]:
    """The files of which something was refused where another number of characters was allowed."""
    rows = snapshot.connection.execute(
        "SELECT DISTINCT f.path FROM refused r JOIN files f ON f.id = r.file WHERE r.most != ?",
        (most,),
    )
    return frozenset(path for (path,) in rows)


def conflicts(snapshot: Snapshot, paths: Collection[str]) -> tuple[Conflict, ...]:
    """The names that one of these files gives to different papers, each with all its places."""
    rows = snapshot.connection.execute(
        """
WITH named AS MATERIALIZED (
    SELECT r.file, f.label, json_extract(r.meta, '$.key') AS key, r.ordinal, r.line, r.paper
    FROM records r JOIN files f ON f.id = r.file
    WHERE f.path IN (SELECT value FROM json_each(?)) AND r.meta LIKE '%"key":%'
)
SELECT n.label, n.key, n.ordinal, n.line, p.paper_id FROM named n JOIN papers p ON p.id = n.paper
WHERE (n.file, n.key) IN (
    SELECT file, key FROM named WHERE key IS NOT NULL
    GROUP BY file, key HAVING count(DISTINCT paper) > 1
)
ORDER BY n.label, n.file, n.key, n.ordinal
""",
        (json.dumps(list(paths)),),
    ).fetchall()
    return tuple(
        Conflict(label, key, tuple(Place(*row[2:]) for row in group))
        for (label, key), group in groupby(rows, key=itemgetter(0, 1))
    )
