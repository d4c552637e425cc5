"""`python -m evals run` as its user meets it: real index, real processes, a scripted server."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from asking import lines
from command import ROOT, environment, evals
from fakes import DONE, Script, ScriptedServer, chunk, event, refusal, streamed, usage
from runs import suite_file

from evals.running.journal import SAMPLES

QUESTIONS: list[dict[str, Any]] = [
    {
        "id": "where",
        "question": "Over which part of the image does RN-DPO normalize the likelihood ratio?",
        "answers": ["disagreement region"],
        "paper_ids": ["000-07"],
        "kind": "named",
    },
    {
        "id": "which",  # answered all the same: the abstract speaks of five without their names
        "question": "Which five CVaR baselines does DIOS beat on the option-pricing test?",
        "answerable": False,
    },
]
ANSWER = json.dumps(
    {"claims": [{"support": ["S1"], "text": "RN-DPO normalizes over the disagreement region."}]}
)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    return suite_file(tmp_path / "mine.jsonl", *QUESTIONS)


def test_a_run_is_asked_gone_on_with_and_begun_anew(
    seeds_index: Path, suite: Path, tmp_path: Path
) -> None:
    given = ("run", suite, "--llm", "none", "--data-dir", seeds_index, "--out", tmp_path / "run")
    ran = evals(*given, "--json")
    assert (ran.code, ran.err) == (0, "")
    report = ran.json()
    assert report["outcomes"] == {"scored": 2, "abstained": 0, "failed": 0, "skipped": 0}
    assert report["means"]["correct"]["value"] == 1.0
    assert report["silence"]["wrongly_answered"] == 1
    samples = tmp_path / "run" / SAMPLES
    before = samples.read_bytes()

    astray = evals(*given[:-1], "/nowhere-yet/run")
    assert (astray.code, Path("/nowhere-yet").exists()) == (2, False)
    assert "There is no folder /nowhere-yet" in astray.error_line

    again = evals(*given)
    assert (again.code, again.out) == (2, "")
    assert "holds a run already" in again.error_line
    resumed = evals(*given, "--resume", "--json")
    assert (resumed.code, resumed.json()["means"]["correct"]) == (0, report["means"]["correct"])
    assert samples.read_bytes() == before

    text = suite.read_text()
    suite.write_text(text.replace("disagreement region", "whole image"))
    changed = evals(*given, "--resume")
    assert changed.code == 2
    assert "holds a run of something else (questions: " in changed.error_line
    assert "--new-run" in changed.error_line
    told = evals("report", tmp_path / "run", "--data-dir", seeds_index)
    assert "has changed since the run" in told.error_line
    assert evals(*given, "--new-run").code == 0
    assert len(list(tmp_path.glob("run-*"))) == 1
    assert samples.read_bytes() == before

    suite.write_text(text)
    other = evals(*given, "--resume", "--judges", "none")
    assert 'judges: ["support"], []' in other.error_line


def test_a_suite_without_an_answerable_question_is_fine_and_told(
    seeds_index: Path, tmp_path: Path
) -> None:
    file = suite_file(tmp_path / "none.jsonl", QUESTIONS[1])
    out = tmp_path / "run"
    ran = evals("run", file, "--llm", "none", "--data-dir", seeds_index, "--out", out)
    assert ran.code == 0
    assert "No question of none has an answer: only abstention can be measured." in ran.err
    assert "left alone 0 of 1 that have none" in ran.out


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"question": "Why?", "paper_ids": ["000-07", "zzz"]}, "(zzz; the first is asked for in"),
        ({"question": "Why?", "paper_ids": ["000-07"], "evidence": ["It is so."]}, "'It is so.'"),
    ],
)
@pytest.mark.case("E08")
def test_gold_that_is_not_in_the_index_is_named_with_its_line(
    seeds_index: Path, tmp_path: Path, question: dict[str, object], words: str
) -> None:
    file = suite_file(tmp_path / "mine.jsonl", QUESTIONS[0], question)
    out = tmp_path / "run"
    ran = evals("run", file, "--llm", "none", "--data-dir", seeds_index, "--out", out)
    assert ran.code == 2
    assert words in ran.error_line
    assert f"{file}:2" in ran.error_line
    assert not out.exists()


def test_without_an_index_it_says_how_to_make_one(suite: Path, tmp_path: Path) -> None:
    ran = evals("run", suite, "--llm", "none", "--data-dir", tmp_path / "data")
    assert ran.code == 3
    assert "rag index" in ran.error_line


def counted(text: str, read: int, written: int) -> Script:
    """A reply whose server counts tokens."""
    pieces = [event(chunk(text)), event(chunk(finish="stop")), event(usage(read, written)), DONE]
    return Script(pieces)


def test_the_money_that_is_spent_leaves_the_rest_for_later(
    seeds_index: Path, suite: Path, tmp_path: Path
) -> None:
    with ScriptedServer(counted(ANSWER, 1_000, 100)) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "m"}
        given = ("run", suite, "--llm", "openai", "--data-dir", seeds_index)
        bounds = ("--max-cost", "0.001", "--price-read", "1", "--price-written", "2")
        ran = evals(*given, "--out", tmp_path / "run", *bounds, "--json", env=env)
        assert ran.code == 1  # half of it is no run to be believed
        assert ran.json()["outcomes"]["skipped"] == 1
        assert "1 question was not asked: $0.0012 are spent of the $0.001 allowed." in ran.err
        rest = evals(*given, "--out", tmp_path / "run", "--resume", "--json", env=env)
    assert rest.json()["outcomes"] == {"scored": 2, "abstained": 0, "failed": 0, "skipped": 0}


@pytest.mark.case("E06")
def test_a_server_that_is_not_there_is_exit_4_and_asked_again_later(
    seeds_index: Path, suite: Path, tmp_path: Path
) -> None:
    given = ("run", suite, "--llm", "openai", "--data-dir", seeds_index, "--out", tmp_path / "run")
    with ScriptedServer(refusal(401, "bad key")) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "m", "RAG_MAX_RETRIES": "0"}
        ran = evals(*given, env=env)
    assert ran.code == 4
    assert ran.error_line.startswith("error: The model cannot be used (")
    assert "--resume" in ran.error_line
    assert lines(tmp_path / "run") == []


@pytest.mark.case("C12")
def test_ctrl_c_ends_a_run_that_waits_for_a_model(
    seeds_index: Path, suite: Path, tmp_path: Path
) -> None:
    endless = streamed(['{"claims": ['], finish=None, done=False, ending="hang")
    with ScriptedServer(endless) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "m"}
        given = ("run", suite, "--llm", "openai", "--data-dir", seeds_index)
        process = subprocess.Popen(
            [sys.executable, "-m", "evals", *map(str, given), "--out", str(tmp_path / "run")],
            env=environment(**env),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert server.wait_until(lambda one: one.open == 1)
        while not server.posts:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert server.wait_until(lambda one: one.open == 0)
    assert process.returncode == 130
    assert said.strip() == "interrupted"
    assert lines(tmp_path / "run") == []
