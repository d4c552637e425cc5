"""`rag prompts`: what models are told, in which version, and what the reader changed of it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rag.errors import UsageError
from rag.flags import AsJson, ConfigFile, print_json, settings

prompts = typer.Typer(
    help="The prompts: list, show, and what differs in one's own or between two answers.",
    no_args_is_help=True,
)

Name = Annotated[str, typer.Argument(help="A name of `rag prompts list`.")]


@prompts.command("list", epilog="Example: RAG_PROMPTS=my-prompts rag prompts list")
def list_prompts(as_json: AsJson = False, config_file: ConfigFile = None) -> None:
    """List the prompts, each with its version, a hash of its text, and whose it is."""
    own = settings(file=config_file).config.prompts
    from rag.answering.templates import templates

    found = templates(own)
    if as_json:
        shown = [{"name": t.name, "version": t.version, "own": t.is_own} for t in found]
        print_json({"prompts": shown})
    else:
        from rag.terminal_replay import show_templates

        show_templates(found)


@prompts.command("show", epilog="Example: rag prompts show answer")
def show_prompt(name: Name, as_json: AsJson = False, config_file: ConfigFile = None) -> None:
    """Show a template: the system message, a line ---, the user message."""
    own = settings(file=config_file).config.prompts
    from rag.answering.templates import find_template

    found = find_template(name, own)
    if as_json:
        head = {"name": found.name, "version": found.version, "own": found.is_own}
        print_json({**head, "text": found.text})
    else:
        typer.echo(found.text, nl=not found.text.endswith("\n"))


@prompts.command(
    "diff",
    epilog="Examples: RAG_PROMPTS=my-prompts rag prompts diff answer · "
    "rag prompts diff monday.json friday.json",
)
def diff_prompts(
    what: Annotated[
        list[str], typer.Argument(help="A prompt's name, or two answers of `rag ask --json`.")
    ],
    as_json: AsJson = False,
    config_file: ConfigFile = None,
) -> None:
    """Show what one's own prompt changes, or which prompts two answers were made with."""
    own = settings(file=config_file).config.prompts
    if len(what) > 2:
        raise UsageError(f"{len(what)} names were given", remedy="Give one prompt or two answers.")
    if len(what) == 2:
        _diff_answers(Path(what[0]), Path(what[1]), as_json=as_json)
        return
    from rag.answering.templates import changes

    found = changes(what[0], own)
    if as_json:
        print_json({"name": what[0], "same": not found, "diff": found})
    else:
        typer.echo(found or f"{what[0]} is the product's.")


def _diff_answers(first: Path, second: Path, *, as_json: bool) -> None:
    from rag.answering.templates import compared
    from rag.replaying.record import read_recorded

    found = compared(read_recorded(first).manifest, read_recorded(second).manifest)
    if as_json:
        print_json({"prompts": [asdict(one) for one in found]})
    else:
        from rag.terminal_replay import show_versions

        show_versions(found)
