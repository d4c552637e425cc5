"""A disk that is full or fails: one clear line, the old index, and the next run completes."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import ROOT, Ran, environment
from fakes import TOPICS
from library import Library, abstract, sentences

RUNS_IN = 50.0  # seconds; where the child process hung it would be more than sixty
CODE = """
import sys
from library import main
from rag.exits import run
run(lambda **_: main(*sys.argv[1:]), "rag")
"""


def many(about: str, count: int = 60) -> list[str]:
    return [abstract(TOPICS[n % 30], about=f"{about} {n}") for n in range(count)]


def run(
    library: Library, prefix: Sequence[str] = (), limit: Callable[[], None] | None = None
) -> Ran:
    """Index in a process of its own, which ends as the command line would."""
    started = time.monotonic()
    done = subprocess.run(
        [*prefix, sys.executable, "-c", CODE, str(library.papers), str(library.data)],
        preexec_fn=limit,
        capture_output=True,
        env=environment(PYTHONPATH=f"{ROOT}{os.pathsep}{ROOT / 'tests'}"),
        timeout=120,
        check=False,
    )
    assert time.monotonic() - started < RUNS_IN
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def no_file_above(size: int) -> Callable[[], None]:
    """In the child, before it begins: every write beyond that size fails, as on a full disk."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Papers with a generation, and files with as many more that are not yet indexed."""
    library = Library(tmp_path_factory.mktemp("indexed"))
    library.write("old.txt", *many("old"))
    library.index()
    assert library.generation == "gen-000001"
    library.write("new.txt", *many("new", 300))
    return library


@pytest.fixture
def library(indexed: Library, tmp_path: Path) -> Library:
    return indexed.copy(tmp_path / "data")


OLD = set(many("old"))
ALL = OLD | set(many("new", 300))


def check_usable(library: Library) -> None:
    """What was there before is found, and with it all that is new or nothing of it."""
    assert library.texts() in (OLD, ALL)
    for text in (many("old")[7], many("old")[59]):
        assert library.search(sentences(text)[0], 1).hits[0].paper.text == text
    assert library.notices == []


def check_completed(library: Library) -> None:
    library.index()
    assert library.texts() == ALL
    assert library.generation > "gen-000001"
    text = many("new", 300)[299]
    assert library.search(sentences(text)[0], 1).hits[0].paper.text == text
    assert library.notices == []
    assert [path.name for path in (library.data / "vectors").glob("*.tmp")] == []


@pytest.mark.parametrize("kilobytes", [0, 8, 64, 128, 192, 256, 384, 512, 1024])
def test_I17_writes_that_fail_from_some_size_on_end_in_one_line(
    library: Library, kilobytes: int
) -> None:
    ran = run(library, limit=no_file_above(kilobytes << 10))
    if ran.code:
        assert ran.code == 5
        assert "damaged" not in ran.error_line
    check_usable(library)
    check_completed(library)


@pytest.mark.parametrize("kilobytes", [0, 32, 128, 256])
def test_I17_so_does_the_first_run_of_all(indexed: Library, tmp_path: Path, kilobytes: int) -> None:
    library = indexed.like(indexed.embedder)
    library.data = tmp_path / "fresh"
    ran = run(library, limit=no_file_above(kilobytes << 10))
    assert ran.code == 5
    assert str(library.data) in ran.error_line
    library.index()
    assert library.texts() == ALL
    assert library.generation == "gen-000001"
    assert list(library.data.glob("*.new*")) == []


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of that size; the test is skipped where none may be mounted."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill_up(disk: Path, left: int) -> Path:
    """Leave that many bytes free."""
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, free - left)
    return ballast


@pytest.mark.parametrize("kilobytes", [0, 16, 64, 150, 300, 500, 800, 1000])
def test_I17_a_disk_that_runs_full(library: Library, tmp_path: Path, kilobytes: int) -> None:
    with small_disk(tmp_path / "disk", "6m") as disk:
        library.data = Path(shutil.copytree(library.data, disk / "data"))
        ballast = fill_up(disk, kilobytes << 10)
        ran = run(library)
        if ran.code:
            assert ran.code == 5
            assert "MB are free" in ran.error_line
            assert "damaged" not in ran.error_line
        before = library.texts()
        assert before in (OLD, ALL)
        assert library.search(sentences(many("old")[7])[0], 1).hits[0].paper.text == many("old")[7]
        assert all("damaged" not in notice for notice in library.notices)
        ballast.unlink()
        library.notices.clear()
        check_usable(library)
        check_completed(library)


def without_privileges() -> list[str]:
    """What a command begins with so that permissions mean something to it, even run by root."""
    if os.geteuid():
        return []
    if not shutil.which("setpriv"):
        pytest.skip("run by root, and there is no setpriv to lay down its privileges")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def no_catalog_folder(data: Path) -> None:
    data.chmod(0o555)


def no_vectors_folder(data: Path) -> None:
    shutil.rmtree(data / "vectors")
    (data / "vectors").write_text("a file in its place")


def locked_vectors(data: Path) -> None:
    (data / "vectors" / "CURRENT").unlink()
    (data / "vectors").chmod(0o555)


def a_folder_where_current_is_written(data: Path) -> None:
    (data / "vectors" / "CURRENT.new").mkdir()


FAULTS = {
    "catalog": no_catalog_folder,
    "no vectors": no_vectors_folder,
    "vectors": locked_vectors,
    "rename": a_folder_where_current_is_written,
}


@pytest.mark.parametrize("name", FAULTS)
def test_I18_what_may_not_be_written_or_replaced_is_named(library: Library, name: str) -> None:
    FAULTS[name](library.data)
    ran = run(library, prefix=without_privileges())
    assert ran.code == 5, ran.err
    assert str(library.data) in ran.error_line
    assert library.texts() in (OLD, ALL)
    assert library.search(sentences(many("old")[7])[0], 1).hits[0].paper.text == many("old")[7]
