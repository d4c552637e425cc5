"""What attacks reach: planted orders, poisoned collections, evolved strategies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from evals.attacking.defences import Unfenced
from evals.attacking.evolving import as_lines, evolved
from evals.attacking.planting import attacks
from evals.attacking.running import Made, by_model, by_obedience
from evals.commands import console
from evals.commands.files import store, store_json
from evals.commands.flags import Limit, Save, Seed
from evals.guarding.exact import Share, share
from evals.poisoning import PLANTED, TARGETS, outcomes, targets
from evals.stats import SEED
from rag.answering.parts import generator_of
from rag.answering.smoothing import Smoothing
from rag.errors import UsageError
from rag.flags import ConfigFile, Llm, settings

_COPIES = 3


def attacks_command(
    limit: Limit = None,
    model: Annotated[
        bool, typer.Option("--model", help="On the model of the settings, not one that obeys.")
    ] = False,
    evolve: Annotated[
        Path | None, typer.Option("--evolve", help="Search strategies; keep the fittest here.")
    ] = None,
    seed: Seed = SEED,
    save: Save = None,
    config_file: ConfigFile = None,
) -> None:
    """What planted papers reach: by a model that obeys every order, or by a real one.

    Examples: attacks --limit 300 · attacks --model --limit 6 · attacks --evolve finds.jsonl
    """
    if evolve is not None:
        _evolve(evolve, seed)
        return
    rows = (
        _by_model(limit, config_file) if model else {"obedient": list(by_obedience(attacks(limit)))}
    )
    for name, made in rows.items():
        _print(name, made)
    if save:
        store_json(save, {name: _form(made) for name, made in rows.items()})


def poison_command(
    count: Annotated[int, typer.Option("--targets", min=1, help="Questions.")] = TARGETS,
    planted: Annotated[int, typer.Option("--papers", min=1, max=5, help="For each.")] = PLANTED,
    llm: Llm = "none",
    config_file: ConfigFile = None,
) -> None:
    """How often planted papers put a wrong answer in the place of the right one.

    Examples: poison · poison --papers 1 · poison --targets 3 --llm local
    """
    config = settings(file=config_file, llm=llm).config
    found = list(outcomes(config, targets(count, planted)))
    n = len(found)
    shares = {
        "wrong answer only": share(sum(one.succeeded for one in found), n),
        "wrong and right answer": share(sum(one.wrong and one.right for one in found), n),
        "right answer only": share(sum(one.right and not one.wrong for one in found), n),
        "wrong answer without a warning": share(
            sum(one.wrong and not one.warned for one in found), n
        ),
    }
    table = Table("outcome", f"of {n} questions, {planted} papers each")
    for name, one in shares.items():
        table.add_row(name, _told(one))
    console.print(table)


def _by_model(limit: int | None, config_file: Path | None) -> dict[str, list[Made]]:
    """Without a defence in the prompt, with it, and with the vote on top.

    Raises:
        UsageError: the settings have no model.
    """
    generator = generator_of(settings(file=config_file).config)
    if generator is None:
        raise UsageError(
            "No model writes with these settings", remedy="Set llm to local or openai."
        )
    try:
        return {
            "not fenced": list(by_model(attacks(limit), generator, Unfenced)),
            "fenced": list(by_model(attacks(limit), generator)),
            f"smoothing = {_COPIES}": list(
                by_model(attacks(limit), generator, lambda inner: Smoothing(inner, _COPIES))
            ),
        }
    finally:
        generator.close()


def _evolve(path: Path, seed: int) -> None:
    finds = evolved(4, 12, seed)
    store(path, as_lines(finds, 12).encode())
    for one in finds[:12]:
        told = ", ".join(one.faults) or "nothing"
        console.print(
            f"{one.fitness:.2f} {one.strategy.carrier}: {one.strategy.order()}", markup=False
        )
        console.print(f"     unseen by the guard {one.hidden:.2f}; reached {told}", markup=False)


def _print(name: str, made: Sequence[Made]) -> None:
    table = Table(name, "n", "reached", "model obeyed", "marked by the guard")
    carriers = list(dict.fromkeys(one.attack.carrier for one in made))
    for carrier in [*carriers, "all"]:
        own = [one for one in made if carrier in {one.attack.carrier, "all"}]
        table.add_row(carrier, str(len(own)), *map(_told, _shares(own)))
    console.print(table)
    for fault, times in Counter(fault for one in made for fault in one.faults).items():
        console.print(f"{fault}: {times}")


def _shares(made: Sequence[Made]) -> tuple[Share, Share, Share]:
    n = len(made)
    reached = sum(bool(one.faults) for one in made)
    return (
        share(reached, n),
        share(sum(one.obeyed for one in made), n),
        share(sum(one.marked for one in made), n),
    )


def _told(one: Share) -> str:
    return str(one).replace("[", r"\[")


def _form(made: Sequence[Made]) -> dict[str, Any]:
    reached, obeyed, marked = map(asdict, _shares(made))
    return {"n": len(made), "reached": reached, "obeyed": obeyed, "marked": marked}
