"""Processes killed with -9 at any stage of their work leave what was there, or all that is new."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import COMMAND, ROOT, environment, rag
from fakes import TOPICS, HandEmbedder
from killing import Point, killed, newer, there, told
from library import Library, abstract, same, sentences

from rag.errors import IndexUnusable
from rag.index.sync import Options

ANY = Options(allow_shrink=True)
SERIES = int(os.environ.get("KILL_SERIES", "4"))
FILES = 8
PAPERS = 8  # in each file
POINTS = {
    "create": Point(there("catalog.*"), 0.02),
    "read": Point(told("reading"), 0.03),
    "embed": Point(told("embedding"), 0.01),
    "write": Point(told("storing"), 0.04),
    "build": Point(there("vectors/*.tmp"), 0.3, "compact"),
    "fill": Point(there("vectors/*.tmp/chroma.sqlite3"), 0.3, "compact"),
    "verify": Point(there("vectors/*.tmp/manifest.json"), 0.15, "compact"),
    "switch": Point(newer, 0.004, "compact"),
}


def texts_of(files: dict[str, list[str]]) -> set[str]:
    return {text for texts in files.values() for text in texts}


def change(library: Library, files: dict[str, list[str]], rng: random.Random) -> None:
    """Edit a file, remove one, write one that was not there."""
    turn = rng.randrange(10_000)
    edited, removed, fresh = rng.sample(range(FILES), 3)
    files[f"{edited}.txt"] = some_abstracts(rng, f"turn {turn}")
    files.pop(f"{removed}.txt", None)
    files[f"{fresh}.txt"] = [*files.get(f"{fresh}.txt", [])[:5], *some_abstracts(rng, f"{turn}")]
    for path in library.papers.iterdir():
        path.unlink()
    for name, texts in files.items():
        library.write(name, *texts)


def some_abstracts(rng: random.Random, about: str) -> list[str]:
    return [
        abstract(*rng.sample(TOPICS, 2), about=f"{about}, place {number}")
        for number in range(PAPERS)
    ]


def shown(library: Library) -> set[str]:
    """What a reader sees; nothing, where there is no index yet."""
    try:
        return library.texts()
    except IndexUnusable as none:
        assert "rag index" in str(none)
        return set()


@pytest.mark.parametrize("seed", range(SERIES))
def test_I16_a_killed_run_leaves_the_old_or_the_new_papers_and_the_next_one_completes_it(
    tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    library = Library(tmp_path)
    files = {f"{n}.txt": some_abstracts(rng, f"file {n}") for n in range(FILES)}
    before: set[str] = set()
    hits = 0
    order = ["create", *rng.sample([name for name in POINTS if name != "create"], len(POINTS) - 1)]
    for name in order:
        change(library, files, rng)
        if POINTS[name].action == "compact":
            library.index(options=ANY)
            before = texts_of(files)
        hits += killed(library, POINTS[name], rng)
        now = shown(library)
        assert now in (before, texts_of(files)), name
        before = now
        for text in rng.sample(sorted(now), min(1, len(now))):
            assert library.search(sentences(text)[0], 1).hits[0].paper.text == text
    library.index(options=ANY)
    assert hits >= len(order) - 2
    assert library.notices == []
    assert library.texts() == texts_of(files)
    if seed < 2:
        compare_with_a_new_index(library, tmp_path / "fresh")


def compare_with_a_new_index(library: Library, fresh: Path) -> None:
    other = library.like(HandEmbedder())
    other.data = fresh
    other.index()
    assert library.stored() == other.stored()
    for topic in ("apples", "bridges clouds", "measured twice"):
        assert same(library.search(topic, 200), other.search(topic, 200))


@contextmanager
def locking(library: Library, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command line at work, from when it holds the lock."""
    note = library.data / "writer.lock"
    note.write_bytes(b"")
    process = subprocess.Popen(
        [*COMMAND, *arguments, "--data-dir", str(library.data)],
        env=environment(),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while process.poll() is None and not note.read_bytes():
            time.sleep(0.0002)
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("seed", range(5))
def test_a_removal_by_hand_that_is_killed_took_all_of_the_papers_or_none(
    tmp_path: Path, seed: int
) -> None:
    library = Library(tmp_path)
    library.write("a.txt", *[abstract(topic) for topic in TOPICS[:12]])
    library.index()
    places = [f"a.txt:{ordinal}" for ordinal in range(1, 9)]
    with locking(library, "papers", "remove", *places) as process:
        time.sleep(random.Random(seed).uniform(0.0, 0.012))
        process.send_signal(signal.SIGKILL)
    left = {abstract(topic) for topic in TOPICS[8:12]}
    assert library.texts() in (left, left | {abstract(topic) for topic in TOPICS[:8]})
    if library.texts() != left:
        assert rag("papers", "remove", *places, data=library.data).code == 0
    assert library.texts() == left
    assert library.index().added == 8  # indexing the file again brings them back


@pytest.mark.parametrize("seed", range(5))
def test_an_undone_merge_that_is_killed_is_undone_or_not(tmp_path: Path, seed: int) -> None:
    library = Library(tmp_path)
    one = abstract(*TOPICS[:25])
    other = one.replace("with care", "with great care")
    library.write("a.txt", one)
    library.write("b.txt", other)
    library.index()
    (paper,) = library.stored().values()
    with locking(library, "papers", "duplicates", "--undo", "a.txt:1") as process:
        time.sleep(random.Random(seed).uniform(0.0, 0.012))
        process.send_signal(signal.SIGKILL)
    assert library.texts() in ({paper.text}, {one, other})
    if library.texts() == {paper.text}:
        assert rag("papers", "duplicates", "--undo", "a.txt:1", data=library.data).code == 0
    assert library.texts() == {one, other}
    assert library.index().unchanged == 2
