"""Runs compared question by question: by hand, against scipy, and on the command line."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command import evals
from hypothesis import given
from hypothesis import strategies as st
from recorded import abstained, answered, failed, of_one, sheet, write_run, write_suite
from scipy import stats

from evals.comparing import Comparison, compare, unseen
from evals.margins import Margins, parse
from evals.sheet import Sheet
from evals.stats import clustered_detectable, clustered_randomisation, detectable, randomisation
from rag.errors import UsageError

THREE = Margins()


def changes(before: Sheet, after: Sheet, margins: Margins = THREE) -> Comparison:
    return compare(before, after, margins)


def test_differences_are_of_the_same_question_and_the_second_run_minus_the_first() -> None:
    before = sheet({"a": {"correct": 1.0}, "b": {"correct": 0.0}, "c": {"correct": 0.5}})
    after = sheet({"c": {"correct": 0.5}, "b": {"correct": 1.0}, "a": {"correct": 0.8}})
    (found,) = changes(before, after).changes
    assert (found.before, found.after) == pytest.approx((0.5, 2.3 / 3))
    assert found.difference.value == pytest.approx(0.8 / 3)
    assert [(p.item, p.before, p.after) for p in found.wins] == [("b", 0.0, 1.0)]
    assert [(p.item, p.before, p.after) for p in found.losses] == [("a", 1.0, 0.8)]
    assert found.ties == 1
    # ±0.2 ± 1 is ±0.8 or ±1.2: all four are as far from 0 as 0.8
    assert found.p == pytest.approx(1.0)


def test_the_largest_changes_come_first_and_less_is_a_win_where_less_is_better() -> None:
    before = sheet({"a": {"contradicted": 0.5}, "b": {"contradicted": 1.0}})
    after = sheet({"a": {"contradicted": 0.25}, "b": {"contradicted": 0.0}})
    (found,) = changes(before, after).changes
    assert [pair.item for pair in found.wins] == ["b", "a"]
    assert found.losses == ()
    assert found.difference.value == pytest.approx(-0.625)
    assert found.gain[0] == pytest.approx(0.625)


def test_who_is_missing_altered_or_failed_is_told_and_never_imputed() -> None:
    before = sheet(
        {
            "both": {"correct": 1.0},
            "gone": {"correct": 1.0},
            "altered": {"correct": 1.0},
            "failed then": "failed",
            "failed now": {"correct": 1.0},
            "failed twice": "failed",
            "no value": {"first": 1.0},
        }
    )
    after = sheet(
        {
            "both": {"correct": 1.0},
            "new": {"correct": 0.0},
            "altered": {"correct": 0.0},
            "failed then": {"correct": 0.0},
            "failed now": "failed",
            "failed twice": "failed",
            "no value": {"correct": 0.0},
        },
        asked={"altered": "asked otherwise"},
    )
    found = changes(before, after)
    assert found.paired == 2
    assert found.unpaired.only_before == ("gone",)
    assert found.unpaired.only_after == ("new",)
    assert found.unpaired.altered == ("altered",)
    assert found.unpaired.failed_before == ("failed then", "failed twice")
    assert found.unpaired.failed_after == ("failed now", "failed twice")
    assert found.unpaired.total == 6
    (correct,) = found.changes  # `first` has no question that both runs have it for
    assert (correct.difference.n, correct.ties, correct.one_sided) == (1, 1, 1)


@pytest.mark.parametrize(
    ("differences", "margin", "expected"),
    [
        ([1.0] * 12 + [0.0] * 88, "0.03", "better"),  # 2 / 2^12
        ([-1.0] * 12 + [0.0] * 88, "0.03", "worse"),
        ([0.0] * 100, "0.03", "not worse by margin"),
        ([0.0] * 53, "0.03", "not worse by margin"),  # 1 - .2^(1/53) = .0299
        ([0.0] * 52, "0.03", "cannot tell"),  # .0305: a loss of .03 may have touched none
        ([0.0] * 52, "0.04", "not worse by margin"),
        ([1.0, -1.0] * 10 + [0.0] * 80, "0.03", "cannot tell"),  # ± 1.96 · √.2 / 10 = .088
        ([1.0, -1.0] * 10 + [0.0] * 80, "0.15", "not worse by margin"),
        ([-1.0], "0.03", "cannot tell"),
    ],
)
def test_the_verdict(differences: list[float], margin: str, expected: str) -> None:
    before = of_one("correct", [0.5] * len(differences))
    after = of_one("correct", [0.5 + one / 2 for one in differences])
    (found,) = changes(before, after, parse(margin)).changes
    assert found.verdict == expected


def test_a_few_questions_of_one_paper_are_not_many() -> None:
    after = [1.0] * 12
    alone = changes(of_one("correct", [0.0] * 12), of_one("correct", after))
    same = {f"q{place}": "one paper" for place in range(12)}
    together = changes(
        of_one("correct", [0.0] * 12, clusters=same), of_one("correct", after, clusters=same)
    )
    assert alone.changes[0].verdict == "better"
    assert together.changes[0].verdict == "cannot tell"
    assert together.changes[0].detectable is None


def test_shares_are_corrected_for_their_number_and_times_are_not() -> None:
    def run(of: float) -> Sheet:
        rows = {
            f"q{place}": {"first": of if place < 6 else 0.0, "correct": 0.0, "seconds": 1 + of}
            for place in range(20)
        }
        return sheet(rows)

    found = {one.measure.name: one for one in changes(run(0.0), run(1.0)).changes}
    assert found["first"].p == pytest.approx(2 / 2**6)
    assert found["first"].corrected == pytest.approx(2 * 2 / 2**6)  # two shares
    assert found["correct"].corrected == 1.0
    assert found["seconds"].corrected == found["seconds"].p < 0.001
    assert found["seconds"].verdict == "worse"
    assert found["seconds"].margin is None


def test_the_margin_of_a_time_is_a_part_of_what_it_was() -> None:
    before, after = of_one("seconds", [2.0] * 60), of_one("seconds", [2.1, 1.9] * 30)
    (found,) = changes(before, after, parse("seconds=0.1")).changes
    assert found.margin == pytest.approx(0.2)
    assert found.verdict == "not worse by margin"


def test_runs_that_cannot_be_compared_are_refused() -> None:
    one = of_one("correct", [1.0])
    with pytest.raises(UsageError, match="judged by different judges \\(support, llm\\)"):
        compare(one, of_one("correct", [1.0], judge="llm"), THREE)
    with pytest.raises(UsageError, match="no question in common"):
        compare(one, sheet({"other": {"correct": 1.0}}), THREE)


def test_the_order_of_the_questions_changes_nothing() -> None:
    before = sheet({f"q{n}": {"correct": n / 20} for n in range(20)})
    after = sheet({f"q{n}": {"correct": n * n / 400} for n in range(20)})
    turned = [replace(one, rows=dict(reversed(list(one.rows.items())))) for one in (before, after)]
    assert changes(before, after) == changes(turned[0], turned[1])


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=30))
def test_to_compare_the_other_way_round_is_the_opposite(values: list[tuple[int, int]]) -> None:
    one = of_one("correct", [a / 4 for a, _ in values])
    other = of_one("correct", [b / 4 for _, b in values])
    (there,) = changes(one, other).changes
    (back,) = changes(other, one).changes
    assert back.difference.value == pytest.approx(-there.difference.value)
    assert [pair.item for pair in back.wins] == [pair.item for pair in there.losses]
    assert len(there.wins) + len(there.losses) + there.ties == len(values)
    assert back.p == pytest.approx(there.p, abs=0.01)


@pytest.mark.parametrize(
    ("text", "shares", "named"),
    [
        ("0.05", 0.05, {}),
        ("correct=0.02", 0.03, {"correct": 0.02}),
        ("0.04, citation recall=0.1,seconds=0.5", 0.04, {"citation recall": 0.1, "seconds": 0.5}),
    ],
)
def test_margins_are_read(text: str, shares: float, named: dict[str, float]) -> None:
    assert parse(text) == Margins(shares, named)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0", "'0' is no number above 0 and below 1"),
        ("1", "'1' is no number"),
        ("nan", "'nan' is no number"),
        ("", "'' is no number"),
        ("correct=", "'correct=' is no number"),
        ("corect=0.1", "No measure is called 'corect'"),
    ],
)
def test_margins_that_are_none_are_refused(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        parse(text)


def test_with_every_question_a_cluster_tests_and_effects_are_those_without() -> None:
    values = np.random.default_rng(3).normal(0.1, 1, 60).tolist()
    names = [str(place) for place in range(60)]
    assert clustered_detectable(values, names) == pytest.approx(detectable(values))
    assert clustered_randomisation(values, names) == randomisation(values)


def test_the_effect_that_clusters_show_is_found_with_the_power_that_is_said() -> None:
    chance = np.random.default_rng(11)
    clusters = [str(place // 4) for place in range(240)]

    def draw(shift: float) -> list[float]:
        own = np.repeat(chance.normal(0, 1, 60), 4)
        return [float(one) for one in own + chance.normal(0, 1, 240) + shift]

    # the standard error by hand: √(1 + 1/4) / √60, as a mean of four has the variance 1 + 1/4
    effect = 2.801585 * math.sqrt(1.25 / 60)
    assert np.mean([clustered_detectable(draw(0), clusters) for _ in range(200)]) == pytest.approx(
        effect, rel=0.05
    )
    sums = [np.reshape(draw(effect), (60, 4)).mean(axis=1) for _ in range(400)]
    found = sum(stats.ttest_1samp(one, 0).pvalue <= 0.05 for one in sums)
    assert 0.73 <= found / 400 <= 0.87


def test_what_no_question_shows_is_a_binomial() -> None:
    assert stats.binom.pmf(0, 100, unseen(100)) == pytest.approx(0.2)
    assert unseen(1) == pytest.approx(0.8)


@pytest.fixture
def two_runs(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A suite of 60 questions, a run that has all right, and one that misses twelve."""
    names = [f"q{place:02d}" for place in range(60)]
    questions = [{"id": name, "question": f"What of {name}?", "answers": ["yes"]} for name in names]
    suite = write_suite(tmp_path / "mine.jsonl", questions)
    good = [answered(name, ("Yes.", [])) for name in names]
    bad = [answered(name, ("Yes." if n >= 12 else "No.", [])) for n, name in enumerate(names)]
    bad[59] = failed("q59")
    write_run(tmp_path / "a", suite, good, settings="one")
    write_run(tmp_path / "b", suite, bad, settings="other")
    return tmp_path / "a", tmp_path / "b", suite


