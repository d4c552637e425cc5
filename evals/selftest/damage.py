"""Known damage to good answers, and by how much each figure is to move for it.

The amounts are counted from what was damaged and from the suite, never taken from the code that
measures: of k claims one that is spoilt is 1/k of an answer, and an answer 1/n of n.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evals.record import Record
from evals.selftest import cases as of
from evals.selftest.cases import Case, Done, answerable, half, swapped
from evals.selftest.perfect import REPEATS, abstention


@dataclass(frozen=True, slots=True)
class Mostly:
    """An amount of which a check that misses some sees at least `share`, and never more."""

    amount: float
    share: float


Change = float | Mostly | Literal["up", "down"]
"""By how much a figure moves, or which way where the amount is not known."""

_NEGATIONS = 0.7  # share of the negations that the product's check is held to find

_SHUFFLE = 20_261_130
_CITED = ("citation recall", "citation precision", "faithful")


@dataclass(frozen=True, slots=True)
class Damaged:
    """The records after damage, and the figures that are to move; all others are to stay."""

    records: tuple[Record, ...]
    expected: Mapping[str, Change]


Damage = Callable[[Sequence[Case]], Damaged]


def ranks_shuffled(cases: Sequence[Case]) -> Damaged:
    """The papers found are in a random order, where one of them is gold."""
    chance = random.Random(_SHUFFLE)
    ranks: list[int] = []

    def shuffle(case: Case) -> Case:
        found = list(case.records[0].retrieved)
        chance.shuffle(found)
        (gold,) = case.records[0].gold.values()
        ranks.append(found.index(gold) + 1)
        return of.each(case, lambda record: replace(record, retrieved=tuple(found)))

    done = half(cases, lambda case: len(case.records[0].gold) == 1, shuffle)
    n, seen = answerable(cases), [rank for rank in ranks if rank <= 10]
    gains = {
        "first": float(ranks.count(1)),
        "recall@10": float(len(seen)),
        "MRR@10": sum(1 / rank for rank in seen),
        "nDCG@10": sum(1 / math.log2(rank + 1) for rank in seen),
    }
    return Damaged(done.records, {name: (g - len(ranks)) / n for name, g in gains.items()})


def citations_swapped(cases: Sequence[Case]) -> Damaged:
    """Pairs of answers have each other's citations."""
    done = swapped(cases, of.strangers, of.citing)
    names = ("gold cited", "evidence cited", *_CITED)
    return Damaged(done.records, dict.fromkeys(names, -len(done.cases) / answerable(cases)))


def number_changed(cases: Sequence[Case]) -> Damaged:
    """The number that answers is another one."""

    def fits(case: Case) -> bool:
        single = len(case.item.asked.answers) == 1 and case.is_numeric
        return single and bool(of.number_places(case))

    done = half(cases, fits, lambda case: of.with_texts(case, of.number_places(case)))
    numeric = sum(case.is_numeric for case in cases)
    wrong = sum(len(of.number_places(case)) / len(case.claims) for case in done.cases)
    return Damaged(
        done.records,
        {
            "correct": -len(done.cases) / answerable(cases),
            "numeric": -len(done.cases) / numeric,
            "token F1": "down",
            **dict.fromkeys(_CITED, -wrong / answerable(cases)),
        },
    )


def negation_added(cases: Sequence[Case]) -> Damaged:
    """The first claim is denied. Whether the answer's words are there cannot tell that."""

    def deny(case: Case) -> Case:
        return of.with_texts(case, {0: f"It is not true that {case.claims[0]['text']}"})

    done = half(cases, lambda case: not case.denies, deny)
    part = sum(1 / len(case.claims) for case in done.cases) / answerable(cases)
    less = dict.fromkeys(_CITED, Mostly(-part, _NEGATIONS))
    more = Mostly(part, _NEGATIONS)
    return Damaged(done.records, {"contradicted": more, **less, "token F1": "down"})


def unsupported_appended(cases: Sequence[Case]) -> Damaged:
    """One claim more, invented, that cites a paper."""
    done = half(cases, _any, lambda case: of.appended(case, 1))
    return Damaged(
        done.records, {**dict.fromkeys(_CITED, _one_more(cases, done)), "token F1": "down"}
    )


def uncited_appended(cases: Sequence[Case]) -> Damaged:
    """One claim more, invented, that cites nothing: faithful is asked of cited claims only."""
    done = half(cases, _any, of.appended)
    return Damaged(done.records, {"citation recall": _one_more(cases, done), "token F1": "down"})


