"""The quality card of the check of claims: how much damage it catches, how often it is wrong."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evals.checking.claims import Stated
from evals.checking.damage import DAMAGES
from evals.stats import Mean, clustered_mean
from rag.answering.support import Judgement

Check = Callable[[Stated], Judgement]
REPEATS = 5


@dataclass(frozen=True, slots=True)
class Row:
    """Of one kind of claims: how many were caught, of how many, and those taken wrongly.

    `caught` is the share that is not called supported: wanted of damage, unwanted of the true.
    `refused` is the share that a reader would not be shown; the others are marked as partly so.
    """

    kind: str
    caught: Mean
    refused: Mean
    wrong: tuple[tuple[Stated, Judgement], ...]


def card(true: Sequence[Stated], quoted: Sequence[Stated], check: Check, seed: int) -> list[Row]:
    """False alarms on true claims in other words and word for word, then damage caught."""
    rows = [
        _row("true, in other words", true, check, wanted=False),
        _row("true, word for word", quoted, check, wanted=False),
    ]
    every = [*true, *quoted]
    for kind, damage in DAMAGES.items():
        chance = random.Random(f"{seed} {kind}")
        damaged = [damage(one, every, chance) for _ in range(REPEATS) for one in every]
        rows.append(_row(kind, [one for one in damaged if one is not None], check, wanted=True))
    return rows


def _row(kind: str, claims: Sequence[Stated], check: Check, *, wanted: bool) -> Row:
    found = [(one, check(one)) for one in claims]
    caught = [judgement.verdict != "supported" for _, judgement in found]
    papers = [one.paper.id for one, _ in found]
    wrong = tuple(
        pair for pair, is_caught in zip(found, caught, strict=True) if is_caught is not wanted
    )
    refused = [judgement.verdict in {"unsupported", "contradicted"} for _, judgement in found]
    shares = [clustered_mean([float(x) for x in one], papers) for one in (caught, refused)]
    return Row(kind, shares[0], shares[1], wrong)