def test_the_command_tells_differences_verdicts_and_questions(
    two_runs: tuple[Path, Path, Path],
) -> None:
    a, b, _ = two_runs
    shown = evals("compare", a, b)
    assert shown.code == 0, shown.err
    assert "settings: one, other" in shown.out
    assert "59 questions compared, 1 not" in shown.out
    assert "failed after: 1: q59" in shown.out
    assert "correct: 0 better, 12 worse, 47 equal" in shown.out
    assert "worse: q00 1.00 -> 0.00, q01 1.00 -> 0.00" in shown.out
    assert "and 7 more (--all)" in shown.out
    assert "q11 1.00 -> 0.00" in evals("compare", a, b, "--all").out
    value = evals("compare", a, b, "--json").json()
    assert value["changes"]["correct"]["verdict"] == "worse"
    assert value["changes"]["correct"]["difference"]["value"] == pytest.approx(-12 / 59)
    assert value["unpaired"]["failed_after"] == ["q59"]
    assert evals("compare", b, a, "--json").json()["changes"]["correct"]["verdict"] == "better"


def test_runs_of_different_suites_are_refused_unless_what_is_common_is_asked_for(
    two_runs: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    a, *_ = two_runs
    questions = [
        {"id": "q00", "question": "What of q00?", "answers": ["yes"]},
        {"id": "q01", "question": "What else of q01?", "answers": ["yes"]},
        {"id": "other", "question": "What of other?", "answers": ["yes"]},
    ]
    suite = write_suite(tmp_path / "other.jsonl", questions)
    c = write_run(
        tmp_path / "c", suite, [answered("q00", ("Yes.", [])), answered("q01"), abstained("other")]
    )
    refused = evals("compare", a, c)
    assert refused.code == 2
    assert "The runs are of different questions (mine " in refused.error_line
    shown = evals("compare", a, c, "--paired-only")
    assert shown.code == 0, shown.err
    assert "1 questions compared" in shown.out
    assert "altered: 1: q01" in shown.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--margin", "2"], "The margin '2' is no number above 0 and below 1"),
        (["--judge", "llm"], "The run has no judge llm"),
    ],
)
def test_wrong_options_are_one_line(
    two_runs: tuple[Path, Path, Path], arguments: list[str], told: str
) -> None:
    a, b, _ = two_runs
    refused = evals("compare", a, b, *arguments)
    assert refused.code == 2
    assert told in refused.error_line
    assert "holds no run" in evals("compare", a, a / "nothing").error_line
