"""Conversations of the page without a browser: kept, restored, gone on with, and suggested."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag import jsonform
from rag.answering.assistant import Assistant
from rag.answering.events import Event
from rag.config import Config
from rag.exporting import reference_of
from rag.history import history_of
from rag.page.answers import as_text, conversation
from rag.page.asking import Asking, Talk
from rag.page.desk import Desk
from rag.page.followups import followups
from rag.page.setting import Setting
from rag.page.shelf import sources
from rag.page.stored import restored_answer

QUESTION = "What does RN-DPO normalize?"


class Direct:
    """Answers whoever asks, at once."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    def ask(self, question: str, *, user: str, **given: Any) -> Iterator[Event]:
        return self._assistant.ask(question, **given)


@pytest.fixture
def asking(assistant: Assistant, tmp_path: Path) -> Asking:
    """Conversations over the seeds, kept in a folder of their own."""
    config = Config.model_validate({"data_dir": tmp_path})
    return Asking(Setting(assistant, config, Desk(Direct(assistant))))


def ask(asking: Asking, question: str, talk: Talk, instead_of: int = 0) -> Talk:
    *_, (last, _) = asking.ask(question, talk, reader="r", owner="", instead_of=instead_of)
    return last


def test_each_turn_is_kept_with_its_own_sources_and_gone_on_with(asking: Asking) -> None:
    first = ask(asking, QUESTION, Talk())
    ask(asking, "And RADAR?", first)
    again = asking.open(first.kept, "")
    numbers = [[(c.number, c.paper.title) for c in turn.citations] for turn in again.turns]
    assert numbers == [[(1, "RN-DPO")], [(2, "RADAR")]]
    third = ask(asking, "How many trainable parameters does it add?", again)
    assert "0.74M" in as_text(third.turns[-1])
    assert [turn.kept for turn in third.turns] == [1, 2, 3]


def test_two_tabs_keep_both_turns(asking: Asking) -> None:
    begun = ask(asking, QUESTION, Talk())
    ask(asking, "And RADAR?", begun)
    other = ask(asking, "And GDRO?", begun)
    assert other.turns[-1].kept == 3
    asked = [turn.question for turn in asking.open(begun.kept, "").turns]
    assert asked == [QUESTION, "And RADAR?", "And GDRO?"]


def test_an_answer_asked_again_stands_in_place_of_the_last_one(asking: Asking) -> None:
    talk = ask(asking, QUESTION, Talk())
    talk = ask(asking, QUESTION, talk, instead_of=1)
    opened = asking.open(talk.kept, "")
    for turns in (talk.turns, opened.turns):
        assert [turn.instead_of for turn in turns] == [0, 1]
        assert conversation(turns).count("Earlier answer to") == 1


def test_what_cannot_be_kept_is_shown_and_told(assistant: Assistant, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no folder")
    config = Config.model_validate({"data_dir": file})
    talk = ask(Asking(Setting(assistant, config, Desk(Direct(assistant)))), QUESTION, Talk())
    assert talk.turns[-1].claims
    assert talk.kept == 0
    assert "This answer was not kept." in conversation(talk.turns)


def test_a_paper_that_has_left_is_told_and_still_shown(asking: Asking, tmp_path: Path) -> None:
    head = {"paper_id": "gone", "source": "owls.json", "ordinal": 1, "title": "TinyOwl"}
    answer = {
        "question": "Owls?",
        "status": "answered",
        "text": "TinyOwl finds owls.",
        "claims": [{"text": "TinyOwl finds owls.", "citations": [1]}],
        "citations": [{"number": 1, **head, "sentences": [{"text": "Owls are found."}]}],
    }
    shown = sources(asking.open(history_of(tmp_path).begin(answer), "").turns)
    assert "no longer in the collection" in shown
    assert ">Owls are found.</mark>" in shown


def test_an_answer_is_the_same_after_it_was_kept(assistant: Assistant, asking: Asking) -> None:
    given = assistant.answer("Compare RADAR and RN-DPO")
    history = asking.history("")
    number = history.begin(
        jsonform.answer(given), [reference_of(one.paper) for one in given.citations]
    )
    (kept,) = history.turns(number)
    again = jsonform.answer(restored_answer(kept.form()))
    wanted = jsonform.answer(given)
    for key in ("claims", "status", "text", "kind", "confidence", "sections"):
        assert again[key] == wanted[key]
    assert [c["sentences"] for c in again["citations"]] == [
        c["sentences"] for c in wanted["citations"]
    ]


@pytest.mark.parametrize(
    "question", [QUESTION, "How can offline imitation learning be made safe?", "What is RADAR?"]
)
def test_what_is_suggested_is_answered(assistant: Assistant, question: str) -> None:
    suggested = followups(assistant.answer(question))
    assert 1 <= len(suggested) <= 3
    for one in suggested:
        assert len(one) < 80
        assert assistant.answer(one).status != "abstained"
