"""Run and judgement files in TREC's forms, which trec_eval and its kin read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from rag.errors import InputError

Run = Mapping[str, Mapping[str, float]]
"""The scores of documents by query."""
Qrels = Mapping[str, Mapping[str, int]]
"""The grades of documents by query."""

Value = TypeVar("Value", int, float)


def write_run(path: Path, run: Run, name: str) -> None:
    """`query Q0 document rank score name`, in the order in which the scores were given.

    Scores are written so that they are read again as they were. A query for which nothing was
    found has no line.
    """
    lines = [
        f"{query} Q0 {document} {rank} {score!r} {name}"
        for query, scores in run.items()
        for rank, (document, score) in enumerate(scores.items(), start=1)
    ]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read_run(path: Path) -> dict[str, dict[str, float]]:
    """The scores of a run file; the ranks in it are for people.

    Raises:
        InputError: a line is something else.
    """
    return _read(path, 6, 0, 2, 4, _finite)


def write_qrels(path: Path, qrels: Qrels) -> None:
    """`query 0 document grade`."""
    lines = [
        f"{q} 0 {document} {grade}\n" for q, of in qrels.items() for document, grade in of.items()
    ]
    path.write_text("".join(lines), encoding="utf-8")


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """The grades of a judgement file.

    Raises:
        InputError: a line is something else.
    """
    return _read(path, 4, 0, 2, 3, int)


def read_table(path: Path) -> dict[str, dict[str, int]]:
    """The grades of BEIR's form: query, document and grade between tabs, below a headline.

    Raises:
        InputError: a line is something else.
    """
    return _read(path, 3, 0, 1, 2, int, headlines=1)


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, with their numbers.

    Raises:
        InputError: it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path} cannot be read", cause=cause) from error
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def _read(
    path: Path,
    columns: int,
    query: int,
    document: int,
    value: int,
    number_of: Callable[[str], Value],
    headlines: int = 0,
) -> dict[str, dict[str, Value]]:
    found: dict[str, dict[str, Value]] = {}
    for number, line in lines_of(path):
        if number <= headlines:
            continue
        fields = line.split()
        try:
            if len(fields) != columns:
                raise ValueError(f"{len(fields)} columns in place of {columns}")
            of_query = found.setdefault(fields[query], {})
            if fields[document] in of_query:
                raise ValueError(f"document {fields[document]} is there twice for the query")
            of_query[fields[document]] = number_of(fields[value])
        except ValueError as error:
            raise InputError(f"{path}:{number} cannot be read", cause=str(error)) from error
    return found


def _finite(text: str) -> float:
    score = float(text)
    if not math.isfinite(score):
        raise ValueError(f"{text} is no score")
    return score
