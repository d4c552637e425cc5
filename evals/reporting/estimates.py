"""Estimates from judges and few labels, for people and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.table import Table

from evals.scoring.estimates import Errors
from evals.scoring.factorisation import Array
from evals.scoring.grid import Grid, System
from evals.scoring.ppi import Estimate

Trials = Mapping[int, Mapping[str, Errors]]
"""The errors of each way, by the number of labels."""

Told = tuple[dict[str, Any], Sequence[Table]]
"""The same as JSON and for people."""


def trial_tables(trials: Trials) -> Sequence[Table]:
    """The errors of answers, of the means by prompt and of those by system."""
    return [
        _errors(trials, "answers", lambda one: f"{one.cells:.3f} [{one.low:.3f}, {one.high:.3f}]"),
        _errors(trials, "prompts", lambda one: f"{one.prompts:.3f}"),
        _errors(trials, "systems", lambda one: f"{one.systems:.4f}"),
    ]


def system_table(systems: Sequence[System]) -> Table:
    """The mean of each system by its judges, by its labels, and by both."""
    table = Table("run", "answers", "by the judges", "by labels alone", "corrected (PPI++)")
    for one in systems:
        row = (f"{one.judged:.2f}", _shown(one.alone), _shown(one.corrected))
        table.add_row(one.name, str(one.answers), *row)
    return table


def way_table(errors: Mapping[str, float]) -> Table:
    """How far each way is off on labels that it was not given."""
    table = Table("way", "mean squared error, 5 folds")
    for name, error in errors.items():
        table.add_row(name, f"{error:.3f}")
    return table


def trials_as_json(trials: Trials) -> dict[str, Any]:
    """By the number of labels and the way."""
    return {
        str(labels): {name: asdict(one) for name, one in of.items()}
        for labels, of in trials.items()
    }


def as_json(
    grid: Grid, systems: Sequence[System], errors: Mapping[str, float], estimates: Array
) -> dict[str, Any]:
    """All figures, and the estimate of every answer by the way with the least error."""
    return {
        "judges": list(grid.judges),
        "runs": {one.name: asdict(one) for one in systems},
        "errors": dict(errors),
        "answers": [
            {
                "run": system,
                "id": prompt,
                "label": _known(grid.labels[p, s]),
                "judges": {j: _known(grid.scores[p, s, n]) for n, j in enumerate(grid.judges)},
                "estimate": float(min(max(estimates[p, s], 0.0), 1.0)),
            }
            for p, prompt in enumerate(grid.prompts)
            for s, system in enumerate(grid.systems)
            if not np.isnan(grid.scores[p, s]).all()
        ],
    }


def _errors(trials: Trials, of: str, shown: Any) -> Table:
    table = Table(f"error of {of}, with labels:", *map(str, trials))
    for name in next(iter(trials.values())):
        table.add_row(name, *(shown(found[name]) for found in trials.values()))
    return table


def _shown(one: Estimate | None) -> str:
    return f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}] n={one.n}" if one else "-"


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
