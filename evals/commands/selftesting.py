"""The self-test of the measures."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer
from rich.table import Table

from evals import known
from evals.commands import console
from evals.selftest.check import Outcome, Row, check
from evals.selftest.damage import Change, Mostly
from evals.selftest.perfect import perfect
from rag.errors import EXIT_PARTLY_FAILED
from rag.flags import AsJson, print_json


def selftest_command(as_json: AsJson = False) -> None:
    """Damage good answers in known ways: exit 1 unless every measure moves by what is known.

    The answers are the gold sentences of the seeds' questions; no index and no model is used.
    """
    suite = known.seeds(Path())
    outcome = check(suite.items, perfect(suite))
    if as_json:
        print_json(_as_json(outcome))
    else:
        _show(outcome)
    if not outcome.ok:
        raise typer.Exit(EXIT_PARTLY_FAILED)


def _show(outcome: Outcome) -> None:
    table = Table("damage", "figure", "expected", "seen", "")
    before = ""
    for row in outcome.rows:
        name = row.damage if row.damage != before else ""
        before = row.damage
        table.add_row(name, row.figure, _told(row.expected), f"{row.seen:+.4f}", _mark(row))
    console.print(table)
    wrong = sum(not row.ok for row in outcome.rows)
    console.print(f"{len(outcome.rows)} changes, {wrong} not as expected")
    if outcome.untested:
        console.print(f"moved by no damage: {', '.join(outcome.untested)}", soft_wrap=True)


def _told(change: Change) -> str:
    if isinstance(change, Mostly):
        return f"{change.amount:+.4f}, {change.share:.0%} of it at least"
    return change if isinstance(change, str) else f"{change:+.4f}"


def _mark(row: Row) -> str:
    return "ok" if row.ok else "WRONG"


def _as_json(outcome: Outcome) -> dict[str, object]:
    rows = [{**asdict(row), "ok": row.ok} for row in outcome.rows]
    return {"ok": outcome.ok, "rows": rows, "untested": list(outcome.untested)}
