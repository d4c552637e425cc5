"""How good the guard against injections is, and fitting it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.table import Table

from evals.commands import console
from evals.commands.files import store_json
from evals.commands.flags import Save
from evals.guarding.fitting import Rows, by_sentence, fitted, whole
from evals.guarding.material import Sample, abstracts, attacks, questions
from evals.guarding.report import Row, rows
from rag.answering.parts import embedder_of
from rag.flags import AsJson, ConfigFile, print_json, settings
from rag.guarding.guard import WEIGHTS, WORDS, Subject
from rag.index.disk import write_durably
from rag.index.embedding import Embedder


def guard_command(
    fit: Annotated[
        bool, typer.Option("--fit", help="Fit it on one part of the data, and store it.")
    ] = False,
    show: Annotated[int, typer.Option("--show", min=0, help="Tell n wrong ones of each set.")] = 0,
    save: Save = None,
    as_json: AsJson = False,
    config_file: ConfigFile = None,
) -> None:
    """What the guard marks: attacks that it never saw, and harmless texts.

    Examples: guard · guard --show 5 · guard --fit
    """
    embedder = embedder_of(settings(file=config_file).config)
    material: dict[Subject, list[Sample]] = {
        "question": [*attacks(), *questions()],
        "passage": [*attacks(), *abstracts()],
    }
    if fit:
        found = {subject: _models(subject, own, embedder) for subject, own in material.items()}
        write_durably(WEIGHTS, json.dumps(found) + "\n")
        console.print(f"{WEIGHTS.name} holds the new weights")
        return
    measured = [
        row
        for subject, samples in material.items()
        for with_vectors in (embedder, None)
        for row in rows(subject, samples, with_vectors)
    ]
    if save:
        store_json(save, {"guard": [_form(row) for row in measured]})
    if as_json:
        print_json({"guard": [_form(row) for row in measured]})
    else:
        _print(measured, show)


def _models(subject: Subject, samples: Sequence[Sample], embedder: Embedder) -> dict[str, Any]:
    return {
        name: fitted(_rows(subject, samples, model), subject)
        for name, model in ((WORDS, None), (embedder.name, embedder))
    }


def _rows(subject: Subject, samples: Sequence[Sample], embedder: Embedder | None) -> Rows:
    return (whole if subject == "question" else by_sentence)(samples, embedder)


def _print(measured: Sequence[Row], show: int) -> None:
    table = Table("judged as", "by", "texts", "marked")
    for row in measured:
        table.add_row(row.subject, row.model, row.set, str(row.marked).replace("[", r"\["))
    console.print(table)
    for row in measured:
        for text in (*row.missed[:show], *row.false[:show]):
            what = "missed" if row.missed else "false alarm"
            console.print(f"{row.subject}, {row.model}, {what}: {text[:160]}", markup=False)


def _form(row: Row) -> dict[str, Any]:
    return {
        "subject": row.subject,
        "model": row.model,
        "set": row.set,
        "marked": asdict(row.marked) | {"value": row.marked.value},
    }
