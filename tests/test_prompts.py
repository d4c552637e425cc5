"""`rag prompts`: names, versions, and what one's own folder or another answer changes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from command import ROOT, rag

from rag.answering.templates import changes, compared, find_template, templates
from rag.errors import UsageError

ANSWER = (ROOT / "prompts/answer.md").read_text(encoding="utf-8")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "answer.md").write_text(ANSWER.replace("research papers", "old books"))
    return folder


def test_the_versions_are_hashes_of_what_is_in_force(own: Path) -> None:
    for folder, text in ((None, ANSWER), (own, ANSWER.replace("research papers", "old books"))):
        found = find_template("answer", folder)
        assert found.version == hashlib.sha256(text.encode()).hexdigest()[:8]
        assert (found.text, found.is_own) == (text, folder is not None)
    assert [one.name for one in templates(own) if one.is_own] == ["answer"]


def test_a_diff_shows_the_lines_that_one_changed(own: Path) -> None:
    lines = changes("answer", own).split("\n")
    assert [line[0] for line in lines if "old books" in line] == ["+"]
    assert [line[0] for line in lines if "research papers" in line] == ["-"]
    assert changes("summary", own) == changes("answer", None) == ""


def test_a_prompt_that_is_not_there_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean answer"):
        find_template("anwser")
    with pytest.raises(UsageError, match="rag prompts list"):
        find_template("../config")


def test_two_answers_are_compared_by_all_their_prompts() -> None:
    first = {"prompt": "answer@1", "help": [{"step": "rewrite", "prompt": "rewrite@2"}]}
    second = {"prompt": "answer@3", "help": []}
    assert [(one.name, one.first, one.second) for one in compared(first, second)] == [
        ("answer", "1", "3"),
        ("rewrite", "2", ""),
    ]
    assert compared({}, {"help": None}) == []
    assert compared({"help": "none", "prompt": 7}, {}) != []


def test_the_command_line(own: Path, tmp_path: Path) -> None:
    env = {"RAG_PROMPTS": str(own)}
    listed = rag("prompts", "list", env=env)
    (line,) = [line for line in listed.out.splitlines() if line.startswith("answer ")]
    assert "own" in line
    assert rag("prompts", "show", "answer").out == ANSWER
    shown = rag("prompts", "diff", "answer", env=env)
    assert "+" in shown.out and "old books" in shown.out
    assert rag("prompts", "diff", "answer").out == "answer is the product's.\n"
    three = rag("prompts", "diff", "a", "b", "c")
    assert (three.code, "two answers" in three.error_line) == (2, True)
    missing = rag("prompts", "diff", tmp_path / "a.json", tmp_path / "b.json")
    assert (missing.code, "cannot be read" in missing.error_line) == (2, True)
    answer = {"question": "q", "status": "abstained", "text": "t", "claims": [], "citations": []}
    for name, version in (("a", "1"), ("b", "2")):
        kept = {**answer, "manifest": {"prompt": f"answer@{version}"}}
        (tmp_path / f"{name}.json").write_text(json.dumps(kept))
    differing = rag("prompts", "diff", tmp_path / "a.json", tmp_path / "b.json")
    assert differing.out.split() == ["answer", "1", "2", "differs"]


def test_a_prompt_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    (tmp_path / "judge.md").write_bytes(b"\xff\xfe")
    ran = rag("prompts", "list", env={"RAG_PROMPTS": str(tmp_path)})
    assert ran.code == 2
    assert ran.error_line.startswith(f"error: The prompt {tmp_path / 'judge.md'} cannot be read")
    assert "not UTF-8 (byte 0)" in ran.error_line
