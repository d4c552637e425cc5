"""A table of papers in a terminal: aligned where it fits, one paper below the other where not."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.markup import escape
from rich.table import Table as Grid

from rag.answering.events import Done, Event, Notice
from rag.answering.tableform import name_of, shown
from rag.schema import Answer, Table
from rag.terminal import err, out, show_rest
from rag.text import plain

_NARROWEST = 16  # characters of a column, below which words are cut in two


def show_table_events(events: Iterator[Event]) -> Answer:
    """Show what has to be waited for, then the table and its sources; the answer."""
    answer: Answer | None = None
    for event in events:
        if isinstance(event, Notice):
            err.print(f"[dim]{escape(plain(event.text))}[/]")
        elif isinstance(event, Done):
            answer = event.answer
    if answer is None:
        raise RuntimeError("the events ended without an answer")
    if answer.table is not None and answer.claims:
        show_table(answer.table)
    show_rest(answer)
    return answer


def show_table(table: Table) -> None:
    """The table, aligned if its columns have room."""
    if out.width < _NARROWEST * (len(table.columns) + 1):
        _show_one_by_one(table)
    else:
        _show_aligned(table)


def _show_aligned(table: Table) -> None:
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_lines=True)
    for heading in ("paper", *table.columns):
        grid.add_column(escape(plain(heading)), overflow="fold")
    for row in table.rows:
        cells = [escape(shown(cell)) if cell else f"[dim]{shown(None)}[/]" for cell in row.cells]
        grid.add_row(f"[bold]{escape(name_of(row.paper))}[/]", *cells)
    out.print(grid, soft_wrap=False)


def _show_one_by_one(table: Table) -> None:
    for row in table.rows:
        out.print(f"[bold]{escape(name_of(row.paper))}[/]")
        for column, cell in zip(table.columns, row.cells, strict=True):
            text = escape(shown(cell)) if cell else f"[dim]{shown(None)}[/]"
            out.print(f"    [dim]{escape(plain(column))}:[/] {text}")
