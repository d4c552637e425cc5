"""How the product bears what goes wrong, the more of it the worse."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from evals.commands import console
from evals.commands.files import store, store_json
from evals.commands.flags import Plot, Save, Seed
from evals.enduring.trace import Score, extensibility, scores
from evals.enduring.trials import KINDS, Ground, trial
from evals.figures import falling
from evals.golden import ROOT
from evals.known import SUITES
from evals.stats import SEED, Mean
from evals.suite import read_suite
from rag.answering.assistant import Assistant
from rag.answering.parts import indexer_of
from rag.config import load
from rag.errors import EXIT_PARTLY_FAILED, UsageError

_SUITE = SUITES / "seeds.jsonl"


def resilience_command(
    kinds: Annotated[str, typer.Option(help="By commas.")] = ",".join(KINDS),
    strengths: Annotated[
        str, typer.Option(help="Ascending from 0 to 1, by commas.")
    ] = "0,0.25,0.5,0.75,1",
    count: Annotated[int, typer.Option("--questions", min=2, help="Golden questions.")] = 10,
    least: Annotated[
        float, typer.Option(min=0, max=1, help="Below such an area delivered it ends with 1.")
    ] = 0.0,
    seed: Seed = SEED,
    save: Save = None,
    plot: Plot = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Disturb the product more and more: what is delivered, how it moves, what recovery costs.

    Examples: resilience · resilience --kinds dying,kills --questions 4 · resilience --least 0.9
    """
    chosen, levels = _chosen(kinds), _levels(strengths)
    found: list[Score] = []
    with tempfile.TemporaryDirectory(prefix="resilience-") as folder:
        ground = _ground(Path(folder), count, levels, seed)
        for kind in chosen:
            console.print(f"{kind} …", highlight=False)
            found += scores(list(trial(kind, ground)), seed)
    areas = {kind: extensibility([one for one in found if one.kind == kind]) for kind in chosen}
    form = {"scores": [asdict(one) for one in found], "graceful_extensibility": areas}
    if as_json:
        sys.stdout.write(json.dumps(form, indent=1) + "\n")
    else:
        _print(found, areas)
    if save:
        store_json(save, form)
    if plot:
        store(plot, _drawn(found, chosen))
    if min(areas.values()) < least:
        raise typer.Exit(EXIT_PARTLY_FAILED)


def _chosen(kinds: str) -> list[str]:
    chosen = [kind.strip() for kind in kinds.split(",") if kind.strip()]
    if unknown := [kind for kind in chosen if kind not in KINDS] or (not chosen and ["nothing"]):
        raise UsageError(
            f"{unknown[0]} is no kind of disturbance", remedy=f"There are {', '.join(KINDS)}."
        )
    return chosen


def _levels(strengths: str) -> list[float]:
    try:
        levels = [float(one) for one in strengths.split(",")]
    except ValueError:
        levels = []
    ascending = all(a < b for a, b in pairwise(levels))
    if len(levels) < 2 or levels[0] != 0 or levels[-1] > 1 or not ascending:
        raise UsageError(
            f"--strengths {strengths} does not ascend from 0 to at most 1",
            remedy="Give at least two, as 0,0.5,1.",
        )
    return levels


def _ground(folder: Path, count: int, levels: list[float], seed: int) -> Ground:
    config = load({"data_dir": folder / "data", "llm": "none", "max_retry_wait": 1.0}).config
    indexer = indexer_of(config, lambda *_: None)
    try:
        indexer.sync([ROOT / "seeds"])
    finally:
        indexer.close()
    items = [one for one in read_suite(_SUITE).items if one.kind in {"named", "numeric"}]
    questions = [one.asked.question for one in items][:count]
    with Assistant.from_config(config) as assistant:
        papers = assistant.counts().papers
    return Ground(config, papers, questions, levels, seed, folder)


def _print(found: list[Score], areas: dict[str, float]) -> None:
    table = Table("disturbance", "strength", "delivered", "stability", "rebound")
    for one in found:
        told = (_told(value) for value in (one.delivered, one.stability, one.rebound))
        table.add_row(one.kind, f"{one.strength:g}", *told)
    console.print(table)
    for kind, area in areas.items():
        console.print(f"graceful extensibility, {kind}: {area:.2f}", highlight=False)


def _told(value: Mean) -> str:
    return str(value).replace("[", r"\[")


def _drawn(found: list[Score], chosen: list[str]) -> bytes:
    lines: dict[str, Any] = {
        kind: [(one.strength, one.delivered.value) for one in found if one.kind == kind]
        for kind in chosen
    }
    return falling("Delivered while disturbed", "strength of the disturbance", lines)
