"""Means from a judge on all and people on a few: right whatever the judge is like."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evals.scoring.ppi import classical, corrected, trial

SHARES = st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=30)


def test_the_classical_interval_by_hand() -> None:
    found = classical([0.0, 0.0, 1.0, 1.0])  # s² = 1/3, s/√n = √(1/12)
    assert found.value == 0.5
    assert found.width / 2 == pytest.approx(1.959964 * math.sqrt(1 / 12), abs=1e-5)


def test_a_judge_that_is_always_right_adds_the_others() -> None:
    labels = [0.0, 1.0, 1.0, 0.0]
    others = [1.0] * 80 + [0.0] * 20
    found = corrected(labels, labels, others, tuning=1.0)
    assert found.value == pytest.approx(0.8)  # .5 + (.8 - .5)
    assert found.width / 2 == pytest.approx(1.959964 * np.std(others, ddof=1) / 10, abs=1e-5)


def test_a_judge_that_is_always_off_by_the_same_is_corrected() -> None:
    found = corrected([0.2, 0.4], [0.7, 0.9], [0.5, 0.9, 1.0], tuning=1.0)
    assert found.value == pytest.approx(0.3 - (0.8 - 0.8))


@given(SHARES, st.lists(st.floats(0, 1), min_size=2, max_size=50), st.floats(0, 1))
def test_a_judge_that_says_always_the_same_changes_nothing(
    labels: list[float], others: list[float], always: float
) -> None:
    plain = classical(labels)
    found = corrected(labels, [always] * len(labels), [always] * len(others))
    assert (found.value, found.low, found.high) == pytest.approx(
        (plain.value, plain.low, plain.high), abs=1e-9
    )


@given(SHARES, st.lists(st.floats(0, 1), min_size=2, max_size=50), st.randoms())
def test_tuning_never_makes_its_own_interval_wider_than_none(
    labels: list[float], others: list[float], random: object
) -> None:
    judged = [1.0 - label for label in labels]  # against people: it is not listened to
    found = corrected(labels, judged, others)
    assert found.tuning == 0.0
    assert found.width == pytest.approx(classical(labels).width)


def test_the_tuning_is_the_one_of_least_variance() -> None:
    generator = np.random.default_rng(3)
    y = generator.random(60)
    f = 0.6 * y + 0.4 * generator.random(60)
    others = generator.random(200)
    best = corrected(y, f, others)
    assert 0 < best.tuning < 1
    widths = [corrected(y, f, others, tuning).width for tuning in np.linspace(0, 1, 101)]
    assert best.width <= min(widths) < corrected(y, f, others, 1.0).width


def simulated(quality: float, runs: int = 1000) -> tuple[float, float, float]:
    """Coverage of the corrected interval, and both mean widths, with a known truth of .6."""
    generator = np.random.default_rng(7)
    held, widths, plain = 0, 0.0, 0.0
    for _ in range(runs):
        y = (generator.random(600) < 0.6).astype(np.float64)
        agrees = generator.random(600) < quality
        f = np.where(agrees, y, generator.random(600) < 0.5)
        found = corrected(y[:100], f[:100], f[100:])
        held += found.covers(0.6)
        widths += found.width
        plain += classical(y[:100]).width
    return held / runs, widths / runs, plain / runs


@pytest.mark.parametrize("quality", [0.0, 0.5, 0.9])
def test_the_interval_holds_the_truth_as_often_as_it_says(quality: float) -> None:
    coverage, width, plain = simulated(quality)
    low, high = scipy_stats.binom.interval(0.9999, 1000, 0.95)
    assert (
        low / 1000 - 0.01 <= coverage <= high / 1000
    )  # a normal interval of shares is a bit short
    assert width <= plain * 1.001


def test_a_good_judge_narrows_the_interval_and_a_useless_one_does_not() -> None:
    _, good, plain = simulated(0.9, 100)
    _, useless, _ = simulated(0.0, 100)
    assert good < 0.7 * plain
    assert useless == pytest.approx(plain, rel=0.03)


def test_a_trial_tells_what_labels_give_on_cases_that_all_have_one() -> None:
    generator = np.random.default_rng(1)
    labels = [float(value) for value in generator.random(300) < 0.4]
    biased = [min(1.0, label + 0.5) for label in labels]
    found = trial(labels, biased, 40, draws=200)
    assert (found.n, found.cases, found.draws) == (40, 300, 200)
    assert found.truth == pytest.approx(np.mean(labels))
    assert found.judge == pytest.approx(np.mean(biased))
    alone, powered = found.widths
    assert powered < 0.6 * alone  # the judge is off, but always by the same
    assert min(found.covered) > 0.9
    assert found == trial(labels, biased, 40, draws=200)


@pytest.mark.parametrize("n", [0, 1, 9, 10, 11])
def test_a_trial_needs_cases_on_both_sides(n: int) -> None:
    with pytest.raises(ValueError, match="of 10 cases, 2 to 8 can be labelled"):
        trial([0.0, 1.0] * 5, [0.0, 1.0] * 5, n)


def test_too_few_or_unequal_series_are_refused() -> None:
    with pytest.raises(ValueError, match="1 values"):
        classical([1.0])
    with pytest.raises(ValueError, match="3 scores for 2 labels"):
        corrected([0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 1.0])
