"""Whether the gold sentences are among the evidence: the rule by hand, and the real assistant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import evals

from evals import evidence, golden
from rag.answering.assistant import Assistant
from rag.models import WeightStore

WHOLE = "We propose RN-DPO, which removes  this coupling."


@pytest.mark.parametrize(
    ("gold", "chosen", "expected"),
    [
        ([("1", WHOLE)], [("1", WHOLE)], [True]),
        ([("1", WHOLE)], [("1", "We propose RN-DPO, which\nremoves this coupling.")], [True]),
        ([("1", WHOLE)], [("2", WHOLE)], [False]),  # the same words in another paper
        ([("1", "which removes this coupling")], [("1", WHOLE)], [True]),  # a part was quoted
        ([("1", f"{WHOLE} It is new.")], [("1", WHOLE)], [True]),  # two sentences were quoted
        ([("1", WHOLE)], [("1", "We propose RN-DPO.")], [False]),
        ([("1", WHOLE), ("1", "It is new.")], [("1", "It is new.")], [False, True]),
        ([("1", WHOLE)], [], [False]),
    ],
)
def test_a_quote_is_found_in_a_sentence_of_its_paper(
    gold: list[evidence.Place], chosen: list[evidence.Place], expected: list[bool]
) -> None:
    assert evidence.held_by(gold, chosen) == expected


def test_the_assistants_choice_is_compared_with_the_gold(assistant: Assistant) -> None:
    (item,) = golden.read_suite(golden.SUITE, ["named"])[:1]
    lost = item | {"evidence": ["Nothing of the kind is said."]}
    unanswerable = golden.read_suite(golden.SUITE, ["unanswerable"])[:1]
    found, missed = evidence.run(assistant, [item, lost, *unanswerable])
    assert (found["found"], found["share"]) == (1.0, 1.0)
    assert (missed["found"], missed["share"]) == (0.0, 0.0)
    assert 0 < found["sentences"] <= 12


def test_questions_that_name_what_they_ask_about_are_also_shown_together() -> None:
    samples = [
        {"kind": kind, "found": found, "share": found, "sentences": 9}
        for kind, found in [("named", 1.0), ("numeric", 0.0), ("paraphrase", 0.0)]
    ]
    rows = evidence.table(samples)
    assert {kind: (row["found"].value, row["found"].n) for kind, row in rows.items()} == {
        "named": (1.0, 1),
        "numeric": (0.0, 1),
        "paraphrase": (0.0, 1),
        "named, numeric, acronym": (0.5, 2),
        "all": (pytest.approx(1 / 3), 3),
    }


def test_the_command_takes_more_or_fewer_sentences(tmp_path: Path, weights: WeightStore) -> None:
    given = ("--kinds", "acronym", "--sentences", "2", "--save", str(tmp_path / "a.json"))
    done = evals("bench", "evidence", *given)
    assert (done.code, done.err) == (0, "")
    assert "acronym" in done.out
    saved = json.loads((tmp_path / "a.json").read_text())
    assert saved["settings"] == {"evidence_sentences": 2}
    assert [sample["sentences"] for sample in saved["samples"]] == [2] * 5
