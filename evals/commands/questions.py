"""The golden questions."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Annotated, Literal

import typer

from evals import golden
from evals.commands import console, show
from evals.commands.flags import Limit
from rag.terminal import counting

SEARCH_MEASURES = ("first", "in5")
ASK_MEASURES = ("right", "abstained", "cites_gold", "verbatim")


def golden_command(
    what: Annotated[Literal["search", "ask"], typer.Argument(help="What is measured.")],
    llm: Annotated[str, typer.Option("--llm", help="none, local or openai")] = "none",
    kinds: Annotated[str, typer.Option("--kinds", help="Only these, separated by commas.")] = "",
    limit: Limit = None,
    save: Annotated[Path | None, typer.Option("--save", help="Write samples as JSONL.")] = None,
) -> None:
    """Run the golden questions on an index of the seeds made for this run."""
    items = golden.read_suite(golden.SUITE, [k for k in kinds.split(",") if k])[:limit]
    with golden.over_seeds({"llm": llm}) as assistant:
        run = golden.run_search if what == "search" else golden.run_ask
        samples: list[golden.Sample] = []
        with counting("questions") as progress:
            for sample in run(assistant, items):
                samples.append(sample)
                progress(what, len(samples), len(items))
    if save:
        lines = [json.dumps(sample, ensure_ascii=False) for sample in samples]
        save.write_text("\n".join(lines) + "\n", encoding="utf-8")
    show(golden.table(samples, SEARCH_MEASURES if what == "search" else ASK_MEASURES))
    if what == "ask":
        _show_times(samples)


def _show_times(samples: list[golden.Sample]) -> None:
    for name in ("first_claim", "seconds"):
        values = [sample[name] for sample in samples if sample[name] is not None]
        if values:
            median = statistics.median(values)
            console.print(
                f"{name}: median {median:.1f} s, slowest {max(values):.1f} s, n={len(values)}"
            )
