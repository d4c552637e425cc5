"""A table of papers in a terminal: aligned where it fits, one paper below the other where not."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from rag.answering.tableform import NOT_STATED, name_of, shown
from rag.schema import Claim, Table
from rag.text import plain

_NARROWEST = 16  # characters of a column, below which words are cut in two


def show_table(out: Console, table: Table) -> None:
    """The table, aligned if its columns have room."""
    if out.width < _NARROWEST * (len(table.columns) + 1):
        _show_one_by_one(out, table)
    else:
        _show_aligned(out, table)


def _show_aligned(out: Console, table: Table) -> None:
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_lines=True)
    for heading in ("paper", *table.columns):
        grid.add_column(escape(plain(heading)), overflow="fold")
    for row in table.rows:
        grid.add_row(f"[bold]{escape(name_of(row.paper))}[/]", *map(_cell, row.cells))
    out.print(grid, soft_wrap=False)


def _show_one_by_one(out: Console, table: Table) -> None:
    for row in table.rows:
        out.print(f"[bold]{escape(name_of(row.paper))}[/]")
        for column, cell in zip(table.columns, row.cells, strict=True):
            out.print(f"    [dim]{escape(plain(column))}:[/] {_cell(cell)}")


def _cell(cell: Claim | None) -> str:
    return escape(shown(cell)) if cell else f"[dim]{NOT_STATED}[/]"
