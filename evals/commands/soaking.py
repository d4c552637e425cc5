"""Many readers at once for a while, over the seeds."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from evals.commands import console
from evals.soak import Load, Soak
from evals.suite import read_suite
from rag.answering.assistant import Assistant
from rag.answering.parts import built_with, embedder_of
from rag.config import load
from rag.errors import EXIT_PARTLY_FAILED, UsageError
from rag.index.sync import Indexer
from rag.serving.counter import Counter

_SUITE = Path(__file__).parents[1] / "suites/seeds.jsonl"
_SEEDS = Path("seeds")
_MOST_GROWTH = 1.1  # of memory, over what it was after the first fifth


def soak_command(
    minutes: Annotated[float, typer.Option("--minutes", min=0.05, help="For how long.")] = 1.0,
    searching: Annotated[int, typer.Option(help="Searches at once.")] = 50,
    asking: Annotated[int, typer.Option(help="Questions at once.")] = 20,
    sessions: Annotated[int, typer.Option(help="Readers who come and go.")] = 1_000,
    switches: Annotated[int, typer.Option(help="Generations made under them.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document.")] = False,
) -> None:
    """Load the product for a while: errors, times, growth of memory and files; 1 if it fails."""
    if not _SEEDS.is_dir():
        raise UsageError("There is no folder seeds here", remedy="Run it where the repository is.")
    wanted = Load(minutes * 60, searching, asking, sessions, switches)
    questions = [item.asked.question for item in read_suite(_SUITE).items if item.asked.question]
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        config = load({"data_dir": Path(folder) / "data", "llm": "none"}).config
        indexer = Indexer(config.data_dir, embedder_of(config), built_with(config), _quiet)
        indexer.sync([_SEEDS])
        indexer.close()
        with Assistant.from_config(config, lambda _: None) as assistant:
            counter = Counter.of(assistant, config)
            soaked = Soak(counter, questions, wanted).run(config.data_dir)
    found = soaked.as_json()
    if as_json:
        sys.stdout.write(json.dumps(found, indent=1) + "\n")
    else:
        for name, value in found.items():
            console.print(f"{name}: {value}", markup=False)
    if found["failed"] or soaked.grown > _MOST_GROWTH:
        raise typer.Exit(EXIT_PARTLY_FAILED)


def _quiet(*_: object) -> None:
    return None
