"""The measures see known damage; and the self-test sees a measure that is broken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from command import evals

from evals import known
from evals.record import Record
from evals.scoring.measures import BY_NAME, MEASURES, Asked, Measure
from evals.selftest.cases import Case, before_answer, cases_of, number_places
from evals.selftest.check import UNDAMAGED, Outcome, check
from evals.selftest.damage import DAMAGE
from evals.selftest.perfect import perfect
from evals.suite import Item


@pytest.fixture(scope="module")
def good() -> tuple[tuple[Item, ...], list[Record]]:
    suite = known.seeds(Path())
    return suite.items, perfect(suite)


def test_every_measure_of_the_seeds_moves_by_what_is_known(
    good: tuple[tuple[Item, ...], list[Record]],
) -> None:
    outcome = check(*good)
    assert [row for row in outcome.rows if not row.ok] == []
    assert outcome.ok
    assert {row.damage for row in outcome.rows} == {UNDAMAGED, *DAMAGE}
    assert set(outcome.untested) <= {"seconds", "cost", "first claim"}
    amounts = [row for row in outcome.rows if isinstance(row.expected, float) and row.expected]
    assert len(amounts) > 30


def test_damage_spares_what_it_does_not_touch(
    good: tuple[tuple[Item, ...], list[Record]],
) -> None:
    items, records = good
    before = [record.line() for record in records]
    for spoil in DAMAGE.values():
        done = spoil(cases_of(items, records))
        assert [record.key for record in done.records] == [record.key for record in records]
        changed = sum(one.line() != was for one, was in zip(done.records, before, strict=True))
        assert changed >= 6  # enough for an amount to be seen
    assert [record.line() for record in records] == before


def broken(name: str, of: Callable[[Asked], float | None]) -> Sequence[Measure]:
    return [replace(one, of=of) if one.name == name else one for one in MEASURES]


def half_as_much(name: str) -> Callable[[Asked], float | None]:
    """Sees only half of every fault."""

    def of(asked: Asked) -> float | None:
        value = BY_NAME[name].of(asked)
        return None if value is None else (1 + value) / 2

    return of


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("correct", lambda _: 1.0),
        ("citation recall", lambda _: 1.0),
        ("first", lambda _: 0.5),
        ("faithful", lambda _: None),
        ("decided", lambda asked: float(asked.item.answerable)),
        ("evidence", half_as_much("evidence")),
        ("nDCG@10", BY_NAME["MRR@10"].of),
        ("citation precision", BY_NAME["citation recall"].of),
        ("contradicted", lambda asked: float("not" in asked.text.split()) or None),
        ("gold cited", lambda asked: float(len(asked.text) % 2)),
    ],
)
def test_a_broken_measure_is_found(
    good: tuple[tuple[Item, ...], list[Record]], name: str, of: Callable[[Asked], float | None]
) -> None:
    few = {one: DAMAGE[one] for one in _damage_for(name)}
    outcome: Outcome = check(*good, broken(name, of), few)
    assert not outcome.ok
    assert name in {row.figure for row in outcome.rows if not row.ok}


def _damage_for(name: str) -> list[str]:
    return {
        "correct": ["a text cut"],
        "first": ["ranks shuffled"],
        "nDCG@10": ["ranks shuffled"],
        "evidence": ["evidence deleted"],
        "decided": ["a wrong abstention", "a wrong answer"],
        "contradicted": ["a negation added"],
        "citation precision": ["an uncited claim", "a needless citation"],
    }.get(name, ["citations swapped"])


def case(good: tuple[tuple[Item, ...], list[Record]], name: str) -> Case:
    return next(one for one in cases_of(*good) if one.item.id == name)


def test_what_is_damaged_is_what_is_said(good: tuple[tuple[Item, ...], list[Record]]) -> None:
    numeric = number_places(case(good, "numeric-22"))  # "… by 6.4, 3.5, and 9.6 points"
    assert len(numeric) == 1
    assert "9.6" not in next(iter(numeric.values()))
    assert "6.4, 3.5" in next(iter(numeric.values()))
    cut = before_answer(case(good, "named-07"))
    assert cut.endswith("over the")  # "the disagreement region" answers


def test_the_command_ends_with_0_and_prints_a_table() -> None:
    ran = evals("selftest", "--json")
    assert ran.code == 0, ran.err
    value = ran.json()
    assert value["ok"] is True
    first = next(row for row in value["rows"] if row["damage"] == "a wrong answer")
    # 10 of the 19 questions without an answer, of 106
    assert [first["expected"], first["seen"]] == pytest.approx([-10 / 106] * 2)
    assert "0 not as expected" in evals("selftest").out
