"""What measuring abstention found, for people, as JSON and as a plot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

from evals.abstaining.examples import GOLDEN, LEAVE_OUT, Example
from evals.abstaining.fitting import out_of_fold
from evals.abstaining.promise import Kept, kept, risk_of_answering, separation
from evals.scoring.abstention import Point
from evals.stats import Mean
from rag.answering.confidence import calibration
from rag.answering.signals import SEARCH, YES

WAYS = {"search alone": SEARCH, "with the model's yes or no": (*SEARCH, YES)}


@dataclass(frozen=True, slots=True)
class Row:
    """One suite by one way of judging: how well the two kinds are told apart, and each rate."""

    suite: str
    way: str
    answerable: int
    separation: Mean
    rates: tuple[Kept, ...]
    curve: tuple[Point, ...]


def rows(
    examples: Sequence[Example], shown: Sequence[str], rates: Sequence[float], seed: int
) -> Iterator[Row]:
    """A row for each suite and way of which there are questions of both kinds.

    Confidences of suites that were fitted on are by fits without the paper of the question; those
    of the others are by the product's.
    """
    for way, names in WAYS.items():
        usable = [one for one in examples if all(name in one.signals for name in names)]
        if not usable:
            continue
        product = calibration("yes" if YES in names else "search")
        sure = dict(zip(map(_key, usable), out_of_fold(usable, names), strict=True))
        for suite in shown:
            own = [one for one in usable if one.suite == suite]
            fitted_on = suite in {GOLDEN, LEAVE_OUT}
            confidences = [
                sure[_key(one)] if fitted_on else product.confidence(one.signals) for one in own
            ]
            known = [one.answerable for one in own]
            if min(known.count(True), known.count(False)) < 2:
                continue
            yield Row(
                suite,
                way,
                known.count(True),
                separation(confidences, known, [one.cluster for one in own]),
                tuple(kept(confidences, known, rate, seed=seed) for rate in rates),
                tuple(risk_of_answering(confidences, known)),
            )


def table(found: Sequence[Row]) -> Table:
    """A line for each suite, way and rate."""
    columns = ("AUROC", "promised", "realised", "splits above", "answered", "refused")
    shown = Table("suite", "judged by", "n", "answerable", *columns)
    for row in found:
        for rate in row.rates:
            shown.add_row(
                *(row.suite, row.way, str(row.separation.n), str(row.answerable)),
                f"{row.separation.value:.2f} [{row.separation.low:.2f}, {row.separation.high:.2f}]",
                f"{rate.rate:.2f}",
                f"{rate.realised:.3f}",
                f"{rate.above:.2f}",
                f"{rate.answered:.2f}",
                f"{rate.refused:.2f}",
            )
    return shown


def as_json(found: Sequence[Row]) -> dict[str, Any]:
    """All of it."""
    return {"rows": [asdict(row) for row in found]}


def lines(found: Sequence[Row]) -> dict[str, list[tuple[float, float]]]:
    """The share of the answerable that is answered, and its risk, for each suite and way."""
    return {
        f"{row.suite}, {row.way}": [(point.coverage, point.risk) for point in row.curve]
        for row in found
    }


def _key(one: Example) -> tuple[str, str]:
    return one.suite, one.id
