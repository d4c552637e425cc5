"""A run kept in a small file, for later runs to be held against.

One line for each question, keys sorted and values rounded to six digits, so that a change of the
file reads well in a diff.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evals.margins import check_measure
from evals.scoring.measures import BY_NAME
from evals.scoring.scored import Outcome
from evals.sheet import Row, Sheet
from rag.errors import InputError, ResourceError, UsageError
from rag.index.disk import write_durably

_DIGITS = 6
_SETTINGS = ("asked", "repeats", "index", "settings", "writer", "weights", "prompts", "code")
Finite = Annotated[float, Field(allow_inf_nan=False)]


class _Sample(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    asked: str
    cluster: str
    outcome: Outcome
    values: dict[str, Finite]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str
    questions: str
    judge: str
    settings: dict[str, Any]
    outcomes: dict[Outcome, Annotated[int, Field(ge=0)]]
    samples: Annotated[dict[str, _Sample], Field(min_length=1)]


def write(path: Path, run: Sheet, measures: Collection[str] = ()) -> None:
    """Keep a run: all shares, or the named measures.

    Times are not kept unless they are named, as they are different each time.

    Raises:
        UsageError: too much of the run is missing to be held against.
        ResourceError: the file cannot be written.
    """
    if not run.valid:
        raise UsageError(
            "The run cannot be a baseline",
            cause=run.trouble,
            remedy="Go on with `run --resume`, or ask what failed again with --new-run.",
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_durably(path, "\n".join(_lines(run, measures)) + "\n")
    except OSError as error:
        raise ResourceError(f"{path} cannot be written", cause=error.strerror or "") from None


def read(path: Path) -> Sheet:
    """A run that was kept.

    Raises:
        InputError: it is not there, or no baseline.
    """
    try:
        file = _File.model_validate_json(path.read_bytes())
        for sample in file.samples.values():
            for name in sample.values:
                check_measure(name)
    except OSError as error:
        raise InputError(
            f"{path} cannot be read",
            cause=error.strerror or "",
            remedy="`python -m evals gate RUN --write-baseline FILE` makes one.",
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path} is no baseline", cause=f"{place} {first['msg']}") from None
    except UsageError as error:
        raise InputError(f"{path} is no baseline of this release", cause=error.what) from None
    rows = {
        item: Row(one.asked, one.cluster, one.outcome, one.values)
        for item, one in file.samples.items()
    }
    outcomes: Mapping[Outcome, int] = file.outcomes
    identity = {"suite": file.suite, "questions": file.questions, **file.settings}
    return Sheet(file.suite, file.questions, file.judge, identity, outcomes, rows)


def _lines(run: Sheet, measures: Collection[str]) -> Iterator[str]:
    settings = {name: run.identity[name] for name in _SETTINGS if name in run.identity}
    outcomes = {name: count for name, count in run.outcomes.items() if count}
    yield "{"
    yield f'"judge": {_json(run.judge)},'
    yield f'"outcomes": {_json(outcomes)},'
    yield f'"questions": {_json(run.questions)},'
    yield '"samples": {'
    yield ",\n".join(f"{_json(item)}: {_sample(row, measures)}" for item, row in _by_id(run))
    yield "},"
    yield f'"settings": {json.dumps(settings, indent=1, sort_keys=True, ensure_ascii=False)},'
    yield f'"suite": {_json(run.suite)}'
    yield "}"


def _by_id(run: Sheet) -> list[tuple[str, Row]]:
    return sorted(run.rows.items())


def _sample(row: Row, measures: Collection[str]) -> str:
    kept = measures or [name for name, one in BY_NAME.items() if one.unit == "share"]
    values = {name: round(row.values[name], _DIGITS) for name in kept if name in row.values}
    return _json(
        {"asked": row.asked, "cluster": row.cluster, "outcome": row.outcome, "values": values}
    )


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
