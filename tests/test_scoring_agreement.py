"""Figures of agreement, against tables by hand, published examples and NLTK's own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask
from numpy.testing import assert_allclose

from evals.scoring import agreement, probabilities, resampling
from evals.scoring.abstention import auroc

LABELS = ("a", "b", "c")
PAIRS = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=2)


def counts(*rows: Sequence[int]) -> agreement.Counts:
    return np.array(rows, dtype=np.float64)


MIXED = counts([20, 5, 0], [10, 15, 5], [0, 0, 45])


def test_confusions_count_each_pair_once() -> None:
    found = agreement.confusions("aabbc", "abbcc", LABELS)
    assert_allclose(found, [[1, 1, 0], [0, 1, 1], [0, 0, 1]])


@pytest.mark.parametrize(("gold", "given_"), [("aa", "a"), ("ax", "aa"), ("aa", "ax")])
def test_confusions_of_what_is_no_label_are_refused(gold: str, given_: str) -> None:
    with pytest.raises(ValueError, match=r"none of the labels|1 labels for 2 cases"):
        agreement.confusions(gold, given_, LABELS)


def test_figures_by_hand() -> None:
    assert agreement.accuracy(MIXED) == pytest.approx(80 / 100)
    assert agreement.recall(MIXED, 0) == pytest.approx(20 / 25)
    assert agreement.precision(MIXED, 0) == pytest.approx(20 / 30)
    assert agreement.f1(MIXED, 0) == pytest.approx(2 * (2 / 3) * 0.8 / (2 / 3 + 0.8))
    assert agreement.balanced_accuracy(MIXED) == pytest.approx((0.8 + 0.5 + 1.0) / 3)
    # by chance: .25·.30 + .30·.20 + .45·.50 = .36
    assert agreement.cohen_kappa(MIXED) == pytest.approx((0.80 - 0.36) / (1 - 0.36))


def test_kappa_of_two_labels_by_hand() -> None:
    table = counts([40, 15], [15, 30])  # by chance: .55² + .45² = .505
    assert agreement.cohen_kappa(table) == pytest.approx((0.70 - 0.505) / (1 - 0.505))


def test_a_judge_that_always_says_the_same_is_as_good_as_chance() -> None:
    always = counts([70, 0, 0], [20, 0, 0], [10, 0, 0])
    assert agreement.accuracy(always) == pytest.approx(0.7)
    assert agreement.balanced_accuracy(always) == pytest.approx(1 / 3)
    assert agreement.cohen_kappa(always) == pytest.approx(0.0)
    assert agreement.f1(always, 1) == 0.0
    assert math.isnan(agreement.precision(always, 1))


def test_a_label_that_never_occurs_does_not_count_in_balanced_accuracy() -> None:
    assert agreement.balanced_accuracy(counts([8, 2, 0], [4, 6, 0], [0, 0, 0])) == pytest.approx(
        0.7
    )


def test_nothing_has_no_figures() -> None:
    none = np.zeros((3, 3))
    assert all(
        math.isnan(of(none))
        for of in (agreement.accuracy, agreement.balanced_accuracy, agreement.cohen_kappa)
    )


@given(PAIRS)
def test_kappa_is_that_of_nltk(pairs: list[tuple[str, str]]) -> None:
    gold, said = zip(*pairs, strict=True)
    assume(len({*gold, *said}) > 1)
    task = AnnotationTask(
        [(coder, str(n), label) for n, pair in enumerate(pairs) for coder, label in enumerate(pair)]
    )
    found = agreement.cohen_kappa(agreement.confusions(gold, said, LABELS))
    assert found == pytest.approx(task.kappa())


@given(st.lists(PAIRS, min_size=1, max_size=4))
def test_many_matrices_at_once_give_what_each_gives_alone(
    many: list[list[tuple[str, str]]],
) -> None:
    stacked = np.stack(
        [agreement.confusions([a for a, _ in of], [b for _, b in of], LABELS) for of in many]
    )
    for of in (agreement.accuracy, agreement.balanced_accuracy, agreement.cohen_kappa):
        assert_allclose(of(stacked), [of(one) for one in stacked])


Unit = Sequence[str | None]


def alpha(units: Sequence[Unit], labels: Sequence[str]) -> float:
    return float(agreement.krippendorff_alpha(agreement.coincidences(units, labels).sum(axis=0)))


def alpha_by_definition(units: Sequence[Unit]) -> float:
    """1 - observed / expected disagreement, over pairs of labels as the definition has them."""
    kept = [[v for v in unit if v is not None] for unit in units]
    kept = [unit for unit in kept if len(unit) > 1]
    every = [value for unit in kept for value in unit]
    observed = sum(
        sum(x != y for x, y in itertools.permutations(unit, 2)) / (len(unit) - 1) for unit in kept
    ) / len(every)
    pairs = list(itertools.permutations(every, 2))
    return 1 - observed / (sum(x != y for x, y in pairs) / len(pairs))


def read(*coders: str) -> list[Unit]:
    return [
        tuple(None if value == "." else value for value in unit)
        for unit in zip(*(coder.split() for coder in coders), strict=True)
    ]


@pytest.mark.parametrize(
    ("coders", "expected"),
    [  # Krippendorff 2011, sections A, B and C
        (("0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0"), 0.095),
        (("a a b b d c c c e d d a", "b a b b b c c c e d d d"), 0.692),
        (
            (
                "1 2 3 3 2 1 4 1 2 . . .",
                "1 2 3 3 2 2 4 1 2 5 . 3",
                ". 3 3 3 2 3 4 2 2 5 1 .",
                "1 2 3 3 2 4 4 1 2 5 1 .",
            ),
            0.743,
        ),
    ],
)
def test_alpha_of_krippendorffs_examples(coders: tuple[str, ...], expected: float) -> None:
    units = read(*coders)
    labels = sorted({value for unit in units for value in unit if value is not None})
    assert alpha(units, labels) == pytest.approx(expected, abs=0.0005)
    assert alpha_by_definition(units) == pytest.approx(expected, abs=0.0005)


@given(
    st.lists(
        st.lists(st.sampled_from([*LABELS, None]), min_size=3, max_size=3), min_size=2, max_size=20
    )
)
def test_alpha_is_what_its_definition_gives(units: list[list[str | None]]) -> None:
    pairable = [[v for v in unit if v is not None] for unit in units]
    assume(len({v for unit in pairable if len(unit) > 1 for v in unit}) > 1)
    assert alpha(units, LABELS) == pytest.approx(alpha_by_definition(units))


@pytest.mark.parametrize("units", [[("a", None)], [("a", "a"), ("a", "a")], []])
def test_alpha_of_nothing_to_compare_is_not_a_number(units: list[Unit]) -> None:
    assert math.isnan(alpha(units, LABELS))


PROBABILITIES = [0.05, 0.15, 0.15, 0.95, 1.0]
OUTCOMES = [False, False, True, True, True]


def test_calibration_error_by_hand() -> None:
    bins = probabilities.equal_width(PROBABILITIES)
    assert bins.tolist() == [0, 1, 1, 9, 9]
    found = probabilities.calibration_error(PROBABILITIES, OUTCOMES, bins)
    # |0 - .05| · 1/5 + |.5 - .15| · 2/5 + |1 - .975| · 2/5
    assert found.tolist() == pytest.approx([0.01 + 0.14 + 0.01])


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1))
def test_calibration_error_is_that_of_a_reliability_diagram(
    cases: list[tuple[float, bool]],
) -> None:
    said, right = [p for p, _ in cases], [y for _, y in cases]
    found = probabilities.calibration_error(said, right, probabilities.equal_width(said))
    bins = probabilities.reliability(said, right)
    gaps = [one.n * abs(one.positive - one.probability) for one in bins]
    assert sum(one.n for one in bins) == len(said)
    assert found[0] == pytest.approx(sum(gaps) / len(said))


def test_bins_of_equal_mass_hold_equally_many_and_never_part_equals() -> None:
    spread = [n / 100 for n in range(100)]
    assert np.bincount(probabilities.equal_mass(spread)).tolist() == [10] * 10
    few = [0.9] * 70 + [0.1] * 20 + [0.5] * 10
    bins = probabilities.equal_mass(few)
    assert [
        len(set(bins[few.index(v) : few.index(v) + few.count(v)])) for v in (0.9, 0.1, 0.5)
    ] == [
        1,
        1,
        1,
    ]
    assert len(set(bins.tolist())) == 3


def test_weights_stand_for_cases_that_are_there_so_often() -> None:
    bins = probabilities.equal_width(PROBABILITIES)
    weights = np.array([[1.0, 0, 2, 2, 0]])
    drawn = [0, 2, 2, 3, 3]
    alone = probabilities.calibration_error(
        [PROBABILITIES[n] for n in drawn], [OUTCOMES[n] for n in drawn], bins[drawn]
    )
    weighted = probabilities.calibration_error(PROBABILITIES, OUTCOMES, bins, weights)
    assert_allclose(weighted, alone)


def test_brier_by_hand() -> None:
    assert probabilities.brier([1.0, 0.0, 0.5], [True, True, False]) == pytest.approx(1.25 / 3)


@pytest.mark.parametrize("wrong", [[], [1.5], [-0.1], [math.nan]])
def test_what_is_no_probability_is_refused(wrong: list[float]) -> None:
    with pytest.raises(ValueError, match="within 0 to 1"):
        probabilities.equal_width(wrong)


SCORED = st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.9]), st.booleans()), min_size=2)


@given(SCORED, st.integers(0, 100))
def test_a_resample_has_the_auroc_of_the_cases_that_were_drawn(
    cases: list[tuple[float, bool]], seed: int
) -> None:
    scores, positive = zip(*cases, strict=True)
    weights = resampling.weights([str(n) for n in range(len(cases))], seed, resamples=5)
    for weight, found in zip(weights, resampling.auroc(scores, positive, weights), strict=True):
        drawn = [n for n, times in enumerate(weight) for _ in range(int(times))]
        alone = auroc([scores[n] for n in drawn], [positive[n] for n in drawn])
        assert math.isnan(found) if alone is None else found == pytest.approx(alone)


def test_whole_clusters_are_resampled() -> None:
    weights = resampling.weights(["p", "q", "p", "r"], resamples=200)
    assert (weights[:, 0] == weights[:, 2]).all()
    assert (weights[:, [0, 1, 3]].sum(axis=1) == 3).all()


def test_the_interval_of_an_accuracy_is_that_of_a_share() -> None:
    right = np.arange(400) < 300
    weights = resampling.weights([str(n) for n in range(400)], resamples=10_000)
    found = resampling.interval(0.75, weights @ right / 400, 400)
    error = 1.96 * math.sqrt(0.75 * 0.25 / 400)
    assert (found.low, found.high) == pytest.approx((0.75 - error, 0.75 + error), abs=0.005)
    assert (found.value, found.n) == (0.75, 400)
