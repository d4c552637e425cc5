"""Measuring abstention: fitting, the promise over splits, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command import evals
from scipy.optimize import minimize

from evals.abstaining.examples import SUITES, Example, suite_of
from evals.abstaining.fitting import logistic, out_of_fold
from evals.abstaining.promise import kept, risk_of_answering, separation
from rag.answering.confidence import calibration
from rag.answering.signals import SEARCH


def test_the_fit_is_the_maximum_that_another_optimiser_finds() -> None:
    chance = np.random.default_rng(5)
    data = np.column_stack([chance.normal(size=(60, 3)), np.ones(60)])
    wanted = (data @ [1.0, -2.0, 0.0, 0.5] + chance.normal(size=60) > 0).astype(float)
    weights = chance.uniform(0.1, 2.0, 60)

    def loss(found: np.ndarray) -> float:
        margin = data @ found
        likely = weights * (np.logaddexp(0, margin) - wanted * margin)
        return float(likely.sum() + 0.35 * (found[:-1] ** 2).sum())

    expected = minimize(loss, np.zeros(4), options={"gtol": 1e-9}).x
    assert logistic(data, wanted, weights, 0.7) == pytest.approx(expected, abs=1e-4)


def test_no_paper_is_judged_by_a_fit_that_has_seen_it() -> None:
    """Each paper's questions go by its own signal: what is learned of it cannot be used on it."""
    examples = [
        Example("golden", f"{paper}-{n}", str(paper), answerable, {"own": float(answerable)})
        for paper in range(12)
        for n, answerable in enumerate([True, False])
    ]
    alien = [Example("golden", "x", "alien", False, {"own": 1.0})]
    sure = out_of_fold([*examples, *alien], ["own"])
    assert min(s for s, one in zip(sure, examples, strict=False) if one.answerable) > 0.5
    assert sure[-1] > 0.5


def test_the_promise_is_kept_whatever_the_confidences_are_worth() -> None:
    chance = np.random.default_rng(3)
    answerable = (chance.uniform(size=600) < 0.7).tolist()
    for confidences in (
        chance.uniform(size=600),
        chance.uniform(size=600) + 0.5 * np.array(answerable),
        np.full(600, 0.5),
    ):
        found = kept(confidences.tolist(), answerable, 0.10, splits=100)
        assert found.realised <= 0.105
    sharp = kept([float(able) for able in answerable], answerable, 0.10, splits=20)
    assert sharp.answered == 1.0
    assert sharp.realised <= 0.1


def test_questions_of_one_kind_promise_nothing() -> None:
    with pytest.raises(ValueError, match="with and without"):
        kept([0.1, 0.2, 0.3], [True, True, True], 0.1)
    with pytest.raises(ValueError, match="with and without"):
        separation([0.1, 0.2], [False, False], ["a", "b"])


def test_risk_by_the_share_that_is_answered() -> None:
    points = risk_of_answering([0.9, 0.8, 0.7, 0.6], [True, False, True, False])
    assert [(p.coverage, p.risk) for p in points] == [
        (0.5, 0.0),
        (0.5, 0.25),
        (1.0, 0.25),
        (1.0, 0.5),
    ]


@pytest.mark.parametrize("name", ["search", "yes"])
def test_what_the_product_goes_by_is_fitted(name: str) -> None:
    found = calibration("yes" if name == "yes" else "search")
    assert set(SEARCH) <= set(found.weights)
    assert len(found.wrong) < found.n
    assert found.threshold(0.10) < 1


def lines(path: Path) -> None:
    """Signals of every golden question, with and without its papers: no index is needed."""
    chance = np.random.default_rng(1)
    with path.open("w", encoding="utf-8") as file:
        for name in ("golden", "leave_out"):
            for item in suite_of(name, path.parent).items:
                sure = chance.uniform(0, 1) + 0.5 * item.answerable
                signals = dict.fromkeys(SEARCH, sure)
                one = {"suite": name, "id": item.id, "cluster": item.id, "signals": signals}
                file.write(json.dumps(one | {"answerable": item.answerable}) + "\n")


def run(*arguments: str) -> tuple[int, str, str]:
    done = evals("abstention", *arguments)
    return done.code, done.out, done.err


def test_the_command_reports_each_suite_and_rate_and_draws(tmp_path: Path) -> None:
    file, plot = tmp_path / "kept.jsonl", tmp_path / "risk.svg"
    lines(file)
    given = ["--suites", "golden,leave_out", "--kept", str(file), "--data-dir", str(tmp_path)]
    code, out, _ = run(*given, "--json", "--plot", str(plot), "--rates", "0.1,0.2")
    assert code == 0
    rows = json.loads(out)["rows"]
    assert [row["suite"] for row in rows] == ["golden", "leave_out"]
    for row in rows:
        assert [rate["rate"] for rate in row["rates"]] == [0.1, 0.2]
        assert all(rate["realised"] <= rate["rate"] + 0.01 for rate in row["rates"])
        assert row["separation"]["value"] > 0.5
    assert plot.read_text(encoding="utf-8").lstrip().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--suites", "pubmedqa"], "names no suite"),
        (["--suites", ","], "names no suite"),
        (["--rates", "many"], "no list of rates"),
        (["--rates", "0"], "no list of rates"),
    ],
)
def test_what_cannot_be_measured_is_one_line(arguments: list[str], told: str) -> None:
    code, _, err = run(*arguments)
    assert code == 2
    assert told in err
    assert len(err.strip().splitlines()) == 1


def test_a_broken_line_of_kept_signals_is_named(tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    file.write_text('{"suite": "golden"}\n', encoding="utf-8")
    code, _, err = run("--kept", str(file), "--data-dir", str(tmp_path))
    assert code != 0
    assert f"{file}:1" in err
    assert SUITES[0] == "golden"
