"""A run held against a baseline: the rule, its error rates, files, and the command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command import evals
from defusedxml import ElementTree
from recorded import abstained, answered, failed, of_one, sheet, write_run, write_suite

from evals import baseline
from evals.comparing import compare
from evals.gating import Gate, gate
from evals.margins import Margins, parse
from evals.reporting.junit import junit
from evals.sheet import Sheet
from rag.errors import InputError, UsageError

THREE = Margins()


def held(differences: list[float], margin: str = "0.03", name: str = "correct") -> Gate:
    """The gate of a run whose questions differ so much from a baseline of a half each."""
    before = of_one(name, [0.5] * len(differences))
    return gate(before, of_one(name, [0.5 + one for one in differences]), parse(margin), [name])


@pytest.mark.parametrize(
    ("differences", "margin", "expected"),
    [
        ([0.0] * 60, "0.03", "holds"),
        ([0.5] * 60, "0.03", "holds"),
        ([-0.5] * 60, "0.03", "regressed"),
        ([-0.02] * 60, "0.03", "holds"),  # worse, and not by the margin
        ([-0.5] * 20 + [0.0] * 60, "0.03", "regressed"),
        ([0.0] * 52, "0.03", "unmeasurable"),  # 1 - .2^(1/52) = .0305
        ([0.0] * 52, "0.04", "holds"),
        ([0.5, -0.5] * 40, "0.03", "unmeasurable"),  # 2.8 · .5 / √80 = .16
        ([0.5, -0.5] * 40, "0.2", "holds"),
        ([0.0] * 86 + [0.5], "0.03", "holds"),  # one gained: no interval below 0
        ([0.0] * 86 + [-1.0], "0.03", "unmeasurable"),  # one lost: [-.034, 0], 2.8 / 87 = .032
        ([0.0] * 86 + [-1.0], "0.04", "holds"),
        ([-0.5] * 5, "0.03", "unmeasurable"),  # 2 / 2^5 > .05
        ([-0.5], "0.03", "unmeasurable"),
        ([-0.5] * 6, "0.03", "regressed"),  # 2 / 2^6
    ],
)
def test_a_measure_holds_regressed_or_cannot_be_told(
    differences: list[float], margin: str, expected: str
) -> None:
    assert held(differences, margin).standing == expected


def test_where_less_is_better_more_is_a_regression() -> None:
    assert held([0.5] * 60, name="contradicted").standing == "regressed"
    assert held([-0.5] * 60, name="contradicted").standing == "holds"


def test_times_are_held_only_where_a_margin_is_given_as_a_part_of_what_they_were() -> None:
    before, after = of_one("seconds", [1.0, 1.2] * 30), of_one("seconds", [1.3, 1.5] * 30)
    assert gate(before, after, THREE).checked == ()
    assert gate(before, after, parse("seconds=0.2"), ["seconds"]).standing == "regressed"
    assert gate(before, after, parse("seconds=0.5"), ["seconds"]).standing == "holds"
    with pytest.raises(UsageError, match="seconds has no margin"):
        gate(before, after, THREE, ["seconds"])


def test_without_names_all_shares_that_enough_questions_have_are_checked() -> None:
    rows = {f"q{n}": {"first": 1.0, "seconds": 1.0} for n in range(60)}
    few = {f"q{n}": {"numeric": 1.0} for n in range(20)}
    run = sheet({name: {**of, **few.get(name, {})} for name, of in rows.items()})
    found = gate(run, run, THREE)
    assert [one.measure.name for one in found.checked] == ["first"]
    assert found.left_out == ("numeric",)
    assert found.standing == "holds"
    assert gate(run, run, THREE, ["numeric"]).standing == "unmeasurable"
    with pytest.raises(UsageError, match="The baseline has no rubric"):
        gate(run, run, THREE, ["rubric"])


def test_a_measure_that_has_vanished_is_not_held() -> None:
    before = sheet({f"q{n}": {"first": 1.0, "gold cited": 1.0} for n in range(60)})
    after = sheet({f"q{n}": {"first": 1.0} for n in range(60)})
    found = gate(before, after, THREE)
    assert found.standing == "unmeasurable"
    assert found.why == "gold cited: no question has it in both runs"


@pytest.mark.parametrize(("lost", "expected"), [(3, "holds"), (4, "unmeasurable")])
@pytest.mark.parametrize("outcome", ["failed", "skipped"])
def test_a_run_that_misses_more_than_a_twentieth_is_unmeasurable(
    lost: int, expected: str, outcome: str
) -> None:
    before = of_one("correct", [1.0] * 60)
    values: dict[str, object] = {f"q{n}": {"correct": 1.0} for n in range(60)}
    values |= dict.fromkeys(list(values)[:lost], outcome)
    found = gate(before, sheet(values), THREE)  # type: ignore[arg-type]
    assert found.standing == expected
    assert (found.why.startswith("7% ")) == (expected == "unmeasurable")


def test_different_suites_are_refused() -> None:
    with pytest.raises(UsageError, match="different questions"):
        gate(of_one("correct", [1.0]), of_one("correct", [1.0], suite="other"), THREE)


@pytest.mark.parametrize(
    ("loss", "standing", "least", "most"),
    [
        (0, "regressed", 0.0, 0.0),  # less than 1 in 100,000
        (1, "regressed", 0.0, 0.08),  # 1 in 40; 8 of 100 are the 99.9% quantile of that
        (2, "holds", 0.0, 0.2),  # 20 of 100 at most
    ],
)
def test_how_often_right_and_wrong_answers_raise_an_alarm(
    loss: int, standing: str, least: float, most: float
) -> None:
    """100 questions, 5 of 100 turn either way by chance; the margin is what so many just show."""
    chance = np.random.default_rng(2026)
    margin = 0.09  # 2.8 · √.1 / √100 = .0885

    def drawn() -> str:
        worse = 0.05 + loss * margin
        turned = chance.choice([-1.0, 0.0, 1.0], 100, p=[worse, 0.95 - worse, 0.05])
        before = np.where(turned == 0, chance.integers(0, 2, 100), turned < 0).astype(float)
        a, b = of_one("correct", before.tolist()), of_one("correct", (before + turned).tolist())
        return gate(a, b, Margins(margin), ["correct"]).standing

    share = sum(drawn() == standing for _ in range(100)) / 100
    assert least <= share <= most


def test_a_loss_of_twice_the_margin_is_found_with_the_power_that_is_said() -> None:
    chance = np.random.default_rng(2026)
    # the standard error is .08 / √60 = .0103, so that by hand Φ(.03/.0103 - 1.96) = .83
    losses = [(0.08 * chance.standard_normal(60) - 0.06).tolist() for _ in range(60)]
    found = sum(held(one).standing == "regressed" for one in losses) / 60
    assert found >= 0.7  # .83 - 2.6 · √(.83 · .17 / 60)


def some_run(ids: int = 60) -> Sheet:
    rows = {f"q{n:02d}": {"correct": n / 7, "first": 1.0, "seconds": 0.1 * n} for n in range(ids)}
    return sheet(rows, clusters={"q01": "paper é", "q02": "paper é"})


def test_a_baseline_is_read_as_it_was_written_without_its_times(tmp_path: Path) -> None:
    path = tmp_path / "new" / "base.json"
    baseline.write(path, some_run())
    kept = baseline.read(path)
    assert kept.suite == "suite"
    assert kept.questions == "digest of suite"
    assert kept.judge == "support"
    assert kept.rows["q01"].cluster == "paper é"
    assert kept.rows["q01"].values == {"correct": 0.142857, "first": 1.0}
    assert gate(kept, some_run(), THREE).standing == "holds"
    baseline.write(path, some_run(), ["seconds"])
    assert set(baseline.read(path).rows["q05"].values) == {"seconds"}


def test_rounding_is_no_change(tmp_path: Path) -> None:
    path = tmp_path / "base.json"
    run = of_one("correct", [n / 700 for n in range(60)])
    baseline.write(path, run)
    (found,) = gate(baseline.read(path), run, THREE).comparison.changes
    assert (found.ties, found.p, found.difference.low) == (60, 1.0, 0.0)


def test_a_baseline_reads_well_in_a_diff(tmp_path: Path) -> None:
    path = tmp_path / "base.json"
    baseline.write(path, some_run())
    lines = path.read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith('"q') and '"values"' in line for line in lines) == 60
    rows = [line for line in lines if '"values"' in line]
    assert rows == sorted(rows)
    value = json.loads(path.read_text(encoding="utf-8"))
    assert list(value) == sorted(value)
    baseline.write(path, some_run())
    assert path.read_text(encoding="utf-8").splitlines() == lines


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is no baseline"),
        ("{}", "is no baseline"),
        ("[1]", "is no baseline"),
        ('{"suite": "s"', "is no baseline"),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "base.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=told):
        baseline.read(path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda value: value["samples"].clear(), "samples"),
        (lambda value: value.update(extra=1), "extra"),
        (lambda value: value["samples"]["q01"]["values"].update(corect=1), "'corect'"),
        (lambda value: value["samples"]["q01"].update(outcome="lost"), "outcome"),
        (lambda value: value["samples"]["q01"]["values"].update(correct=float("nan")), "NaN|json"),
    ],
)
def test_a_baseline_that_was_altered_is_refused(
    tmp_path: Path, change: Callable[[dict[str, object]], object], told: str
) -> None:
    path = tmp_path / "base.json"
    baseline.write(path, some_run())
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(InputError, match=told):
        baseline.read(path)


def test_a_run_that_misses_too_much_is_no_baseline(tmp_path: Path) -> None:
    half = sheet({"a": {"correct": 1.0}, "b": "failed"})
    with pytest.raises(UsageError, match="50% failed"):
        baseline.write(tmp_path / "base.json", half)
    assert not (tmp_path / "base.json").exists()


def test_junit_has_a_case_for_each_measure() -> None:
    rows = {f"q{n}": {"first": 1.0, "correct": 1.0, "decided": 1.0} for n in range(60)}
    before = sheet({**rows, "q0": {**rows["q0"], "numeric": 1.0}}, suite="a < b & \x01")
    worse = {name: {"first": 1.0, "correct": 0.0} for name in rows}
    found = gate(before, sheet(worse, suite="a < b & \x01"), THREE)
    root = ElementTree.fromstring(junit(found).decode())
    assert root.tag == "testsuites"
    (suite,) = root
    assert suite.tag == "testsuite"
    assert suite.get("name") == "evals gate a < b & \N{REPLACEMENT CHARACTER}"
    cases = {case.get("name"): case for case in suite}
    assert list(cases) == ["questions", "first", "decided", "correct", "numeric"]
    assert {case.tag for case in suite} == {"testcase"}
    assert [child.tag for case in suite for child in case] == ["error", "failure", "skipped"]
    counts = [suite.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["5", "1", "1", "1"]
    assert [root.get(name) for name in ("tests", "failures", "errors", "skipped")] == counts
    (failure,) = cases["correct"]
    assert "worse by more than 0.03: 1 [1, 1]" in failure.get("message", "")
    assert (failure.text or "").splitlines()[0] == "q0: 1 -> 0"
    assert all(case.get("classname") for case in suite)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with runs of a suite of 60 questions: good, bad, one with failures."""
    names = [f"q{place:02d}" for place in range(60)]
    questions = [{"id": name, "question": f"What of {name}?", "answers": ["yes"]} for name in names]
    suite = write_suite(tmp_path / "mine.jsonl", questions)
    good = [answered(name, ("Yes.", [])) for name in names]
    bad = [answered(name, ("Yes." if n >= 20 else "No.", [])) for n, name in enumerate(names)]
    write_run(tmp_path / "good", suite, good)
    write_run(tmp_path / "bad", suite, bad)
    write_run(tmp_path / "lost", suite, [*good[:56], *(failed(name) for name in names[56:])])
    write_run(tmp_path / "short", suite, good[:20])
    write_run(tmp_path / "silent", suite, [abstained(name) for name in names])
    return tmp_path


