"""A suite with conversations: each turn is asked in what was said before it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from asking import asking
from fakes import ScriptedGenerator
from library import Library

from evals.record import Record
from evals.suite import Suite, read_suite
from rag.answering.stop import Stop

ADAPT = "We propose ADAPT for apples. ADAPT adds 7 weights for apples."
MASKS = "We propose MaskNorm for bridges. MaskNorm adds 9 weights for bridges."
TURNS = [
    {"turn": 1, "question": "What is ADAPT for apples?", "paper_ids": ["a.txt:1"]},
    {"turn": 2, "question": "And MaskNorm for bridges?", "paper_ids": ["a.txt:2"]},
    {"turn": 3, "question": "How many weights does it add?", "paper_ids": ["a.txt:2"]},
]


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = Library(tmp_path / "library")
    library.write("a.txt", ADAPT, MASKS)
    library.index()
    return library


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    file = tmp_path / "talk.jsonl"
    file.write_text(json.dumps({"id": "talk", "turns": TURNS}), encoding="utf-8")
    return read_suite(file)


def asked(library: Library, suite: Suite, order: list[int]) -> dict[str, Record]:
    with asking(library, suite, None) as asks:
        records = [asks.product.ask(suite.items[place], 0, Stop()) for place in order]
    return {record.item: record for record in records}


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [2]])
def test_a_turn_is_asked_in_its_conversation_whichever_was_asked_first(
    library: Library, suite: Suite, order: list[int]
) -> None:
    last = asked(library, suite, order)["talk/3"]
    assert last.ending == "answered", last.reason
    assert {one["title"] for one in last.answer["citations"]} == {"MaskNorm"}
    assert [one["number"] for one in last.answer["citations"]] == [2]
    assert [last.papers[key].title for key in last.earlier] == ["ADAPT", "MaskNorm"]
    assert last.answer["manifest"]["follow_up"]["text"] == "How many weights does MaskNorm add?"


def test_the_first_turn_has_nothing_before_it(library: Library, suite: Suite) -> None:
    first = asked(library, suite, [0])["talk/1"]
    assert first.earlier == ()
    assert "follow_up" not in first.answer["manifest"]


def test_what_earlier_turns_cost_is_not_counted_as_the_questions(
    library: Library, suite: Suite
) -> None:
    generator = ScriptedGenerator('{"claims": []}')
    with asking(library, suite, generator) as asks:
        record = asks.product.ask(suite.items[1], 0, Stop())
    assert len(generator.history) == 2
    assert len(record.replies) == 1
