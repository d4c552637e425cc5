"""Catalogs of earlier releases: what they hold is found as before, and nothing is embedded."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from command import ROOT, Ran, environment
from fakes import TOPICS
from library import Library, abstract, sentences
from test_index_disk import without_privileges

from rag.errors import IndexUnusable
from rag.index.migrations import MIGRATIONS, migrate
from rag.index.sync import Options
from rag.index.vectors.local import Generations
from rag.index.vectors.seam import Facts
from rag.schema import Paper

FIRST = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, label TEXT NOT NULL, digest TEXT NOT NULL
);
CREATE TABLE papers (
    id INTEGER PRIMARY KEY, paper_id TEXT NOT NULL UNIQUE, text TEXT NOT NULL, title TEXT NOT NULL,
    title_derived INTEGER NOT NULL, sentences TEXT NOT NULL, revision INTEGER NOT NULL
);
CREATE INDEX papers_by_revision ON papers (revision);
CREATE TABLE sources (
    file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE, ordinal INTEGER NOT NULL,
    paper INTEGER NOT NULL REFERENCES papers ON DELETE CASCADE, start INTEGER NOT NULL,
    PRIMARY KEY (file, ordinal)
) WITHOUT ROWID;
CREATE INDEX sources_by_paper ON sources (paper);
CREATE TABLE vectors (
    paper_id TEXT NOT NULL, model TEXT NOT NULL, matrix BLOB NOT NULL,
    PRIMARY KEY (paper_id, model)
);
CREATE VIRTUAL TABLE postings USING fts5 (terms, tokenize = "unicode61 tokenchars '.'");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (postings, row);
"""
KEY = "by hand/1/254"
COUNT = 20  # papers about the first topics, in order, in the first file
REPEATED = 4  # the topic of the paper that stands in the second file as well
REMOVED = 25  # the topic of a paper whose file is gone; its vectors were kept


def content(text: str) -> str:
    """The id of a paper without a title, in every release so far."""
    return hashlib.sha256(f"\n{text}".encode()).hexdigest()[:16]


def axis(topic: int) -> list[float]:
    """The vector of a text about one topic: the hand-made embedder has an axis for each."""
    return [1.0 if number == topic else 0.0 for number in range(31)]


def stretches(text: str) -> str:
    first, _ = sentences(text)
    return json.dumps([[0, len(first)], [len(first) + 1, len(text)]])


def fill_first(connection: sqlite3.Connection, one: Path, two: Path) -> None:
    """What the first release wrote for these two files."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(FIRST)
    settings = {
        "embedding_model": "by hand",
        "chunk_sentences": "1",
        "chunk_word_pieces": "254",
        "revision": "3",
        "probe": np.array(axis(30), dtype=np.float32).tobytes().hex(),
    }
    connection.executemany("INSERT INTO meta VALUES (?, ?)", settings.items())
    for number, path in enumerate([one, two], start=1):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        connection.execute(
            "INSERT INTO files VALUES (?, ?, ?, ?)",
            (number, str(path), f"papers/{path.name}", digest),
        )
    start = 0
    for number, text in enumerate(PAPERS, start=1):
        connection.execute(
            "INSERT INTO papers VALUES (?, ?, ?, ?, 1, ?, 3)",
            (number, content(text), text, sentences(text)[0], stretches(text)),
        )
        connection.execute("INSERT INTO sources VALUES (1, ?, ?, ?)", (number, number, start))
        connection.execute(
            "INSERT INTO postings (rowid, terms) VALUES (?, ?)", (number, f"{TOPICS[number - 1]} x")
        )
        start += len(text) + 2
    connection.execute("INSERT INTO sources VALUES (2, 1, ?, 0)", (REPEATED + 1,))
    for topic in [*range(COUNT), REMOVED]:
        matrix = np.array([axis(topic)] * 2, dtype=np.float16).tobytes()
        connection.execute(
            "INSERT INTO vectors VALUES (?, ?, ?)", (content(abstract(TOPICS[topic])), KEY, matrix)
        )
    connection.execute("PRAGMA user_version = 1")
    connection.commit()


PAPERS = [abstract(topic) for topic in TOPICS[:COUNT]]


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """An index of the first release, with a generation of vectors."""
    library = Library(tmp_path)
    one = library.write("one.txt", *PAPERS)
    two = library.write("two.txt", PAPERS[REPEATED])
    library.data.mkdir()
    with closing(sqlite3.connect(library.data / "catalog.sqlite3")) as connection:
        fill_first(connection, one, two)
    Generations(library.data / "vectors").build(
        ((content(text), np.array(axis(n), dtype=np.float32)) for n, text in enumerate(PAPERS)),
        Facts(KEY, 31, COUNT, 3),
    )
    return library


def check_found(library: Library) -> None:
    """Every paper is found as it was, and none was embedded."""
    assert {paper.text for paper in library.stored().values()} == set(PAPERS)
    assert {(p.id, p.version) for p in papers(library)} == {(content(t), 1) for t in PAPERS}
    assert [(p.source, p.ordinal) for p in papers(library)] == [
        ("papers/one.txt", ordinal) for ordinal in range(1, COUNT + 1)
    ]
    for topic, text in zip(TOPICS, PAPERS, strict=False):
        assert library.nearest(topic, 1) == [(sentences(text)[0], 1.0)]
        (hit,) = library.search(f"{topic} measured", 1).hits
        assert hit.paper.text == text
        assert hit.parts["lexical"] > 0
    assert library.generation == "gen-000001"
    assert library.notices == []


def papers(library: Library) -> list[Paper]:
    with library.state() as state:
        return list(state.snapshot.all_papers())


def version(library: Library) -> int:
    with closing(sqlite3.connect(library.data / "catalog.sqlite3")) as connection:
        (number,) = connection.execute("PRAGMA user_version").fetchone()
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    return int(number)


def dump(library: Library) -> list[str]:
    with closing(sqlite3.connect(library.data / "catalog.sqlite3")) as connection:
        return list(connection.iterdump())


def embedded(library: Library) -> set[str]:
    """What was embedded besides questions."""
    return {text for text in library.newly_embedded() if len(text.split()) > 2}


def test_X15_an_index_of_the_first_release_is_searched(library: Library) -> None:
    check_found(library)
    assert embedded(library) == set()
    assert version(library) == len(MIGRATIONS)


def test_it_is_kept_up_to_date_with_its_files(library: Library) -> None:
    report = library.index()
    assert (report.added, report.updated, report.removed, report.unchanged) == (0, 0, 0, COUNT)
    assert (report.embedded, embedded(library)) == (0, set())
    check_found(library)
    library.newly_embedded()
    library.write("two.txt", PAPERS[REPEATED], abstract(TOPICS[REMOVED]))
    assert library.index().added == 1
    assert embedded(library) == set()  # its vectors had been kept
    (library.papers / "one.txt").unlink()
    library.index(options=Options(allow_shrink=True))
    assert library.texts() == {PAPERS[REPEATED], abstract(TOPICS[REMOVED])}


def broken(connection: sqlite3.Connection) -> None:
    """Does all that the second change does, and fails then."""
    MIGRATIONS[1](connection)
    raise sqlite3.OperationalError("interrupted")


def test_a_change_of_format_that_fails_changes_nothing(library: Library) -> None:
    before = dump(library)
    path = library.data / "catalog.sqlite3"
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as connection,
        pytest.raises(sqlite3.OperationalError, match="interrupted"),
    ):
        migrate(connection, [MIGRATIONS[0], broken])
    assert (version(library), dump(library)) == (1, before)
    check_found(library)


KILLED = """
import os, signal, sqlite3, sys
from rag.index.migrations import MIGRATIONS, migrate

