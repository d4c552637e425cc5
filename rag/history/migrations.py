"""The format of the file of conversations: a list of changes, applied in order.

`PRAGMA user_version` says how many a file has. All that it lacks are one transaction, so a file is
of the old format or of the new one. A change that was released is never edited, and none may drop
what people wrote.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

Change = Sequence[str]

_FIRST: Change = (
    """CREATE TABLE conversations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given twice
    owner TEXT NOT NULL,                   -- whose it is; empty: of whoever uses this machine
    name TEXT NOT NULL,
    created TEXT NOT NULL,                 -- ISO 8601, UTC
    updated TEXT NOT NULL
)""",
    "CREATE INDEX conversations_by_owner ON conversations (owner, updated)",
    """CREATE TABLE turns (
    id INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversations ON DELETE CASCADE,
    number INTEGER NOT NULL,               -- from 1
    question TEXT NOT NULL,
    answer TEXT NOT NULL,                  -- JSON, as `rag ask --json` prints it
    refs TEXT NOT NULL,                    -- JSON: what was known of its papers
    asked TEXT NOT NULL,
    UNIQUE (conversation, number)
)""",
    """CREATE TABLE feedback (
    turn INTEGER PRIMARY KEY REFERENCES turns ON DELETE CASCADE,
    good INTEGER NOT NULL,
    reason TEXT NOT NULL,
    papers TEXT NOT NULL,                  -- JSON: ids of the papers that would be right
    answerable INTEGER,                    -- NULL: nobody said
    given TEXT NOT NULL
)""",
    "CREATE VIRTUAL TABLE said USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')",
)
CHANGES: Sequence[Change] = (_FIRST,)


class NewerFormat(Exception):
    """A later release made the file."""


def migrate(connection: sqlite3.Connection, changes: Sequence[Change] = CHANGES) -> None:
    """Bring a file to the present format.

    Raises:
        NewerFormat: it is of a later one.
    """
    if _version(connection) == len(changes):
        return
    connection.execute("BEGIN IMMEDIATE")  # another process may be doing it: look again
    try:
        version = _version(connection)
        if version > len(changes):
            raise NewerFormat(f"format {version}; this askpapers reads up to {len(changes)}")
        for change in changes[version:]:
            for statement in change:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(changes)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)