def test_the_command_ends_with_0_or_1(runs: Path) -> None:
    file, xml = runs / "base.json", runs / "out.xml"
    made = evals("gate", runs / "good", "--write-baseline", file)
    assert made.code == 0, made.err
    held = evals("gate", runs / "good", "--baseline", file, "--junit", xml)
    assert held.code == 0, held.err
    assert "mine: holds" in held.out
    assert {case.tag for case in ElementTree.parse(xml).iter()} == {
        "testsuites", "testsuite", "testcase"
    }  # fmt: skip
    worse = evals("gate", runs / "bad", "--baseline", file, "--junit", xml)
    assert worse.code == 1, worse.err
    assert worse.err == ""
    assert "mine: regressed" in worse.out
    assert "worse: q00 1.00 -> 0.00" in worse.out
    assert len(list(ElementTree.parse(xml).iter("failure"))) == 2  # correct, token F1
    wide = evals("gate", runs / "bad", "--baseline", file, "--margin", "0.9")
    assert wide.code == 0, wide.err
    lost = evals("gate", runs / "lost", "--baseline", file, "--junit", xml)
    assert lost.code == 1
    assert "It cannot be told whether the run is worse (7% failed). See to" in lost.error_line
    assert len(list(ElementTree.parse(xml).iter("error"))) == 1
    short = evals("gate", runs / "short", "--baseline", file)
    assert short.code == 1
    assert "(67% were not asked). Go on with `python -m evals run" in short.error_line
    told = evals("report", runs / "short")
    assert told.code == 1
    assert told.out.startswith("INCOMPLETE, 67% were not asked. mine: 60 asked: 20 scored")
    command = next(line for line in told.out.splitlines() if line.startswith("Go on with"))
    assert command in short.error_line
    assert command.endswith("--resume`.")
    assert str(runs / "short") in command
    silent = evals("gate", runs / "silent", "--baseline", file, "--json")
    assert silent.code == 1
    assert silent.json()["checked"]["decided"]["standing"] == "regressed"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "Neither or both of --baseline and --write-baseline"),
        (["--baseline", "nothing.json"], "nothing.json cannot be read (No such file"),
        (["--baseline", "mine.jsonl"], "mine.jsonl is no baseline"),
        (["--baseline", "good", "--measures", "corect"], "No measure is called 'corect'"),
    ],
)
def test_a_wrong_request_is_one_line(runs: Path, arguments: list[str], told: str) -> None:
    given = [runs / one if one in {"nothing.json", "mine.jsonl"} else one for one in arguments]
    refused = evals("gate", runs / "good", *given)
    assert refused.code == 2
    assert told in refused.error_line


def test_the_values_of_a_sheet_are_compared_as_a_whole() -> None:
    (found,) = compare(of_one("correct", [1.0]), of_one("correct", [0.0]), THREE).changes
    assert found.losses[0].item == "q0"
