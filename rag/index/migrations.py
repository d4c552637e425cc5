"""The format of the catalog: a list of changes, applied in order, each in a transaction.

An empty file goes through all of them, a catalog of an earlier release through those it has not
seen; `PRAGMA user_version` says how many it has. A change that was released is never edited.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rag.index.identity import bands, shingles
from rag.index.lexical import TERMS_VERSION, index_terms

Connection = sqlite3.Connection


def _first(connection: Connection) -> None:
    """Papers, the files they stand in, their vectors and their terms."""
    _run(
        connection,
        """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,      -- resolved; the identity of a source
    label TEXT NOT NULL,            -- folder/name, as people are told it
    digest TEXT NOT NULL            -- SHA-256 of the bytes that were read
);
CREATE TABLE papers (
    id INTEGER PRIMARY KEY,
    paper_id TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    title TEXT NOT NULL,
    title_derived INTEGER NOT NULL,
    sentences TEXT NOT NULL,        -- JSON: [[start, end], …] into text
    revision INTEGER NOT NULL       -- of the catalog when the paper came in
);
CREATE INDEX papers_by_revision ON papers (revision);
CREATE TABLE sources (              -- a paper may stand in several places
    file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    paper INTEGER NOT NULL REFERENCES papers ON DELETE CASCADE,
    start INTEGER NOT NULL,         -- character of the file where the text begins
    PRIMARY KEY (file, ordinal)
) WITHOUT ROWID;
CREATE INDEX sources_by_paper ON sources (paper);
CREATE TABLE vectors (              -- kept when a paper goes: nothing is embedded twice
    paper_id TEXT NOT NULL,
    model TEXT NOT NULL,            -- embedding model and chunking
    matrix BLOB NOT NULL,           -- a row per chunk, float16
    PRIMARY KEY (paper_id, model)
);
CREATE VIRTUAL TABLE postings USING fts5 (terms, tokenize = "unicode61 tokenchars '.'");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (postings, row);
""",
    )


def _second(connection: Connection) -> None:
    """A paper has versions and several records, which may differ in text and metadata."""
    _run(
        connection,
        """
ALTER TABLE papers RENAME TO old_papers;
DROP INDEX papers_by_revision;
DROP TABLE postings;
DROP TABLE vocabulary;
CREATE TABLE texts (                -- each title with its text once
    id INTEGER PRIMARY KEY,
    content TEXT NOT NULL UNIQUE,   -- hash of title and text
    title TEXT NOT NULL,
    title_derived INTEGER NOT NULL,
    text TEXT NOT NULL,
    sentences TEXT NOT NULL         -- JSON: [[start, end], …] into text
);
CREATE TABLE bands (                -- near-identical texts share one; see identity.bands
    band INTEGER NOT NULL,
    text INTEGER NOT NULL REFERENCES texts ON DELETE CASCADE,
    PRIMARY KEY (band, text)
) WITHOUT ROWID;
CREATE INDEX bands_by_text ON bands (text);
CREATE TABLE near (                 -- pairs found near-identical, a < b
    a INTEGER NOT NULL REFERENCES texts ON DELETE CASCADE,
    b INTEGER NOT NULL REFERENCES texts ON DELETE CASCADE,
    PRIMARY KEY (a, b)
) WITHOUT ROWID;
CREATE INDEX near_by_b ON near (b);
CREATE TABLE apart (                -- contents that a person has said to be two papers, a < b
    a TEXT NOT NULL,
    b TEXT NOT NULL,
    PRIMARY KEY (a, b)
) WITHOUT ROWID;
CREATE TABLE papers (
    id INTEGER PRIMARY KEY,
    paper_id TEXT NOT NULL UNIQUE,  -- the content that it came in with; stays through versions
    record INTEGER NOT NULL,        -- of records: the one that is shown
    text INTEGER NOT NULL REFERENCES texts,
    meta TEXT NOT NULL,             -- JSON: what its records say together
    version INTEGER NOT NULL,
    created INTEGER NOT NULL,       -- revision of the catalog that brought the paper in
    revision INTEGER NOT NULL       -- revision that brought this version in
);
CREATE INDEX papers_by_revision ON papers (revision);
CREATE INDEX papers_by_text ON papers (text);
CREATE TABLE records (              -- what stands at one place of one file
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    line INTEGER NOT NULL,
    start INTEGER NOT NULL,         -- character of the file where the text begins
    text INTEGER NOT NULL REFERENCES texts,
    meta TEXT NOT NULL,             -- JSON
    paper INTEGER                   -- NULL until it is known which
);
CREATE INDEX records_by_file ON records (file, ordinal);
CREATE INDEX records_by_text ON records (text);
CREATE INDEX records_by_paper ON records (paper);
CREATE TABLE identities (           -- what names a paper wherever it stands
    key TEXT NOT NULL,
    record INTEGER NOT NULL REFERENCES records ON DELETE CASCADE,
    PRIMARY KEY (key, record)
) WITHOUT ROWID;
CREATE INDEX identities_by_record ON identities (record);
CREATE TABLE staged (               -- read from files, not yet published
    path TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    line INTEGER NOT NULL,
    start INTEGER NOT NULL,
    text INTEGER NOT NULL REFERENCES texts ON DELETE CASCADE,
    meta TEXT NOT NULL,
    PRIMARY KEY (path, ordinal)
) WITHOUT ROWID;
CREATE INDEX staged_by_text ON staged (text);
INSERT INTO texts SELECT id, paper_id, title, title_derived, text, sentences FROM old_papers;
INSERT INTO records (file, ordinal, line, start, text, meta, paper)
    SELECT file, ordinal, 0, start, paper, '{}', paper FROM sources ORDER BY file, ordinal;
