"""Indexing in processes of its own: stopped, or two at once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import environment, rag
from fakes import TOPICS
from library import Library, abstract

from rag.errors import IndexLocked

PROGRAM = Path(__file__).with_name("library.py")


@contextmanager
def indexing(library: Library, seconds: float = 0.0) -> Iterator[subprocess.Popen[str]]:
    """A process that indexes the library, `seconds` for each sentence."""
    command = [sys.executable, str(PROGRAM), str(library.papers), str(library.data), str(seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment())
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout
        process.stdout.close()


def locked_by(library: Library) -> dict[str, object]:
    """What the lock file says, once it says something."""
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        note = library.data / "writer.lock"
        if note.is_file() and (text := note.read_text()):
            return dict(json.loads(text))
        time.sleep(0.01)
    raise AssertionError("nobody took the lock")


def test_I16_a_run_killed_while_it_embeds_keeps_what_it_had_embedded(tmp_path: Path) -> None:
    library = Library(tmp_path)
    texts = [abstract(topic, about=f"case {n}") for n in range(20) for topic in TOPICS]
    library.write("a.txt", *texts)
    with indexing(library, 0.002) as process:
        assert process.stdout
        assert process.stdout.readline() == "reading 1/0\n"
        assert process.stdout.readline() == "embedding 512/600\n"
        process.send_signal(signal.SIGKILL)
    assert library.index().embedded == 600 - 512


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_I28_I29_a_second_writer_is_told_at_once_who_writes_and_may_when_that_one_ends(
    tmp_path: Path, stop: signal.Signals
) -> None:
    library = Library(tmp_path)
    library.write("a.txt", abstract("apples"))
    with indexing(library, 30.0) as process:
        assert locked_by(library)["pid"] == process.pid
        started = time.monotonic()
        with pytest.raises(IndexLocked) as caught:
            library.index()
        assert time.monotonic() - started < 20.0
        message = str(caught.value)
        assert f"process {process.pid}" in message
        assert f"library.py {library.papers}" in message
        process.send_signal(stop)
        process.wait(60)
        assert library.index().added == 1


def test_I28_the_command_line_leaves_with_3_when_another_process_writes(tmp_path: Path) -> None:
    library = Library(tmp_path)
    path = library.write("a.txt", abstract("apples"))
    with indexing(library, 30.0) as process:
        locked_by(library)
        started = time.monotonic()
        ran = rag("index", path, "--quiet", data=library.data)
        assert time.monotonic() - started < 20.0
        assert ran.code == 3
        assert f"process {process.pid}" in ran.error_line
        assert "try again" in ran.error_line


def test_readers_are_not_kept_out_by_a_writer(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.write("a.txt", abstract("apples"))
    library.index()
    library.write("b.txt", abstract("bridges"))
    with indexing(library, 30.0):
        ends = time.monotonic() + 60
        while "library.py" not in (library.data / "writer.lock").read_text():
            assert time.monotonic() < ends
            time.sleep(0.01)
        assert [hit.paper.text for hit in library.search("apples").hits] == [abstract("apples")]
