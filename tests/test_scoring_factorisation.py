"""Estimates for each answer from cheap scores and few labels, on tensors whose truth is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from evals.scoring.estimates import estimators, held_out, judge_means, system_means
from evals.scoring.factorisation import Array, aligned, factorise


@dataclass(frozen=True)
class World:
    """What people would say, and what judges say of the same with biases of their own."""

    truth: Array
    scores: Array


def world(
    prompts: int = 80,
    systems: int = 8,
    judges: int = 6,
    *,
    noise: float = 1.0,
    missing: float = 0.0,
    blind: bool = False,
    seed: int = 0,
) -> World:
    generator = np.random.default_rng(seed)
    u, v, w = (generator.normal(size=(side, 3)) for side in (prompts, systems, judges))
    people = generator.normal(size=3)
    truth = np.einsum("pr,sr,r->ps", u, v, people)
    scores = np.zeros((prompts, systems, judges))
    if not blind:
        scores += np.einsum("pr,sr,jr->psj", u, v, w)
    scores += noise * generator.normal(size=scores.shape)
    scores[generator.random(scores.shape) < missing] = np.nan
    return World((truth - truth.mean()) / truth.std(), scores)


def test_scores_of_low_rank_are_found_again_where_they_are_missing() -> None:
    whole = world(noise=0.0)
    part = whole.scores.copy()
    hidden = np.random.default_rng(5).random(part.shape) < 0.3
    part[hidden] = np.nan
    found = factorise(part, rank=3, ridge=0.01).scores()
    missed = ((found - whole.scores)[hidden] ** 2).mean()
    assert missed < 0.02 * whole.scores.var()


def test_the_same_seed_gives_the_same_factors() -> None:
    scores = world(missing=0.2).scores
    assert_allclose(factorise(scores).scores(), factorise(scores).scores())


def test_a_judge_that_uses_another_scale_changes_nothing() -> None:
    scores = world().scores
    scaled = scores * np.array([100.0, 1, 1, 1, 1, 0.01]) + np.array([50.0, 0, 0, 0, 0, 3])
    assert_allclose(factorise(scaled).cells(), factorise(scores).cells(), atol=1e-6)


@pytest.mark.parametrize(
    ("noise", "missing"), [(1.0, 0.0), (2.0, 0.0), (1.0, 0.5)], ids=["clear", "noisy", "sparse"]
)
def test_a_factorisation_beats_the_plain_ways_where_quality_is_of_low_rank(
    noise: float, missing: float
) -> None:
    means: dict[str, float] = {}
    for seed in range(4):
        made = world(noise=noise, missing=missing, seed=seed)
        errors = held_out(made.truth, estimators(made.scores, 3), labels=40, draws=10)
        for name, error in errors.items():
            means[name] = means.get(name, 0.0) + error.cells / 4
    best_plain = min(means[name] for name in ("labels by system", "judges", "judges, regressed"))
    assert means["factorisation"] < 0.5 * best_plain
    assert means["both"] < 0.6 * best_plain


def test_where_judges_are_blind_it_falls_back_on_the_labels() -> None:
    made = world(blind=True)
    errors = held_out(made.truth, estimators(made.scores, 3), labels=60, draws=30)
    assert errors["factorisation"].cells < 1.15 * made.truth.var()
    assert errors["factorisation"].cells < errors["labels by system"].cells


def test_where_each_answer_is_its_own_case_the_scores_themselves_are_better() -> None:
    generator = np.random.default_rng(2)
    truth = generator.normal(size=(80, 8))  # of full rank: nothing is shared by prompt or system
    scores = truth[:, :, None] + 0.5 * generator.normal(size=(80, 8, 6))
    errors = held_out(truth, estimators(scores, 3), labels=60, draws=20)
    assert errors["judges, regressed"].cells < 0.3 * errors["factorisation"].cells
    assert errors["both"].cells < 1.3 * errors["judges, regressed"].cells


def test_the_plain_ways_by_hand() -> None:
    labels = np.array([[1.0, np.nan, np.nan], [0.0, 1.0, np.nan]])
    assert_allclose(system_means(labels), [[0.5, 1.0, 2 / 3]] * 2)
    scores = np.array([[[1.0, 0.0], [np.nan, 0.5]], [[np.nan, np.nan], [0.0, 0.0]]])
    assert_allclose(judge_means(scores), [[0.5, 0.5], [0.3, 0.0]])


def test_alignment_finds_a_linear_rule_and_ignores_noise() -> None:
    generator = np.random.default_rng(4)
    features = generator.normal(size=(60, 5, 3))
    truth = 2.0 + features @ np.array([1.0, -0.5, 0.0])
    labels = truth.copy()
    labels[generator.random(truth.shape) < 0.8] = np.nan
    assert_allclose(aligned(features, labels), truth, atol=0.15)
    useless = aligned(generator.normal(size=(60, 5, 3)), labels)
    assert useless.std() < 0.5 * truth.std()


@given(st.floats(-5, 5), st.integers(0, 50))
@settings(max_examples=20)
def test_labels_that_are_all_the_same_are_the_estimate(value: float, seed: int) -> None:
    features = np.random.default_rng(seed).normal(size=(6, 4, 2))
    labels = np.full((6, 4), np.nan)
    labels[:3, 0] = value
    assert_allclose(aligned(features, labels), value, atol=1e-9)


@pytest.mark.parametrize(
    ("scores", "rank", "told"),
    [
        (np.zeros((3, 3)), 2, "three sides"),
        (np.zeros((3, 3, 2)), 0, "rank of at least 1"),
        (np.stack([np.zeros((3, 3)), np.full((3, 3), np.nan)], axis=2), 2, "a judge has no score"),
    ],
)
def test_what_cannot_be_factorised_is_refused(scores: Array, rank: int, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        factorise(scores, rank)


@pytest.mark.parametrize("labels", [0, 1, 640, 641])
def test_held_out_errors_need_labels_on_both_sides(labels: int) -> None:
    made = world()
    with pytest.raises(ValueError, match="of 640 labels, 2 to 639 can be given"):
        held_out(made.truth, estimators(made.scores, 2), labels)


def test_one_label_aligns_nothing() -> None:
    labels = np.full((3, 2), np.nan)
    labels[0, 0] = 1.0
    with pytest.raises(ValueError, match="two labels"):
        aligned(np.ones((3, 2, 1)), labels)
