"""How figures are written, the same in every report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from rich import box
from rich.table import Table

from evals.comparing import Change
from evals.scoring.measures import BY_NAME, Unit
from evals.stats import Mean

MAIN = (
    *("first", "evidence", "decided", "correct", "label", "said", "rubric"),
    *("citation recall", "citation precision", "faithful", "contradicted"),
    *("first claim", "seconds", "tokens written", "cost"),
)
"""The measures that are told first; a report has the others on demand."""

_DIGITS: dict[Unit, int] = {"share": 2, "s": 2, "tokens": 0, "$": 4}


def told_of(means: Mapping[str, Mean]) -> list[str]:
    """The measures of a run that are told: what costs nothing has no line."""
    return [name for name, mean in means.items() if name != "cost" or mean.value]


def main_of(names: Iterable[str]) -> list[str]:
    """Those of the names that are told first, in the order given."""
    return [name for name in names if name in MAIN]


def number(name: str, value: float) -> str:
    """A value of a measure, in the digits that its unit deserves."""
    return f"{value:.{_DIGITS[BY_NAME[name].unit]}f}"


def signed(name: str, value: float) -> str:
    """A difference: with its sign and a digit more, as it is smaller than what it is between."""
    digits = _DIGITS[BY_NAME[name].unit] + 1
    told = f"{value:.{digits}f}"
    return told.removeprefix("-") if float(told) == 0 else f"{'+' if value > 0 else ''}{told}"


def unit(name: str) -> str:
    """The unit as it stands behind a number, empty for a share."""
    of = BY_NAME[name].unit
    return "" if of == "share" else f" {of}"


def interval(name: str, mean: Mean) -> str:
    """The 95% interval of a mean."""
    return f"[{number(name, mean.low)}, {number(name, mean.high)}]"


def signed_interval(name: str, mean: Mean) -> str:
    """The 95% interval of a difference."""
    return f"[{signed(name, mean.low)}, {signed(name, mean.high)}]"


def shown(name: str, mean: Mean) -> str:
    """A mean with its interval."""
    return f"{number(name, mean.value)} {interval(name, mean)}"


def verdict(change: Change) -> str:
    """What to think of a change, with the margin where it is not worse by that."""
    if change.verdict != "not worse by margin" or change.margin is None:
        return change.verdict
    return f"not worse by {change.margin:.2g}"


def plain_table(*head: str) -> Table:
    """A table of a terminal that takes no more room than its cells."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, header_style="bold")
    for name in head:
        justify: Literal["left", "right"] = "right" if name == "n" else "left"
        table.add_column(name, justify=justify, no_wrap=name != "what")
    return table


def count(n: int, what: str, many: str = "") -> str:
    """`1 question`, `2 questions`."""
    return f"{n:,} {what if n == 1 else many or f'{what}s'}"
