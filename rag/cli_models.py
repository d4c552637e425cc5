"""`rag models`: weights that are here, weights that can be had."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from rag.errors import UsageError
from rag.flags import AsJson, ConfigFile, print_json, settings

models = typer.Typer(help="Model weights: list, fetch, check, add.", no_args_is_help=True)


@models.command("list")
def list_models(as_json: AsJson = False, config_file: ConfigFile = None) -> None:
    """The models that can be used, and which are here."""
    config = settings(file=config_file).config
    from rag.models.catalogue import MODELS
    from rag.models.store import WeightStore

    store = WeightStore(config.weights_dir)
    rows = [
        {
            "name": m.name,
            "kind": m.kind,
            "bytes": m.size,
            "status": store.status(m.name),
            "licence": m.licence,
            "description": m.description,
        }
        for m in MODELS.values()
    ]
    if as_json:
        print_json({"models": rows})
        return
    for row in rows:
        size = f"{int(str(row['bytes'])) / 1e6:,.0f} MB"
        typer.echo(
            f"{row['name']:24} {row['kind']:9} {size:>9}  {row['status']:8} {row['description']}"
        )


@models.command("pull")
def pull_models(
    names: Annotated[
        list[str] | None, typer.Argument(help="Models; if none is named, those the settings use.")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Say nothing of models that are here.")
    ] = False,
    config_file: ConfigFile = None,
) -> None:
    """Fetch weights: resumable, checked against their pinned hashes."""
    config = settings(file=config_file).config
    from rag import terminal
    from rag.models.catalogue import find_model
    from rag.models.store import Progress, WeightStore, needed_models

    store = WeightStore(config.weights_dir)
    for name in names or needed_models(config):
        if store.present(name):
            if not quiet:
                typer.echo(f"{name} is here.", err=True)
            continue
        if not terminal.err.is_terminal:
            typer.echo(f"fetching {name}, {find_model(name).size / 1e6:,.0f} MB", err=True)
        with terminal.downloading() as bar:

            def report(progress: Progress, bar: Callable[[str, int, int], None] = bar) -> None:
                bar(progress.model, progress.bytes_done, progress.bytes_total)

            store.pull(name, report)


@models.command("verify")
def verify_models(
    names: Annotated[
        list[str] | None, typer.Argument(help="Models; if none is named, those that are here.")
    ] = None,
    config_file: ConfigFile = None,
) -> None:
    """Compare weights with their pinned hashes."""
    config = settings(file=config_file).config
    from rag.models.catalogue import MODELS
    from rag.models.store import WeightStore

    store = WeightStore(config.weights_dir)
    chosen = names or [name for name in MODELS if store.status(name) != "missing"]
    if not chosen:
        raise UsageError("There are no weights here", remedy="Run `rag models pull` first.")
    for name in chosen:
        store.verify(name)
        typer.echo(f"{name}: intact")


@models.command("add")
def add_model(
    name: Annotated[str, typer.Argument(help="The model that the file belongs to.")],
    path: Annotated[Path, typer.Argument(help="A file, or a folder that holds the files.")],
    config_file: ConfigFile = None,
) -> None:
    """Take weights from a file of yours, if they are the pinned ones."""
    config = settings(file=config_file).config
    from rag.models.store import WeightStore

    added = WeightStore(config.weights_dir).add(name, path)
    typer.echo(f"{name}: added {', '.join(added)}")
