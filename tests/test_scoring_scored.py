"""Every asking has one outcome, whatever happened; silence, consistency, and turns."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import abstained, answered, failed, item, sheet
from scipy import stats

from evals.judging.inline import Judging
from evals.judging.protocol import Case, Verdict
from evals.record import Opinion, Record, Source
from evals.running.transcript import Replies, Transcript
from evals.scoring.abstention import area_under_risk_coverage, auroc, risk_coverage, silence
from evals.scoring.consistency import agreement, same_sources, stable
from evals.scoring.measures import Asked, Measure, contradicted, faithful
from evals.scoring.scored import OUTCOMES, score, summarise
from evals.sheet import sheet as sheet_of

GOOD = ("It is so.", [1])
PAPERS = {"p": "It is so."}
SUPPORTED: dict[tuple[int, tuple[int, ...]], str] = {(0, (1,)): "support"}


def some_record(name: str, repeat: int, how: str) -> Record | None:
    """The record of an asking that ended in this way."""
    if how == "none":
        return None
    if how == "failed":
        return failed(name, repeat)
    if how == "abstained":
        return abstained(name, repeat)
    judged = None if how == "unjudged" else SUPPORTED
    record = answered(name, GOOD, papers=PAPERS, repeat=repeat, judged=judged)
    if how == "judge failed":
        broken = (Opinion(0, (1,), "", failure="prose"),)
        return replace(record, opinions={"support": broken})
    return record


WAYS = ("none", "failed", "abstained", "answered", "unjudged", "judge failed")
OUTCOME = {
    "none": "skipped",
    "failed": "failed",
    "abstained": "abstained",
    "answered": "scored",
    "unjudged": "failed",
    "judge failed": "failed",
}


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from(WAYS), min_size=2, max_size=2), st.booleans()),
        min_size=1,
        max_size=8,
    ),
    st.randoms(use_true_random=False),
)
def test_every_asking_has_exactly_one_outcome(
    ways: list[tuple[list[str], bool]], chance: object
) -> None:
    items = [item(f"q{n}", answerable=known) for n, (_, known) in enumerate(ways)]
    records = [
        record
        for n, (repeats, _) in enumerate(ways)
        for repeat, how in enumerate(repeats)
        if (record := some_record(f"q{n}", repeat, how))
    ]
    chance.shuffle(records)  # type: ignore[attr-defined]
    scored = score(items, 2, records, "support")
    expected = [OUTCOME[how] for repeats, _ in ways for how in repeats]
    assert [one.outcome for one in scored] == expected
    summary = summarise(scored, 1)
    assert dict(summary.outcomes) == {name: expected.count(name) for name in OUTCOMES}
    assert summary.asked == len(expected) == 2 * len(items)
    lost = expected.count("failed") + expected.count("skipped")
    assert bool(summary.trouble) == (lost / len(expected) > 0.05)
    for one in scored:
        assert bool(one.values) == (one.outcome in {"scored", "abstained"})
        assert bool(one.reason) == (one.outcome in {"failed", "skipped"})
    counts = summary.silence
    decided = counts.answered + counts.wrongly_abstained + counts.wrongly_answered
    assert decided + counts.abstained == expected.count("scored") + expected.count("abstained")
    rows = sheet_of({"suite": "s", "questions": "d"}, "support", scored)
    assert sum(rows.outcomes.values()) == len(expected)
    assert list(rows.rows) == [one.id for one in items]


def test_a_record_of_nothing_that_was_planned_is_refused() -> None:
    for record in (answered("other"), answered("q", repeat=1)):
        with pytest.raises(ValueError, match="which the suite has not"):
            score([item("q")], 1, [record], "support")


@pytest.mark.parametrize(("lost", "valid"), [(1, True), (2, False)])
def test_more_than_a_twentieth_of_failures_makes_a_run_invalid(lost: int, valid: bool) -> None:
    items = [item(f"q{n}") for n in range(20)]
    records = [failed(one.id) if n < lost else abstained(one.id) for n, one in enumerate(items)]
    assert summarise(score(items, 1, records, "support"), 1).valid is valid


def test_a_run_of_which_nothing_was_asked_is_invalid() -> None:
    assert not summarise(score([item("q")], 1, [], "support"), 1).valid


def test_repeats_are_averaged_before_questions_and_failures_are_left_out() -> None:
    items = [item("a", answers=["so"]), item("b", answers=["so"])]
    said = [
        answered("a", ("So.", []), repeat=0),
        answered("a", ("Other.", []), repeat=1),
        answered("b", ("So.", []), repeat=0),
        failed("b", repeat=1),
    ]
    scored = score(items, 2, said, "")
    summary = summarise(scored, 1)
    assert summary.means["correct"].value == pytest.approx((0.5 + 1.0) / 2)
    assert summary.means["correct"].n == 2
    rows = sheet_of({"suite": "s", "questions": "d"}, "", scored).rows
    assert [rows[name].values["correct"] for name in "ab"] == [0.5, 1.0]
    assert [rows[name].outcome for name in "ab"] == ["scored", "scored"]


def test_a_sheet_tells_what_is_missing() -> None:
    found = sheet({"a": {"correct": 1.0}, "b": "failed", "c": "skipped", "d": {"correct": 0.0}})
    assert found.trouble == "25% failed, 25% were not asked"
    assert not found.valid
    assert not found.rows["b"].counts


@pytest.mark.parametrize(
    ("raw", "reported"), [(-0.0015, 0.0), (0.0, 0.0), (0.73, 0.73), (1.0000001, 1.0)]
)
def test_a_share_is_reported_within_its_range(raw: float, reported: float) -> None:
    share = Measure("similarity", "how near", lambda _: raw)
    (found,) = score([item("q")], 1, [abstained("q")], "", [share])
    assert found.values["similarity"] == reported
    time = Measure("late", "how late", lambda _: 7.5, "lower", "s")
    (found,) = score([item("q")], 1, [abstained("q")], "", [time])
    assert found.values["late"] == 7.5


@pytest.mark.parametrize("raw", [math.nan, math.inf])
def test_what_is_no_number_fails_its_question_and_is_never_averaged(raw: float) -> None:
    broken = Measure("similarity", "how near", lambda _: raw)
    (found,) = score([item("q")], 1, [abstained("q")], "", [broken])
    assert found.outcome == "failed"
    assert "similarity is" in found.reason
    assert json.dumps(dict(found.values), allow_nan=False) == "{}"


def test_silence_is_counted_in_four() -> None:
    counts = silence(
        [(True, False)] * 6 + [(True, True)] * 2 + [(False, False)] + [(False, True)] * 3
    )
    assert counts.answer_rate == 6 / 8
    assert counts.abstention_recall == 3 / 4
    assert counts.abstention_precision == 3 / 5
    nothing = silence([])
    assert nothing.answer_rate is nothing.abstention_recall is nothing.abstention_precision is None


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=40))
def test_auroc_is_the_statistic_of_mann_and_whitney(values: list[tuple[int, bool]]) -> None:
    scores, positive = [float(s) for s, _ in values], [p for _, p in values]
    found = auroc(scores, positive)
    good = [s for s, p in values if p]
    bad = [s for s, p in values if not p]
    if not good or not bad:
        assert found is None
        return
    u = stats.mannwhitneyu(good, bad).statistic
    assert found == pytest.approx(u / (len(good) * len(bad)))


def test_risk_and_coverage_by_hand() -> None:
    points = risk_coverage([0.9, 0.8, 0.8, 0.1], [True, False, True, False])
    told = [(point.coverage, point.risk, point.threshold) for point in points]
    assert told == [(0.25, 0.0, 0.9), (0.75, 1 / 3, 0.8), (1.0, 0.5, 0.1)]
    assert area_under_risk_coverage(points) == pytest.approx(0.25 * 0 + 0.5 / 3 + 0.25 * 0.5)
    with pytest.raises(ValueError, match="0 values for 0"):
        risk_coverage([], [])
    with pytest.raises(ValueError, match="1 values for 2"):
        auroc([0.5], [True, False])


def test_random_confidence_has_the_risk_of_all_at_every_coverage() -> None:
    chance = np.random.default_rng(5)
    right = (chance.random(4000) < 0.7).tolist()
    points = risk_coverage(chance.random(4000).tolist(), right)
    assert area_under_risk_coverage(points) == pytest.approx(0.3, abs=0.03)
    assert points[-1].risk == pytest.approx(right.count(False) / 4000)


def test_agreement_of_answers_by_hand() -> None:
    assert agreement(["a cat", "the cat"]) == 1.0
    assert agreement(["cat sat", "cat ran", "cat sat"]) == pytest.approx((0.5 + 1.0 + 0.5) / 3)
    assert agreement(["cat"]) is None
    assert same_sources([frozenset("ab"), frozenset("bc")]) == 1 / 3
    assert same_sources([frozenset(), frozenset()]) == 1.0
    assert same_sources([frozenset(), frozenset("a")]) == 0.0
    assert same_sources([frozenset("a")]) is None
    assert stable([True, True]) == 1.0
    assert stable([True, False]) == 0.0
    assert stable([True]) is None


def test_consistency_is_over_repeats_and_over_wordings() -> None:
    items = [
        item("a", answers=["so"]),
        item("b", question="And b?", answers=["so"], same_as="a"),
    ]
    said = [answered(one.id, ("So.", []), repeat=n) for one in items for n in range(2)]
    said[3] = answered("b", ("Never.", []), repeat=1)
    summary = summarise(score(items, 2, said, ""), 1)
    found = {name: mean.value for name, mean in summary.consistency.items()}
    assert found["same verdict over repeats"] == 0.5
    assert found["same words over repeats"] == 0.5
    assert found["same verdict over wordings"] == 1.0  # the first repeat of each
    assert summary.consistency["same papers over repeats"].n == 2


class NameJudge:
    """Supports a claim if the passages hold every name in it; a name begins with a capital."""

    name = "names"

    def __init__(self) -> None:
        self.seen: list[Case] = []

    def judge(self, case: Case) -> Verdict:
        self.seen.append(case)
        text = " ".join(passage.text for passage in case.passages)
        names = [word.strip(",.") for word in case.claim.split() if word[0].isupper()]
        return Verdict("support" if all(name in text for name in names) else "neither")

    def close(self) -> None:
        pass


OWL = "TinyOwl was written by Castellan and Ekwall."
HERON = "Heron was written by Nandakumar."


def second_turn(claim: str, cites: Sequence[int], earlier: Sequence[str]) -> Asked:
    """The second turn of a conversation, judged; the first one cited the paper of TinyOwl."""
    record = answered("talk/2", (claim, cites), papers={"p-heron": HERON})
    papers = {**record.papers, "p-owl": Source("TinyOwl", OWL)}
    record = replace(record, papers=papers, earlier=tuple(earlier))
    judge = NameJudge()
    judged = Judging([judge], Transcript(Replies(None))).judge(record)
    return Asked(item("talk/2"), judged, judge.name)


@pytest.mark.parametrize(
    ("claim", "cites", "earlier", "expected"),
    [
        ("Nandakumar, not Castellan.", [1], ["p-owl"], 1.0),
        ("Nandakumar, not Castellan.", [1], [], 0.0),  # nobody said that before
        ("Lindqvist, not Castellan.", [1], ["p-owl"], 0.0),  # false, in the second turn too
        ("Castellan again.", [], ["p-owl"], 1.0),  # cites nothing and relies on what was cited
        ("Lindqvist again.", [], ["p-owl"], 0.0),
    ],
)
def test_a_turn_may_rely_on_what_earlier_turns_cited(
    claim: str, cites: list[int], earlier: list[str], expected: float
) -> None:
    asked = second_turn(claim, cites, earlier)
    assert faithful(asked) == expected
    assert contradicted(asked) == 0.0


def test_what_earlier_turns_cited_is_no_citation_of_this_one() -> None:
    asked = second_turn("Nandakumar, not Castellan.", [1], ["p-owl"])
    (scored,) = score([asked.item], 1, [asked.record], asked.judge)
    assert scored.values["citation recall"] == 0.0
    assert Record.read(asked.record.line()) == asked.record


def test_a_record_without_earlier_turns_is_read_as_before(tmp_path: Path) -> None:
    value = json.loads(answered("a", GOOD, papers=PAPERS).line())
    del value["earlier"]
    assert Record.read(json.dumps(value)).earlier == ()