def killed(connection):
    MIGRATIONS[1](connection)
    os.kill(os.getpid(), signal.SIGKILL)

connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")  # so that much of it has reached the log
migrate(connection, [MIGRATIONS[0], killed])
"""


def test_a_change_of_format_that_is_killed_is_made_again(library: Library) -> None:
    before = dump(library)
    path = library.data / "catalog.sqlite3"
    command = [sys.executable, "-c", KILLED, str(path)]
    done = subprocess.run(command, env=environment(), cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    assert (version(library), dump(library)) == (1, before)
    check_found(library)
    assert version(library) == len(MIGRATIONS)


def test_terms_of_an_earlier_release_are_computed_anew_before_the_first_search(
    library: Library,
) -> None:
    library.index()
    with closing(sqlite3.connect(library.data / "catalog.sqlite3")) as connection, connection:
        connection.execute("UPDATE meta SET value = '1' WHERE key = 'terms'")
        connection.execute("UPDATE postings SET terms = 'other'")
    check_found(library)
    with closing(sqlite3.connect(library.data / "catalog.sqlite3")) as connection, connection:
        connection.execute("DELETE FROM meta WHERE key = 'terms'")
        connection.execute("UPDATE postings SET terms = 'other'")
    assert library.rebuild().embedded == 0
    assert library.search(f"{TOPICS[3]} measured", 1).hits[0].parts["lexical"] > 0


def test_a_catalog_of_a_newer_release_is_refused_and_not_touched(library: Library) -> None:
    library.index()
    path = library.data / "catalog.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    before = path.read_bytes()
    for use in (library.texts, library.index, library.rebuild, library.compact):
        with pytest.raises(IndexUnusable, match=r"made by a newer askpapers.*Upgrade"):
            use()
    assert path.read_bytes() == before


SEARCH = """
import sys
from pathlib import Path
from library import Library
from rag.exits import run

def search(**_):
    library = Library(Path(sys.argv[1]))
    print(library.search(sys.argv[2], 1).hits[0].paper.text)
    print(*library.notices, sep="\\n", file=sys.stderr)

run(search, "rag")
"""


def searched(library: Library, topic: str) -> Ran:
    """A search by somebody who may read the index and not write it."""
    library.data.chmod(0o555)
    for path in library.data.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    done = subprocess.run(
        [*without_privileges(), sys.executable, "-c", SEARCH, str(library.papers.parent), topic],
        env=environment(PYTHONPATH=f"{ROOT}{os.pathsep}{ROOT / 'tests'}"),
        capture_output=True,
        text=True,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def test_an_old_catalog_that_may_not_be_written_says_what_to_do(library: Library) -> None:
    ran = searched(library, TOPICS[7])
    assert (ran.code, ran.out) == (5, "")
    assert str(library.data) in ran.error_line
    assert "read-only" in ran.error_line
    assert "--data-dir" in ran.error_line


def test_a_present_one_that_may_not_be_written_is_searched(library: Library) -> None:
    library.index()
    ran = searched(library, TOPICS[7])
    assert (ran.code, ran.out) == (0, PAPERS[7] + "\n")
    assert "read-only" in ran.err  # the vectors are compared one by one instead
