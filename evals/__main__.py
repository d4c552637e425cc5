"""`python -m evals`: the golden questions, and what commands cost."""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table

from evals import golden, ingest, processes, scale
from evals.stats import Mean
from rag import AskPapersError, Assistant
from rag.config import load
from rag.errors import UsageError
from rag.terminal import counting

app = typer.Typer(
    help="Measure the product: quality on the golden questions, cost of its commands.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
console = Console()
errors = Console(stderr=True)

SEARCH_MEASURES = ("first", "in5")
ASK_MEASURES = ("right", "abstained", "cites_gold", "verbatim")
QUESTION = "By how many points does ARC beat the strongest baseline on WebArena?"


bench = typer.Typer(help="Measure how costs grow.", no_args_is_help=True)
app.add_typer(bench, name="bench")


@bench.command("ingest")
def ingest_command(
    sizes: Annotated[str, typer.Option("--sizes", help="Papers, by commas.")] = "1000,5000,20000",
    data: Annotated[Path | None, typer.Option("--data", help="Real papers; the seeds.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the choice of sentences.")] = 0,
    save: Annotated[Path | None, typer.Option("--save", help="Write the figures as JSON.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the curves as SVG.")] = None,
) -> None:
    """Index collections of growing size, made of the sentences of real papers."""
    source = ingest.Sentences.of(data or golden.ROOT / "seeds")
    wanted = sorted({int(size) for size in sizes.split(",")})
    rows: list[ingest.Row] = []
    with counting("collections") as progress:
        for row in ingest.run(source, wanted, seed):
            rows.append(row)
            progress("indexing", len(rows), len(wanted))
    if save:
        save.write_text(json.dumps(ingest.as_json(rows), indent=2) + "\n", encoding="utf-8")
    if plot:
        from evals.figures import curves

        plot.write_bytes(curves("Cost of indexing", "papers", ingest.lines(rows)))
    console.print(ingest.table(rows))
    for name, found in ingest.exponents(rows).items():
        console.print(f"{name} grows with the number of papers to the power of {found}")


@app.command("golden")
def golden_command(
    what: Annotated[Literal["search", "ask"], typer.Argument(help="What is measured.")],
    llm: Annotated[str, typer.Option("--llm", help="none, local or openai")] = "none",
    kinds: Annotated[str, typer.Option("--kinds", help="Only these, separated by commas.")] = "",
    limit: Annotated[int | None, typer.Option("--limit", help="Only the first n.")] = None,
    save: Annotated[Path | None, typer.Option("--save", help="Write samples as JSONL.")] = None,
) -> None:
    """Run the golden questions on an index of the seeds made for this run."""
    items = golden.read_suite(golden.SUITE, [k for k in kinds.split(",") if k])[:limit]
    with _assistant(llm) as assistant:
        run = golden.run_search if what == "search" else golden.run_ask
        samples: list[golden.Sample] = []
        with counting("questions") as progress:
            for sample in run(assistant, items):
                samples.append(sample)
                progress(what, len(samples), len(items))
    if save:
        lines = [json.dumps(sample, ensure_ascii=False) for sample in samples]
        save.write_text("\n".join(lines) + "\n", encoding="utf-8")
    _show(golden.table(samples, SEARCH_MEASURES if what == "search" else ASK_MEASURES))
    if what == "ask":
        _show_times(samples)


@app.command("commands")
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


@app.command("scale")
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


@contextmanager
def _assistant(llm: str) -> Iterator[Assistant]:
    from rag.answering.parts import indexer_of

    with tempfile.TemporaryDirectory() as folder:
        config = load({"data_dir": folder, "llm": llm}).config
        indexer_of(config, lambda *_: None).sync([golden.ROOT / "seeds"])
        with Assistant.from_config(config) as assistant:
            yield assistant


def _show(rows: dict[str, dict[str, Mean]]) -> None:
    measures = list(dict.fromkeys(name for row in rows.values() for name in row))
    table = Table("kind", *measures)
    for kind, row in rows.items():
        table.add_row(kind, *(str(row[name]) if name in row else "" for name in measures))
    console.print(table)


def _show_times(samples: list[golden.Sample]) -> None:
    for name in ("first_claim", "seconds"):
        values = [sample[name] for sample in samples if sample[name] is not None]
        if values:
            median = statistics.median(values)
            console.print(
                f"{name}: median {median:.1f} s, slowest {max(values):.1f} s, n={len(values)}"
            )


def main() -> None:
    """Run the command; a failure of the product is told in one line."""
    try:
        app()
    except AskPapersError as error:
        errors.print(f"error: {error}")
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
