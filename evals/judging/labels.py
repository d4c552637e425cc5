"""Labels that people give to answers of runs: a file to fill in, and reading it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evals.trec import lines_of
from rag.errors import InputError


class Line(BaseModel):
    """An answer to be labelled: from 0, not at all right, to 1; null: not yet.

    `run` is the name of the folder of a run; question and answer are for whoever labels.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: Annotated[str, Field(min_length=1)]
    id: Annotated[str, Field(min_length=1)]
    question: str = ""
    answer: str = ""
    label: Annotated[float, Field(ge=0, le=1)] | None = None


def read_labels(path: Path) -> Mapping[tuple[str, str], float]:
    """The labels that were given, by run and question.

    Raises:
        InputError: the file cannot be read, a line is not in the form, or an answer has two labels.
    """
    found: dict[tuple[str, str], float] = {}
    for number, text in lines_of(path):
        try:
            line = Line.model_validate(json.loads(text))
        except ValueError as error:
            raise InputError(
                f"{path}:{number} is no label",
                cause=_told(error),
                remedy='A line is {"run": …, "id": …, "label": 0 to 1}.',
            ) from None
        if line.label is None:
            continue
        if (line.run, line.id) in found:
            raise InputError(f"{path}:{number} labels {line.id} of {line.run} again")
        found[line.run, line.id] = line.label
    return found


def written(lines: Iterable[Line]) -> str:
    """The text of a file to fill in."""
    return "".join(f"{line.model_dump_json()}\n" for line in lines)


def _told(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)