INSERT INTO papers
    SELECT p.id, p.paper_id, (SELECT r.id FROM records r JOIN files f ON f.id = r.file
        WHERE r.paper = p.id ORDER BY f.path, r.ordinal LIMIT 1),
        p.id, '{}', 1, p.revision, p.revision
    FROM old_papers p WHERE p.id IN (SELECT paper FROM sources);
DROP TABLE sources;
DROP TABLE old_papers;
ALTER TABLE vectors RENAME COLUMN paper_id TO content;
CREATE VIRTUAL TABLE postings USING fts5 (
    terms, tokenize = "unicode61 categories 'L* N* Co M*' tokenchars '.'"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (postings, row);
""",
    )
    for key, text in connection.execute("SELECT id, text FROM texts"):
        connection.executemany(
            "INSERT OR IGNORE INTO bands VALUES (?, ?)",
            [(band, key) for band in bands(shingles(text))],
        )
    _renew_terms(connection)


def _third(connection: Connection) -> None:
    """What was refused of a file stays known for as long as the file is as it was."""
    _run(
        connection,
        """
CREATE TABLE refused (
    file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    line INTEGER NOT NULL,
    reason TEXT NOT NULL,
    remedy TEXT NOT NULL,
    most INTEGER NOT NULL,          -- max_record_chars when it was read
    PRIMARY KEY (file, ordinal)
) WITHOUT ROWID;
""",
    )


Change = Callable[[Connection], None]
MIGRATIONS: tuple[Change, ...] = (_first, _second, _third)
SCHEMA_VERSION = len(MIGRATIONS)


def migrate(connection: Connection, changes: Sequence[Change] = MIGRATIONS) -> None:
    """Bring the catalog to the present format, one transaction for each step."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for number, change in enumerate(changes[version:], start=version + 1):
        connection.execute("PRAGMA foreign_keys = OFF")  # has no effect inside a transaction
        with _transaction(connection):
            change(connection)
            connection.execute(f"PRAGMA user_version = {number}")
    connection.execute("PRAGMA foreign_keys = ON")


def has_present_terms(connection: Connection) -> bool:
    """Whether papers are found by the terms that this release looks for."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'terms'").fetchone()
    return row is not None and row[0] == TERMS_VERSION


def refresh_terms(connection: Connection) -> None:
    """Compute anew what papers are found by, if another release did it in another way."""
    if not has_present_terms(connection):
        with _transaction(connection):
            _renew_terms(connection)
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('terms', ?)", (TERMS_VERSION,))


def _renew_terms(connection: Connection) -> None:
    """Compute anew what every paper is found by."""
    connection.execute("DELETE FROM postings")
    rows = connection.execute(
        "SELECT p.id, t.title, t.text, t.title_derived FROM papers p JOIN texts t ON t.id = p.text"
    )
    for key, title, text, derived in rows:
        terms = index_terms(title, text, title_derived=bool(derived))
        connection.execute("INSERT INTO postings (rowid, terms) VALUES (?, ?)", (key, terms))


@contextmanager
def _transaction(connection: Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _run(connection: Connection, script: str) -> None:
    """Like `executescript`, which would commit the transaction that it runs in."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""
