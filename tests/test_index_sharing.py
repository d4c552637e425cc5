"""Readers and writers of one index: threads, other programs' locks, forks, switches under way."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from command import ROOT, environment
from fakes import TOPICS
from library import Library, Template, abstract, sentences

from rag.errors import IndexLocked, IndexUnusable
from rag.index.catalog import Catalog
from rag.index.sync import Options


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    texts = [abstract(topic) for topic in TOPICS]
    return Template(tmp_path_factory.mktemp("sharing"), *texts)


@pytest.fixture
def library(template: Template) -> Library:
    return template.fresh()


def first(topic: str) -> str:
    return sentences(abstract(topic))[0]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another process that holds an exclusive lock on a database."""
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('PRAGMA locking_mode = EXCLUSIVE'); c.execute('BEGIN EXCLUSIVE');"
        "print('locked', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin and process.stdout
    try:
        assert process.stdout.readline() == b"locked\n"
        yield
    finally:
        process.stdin.close()
        process.wait(60)
        process.stdout.close()


def test_X11_vectors_that_another_program_locks_are_waited_for_a_little_and_then_done_without(
    library: Library,
) -> None:
    database = library.data / "vectors" / library.generation / "chroma.sqlite3"
    with locked(database), library.reader() as reader:
        vector = library.embedder.embed(["yachts"])[0]
        started = time.monotonic()
        with reader.state() as state:
            (near,) = state.nearest(vector, 1)
            assert state.snapshot.papers([near])[near].text == abstract("yachts")
            assert state.name.endswith("exact")
        assert time.monotonic() - started < 30.0  # five of waiting, and a busy machine's own
        (notice,) = library.notices
        assert "another program has had them locked" in notice
        assert "damaged" not in notice
        started = time.monotonic()
        with reader.state() as state:
            assert len(state.nearest(vector, 40)) == 30
        assert time.monotonic() - started < 4.0  # it is not waited for again
    library.notices.clear()
    assert library.nearest("yachts", 1) == [(first("yachts"), 1.0)]
    assert library.notices == []


def test_X11_a_catalog_that_another_program_locks_is_told_within_10_seconds(
    library: Library,
) -> None:
    with locked(library.data / "catalog.sqlite3"):
        started = time.monotonic()
        with pytest.raises(IndexLocked, match="in use by another program"):
            library.texts()
        assert time.monotonic() - started < 30.0  # five of waiting, and a busy machine's own
    assert len(library.texts()) == 30


FORKED = """
import os, sys, time
from pathlib import Path
from library import Library

library = Library(Path(sys.argv[1]))
with library.reader() as reader:
    vector = library.embedder.embed(["yachts"])[0]
    with reader.state() as state:
        assert len(state.nearest(vector, 3)) == 3
        assert state.name.endswith("gen-000001")
    child = os.fork()
    with reader.state() as state:
        near = list(state.nearest(vector, 1))
        text = state.snapshot.papers(near)[near[0]].text
    if child:
        assert os.waitpid(child, 0)[1] == 0  # so that the two do not write at once
    print("child" if child == 0 else "parent", state.name, text, sep="|", flush=True)
    if child == 0:
        os._exit(0)
"""


def test_X12_a_process_forked_from_one_that_searched_compares_exactly(library: Library) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED, str(library.papers.parent)],
        env=environment(PYTHONPATH=f"{ROOT}{os.pathsep}{ROOT / 'tests'}"),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    text = abstract("yachts")
    assert sorted(done.stdout.splitlines()) == [
        f"child|revision 1, exact|{text}",
        f"parent|revision 1, gen-000001|{text}",
    ]


def search_on(library: Library, topic: str, ends: threading.Event) -> Iterator[str]:
    """What is wrong with answers, until it is over."""
    with library.reader() as reader:
        vector = library.embedder.embed([topic])[0]
        while not ends.is_set():
            with reader.state() as state:
                near = state.nearest(vector, 31)
                best = state.snapshot.papers(near)[next(iter(near))].text
                if best != abstract(topic) or len(near) != 30:
                    yield f"{topic}: {best}, {len(near)}"


