"""Statistics of paired comparisons: by hand, and against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evals.stats import detectable, holm, mean, percentile, randomisation

CHANCE = np.random.default_rng(7)


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([1.0, 1.0], 2 / 4),  # ++ and -- of four assignments are as far from 0
        ([1.0, 1.0, 1.0], 2 / 8),
        ([3.0, -1.0], 4 / 4),  # 3 - 1 = 2, and every other is ±2 or ±4
        ([4.0, 2.0, -1.0], 4 / 8),  # 5 is reached by ±7 and ±5
        ([1.0, 1.0, 0.0, 0.0], 2 / 4),  # equal pairs say nothing
        ([0.0, 0.0], 1.0),
        ([5.0], 1.0),
        ([0.1] * 14, 2 / 2**14),
    ],
)
def test_all_assignments_of_signs_are_counted_where_they_are_few(
    differences: list[float], expected: float
) -> None:
    assert randomisation(differences) == pytest.approx(expected)


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=8))
def test_few_differences_are_tested_as_scipy_does(values: list[int]) -> None:
    differences = [float(value) for value in values]
    found = stats.permutation_test(
        (differences, [0.0] * len(differences)),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert randomisation(differences) == pytest.approx(found.pvalue)


@pytest.mark.parametrize("shift", [0.0, 0.1, 0.2, 0.3])
def test_many_normal_differences_are_tested_as_by_student(shift: float) -> None:
    differences = (CHANCE.standard_normal(200) + shift).tolist()
    expected = stats.ttest_1samp(differences, 0.0).pvalue
    assert randomisation(differences) == pytest.approx(expected, abs=0.006)


def test_many_differences_have_a_p_above_0_that_a_seed_repeats() -> None:
    assert randomisation([1.0] * 100) == pytest.approx(1 / 100_001)
    differences = CHANCE.standard_normal(50).tolist()
    assert randomisation(differences, seed=1) == randomisation(differences, seed=1)
    assert randomisation(differences, seed=1) == pytest.approx(
        randomisation([-one for one in differences], seed=2), abs=0.006
    )
    with pytest.raises(ValueError, match="at least one"):
        randomisation([])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),  # Holm's own procedure, by hand
        ([0.02, 0.02], [0.04, 0.04]),
        ([0.6, 0.7], [1.0, 1.0]),
        ([0.01], [0.01]),
        ([], []),
    ],
)
def test_holm_steps_down(values: list[float], expected: list[float]) -> None:
    assert holm(values) == pytest.approx(expected)


@given(st.lists(st.floats(0, 1), max_size=20))
def test_correcting_keeps_order_and_lies_between_nothing_and_bonferroni(
    values: list[float],
) -> None:
    corrected = holm(values)
    for value, one in zip(values, corrected, strict=True):
        assert value <= one <= min(1.0, value * len(values)) + 1e-12
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [corrected[place] for place in order] == sorted(corrected)


def test_the_detectable_effect_is_found_with_the_power_that_is_said() -> None:
    differences = CHANCE.standard_normal(300).tolist()
    effect = detectable(differences)
    # by hand: (1.959964 + 0.841621) · s / √300
    error = float(np.std(differences, ddof=1)) / math.sqrt(300)
    assert effect == pytest.approx(2.801585 * error, rel=1e-6)
    reached = stats.norm.sf(stats.norm.isf(0.025) - effect / error)
    assert reached == pytest.approx(0.8, abs=1e-6)
    assert detectable([0.2, 0.2, 0.2]) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ValueError, match="two differences"):
        detectable([0.2])


def test_the_interval_of_a_paired_difference_is_the_bootstrap_of_scipy() -> None:
    differences = (0.1 * CHANCE.standard_normal(150) + 0.02).tolist()
    ours = mean(differences)
    theirs = stats.bootstrap(
        (differences,), np.mean, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.001)
    assert mean(differences, seed=3).low != ours.low
    assert mean(differences, seed=3).value == ours.value


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([5.0, 1.0, 3.0], 0.5, 3.0),
        (list(range(1, 101)), 0.95, 95),
        (list(range(1, 21)), 0.95, 19),
        ([2.0], 0.95, 2.0),
        ([2.0, 1.0], 0.0, 1.0),
        ([2.0, 1.0], 1.0, 2.0),
    ],
)
def test_a_percentile_is_a_value_that_was_measured(
    values: list[float], share: float, expected: float
) -> None:
    assert percentile(values, share) == expected
    with pytest.raises(ValueError, match="at least one"):
        percentile([], share)
