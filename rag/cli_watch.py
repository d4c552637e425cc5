"""`rag watch`: questions that are asked again when papers have come in."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag.errors import EXIT_PARTLY_FAILED
from rag.flags import (
    AsJson,
    Author,
    ConfigFile,
    DataDir,
    Llm,
    Source,
    Venue,
    Year,
    print_json,
    settings,
)

if TYPE_CHECKING:
    from rag.config import Config
    from rag.watching import Outcome, Standing, Watchlist

watch = typer.Typer(
    help="Standing questions: asked again when papers have come in, with what is new told.",
    no_args_is_help=True,
)

Number = Annotated[int, typer.Argument(help="The number of a standing question.", min=1)]
Numbers = Annotated[
    list[int] | None, typer.Argument(help="Numbers of standing questions; all if none is named.")
]


@watch.command("add", epilog="Example: rag watch add 'Which methods need no reward?' --since 2024")
def add_question(
    question: Annotated[str, typer.Argument(help="What you want to know, now and later.")],
    year: Year = "",
    since: Annotated[str, typer.Option("--since", help="The year or a later one.")] = "",
    until: Annotated[str, typer.Option("--until", help="The year or an earlier one.")] = "",
    venue: Venue = "",
    author: Author = "",
    source: Source = "",
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Keep a question; `rag watch run` asks it, and again when the index has changed."""
    flags = {"year": year, "since": since, "until": until}
    flags |= {"venue": venue, "author": author, "source": source}
    text = os.fsencode(question).decode("utf-8", "replace")
    number, new = _watchlist(data_dir, config_file).add(text, flags)
    if as_json:
        print_json({"id": number, "added": new})
    else:
        told = "is kept; `rag watch run` asks it" if new else "was kept before"
        typer.echo(f"Question {number} {told}.")


@watch.command("list")
def list_questions(
    as_json: AsJson = False, data_dir: DataDir = None, config_file: ConfigFile = None
) -> None:
    """List the standing questions, each with when it was asked last."""
    found = _watchlist(data_dir, config_file).questions()
    from rag import jsonform, terminal_watch

    if as_json:
        print_json({"questions": [jsonform.standing(one) for one in found]})
    else:
        terminal_watch.show_standing(found)


@watch.command("show", epilog="Example: rag watch show 1")
def show_question(
    number: Number,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Show the last answer to a standing question, and how it differed from the one before."""
    found = _watchlist(data_dir, config_file).question(number)
    from rag import jsonform, terminal_watch

    if as_json:
        print_json(jsonform.kept(found))
    else:
        terminal_watch.show_kept(found)


@watch.command(
    "run", epilog="Examples: rag watch run · rag watch run 1 --again · rag watch run --json"
)
def run_questions(
    numbers: Numbers = None,
    again: Annotated[
        bool, typer.Option("--again", help="Ask also where the index is as it was.")
    ] = False,
    llm: Llm = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Ask the standing questions again, and tell what is otherwise than at the last time.

    Exit code 0: all were asked, or need not be. 1: one could not be asked.
    """
    config = settings(data_dir=data_dir, file=config_file, llm=llm).config
    from rag.watching import watchlist_of

    watchlist = watchlist_of(config.data_dir)
    chosen = [watchlist.question(one) for one in dict.fromkeys(numbers or [])]
    outcomes = asked(config, watchlist, chosen or watchlist.questions(), again=again)
    found = list(outcomes) if as_json else list(_shown(outcomes))
    if as_json:
        from rag import jsonform

        print_json({"runs": [jsonform.outcome(one) for one in found]})
    elif not found:
        typer.echo("No standing question. `rag watch add 'QUESTION'` adds one.")
    if any(one.state == "failed" for one in found):
        raise typer.Exit(EXIT_PARTLY_FAILED)


@watch.command("remove", epilog="Example: rag watch remove 1 3")
def remove_questions(
    numbers: Annotated[list[int], typer.Argument(help="Numbers of standing questions.", min=1)],
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Remove standing questions with their answers."""
    _watchlist(data_dir, config_file).remove(numbers)
    typer.echo(f"{len(set(numbers))} removed.")


def asked(
    config: Config, watchlist: Watchlist, questions: list[Standing], *, again: bool = False
) -> Iterator[Outcome]:
    """Ask standing questions; no model is loaded where none has to be asked."""
    if not questions:
        return
    from rag.answering.assistant import Assistant
    from rag.watching import run

    with Assistant.from_config(config, _tell) as assistant:
        yield from run(assistant, watchlist, questions, again=again, notify=_waits())


def after_index(config: Config, *, ask: bool, as_json: bool, quiet: bool) -> list[dict[str, Any]]:
    """Ask the standing questions that wait, or only tell how many do; the JSON of what came out."""
    from rag import jsonform
    from rag.index.catalog import Catalog
    from rag.watching import revision_of, watchlist_of

    watchlist = watchlist_of(config.data_dir)
    if not (questions := watchlist.questions()):
        return []
    with closing(Catalog(config.data_dir / "catalog.sqlite3")) as catalog:
        revision = revision_of(catalog)
    waiting = [one for one in questions if one.waits(revision)]
    if ask:
        outcomes = asked(config, watchlist, waiting)
        return [jsonform.outcome(one) for one in (outcomes if as_json else _shown(outcomes))]
    if waiting and not quiet:
        count = f"{len(waiting)} standing question{'s' if len(waiting) > 1 else ''}"
        _tell(f"{count}: `rag watch run` asks again.")
    return []


def _shown(outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
    from rag import terminal_watch

    for one in outcomes:
        terminal_watch.show_outcome(one)
        yield one


def _watchlist(data_dir: Path | None, config_file: Path | None) -> Watchlist:
    config = settings(data_dir=data_dir, file=config_file).config
    from rag.watching import watchlist_of

    return watchlist_of(config.data_dir)


def _waits() -> Callable[[str], None] | None:
    """Who hears of waits as they begin: a person at a terminal."""
    return _tell if sys.stderr.isatty() else None


def _tell(text: str) -> None:
    typer.echo(text, err=True)
