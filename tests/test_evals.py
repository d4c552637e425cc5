"""What measures the product is held to cases worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evals import golden
from evals.matching import holds, is_right
from evals.stats import mean
from rag.answering.assistant import Assistant


@pytest.mark.parametrize(
    ("response", "answer", "expected"),
    [
        (r"accuracy reaches 99.8\% now", "99.8%", True),
        (r"a $2.23\times$ speed-up", "2.23×", True),
        ("a gain of 12 percent", "12%", True),
        (r"the \textbf{disagreement region} counts", "disagreement region", True),
        ("all the disagreement regions", "disagreement region", True),
        ("RN–DPO wins", "RN-DPO", True),
        ("it gains 19.60 points", "9.6", False),
        ("it gains 9.65 points", "9.6", False),
        ("by 2000 episodes", "200", False),
        ("GraphUAT2 is new", "GraphUAT", False),
        ("anything", "", False),
    ],
)
def test_an_answer_is_found_however_it_is_written(
    response: str, answer: str, expected: bool
) -> None:
    assert holds(response, answer) is expected


@pytest.mark.parametrize(
    ("must_all", "response", "expected"),
    [
        (True, "WebShop and ALFWorld", True),
        (True, "WebShop only", False),
        (False, "WebShop only", True),
        (True, "the Web Shop and ALFWorld", True),
        (False, "neither", False),
    ],
)
def test_all_answers_or_any_as_the_item_says(must_all: bool, response: str, expected: bool) -> None:
    item: dict[str, Any] = {
        "answers": ["WebShop", "ALFWorld"],
        "aliases": {"WebShop": ["Web Shop"]},
        "must_all": must_all,
    }
    assert is_right(item, response) is expected


def test_a_mean_comes_with_an_interval_around_it() -> None:
    half = mean([0.0, 1.0] * 50)
    assert half.value == 0.5
    assert half.n == 100
    # the normal approximation: 0.5 ± 1.96 · 0.5 / √100
    assert half.low == pytest.approx(0.402, abs=0.02)
    assert half.high == pytest.approx(0.598, abs=0.02)
    assert (mean([1.0] * 9).low, mean([1.0] * 9).high) == (1.0, 1.0)
    with pytest.raises(ValueError, match="at least one"):
        mean([])


def test_the_suite_names_papers_that_are_there_and_quotes_them() -> None:
    items = golden.read_suite(golden.SUITE)
    assert len(items) == 91
    texts = [path.read_text(encoding="utf-8") for path in (golden.ROOT / "seeds").glob("*.txt")]
    for item in items:
        assert bool(item["paper_ids"]) == item["answerable"]
        for quote in item.get("evidence", []):
            assert any(quote in text for text in texts)


def test_a_run_measures_answers_and_their_citations(assistant: Assistant, tmp_path: Path) -> None:
    items = golden.read_suite(golden.SUITE, ["named"])[:2]
    path = tmp_path / "suite.jsonl"
    path.write_text("\n".join(json.dumps(item) for item in items), encoding="utf-8")
    samples = list(golden.run_ask(assistant, golden.read_suite(path)))
    assert [sample["right"] for sample in samples] == [1.0, 1.0]
    assert all(value == 1.0 for sample in samples for value in sample["verbatim"])
    wrong = [item | {"answers": ["zebra"], "aliases": {}} for item in items]
    assert [s["right"] for s in golden.run_ask(assistant, wrong)] == [0.0, 0.0]
    rows = golden.table(samples, ["right", "verbatim"])
    assert rows["named"]["right"].n == rows["all"]["right"].n == 2


def test_search_counts_the_right_paper_first_and_among_five(assistant: Assistant) -> None:
    (item,) = golden.read_suite(golden.SUITE, ["named"])[:1]
    (sample,) = golden.run_search(assistant, [item])
    assert (sample["first"], sample["in5"]) == (1.0, 1.0)
    (other,) = golden.run_search(assistant, [item | {"paper_ids": ["003-19"]}])
    assert other["first"] == 0.0
