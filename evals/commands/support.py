"""How good the check of claims is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.table import Table

from evals.checking.card import Row, card
from evals.checking.claims import Stated, in_other_words, papers_of_seeds, quoted
from evals.checking.discrepancy import compared, damaged_once
from evals.checking.fitting import fitted, lessons, likeness_of
from evals.checking.labelled import Figures, figures, seen
from evals.commands import console
from evals.judging.labelled import scifact
from evals.known import SUITES
from evals.stats import SEED
from evals.suite import read_suite
from rag.answering.parts import embedder_of
from rag.answering.support import Judgement, judge
from rag.answering.weighing import COEFFICIENTS
from rag.errors import InputError
from rag.flags import AsJson, ConfigFile, print_json, settings
from rag.index.disk import write_durably
from rag.index.embedding import Embedder
from rag.index.remembering import RememberingEmbedder

_KEPT = 200_000  # texts: each sentence is compared many times


def support_command(
    fit: Annotated[
        bool, typer.Option("--fit", help="Fit the weights on SciFact train, and store them.")
    ] = False,
    words_only: Annotated[
        bool, typer.Option("--words-only", help="Without likeness in meaning.")
    ] = False,
    show: Annotated[int, typer.Option("--show", min=0, help="Tell n wrong ones of each kind.")] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of damage.")] = SEED,
    as_json: AsJson = False,
    config_file: ConfigFile = None,
) -> None:
    """The quality card of the check of claims: damage caught, and false alarms.

    Examples: support · support --show 5 · support --fit
    """
    embedder = RememberingEmbedder(embedder_of(settings(file=config_file).config), _KEPT)
    if fit:
        weights = fitted(lessons("train", embedder))
        write_durably(COEFFICIENTS, json.dumps(weights, indent=1) + "\n")
        console.print(f"{COEFFICIENTS.name} holds the new weights")
        return
    likeness = None if words_only else likeness_of(embedder)

    def check(one: Stated) -> Judgement:
        return judge(one.claim, one.support, "", likeness)

    true, literal = _true_claims()
    rows = card(true, literal, check, seed)
    damaged = damaged_once([*true, *literal], seed)
    judged, found = ([check(one) for one in every] for every in (true, damaged))
    signs = compared(true, judged, damaged, found, embedder)
    public = _on_scifact(embedder)
    if as_json:
        print_json(_as_json(rows, public, signs))
    else:
        _print(rows, public, signs, show)


def _true_claims() -> tuple[list[Stated], list[Stated]]:
    items, papers = list(read_suite(SUITES / "seeds.jsonl").items), papers_of_seeds()
    return list(in_other_words(items, papers)), list(quoted(items, papers))


def _on_scifact(embedder: Embedder) -> dict[str, Figures]:
    """Nothing where the data is not there, which is told."""
    try:
        cases = scifact("dev")
    except InputError as error:
        console.print(f"not measured on SciFact: {error}")
        return {}
    return figures(seen(cases, embedder, likeness_of(embedder)))


def _print(
    rows: Sequence[Row], public: dict[str, Figures], signs: dict[str, float], show: int
) -> None:
    table = Table("claims", "n", "not called supported", "refused")
    for row in rows:
        n = str(row.caught.n)
        table.add_row(row.kind, n, _share(row.caught), _share(row.refused))
    console.print(table)
    for row in rows:
        for one, judgement in row.wrong[:show]:
            said = judgement.reason or judgement.verdict
            console.print(f"{row.kind}: {one.claim} ({one.item}: {said})", markup=False)
    for name, found in public.items():
        console.print(
            f"SciFact dev, {name}: AUROC {found.auroc:.3f}, F1 {found.f1:.3f} (n = {found.n})"
        )
    told = ", ".join(f"{name} {value:.3f}" for name, value in signs.items())
    console.print(f"true against damaged claims, AUROC: {told}")


def _share(mean: Any) -> str:
    return f"{mean.value:.3f} [{mean.low:.3f}, {mean.high:.3f}]"


def _as_json(
    rows: Sequence[Row], public: dict[str, Figures], signs: dict[str, float]
) -> dict[str, Any]:
    return {
        "card": [
            {"kind": row.kind, "caught": asdict(row.caught), "refused": asdict(row.refused)}
            for row in rows
        ],
        "scifact": {name: asdict(found) for name, found in public.items()},
        "auroc": signs,
    }
