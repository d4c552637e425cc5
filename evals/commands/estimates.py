"""What people would say of all answers, from judges on all and people on a few."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from evals.commands import console
from evals.commands.files import store, store_json
from evals.commands.flags import Save, Seed
from evals.judging.labelled import Split
from evals.judging.labels import Line, read_labels, written
from evals.judging.sentences import SYSTEMS, marked, picked
from evals.reporting import estimates as shown
from evals.reporting import report as reports
from evals.scoring.estimates import cross_validated, estimators, held_out
from evals.scoring.factorisation import RANK
from evals.scoring.grid import Grid, Labels, by_system, grid_of
from evals.scoring.measures import BY_NAME
from evals.scoring.scored import per_item
from evals.stats import SEED
from rag.errors import InputError, UsageError
from rag.flags import AsJson, DataDir, print_json, settings

_FOLDS = 5


def estimate_command(
    runs: Annotated[list[Path] | None, typer.Argument(help="Folders of runs of one suite.")] = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", help="What people said of some answers.")
    ] = None,
    template: Annotated[
        Path | None, typer.Option("--template", help="Write answers to be labelled here.")
    ] = None,
    answers: Annotated[int, typer.Option("--answers", min=1, help="How many, at random.")] = 100,
    measure: Annotated[
        str, typer.Option("--measure", help="What the judges' scores are.")
    ] = "faithful",
    rank: Annotated[int, typer.Option("--rank", min=1, help="Of the factorisation.")] = RANK,
    split: Annotated[Split, typer.Option("--split", help="Of SciFact, without runs.")] = "dev",
    given: Annotated[
        str, typer.Option("--given", help="Numbers of labels, by commas, without runs.")
    ] = "20,50,100,400",
    seed: Seed = SEED,
    save: Save = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Correct the judges of runs by a few labels; without runs, see on SciFact what labels give.

    Examples: estimate · estimate RUN --template mine.jsonl · estimate RUN --labels mine.jsonl
    """
    if not runs:
        value, tables = _trial(split, _numbers(given), rank, seed)
    else:
        suites = settings(data_dir=data_dir).config.data_dir / "evals"
        if template:
            _write_template(runs, suites, template, answers, seed)
            return
        if labels is None:
            raise UsageError("There are no labels", remedy="Give --labels, or --template first.")
        grid = _grid(runs, suites, measure, read_labels(labels))
        value, tables = _estimated(grid, rank, seed)
    if save:
        store_json(save, value)
    if as_json:
        print_json(value)
        return
    for table in tables:
        console.print(table)


def _trial(split: Split, given: Sequence[int], rank: int, seed: int) -> shown.Told:
    """Every way on SciFact's sentences, where people labelled all."""
    claims = list(marked(split))
    cells = len(claims) * len(SYSTEMS)
    if not all(2 <= n < cells for n in given):
        raise UsageError("--given asks for too few labels or too many", cause=f"2 to {cells - 1}")
    grid = picked(claims)
    ways = estimators(grid.scores, rank, seed)
    trials = {n: held_out(grid.labels, ways, n, seed=seed) for n in given}
    value = {"data": f"SciFact {split}", "cells": cells, "trials": shown.trials_as_json(trials)}
    return value, shown.trial_tables(trials)


def _estimated(grid: Grid, rank: int, seed: int) -> shown.Told:
    """The systems, corrected; and every answer by the way that is least off."""
    systems = by_system(grid)
    ways = estimators(grid.scores, rank, seed)
    try:
        errors = cross_validated(grid.labels, ways, _FOLDS, seed)
    except ValueError as error:
        raise InputError("There are too few labels", cause=str(error)) from None
    best = min(errors, key=lambda name: errors[name])
    value = shown.as_json(grid, systems, errors, ways[best](grid.labels))
    return value, [shown.system_table(systems), shown.way_table(errors)]


def _grid(runs: Sequence[Path], suites: Path, measure: str, labels: Labels) -> Grid:
    """The scores that every judge of every run gives its answers."""
    if measure not in BY_NAME:
        choices = ", ".join(BY_NAME)
        raise UsageError(f"No measure is called {measure!r}", remedy=f"Choose from {choices}.")
    read = {one[0].folder.name: one for one in _reports(runs, suites)}
    scores = {
        run: {report.judge: per_item(measure, report.scored) for report in one}
        for run, one in read.items()
    }
    asked = {(run, scored.item.id) for run, one in read.items() for scored in one[0].scored}
    if strange := sorted(labels.keys() - asked):
        run, item = strange[0]
        raise InputError(f"There is a label of {item} of the run {run}, which is not there")
    try:
        return grid_of(scores, labels)
    except ValueError:
        raise InputError(f"No answer of these runs has the measure {measure}") from None


def _reports(runs: Sequence[Path], suites: Path) -> list[list[reports.Report]]:
    """For each run its report by each of its judges.

    Raises:
        UsageError: the runs are not of the same questions, or two have one name.
    """
    found = []
    for run in runs:
        first = reports.read(run, suites)
        judges = [str(name) for name in first.manifest.identity["judges"]] or [""]
        others = [reports.read(run, suites, judge) for judge in judges[1:]]
        found.append([first, *others])
    if len({one[0].manifest.identity["questions"] for one in found}) > 1:
        raise UsageError("These runs are not of the same questions")
    if len({one[0].folder.name for one in found}) < len(found):
        raise UsageError("Two of these folders have the same name")
    return found


def _write_template(
    runs: Sequence[Path], suites: Path, path: Path, answers: int, seed: int
) -> None:
    """Answers at random, each once, with room for a label."""
    lines = [
        Line(
            run=one[0].folder.name,
            id=scored.item.id,
            question=scored.item.asked.question,
            answer=str(scored.record.answer.get("text", "")),
        )
        for one in _reports(runs, suites)
        for scored in one[0].scored
        if scored.outcome == "scored" and scored.repeat == 0 and scored.record
    ]
    chosen = random.Random(seed).sample(lines, min(answers, len(lines)))
    store(path, written(chosen).encode())
    console.print(f"{len(chosen)} of {len(lines)} answers are in {path}; give each a label, 0 to 1")


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--given {text} is no list of numbers") from None