def build_twice(library: Library) -> int:
    """How many times another thread was at it."""
    waited = 0
    for _ in range(2):
        try:
            library.compact()
        except IndexLocked:
            waited += 1
            time.sleep(0.2)
    return waited


def test_X13_threads_search_while_others_build(library: Library) -> None:
    ends = threading.Event()
    with ThreadPoolExecutor(10) as pool:
        searches = [pool.submit(list, search_on(library, t, ends)) for t in TOPICS[:8]]
        builders = [pool.submit(build_twice, library) for _ in range(2)]
        waited = sum(builder.result() for builder in builders)
        ends.set()
        assert [wrong for search in searches for wrong in search.result()] == []
    assert library.notices == []
    assert library.generation == f"gen-{1 + 4 - waited:06d}"


def test_X14_one_generation_after_another_is_adopted_by_an_open_reader(library: Library) -> None:
    with library.reader() as reader:
        vector = library.embedder.embed(["yachts"])[0]
        names = set()
        for turn in range(6):
            library.write("b.txt", abstract("yachts", about=f"turn {turn}"))
            library.index()
            library.compact()
            with reader.state() as state:
                near = state.nearest(vector, 2)
                texts = {paper.text for paper in state.snapshot.papers(near).values()}
                assert texts == {abstract("yachts"), abstract("yachts", about=f"turn {turn}")}
                names.add(state.name)
        assert len(names) == 6
    assert library.notices == []
    assert len(library.generations()) == 2


def test_a_reader_whose_generation_was_removed_under_it_takes_the_present_one(
    library: Library,
) -> None:
    with library.reader() as reader, reader.state() as state:
        for _ in range(3):
            library.compact()
        vector = library.embedder.embed(["yachts"])[0]
        (near,) = state.nearest(vector, 1)
        assert state.snapshot.papers([near])[near].text == abstract("yachts")
    assert library.notices == []
    assert library.generation == "gen-000004"  # nothing was built for want of the first


def test_a_collection_that_became_small_needs_no_generation_and_damage_to_it_ends(
    library: Library,
) -> None:
    library.write("a.txt", abstract("apples"), abstract("yachts"))
    library.index(options=Options(allow_shrink=True))
    (library.data / "vectors" / "CURRENT").write_text("gen-000077\n")
    assert library.nearest("yachts", 1) == [(first("yachts"), 1.0)]
    assert len(library.notices) == 1
    assert library.nearest("yachts", 3) == [(first("yachts"), 1.0), (first("apples"), 0.0)]
    assert len(library.notices) == 1  # told once
    assert library.generation == ""


def test_the_log_of_a_catalog_that_was_moved_away_does_not_get_into_a_new_one(
    library: Library,
) -> None:
    path = library.data / "catalog.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE texts SET text = 'of the old catalog'")
        connection.commit()
        log = path.with_name("catalog.sqlite3-wal").read_bytes()
    path.rename(library.data / "moved.sqlite3")
    path.with_name("catalog.sqlite3-wal").write_bytes(log)
    with pytest.raises(IndexUnusable, match="There is no index"):
        library.texts()
    library.index()
    assert library.texts() == {abstract(topic) for topic in TOPICS}


def test_X16_generations_are_ordered_by_number_whatever_the_clock_says(library: Library) -> None:
    for stamp in (0, 2**31):  # 1970, 2038
        for path in (library.data / "vectors").rglob("*"):
            os.utime(path, (stamp, stamp))
        library.compact()
    assert library.generation == "gen-000003"
    assert library.generations() == ["gen-000002", "gen-000003"]
    assert library.nearest("yachts", 1) == [(first("yachts"), 1.0)]
    assert library.notices == []


def test_a_catalog_without_an_index_beside_it_is_no_index(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "none" / "catalog.sqlite3")
    with pytest.raises(IndexUnusable, match="Run `rag index` first"), catalog.reading():
        pass
    assert not (tmp_path / "none").exists()
