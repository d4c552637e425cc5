"""`rag chat` as its user runs it: lines from a pipe, and a person at a terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import COMMAND, ROOT, environment
from fakes import Received, Script, ScriptedServer, chunk, event, streamed
from test_cli_json import FOLLOW_UP, check

TALK = """\
What does RN-DPO normalize?
Is there another paper here about the same imaging task?

How many trainable parameters does that one add?
!!!
and the other paper?
"""


def chat(talk: str, data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "chat", "--llm", "none", "--data-dir", str(data), *arguments],
        input=talk,
        capture_output=True,
        text=True,
        env=environment(),
        cwd=ROOT,
        timeout=120,
        check=False,
    )


def test_a_conversation_goes_on_and_its_numbers_stay(seeds_index: Path) -> None:
    done = chat(TALK, seeds_index)
    assert done.returncode == 1  # one of the questions had no words
    first, second, third, fourth = done.stdout.split("\nSources\n")[1:]
    assert first.startswith("[1] RN-DPO")
    assert second.startswith("[2] RADAR")
    assert third.startswith("[2] RADAR")
    assert "0.74M" in third
    assert fourth.startswith("[1] RN-DPO")
    told = done.stderr.splitlines()
    assert "understood as: How many trainable parameters does RADAR add?" in told
    assert "error: The question has no word in it. Ask it in words." in told


def test_every_answer_is_one_line_of_json(seeds_index: Path) -> None:
    done = chat(TALK, seeds_index, "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [bool(line.get("error")) for line in lines] == [False, False, False, True, False]
    assert lines[3] == {"error": "The question has no word in it. Ask it in words.", "exit_code": 2}
    assert [c["number"] for c in lines[4]["citations"]] == [1]
    check(lines[0], "rag ask --json, rag summarize")
    check(lines[2]["manifest"], FOLLOW_UP)


@pytest.mark.parametrize("talk", ["", "\n\n  \n"])
def test_no_question_is_no_fault(seeds_index: Path, talk: str) -> None:
    done = chat(talk, seeds_index)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_without_an_index_it_says_what_to_run(tmp_path: Path) -> None:
    done = chat("What is it?\n", tmp_path / "none")
    assert done.returncode == 3
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1


# --- A person at a terminal ----------------------------------------------------------------


class Terminal:
    """What a person types, and all that the terminal has shown."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self._master = master
        self.shown = ""

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def wait_for(self, text: str, times: int = 1) -> None:
        while self.shown.count(text) < times:
            ready, _, _ = select.select([self._master], [], [], 60)
            try:
                piece = os.read(self._master, 4096) if ready else b""
            except OSError:
                piece = b""
            assert piece, f"{text!r} was not shown: {self.shown}"
            self.shown += piece.decode(errors="replace")


@contextmanager
def terminal(data: Path, **env: str) -> Iterator[Terminal]:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "chat", "--data-dir", str(data)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment(TERM="dumb", **env),
        cwd=ROOT,
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        process.kill()
        process.wait()
        os.close(master)


@pytest.mark.case("C12")
def test_ctrl_c_stops_an_answer_and_ctrl_d_ends_the_chat(seeds_index: Path) -> None:
    def reply(received: Received) -> Script:
        if "Question: What does RN-DPO normalize?" in received.body["messages"][1]["content"]:
            return Script([event(chunk("{"))], ending="hang")
        return streamed(['{"claims": []}'])

    with ScriptedServer(reply) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}
        with terminal(seeds_index, **env) as person:
            person.wait_for("> ")
            person.type("What does RN-DPO normalize?\n")
            person.wait_for("reading the evidence")
            assert server.wait_until(lambda it: it.open > 0, 60)
            person.process.send_signal(signal.SIGINT)
            person.wait_for("stopped")
            person.wait_for("> ", times=2)
            person.type("What does RADAR propose?\n")
            person.wait_for("The collection does not say.")
            person.wait_for("> ", times=3)
            person.type("\x04")
            assert person.process.wait(60) == 0
