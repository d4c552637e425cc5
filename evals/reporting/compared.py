"""A comparison and a gate, in the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from evals.comparing import Change, Comparison, Pair
from evals.gating import Gate
from evals.reporting.forms import plain_table, verdict
from evals.scoring.measures import Measure

_DIGITS = {"share": 3, "s": 2, "tokens": 0, "$": 4}
SHOWN = 5


def table(changes: Sequence[Change]) -> Table:
    """A row for each measure: before, after, the difference and what to think of it."""
    found = plain_table(
        "measure", "before", "after", "difference, 95%", "n", "p", "sees", "verdict"
    )
    for change in changes:
        measure = change.measure
        found.add_row(
            measure.name,
            _number(measure, change.before),
            _number(measure, change.after),
            _interval(change),
            str(change.difference.n),
            "<.001" if change.corrected < 0.001 else f"{change.corrected:.3f}",
            _detectable(change),
            verdict(change),
        )
    return found


def lines(comparison: Comparison, shown: int | None = SHOWN) -> Iterator[str]:
    """How many questions were compared, which were not, and what each measure won and lost.

    `shown` bounds how many questions are named; None: all of them. Only shares are told, since
    hardly any question takes the same time twice.
    """
    unpaired = comparison.unpaired
    yield f"{comparison.paired} questions compared, {unpaired.total} not"
    for why, items in asdict(unpaired).items():
        if items:
            yield f"{why.replace('_', ' ')}: {len(items)}: {_named(items, shown)}"
    for change in comparison.changes:
        name = change.measure.name
        if change.measure.unit != "share" or not (change.wins or change.losses):
            continue
        counts = f"{len(change.wins)} better, {len(change.losses)} worse, {change.ties} equal"
        aside = f", {change.one_sided} in one run only" if change.one_sided else ""
        yield f"{name}: {counts}{aside}"
        for word, pairs in (("better", change.wins), ("worse", change.losses)):
            if pairs:
                yield f"  {word}: {_named([_told(pair) for pair in pairs], shown)}"


def gate_table(gate: Gate) -> Table:
    """A row for each measure that was checked."""
    found = plain_table(
        "measure", "before", "after", "difference, 95%", "n", "sees", "margin", "gate"
    )
    for one in gate.checked:
        change, measure = one.change, one.measure
        if change is None:
            found.add_row(measure.name, "", "", "", "0", "-", "", one.standing)
            continue
        found.add_row(
            measure.name,
            _number(measure, change.before),
            _number(measure, change.after),
            _interval(change),
            str(change.difference.n),
            _detectable(change),
            _number(measure, change.margin or 0.0),
            one.standing,
        )
    return found


def gate_lines(gate: Gate, shown: int | None = SHOWN) -> Iterator[str]:
    """Why, of every measure whose loss is not simply excluded; what changed; and the outcome."""
    for one in gate.checked:
        if one.standing != "holds" or not (one.change and one.change.is_not_worse):
            yield f"{one.measure.name} {one.standing}: {one.reason}"
    yield from lines(gate.comparison, shown)
    if gate.left_out:
        yield f"not checked, too few questions: {', '.join(gate.left_out)}"
    yield f"{gate.suite}: {gate.standing}"


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Everything of a comparison, the questions of each change included."""
    return {
        "paired": comparison.paired,
        "unpaired": asdict(comparison.unpaired),
        "changes": {change.measure.name: _change(change) for change in comparison.changes},
    }


def gate_json(gate: Gate) -> dict[str, Any]:
    """Everything of a gate."""
    return {
        "suite": gate.suite,
        "standing": gate.standing,
        "missing": gate.missing,
        "left_out": list(gate.left_out),
        "checked": {
            one.measure.name: {"standing": one.standing, "reason": one.reason}
            for one in gate.checked
        },
        "comparison": as_json(gate.comparison),
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "before": change.before,
        "after": change.after,
        "difference": asdict(change.difference),
        "p": change.p,
        "corrected": change.corrected,
        "detectable": change.detectable,
        "margin": change.margin,
        "better": change.measure.better,
        "unit": change.measure.unit,
        "verdict": change.verdict,
        "wins": [asdict(pair) for pair in change.wins],
        "losses": [asdict(pair) for pair in change.losses],
        "ties": change.ties,
        "one_sided": change.one_sided,
    }


def _named(items: Sequence[str], shown: int | None) -> str:
    more = len(items) - len(items[:shown])
    return ", ".join(items[:shown]) + (f" and {more} more (--all)" if more else "")


def _told(pair: Pair) -> str:
    return f"{pair.item} {pair.before:.2f} -> {pair.after:.2f}"


def _detectable(change: Change) -> str:
    return "-" if change.detectable is None else _number(change.measure, change.detectable)


def _interval(change: Change) -> str:
    found = change.difference
    ends = (found.value, found.low, found.high)
    value, low, high = (_signed(change.measure, one) for one in ends)
    return f"{value} [{low}, {high}]"


def _number(measure: Measure, value: float) -> str:
    return f"{value:.{_DIGITS[measure.unit]}f}"


def _signed(measure: Measure, value: float) -> str:
    text = f"{value:+.{_DIGITS[measure.unit]}f}"
    return text if any(digit in text for digit in "123456789") else text[1:]
