"""The measures of one question, by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from recorded import abstained, answered, item

from evals.judging.alce import alce_of
from evals.judging.scorer import SupportJudge
from evals.record import Opinion, Record, Reply, Span, Times
from evals.scoring.abstention import silence
from evals.scoring.measures import BY_NAME, Asked
from evals.scoring.scored import score, summarise
from evals.suite import RubricItem


def value(name: str, record: Record, **known: Any) -> float | None:
    return BY_NAME[name].of(Asked(item(record.item, **known), record, "support"))


def span(start: int, end: int, paper: str = "p") -> Span:
    return Span(paper, start, end, "x" * (end - start))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], 0.0),
        ([span(0, 100)], 0.5),
        ([span(0, 100), span(200, 300)], 1.0),
        ([span(50, 150)], 0.5),  # 50 of 100 characters are the same
        ([span(51, 151)], 0.0),
        ([span(10, 20)], 0.5),  # all of the shorter one
        ([span(100, 200)], 0.0),
        ([span(0, 100, "q")], 0.0),
    ],
)
def test_evidence_is_found_by_its_offsets(given: list[Span], expected: float) -> None:
    gold = (span(0, 100), span(200, 300))
    record = answered("a", gold_evidence=gold, evidence=tuple(given))
    assert value("evidence", record) == expected
    assert value("evidence", answered("a", evidence=tuple(given))) is None


def test_what_is_cited_is_held_against_gold() -> None:
    record = answered(
        "a",
        ("So.", [1, 2]),
        papers={"p": "x" * 100, "q": "y" * 100},
        gold={"000-01": "p", "000-02": "r"},
        gold_evidence=(span(0, 100), span(0, 100, "r")),
        retrieved=("q", "p"),
    )
    assert value("gold cited", record) == 0.5
    assert value("evidence cited", record) == 0.5
    assert value("first", record) == 0.0
    assert value("MRR@10", record) == 0.5
    assert value("recall@10", record) == 0.5
    assert value("gold cited", answered("a", gold={"000-01": "p"})) is None
    assert value("evidence cited", abstained("a", gold_evidence=(span(0, 9),))) is None
    assert value("first", answered("a", retrieved=("q",))) is None


@pytest.mark.parametrize(
    ("answerable", "silent", "expected"),
    [(True, False, 1.0), (True, True, 0.0), (False, False, 0.0), (False, True, 1.0)],
)
def test_a_decision_is_right_or_wrong(answerable: bool, silent: bool, expected: float) -> None:
    record = abstained("a") if silent else answered("a")
    assert value("decided", record, answerable=answerable) == expected
    assert value("decided", record, must_say=["AI"]) is None


def test_an_abstention_misses_the_answer_unless_there_is_none() -> None:
    assert value("correct", abstained("a"), answers=["so"]) == 0.0
    assert value("correct", abstained("a"), answerable=False) is None


def test_a_rubric_is_met_by_weight() -> None:
    items = [RubricItem(name=n, criterion=n, weight=w) for n, w in (("x", 3), ("y", 1))]
    said = {"support/rubric": (Opinion(0, (), "support"), Opinion(1, (), "neither"))}
    assert value("rubric", answered("a", opinions=said), rubric=items) == 0.75
    assert value("rubric", answered("a"), rubric=items) is None
    assert value("rubric", abstained("a"), rubric=items) == 0.0
    assert value("rubric", answered("a")) is None


def reply(of: str, cached: bool = False) -> Reply:
    return Reply(of, "m", "p", "text", "stop", 100, 20, 1.5, cached)


def test_times_and_tokens_are_of_this_run_and_of_who_is_asked() -> None:
    new = answered("a", replies=(reply("subject"), reply("subject"), reply("judge")),
                   times=Times(3.0, 2.0), cost=0.25)  # fmt: skip
    assert [value(n, new) for n in ("seconds", "first claim")] == [3.0, 2.0]
    assert [value(n, new) for n in ("tokens read", "tokens written", "cost")] == [200, 40, 0.25]
    kept = answered("a", replies=(reply("subject", cached=True),), times=Times(0.1, 0.1))
    assert [value(n, kept) for n in ("seconds", "first claim")] == [None, None]
    assert value("tokens read", answered("a")) is None


def test_faithful_is_of_cited_claims_and_recall_of_all() -> None:
    record = answered(
        "a",
        ("One.", [1]),
        ("Two.", [1]),
        ("Three.", []),
        papers={"p": "One."},
        judged={(0, (1,)): "support", (1, (1,)): "contradict"},
    )
    assert value("faithful", record) == 0.5
    assert value("contradicted", record) == 0.5
    assert value("citation recall", record) == pytest.approx(1 / 3)
    assert value("citation precision", record) == 0.5


def test_the_summary_tells_silence_only_of_questions_that_can_be_decided() -> None:
    items = [item("a"), item("b", answerable=False), item("c", must_say=["AI"])]
    records = [answered("a"), abstained("b"), answered("c")]
    found = summarise(score(items, 1, records, ""), 1)
    assert found.silence == silence([(True, False), (False, True)])


def test_alce_scores_of_a_run_are_of_its_texts() -> None:
    papers = {"p": "Cats chase mice at night.", "q": "Owls sleep by day."}
    first = answered("a", papers=papers)
    text = "Cats chase mice at night [1, 2]. Owls sleep by day [2][1].\nDogs bark [1]."
    first = replace(first, answer={**first.answer, "text": text})
    found = alce_of(SupportJudge(), [first, abstained("b")])
    assert found is not None
    # "Cats chase mice at night, 2." is left of the first, with a number that no paper has; the
    # second is supported, and does not need 1
    assert (found.recall, found.answers) == (0.5, 1)
    assert found.precision == pytest.approx(1 / 3)
    assert alce_of(SupportJudge(), [abstained("b")]) is None