def needless_cited(cases: Sequence[Case]) -> Damaged:
    """The first claim cites a paper more, that says nothing of it."""
    answers = [case for case in cases if case.item.answerable]

    def add(case: Case) -> Case:
        return of.also_citing(case, next(one for one in answers if of.strangers(case, one)))

    done = half(cases, lambda case: len(case.papers) == 1 and not case.denies, add)
    return Damaged(
        done.records,
        {
            "citation precision": _one_more(cases, done),
            "gold cited": -len(done.cases) / 2 / answerable(cases),
        },
    )


def unknown_cited(cases: Sequence[Case]) -> Damaged:
    """The first claim cites a number more, that names no source."""
    done = half(cases, _any, lambda case: of.first_citing(case, 99))
    return Damaged(
        done.records,
        {
            "citation precision": _one_more(cases, done),
            "unknown citations": float(len(done.cases) * REPEATS),
        },
    )


def evidence_deleted(cases: Sequence[Case]) -> Damaged:
    """The writer was given nothing."""
    done = half(cases, _any, lambda case: of.each(case, lambda one: replace(one, evidence=())))
    return Damaged(done.records, {"evidence": -len(done.cases) / answerable(cases)})


def wrongly_abstained(cases: Sequence[Case]) -> Damaged:
    """Questions that have an answer are left alone."""

    def silence(record: Record) -> Record:
        return replace(record, ending="abstained", answer=abstention())

    done = half(cases, lambda case: not case.is_numeric, lambda case: of.each(case, silence))
    n, d = answerable(cases), len(done.cases)
    alone = len(cases) - n
    return Damaged(
        done.records,
        {
            "decided": -d / len(cases),
            "correct": -d / n,
            "token F1": "down",
            "answer rate": -d / n,
            "abstention precision": alone / (alone + d) - 1,
        },
    )


def wrongly_answered(cases: Sequence[Case]) -> Damaged:
    """Questions without an answer have that of another question, and their own confidence."""
    alone = [case for case in cases if not case.item.answerable]
    given = next(case for case in cases if case.item.answerable).records[0]

    def talk(record: Record) -> Record:
        answer = {**given.answer, "confidence": record.answer["confidence"]}
        return replace(record, ending="answered", answer=answer, papers=given.papers)

    moved = [of.each(case, talk) for case in alone[::2]]
    return Damaged(
        of.merged(cases, moved),
        {"decided": -len(moved) / len(cases), "abstention recall": -len(moved) / len(alone)},
    )


def text_cut(cases: Sequence[Case]) -> Damaged:
    """A claim ends before the answer comes."""

    def fits(case: Case) -> bool:
        plain = len(case.claims) == 1 and not case.denies and not case.is_numeric
        return plain and len(of.before_answer(case).split()) >= 4

    done = half(cases, fits, lambda case: of.with_texts(case, {0: of.before_answer(case)}))
    share = len(done.cases) / answerable(cases)
    return Damaged(done.records, {"correct": -share, "token F1": "down"})


def confidence_turned(cases: Sequence[Case]) -> Damaged:
    """The writer is the surer the less it can answer."""

    def turn(record: Record) -> Record:
        return replace(
            record, answer={**record.answer, "confidence": 1 - record.answer["confidence"]}
        )

    moved = [of.each(case, turn) for case in cases]
    return Damaged(of.merged(cases, moved), {"AUROC of confidence": -1.0})


def fickle(cases: Sequence[Case]) -> Damaged:
    """Asked again, pairs of questions have each other's answers, with their citations."""

    def fits(one: Case, other: Case) -> bool:
        return of.strangers(one, other) and not (one.is_numeric or other.is_numeric)

    done = swapped(cases, fits, of.second_answering)
    n, d = answerable(cases), len(done.cases)
    return Damaged(
        done.records,
        {
            **dict.fromkeys(("correct", "gold cited", "evidence cited"), -d / REPEATS / n),
            "token F1": "down",
            "same words over repeats": "down",
            "same papers over repeats": -d / len(cases),
            "same verdict over repeats": -d / n,
        },
    )


def _any(_: Case) -> bool:
    return True


def _one_more(cases: Sequence[Case], done: Done) -> float:
    """What one bad part beside the k good ones of an answer takes away: k/(k+1) - 1 of each."""
    return -sum(1 / (len(case.claims) + 1) for case in done.cases) / answerable(cases)


DAMAGE: Mapping[str, Damage] = {
    "ranks shuffled": ranks_shuffled,
    "citations swapped": citations_swapped,
    "a number changed": number_changed,
    "a negation added": negation_added,
    "an unsupported claim": unsupported_appended,
    "an uncited claim": uncited_appended,
    "a needless citation": needless_cited,
    "a citation of nothing": unknown_cited,
    "evidence deleted": evidence_deleted,
    "a wrong abstention": wrongly_abstained,
    "a wrong answer": wrongly_answered,
    "a text cut": text_cut,
    "confidence turned round": confidence_turned,
    "another answer when asked again": fickle,
}
"""Every damage, by what a table calls it."""
