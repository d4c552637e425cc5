"""What commands cost, and what many papers would."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from evals import processes, scale
from evals.commands import console
from rag.config import load
from rag.errors import UsageError

QUESTION = "By how many points does ARC beat the strongest baseline on WebArena?"


def commands_command(
    runs: Annotated[int, typer.Option("--runs", help="Runs of each command.")] = 5,
    local: Annotated[bool, typer.Option("--local", help="The embedded model too.")] = False,
) -> None:
    """Time each command as a whole process; median, range and peak memory."""
    rag = str(Path(sys.executable).with_name("rag"))
    table = Table("command", "median s", "range s", "peak MB", "runs")
    with tempfile.TemporaryDirectory() as folder:
        environ = os.environ | {"RAG_DATA_DIR": folder}
        fresh = ["sh", "-c", f'rm -rf "$RAG_DATA_DIR"/* && {rag} index seeds']
        rows = [
            ("rag --help", [rag, "--help"]),
            ("rag index seeds (empty index)", fresh),
            ("rag index seeds (again)", [rag, "index", "seeds"]),
            ("rag search QUESTION", [rag, "search", QUESTION]),
            ("rag ask --llm none QUESTION", [rag, "ask", "--llm", "none", QUESTION]),
        ]
        if local:
            rows.append(("rag ask --llm local QUESTION", [rag, "ask", "--llm", "local", QUESTION]))
        for name, command in rows:
            cost = processes.measure(command, environ, runs)
            table.add_row(
                name,
                f"{cost.seconds:.2f}",
                f"{cost.fastest:.2f} to {cost.slowest:.2f}",
                f"{cost.megabytes:.0f}",
                str(cost.runs),
            )
    console.print(table)


def scale_command(
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Measure this index; else the figures given.")
    ] = None,
    papers_per_second: Annotated[float, typer.Option(help="Embedded from end to end.")] = 40.0,
    bytes_per_paper: Annotated[float, typer.Option(help="Of the catalog.")] = 0.0,
    bytes_per_row: Annotated[float, typer.Option(help="Of the vector index, on disk.")] = 0.0,
    rows_per_second: Annotated[float, typer.Option(help="Built into a vector index.")] = 0.0,
    exact_microseconds: Annotated[float, typer.Option(help="Of exact search, a paper.")] = 0.0,
    papers: Annotated[str, typer.Option(help="How many, separated by commas.")] = "1e5,1e6,1e8",
    workers: Annotated[str, typer.Option(help="Machines that embed, for each.")] = "1,4,64",
) -> None:
    """What many papers need, in proportion to what was measured on few."""
    given: dict[str, Any] = {
        "catalog_bytes": bytes_per_paper,
        "row_bytes": bytes_per_row,
        "rows_per_second": rows_per_second,
        "exact_seconds": exact_microseconds / 1e6,
    }
    if data_dir is None:
        if not all(given.values()):
            raise UsageError("Neither an index nor every figure was given", remedy="--data-dir")
        measured = scale.Measured(5_000, 384, papers_per_second=papers_per_second, **given)
    else:
        measured = scale.measure(load({"data_dir": data_dir}).config, papers_per_second)
        measured = replace(measured, **{name: value for name, value in given.items() if value})
    console.print(f"{measured}\n", soft_wrap=True)
    sizes = zip(papers.split(","), workers.split(","), strict=True)
    needs = [scale.need(measured, int(float(count)), int(w)) for count, w in sizes]
    console.print(scale.table(needs), soft_wrap=True)
