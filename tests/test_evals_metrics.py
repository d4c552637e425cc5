"""Measures of a ranking: by hand, and against trec_eval itself on anything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.comparison import score
from evals.metrics import (
    MEASURES,
    Measure,
    average_precision,
    ndcg,
    ranked,
    recall,
    reciprocal_rank,
)

LOG3 = math.log2(3)
IDS = st.sampled_from(["ä", "Z", "日", *(f"d{number}" for number in range(12))])
# A few values many times over, so that there are ties, and any others beside them.
SCORES = st.one_of(
    st.sampled_from([-1.0, 0.0, 0.5, 0.5 + 1e-9, 1.0]),
    st.floats(-1e6, 1e6, allow_nan=False),
)
QUERIES = st.sampled_from(["q1", "q2", "q3", "q4"])
RUNS = st.dictionaries(QUERIES, st.dictionaries(IDS, SCORES, max_size=15), max_size=4)
# Not below -1: where all grades of a query are, trec_eval writes past the end of an array.
QRELS = st.dictionaries(
    QUERIES, st.dictionaries(IDS, st.integers(-1, 4), min_size=1, max_size=10), min_size=1
)

PEERS: dict[str, tuple[Measure, ir_measures.Measure]] = {
    "nDCG@1": (partial(ndcg, k=1), ir_measures.nDCG @ 1),
    "nDCG@10": (partial(ndcg, k=10), ir_measures.nDCG @ 10),
    "recall@3": (partial(recall, k=3), ir_measures.R @ 3),
    "recall@100": (partial(recall, k=100), ir_measures.R @ 100),
    "RR": (partial(reciprocal_rank, k=1000), ir_measures.RR),  # RR@k is not taken of trec_eval
    "AP@3": (partial(average_precision, k=3), ir_measures.AP @ 3),
    "AP": (partial(average_precision, k=1000), ir_measures.AP),
}


@pytest.mark.parametrize(
    ("ranking", "judged", "expected"),
    [
        ("ab", {"a": 1}, 1.0),
        ("ba", {"a": 1}, 1 / LOG3),  # gain 1 at rank 2, where rank 1 is best
        ("cab", {"a": 2, "b": 1}, (2 / LOG3 + 1 / 2) / (2 + 1 / LOG3)),
        ("ab", {"a": 1, "elsewhere": 1}, 1 / (1 + 1 / LOG3)),  # the collection has it not
        ("ba", {"a": 1, "b": -1}, 1 / LOG3),
        ("a", {"a": 0}, 0.0),
        ("", {"a": 1}, 0.0),
        ("a", {}, 0.0),
        ("bbbbbbbbbba", {"a": 1}, 0.0),  # rank 11
    ],
)
def test_ndcg_by_hand(ranking: Sequence[str], judged: dict[str, int], expected: float) -> None:
    assert ndcg(ranking, judged, 10) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("ranking", "judged", "at_2", "first", "precision"),
    [
        ("abc", {"a": 1, "c": 1}, 1 / 2, 1.0, (1 / 1 + 2 / 3) / 2),
        ("bca", {"a": 3}, 0.0, 1 / 3, 1 / 3),
        ("ab", {"a": 0, "b": -1}, 0.0, 0.0, 0.0),
        ("", {"a": 1}, 0.0, 0.0, 0.0),
        ("a", {}, 0.0, 0.0, 0.0),
    ],
)
def test_recall_reciprocal_rank_and_average_precision_by_hand(
    ranking: Sequence[str], judged: dict[str, int], at_2: float, first: float, precision: float
) -> None:
    assert recall(ranking, judged, 2) == pytest.approx(at_2)
    assert reciprocal_rank(ranking, judged, 10) == pytest.approx(first)
    assert average_precision(ranking, judged, 10) == pytest.approx(precision)


def test_equal_scores_are_ordered_by_id_the_last_first() -> None:
    assert ranked({"a": 0.5, "c": 0.5, "b": 0.5, "d": 0.1, "e": 2.0}) == ["e", "c", "b", "a", "d"]
    assert ranked({"a": 0.5 + 1e-9, "b": 0.5}) == ["b", "a"]  # equal in single precision
    assert ranked({"a": 1e300, "b": 1e299}) == ["b", "a"]
    assert ranked({}) == []


@pytest.mark.parametrize("name", PEERS)
@given(run=RUNS, qrels=QRELS)
def test_every_measure_is_that_of_trec_eval(
    name: str, run: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]]
) -> None:
    ours, theirs = PEERS[name]
    found = {one.query_id: one.value for one in ir_measures.iter_calc([theirs], qrels, run)}
    for query, judged in qrels.items():
        value = ours(ranked(run.get(query, {})), judged)
        assert value == pytest.approx(found.get(query, 0.0), abs=1e-9)


@given(run=RUNS, qrels=QRELS)
def test_what_a_report_averages_is_that_of_trec_eval_over_queries_that_can_be_found_right(
    run: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]]
) -> None:
    eligible = {q: judged for q, judged in qrels.items() if any(g > 0 for g in judged.values())}
    peers = [ir_measures.nDCG @ 10, ir_measures.R @ 10, ir_measures.R @ 100, ir_measures.RR]
    expected: dict[str, dict[str, Any]] = {name: dict.fromkeys(eligible, 0.0) for name in MEASURES}
    for one in ir_measures.iter_calc(peers, eligible, run):
        name = str(one.measure).replace("R@", "recall@").replace("RR", "MRR@10")
        value = 0.0 if one.measure == ir_measures.RR and one.value < 1 / 10 else one.value
        expected[name][one.query_id] = pytest.approx(value, abs=1e-9)
    assert score(run, qrels) == expected
