"""Suites as people write them: what is wrong with one is told in one line, with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import evals
from runs import suite_file

from evals.suite import read_suite
from rag.errors import InputError

OWL = {"id": "a", "question": "Where do owls nest?"}
TURNS = {"id": "c", "turns": [{"turn": 1, "question": "What?"}, {"turn": 2, "question": "Why?"}]}


def told(tmp_path: Path, *lines: object) -> str:
    """What is said of a suite of these lines, without its path."""
    file = tmp_path / "mine.jsonl"
    written = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("\n".join(written), "utf-8")
    with pytest.raises(InputError) as caught:
        read_suite(file)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(str(file), "mine.jsonl")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "mine.jsonl:2 is no question (Expecting property name"),
        ("[]", "mine.jsonl:2 is no question ("),
        ("3", "mine.jsonl:2 is no question ("),
        ("[" * 100_000, "mine.jsonl:2 is no question ("),
        ({"id": "b"}, "the field 'question' is missing"),
        ({"question": "Why?"}, "the field 'id' is missing"),
        ({"id": "b", "question": ""}, "question: "),
        ({"id": "", "question": "Why?"}, "id: "),
        ({**OWL, "id": "b", "answerabel": False}, "'answerabel', which the form has not"),
        ({**OWL, "id": "b", "answerable": "perhaps"}, "answerable: "),
        ({**OWL, "id": "b", "answers": "barns"}, "answers: "),
        (
            {**OWL, "id": "b", "answerable": False, "answers": ["barns"]},
            "it has answers and is not answerable",
        ),
        ({**OWL, "id": "b", "aliases": {"x": ["y"]}}, "aliases of 'x', which is no answer of it"),
        (
            {**OWL, "id": "b", "rubric": [{"name": "n", "criterion": "c", "weight": 0}]},
            "rubric.0.weight: ",
        ),
        ({"id": "b", "turns": []}, "turns: "),
        ({**TURNS, "turns": TURNS["turns"][1:]}, "its turns are not counted 1, 2, 3"),
        (OWL, "mine.jsonl:2 has the id 'a', which line 1 has already"),
        ({"id": "a", "turns": [{"turn": 1, "question": "?", "id": "x"}]}, "'turns.0.id', which"),
    ],
)
@pytest.mark.case("E08")
def test_a_line_that_is_no_question_is_named(
    tmp_path: Path, line: dict[str, Any] | str, words: str
) -> None:
    said = told(tmp_path, OWL, line)
    assert words in said
    assert "mine.jsonl:2" in said


def test_a_turn_may_not_have_the_id_of_a_question(tmp_path: Path) -> None:
    assert "mine.jsonl:2 has the id 'c/2'" in told(tmp_path, {**OWL, "id": "c/2"}, TURNS)


@pytest.mark.parametrize("content", ["", "\n \n"])
@pytest.mark.case("E08")
def test_an_empty_suite_is_told(tmp_path: Path, content: str) -> None:
    assert told(tmp_path, content).startswith("mine.jsonl holds no questions.")


def test_a_suite_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "latin.jsonl").write_bytes('{"id": "a", "question": "Où?"}'.encode("latin-1"))
    for name, cause in (
        ("none.jsonl", "No such file"),
        ("latin.jsonl", "utf-8"),
        (".", "directory"),
    ):
        with pytest.raises(InputError, match="cannot be read") as caught:
            read_suite(tmp_path / name)
        assert cause in caught.value.cause


def test_blank_lines_and_windows_lines_are_fine_and_places_count_them(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_bytes(b"\r\n" + json.dumps(OWL).encode() + b"\r\n\r\n" + json.dumps(TURNS).encode())
    suite = read_suite(file)
    assert [(item.id, item.kind) for item in suite.items] == [
        ("a", ""),
        ("c/1", "opening"),
        ("c/2", "followup"),
    ]
    assert [item.where.rpartition(":")[2] for item in suite.items] == ["2", "4", "4"]
    assert suite.items[2].earlier == ("What?",)


def test_the_same_questions_are_the_same_suite_wherever_they_stand(tmp_path: Path) -> None:
    one = read_suite(suite_file(tmp_path / "one.jsonl", OWL, {"question": "Why?"}))
    (tmp_path / "two.jsonl").write_text("\n" + (tmp_path / "one.jsonl").read_text())
    assert read_suite(tmp_path / "two.jsonl").digest == one.digest
    other = read_suite(suite_file(tmp_path / "three.jsonl", OWL, {"question": "When?"}))
    assert other.digest != one.digest
    assert one.first(1).digest != one.digest


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "nowhere"), "No suite is called 'nowhere'"),
        (("run", "none.jsonl"), "none.jsonl cannot be read (No such file"),
        (("run", "mine.jsonl"), "mine.jsonl:1 is no question (it has the field 'wrong'"),
        (("run", "mine.jsonl", "--resume", "--new-run"), "exclude each other"),
        (("run", "fine.jsonl", "--judges", "nobody"), "No judge is called 'nobody'"),
        (("run", "fine.jsonl", "--judges", "support,support"), "named twice"),
        (("run", "fine.jsonl", "--limit", "0"), "--limit"),
        (("run", "fine.jsonl", "--resume"), "There is no run of fine to go on with"),
    ],
)
@pytest.mark.case("E08")
def test_the_command_says_what_is_wrong_in_one_line(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    (tmp_path / "mine.jsonl").write_text('{"id": "a", "question": "Why?", "wrong": 1}')
    suite_file(tmp_path / "fine.jsonl", OWL)
    places = [str(tmp_path / one) if one.endswith(".jsonl") else one for one in arguments]
    ran = evals(*places, "--llm", "none", "--data-dir", tmp_path / "data")
    assert ran.code == 2
    assert words in ran.error_line
    assert not (tmp_path / "data" / "evals" / "runs").exists()
