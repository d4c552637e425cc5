"""The commands of `python -m evals`, a module for each group."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

from evals.stats import Mean

_WIDTH = 200  # of what is not a terminal: no cell of a table is wrapped

console = Console(width=None if sys.stdout.isatty() else _WIDTH)


def show(rows: dict[str, dict[str, Mean]]) -> None:
    """A table with a row for each kind of question, and its measures where it has them."""
    measures = list(dict.fromkeys(name for row in rows.values() for name in row))
    table = Table("kind", *measures)
    for kind, row in rows.items():
        table.add_row(kind, *(str(row[name]) if name in row else "" for name in measures))
    console.print(table)
