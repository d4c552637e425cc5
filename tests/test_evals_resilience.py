"""Disturbances that grow: scores by hand, a disturbed server, and the command."""

from __future__ import annotations

import json

import pytest
from command import evals

from evals.enduring.disturbed_model import reply
from evals.enduring.trace import (
    Cited,
    Outcome,
    Step,
    delivered,
    extensibility,
    rebound,
    scores,
    stability,
)

A, B, C = ("one", 0), ("one", 1), ("two", 0)


def step(
    outcome: Outcome = "written",
    cited: Cited = frozenset({A}),
    calm: Cited = frozenset({A}),
    work: float = 1,
    strength: float = 1.0,
    name: str = "q",
) -> Step:
    return Step("slow", strength, name, outcome, cited, calm, work, 1)


@pytest.mark.parametrize(
    ("outcome", "calm", "share"),
    [
        ("written", {A}, 1),
        ("quoted", {A}, 1),
        ("silent", {A}, 0),
        ("silent", set(), 1),
        ("failed", {A}, 0),
        ("failed", set(), 0),
    ],
)
def test_what_counts_as_delivered(outcome: Outcome, calm: set[tuple[str, int]], share: int) -> None:
    assert delivered(step(outcome, calm=frozenset(calm))) == share


@pytest.mark.parametrize(
    ("cited", "calm", "value"),
    [({A, B}, {A, C}, 1 / 3), ({A}, {A}, 1), ({B}, {A}, 0), (set(), set(), 1), (set(), {A}, 0)],
)
def test_stability_is_jaccards_index(
    cited: set[tuple[str, int]], calm: set[tuple[str, int]], value: float
) -> None:
    assert stability(step(cited=frozenset(cited), calm=frozenset(calm))) == pytest.approx(value)


@pytest.mark.parametrize(
    ("outcome", "work", "value"),
    [("written", 4, 0.25), ("written", 1, 1), ("written", 0.5, 1), ("failed", 1, 0)],
)
def test_rebound_is_what_recovery_leaves(outcome: Outcome, work: float, value: float) -> None:
    assert rebound(step(outcome, work=work)) == value


def test_the_area_under_what_is_delivered() -> None:
    """1 at 0, .5 at .5, 0 at 1: trapezoids of .375 and .125."""
    steps = [
        step(strength=0.0, name="p"),
        step(strength=0.0),
        step(strength=0.5, name="p"),
        step("failed", strength=0.5),
        step("failed", strength=1.0, name="p"),
        step("failed", strength=1.0),
    ]
    found = scores(steps, 1)
    assert [one.delivered.value for one in found] == [1, 0.5, 0]
    assert extensibility(found) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="two strengths"):
        extensibility(found[:1])


def test_a_lying_model_says_what_no_sentence_does() -> None:
    prompt = "[S1] It has 12 legs.\n[S2] It swims.\n\nQuestion: How many legs?"
    told, lied = (json.loads(reply(prompt, lies=lies))["claims"][0] for lies in (False, True))
    assert told == {"support": ["S1"], "text": "It has 12 legs."}
    assert lied["support"] == ["S2"]
    assert "12" not in lied["text"]


def test_the_product_delivers_to_the_last_and_shows_no_lie() -> None:
    ran = evals(
        "resilience", "--kinds", "lying,kills,disk", "--questions", "2", "--strengths", "0,1",
        "--least", "0.95", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    found = json.loads(ran.out[ran.out.index("{\n") :])
    assert found["graceful_extensibility"] == {"lying": 1.0, "kills": 1.0, "disk": 1.0}
    by = {(one["kind"], one["strength"]): one for one in found["scores"]}
    assert by["lying", 0.0]["rebound"]["value"] == 1
    assert by["lying", 1.0]["rebound"]["value"] < 1  # each lie is asked about again
    assert by["kills", 1.0]["rebound"]["value"] < 1  # killed work is done again
    assert by["kills", 1.0]["stability"]["value"] == 1


def test_a_product_that_gives_up_is_held_back() -> None:
    ran = evals(
        "resilience", "--kinds", "slow", "--questions", "2", "--strengths", "0,1", "--least", "0.9"
    )
    assert ran.code == 1
    assert "graceful extensibility, slow: 0.50" in ran.out


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--kinds", "rain"), "rain is no kind of disturbance"),
        (("--strengths", "0.5,0"), "does not ascend"),
        (("--strengths", "0"), "does not ascend"),
        (("--strengths", "0,x"), "does not ascend"),
    ],
)
def test_flags_that_say_nothing_are_refused(flags: tuple[str, ...], told: str) -> None:
    ran = evals("resilience", *flags)
    assert ran.code == 2
    assert told in ran.error_line
