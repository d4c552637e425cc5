"""How good the judges are, measured on claims that people have labelled."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Annotated, Any

import typer

from evals.commands import console
from evals.commands.files import store, store_json
from evals.commands.flags import Cache, Limit, Plot, Save, Seed
from evals.judging import card as cards
from evals.judging import choice
from evals.judging.labelled import Labelled, Split, scifact, stratified
from evals.reporting import judge_card as shown
from evals.running.transcript import Replies, Transcript
from evals.scoring import ppi
from evals.stats import SEED
from rag.answering.prompting import versions
from rag.config import Config
from rag.errors import EXIT_PARTLY_FAILED, UsageError
from rag.flags import AsJson, ConfigFile, DataDir, print_json, settings
from rag.terminal import counting

PROMPTS = ("judge", "judge-text")


def judge_card_command(
    judges: Annotated[
        str, typer.Option("--judges", help="By commas; several also make a panel.")
    ] = "support",
    split: Annotated[Split, typer.Option("--split", help="dev to report, train to tune.")] = "dev",
    limit: Limit = None,
    labels: Annotated[
        int | None, typer.Option("--ppi", min=ppi.LEAST, help="What n labels and a judge tell.")
    ] = None,
    cache: Cache = False,
    seed: Seed = SEED,
    save: Save = None,
    plot: Plot = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Score judges on SciFact's labelled claims, each with the abstracts its annotators read.

    Examples: judge-card · judge-card --judges support,local --limit 60 · judge-card --ppi 50
    """
    config = settings(data_dir=data_dir, file=config_file).config
    cases = scifact(split)
    if limit is not None and limit < len(cases):
        cases = stratified(cases, limit)
    if labels is not None and labels > len(cases) - ppi.LEAST:
        raise UsageError(f"--ppi {labels} is too many", cause=f"of {len(cases)} labelled claims")
    wanted = [name.strip() for name in judges.split(",")]
    every = _judged(wanted, cases, config, cache=cache)
    card = cards.card_of(every, seed)
    trials = shown.trials(every, labels, seed) if labels else {}
    facts = {"data": f"SciFact {split}", "seed": seed, "prompts": _versions()}
    whole = shown.as_json(card, every, facts) | shown.trials_as_json(trials)
    if save:
        store_json(save, whole)
    if plot:
        from evals.figures import dots

        store(plot, dots(f"Judges on {card.n} claims of SciFact {split}", shown.panels(card)))
    if as_json:
        print_json({name: value for name, value in whole.items() if name != "cases"})
    else:
        _print(card, every, trials)
    if not all(row.valid for row in card.rows):
        raise typer.Exit(EXIT_PARTLY_FAILED)


def _judged(
    names: Sequence[str], cases: Sequence[Labelled], config: Config, *, cache: bool
) -> list[cards.Judged]:
    """Each judge is asked once about each case, in however many panels it sits."""
    choice.check(names)
    singles = list(dict.fromkeys(one for name in names for one in choice.members(name)))
    panels = {name: choice.members(name) for name in names if "+" in name}
    if not panels and len(singles) > 1:
        panels = {"+".join(singles): singles}
    transcript = Transcript(Replies(config.data_dir / "evals" / "replies" if cache else None))
    every: list[cards.Judged] = []
    with ExitStack() as stack:
        judges = choice.make(singles, config, transcript)
        if not judges:
            raise UsageError("No judge is named", remedy=f"Choose from {', '.join(choice.NAMES)}.")
        for judge in judges:
            stack.callback(judge.close)
        progress = stack.enter_context(counting("claims"))
        for one in cards.judged(judges, panels, cases):
            every.append(one)
            progress("judging", len(every), len(cases))
    return every


def _print(card: cards.Card, every: Sequence[cards.Judged], trials: dict[str, ppi.Trial]) -> None:
    for line in shown.lines(card, every):
        console.print(line, markup=False, soft_wrap=True)
    for table in shown.tables(card):
        console.print(table)
    if trials:
        console.print(shown.trial_table(trials))


def _versions() -> dict[str, Any]:
    return {name: version for name, version in versions().items() if name in PROMPTS}
