"""The command line. Results go to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag import cli_chat, cli_mcp
from rag.cli_backup import EPILOG as BACKUP_EPILOG
from rag.cli_backup import backup
from rag.cli_collection import LIST_EPILOG, SURVEY_EPILOG, list_papers, survey
from rag.cli_export import EPILOG as EXPORT_EPILOG
from rag.cli_export import export
from rag.cli_history import history
from rag.cli_map import MAP_EPILOG, show_map
from rag.cli_models import models
from rag.cli_papers import papers
from rag.cli_prompts import prompts
from rag.cli_reembed import EPILOG, reembed
from rag.cli_replay import REPLAY_EPILOG, replay
from rag.cli_serve import EPILOG as SERVE_EPILOG
from rag.cli_serve import serve
from rag.cli_tables import COMPARE_EPILOG, EXTRACT_EPILOG, compare, extract
from rag.cli_users import users
from rag.cli_watch import after_index, watch
from rag.errors import EXIT_PARTLY_FAILED, AnswerIncomplete, UsageError
from rag.exits import run
from rag.flags import (
    AsJson,
    Author,
    Batch,
    ConfigFile,
    DataDir,
    Llm,
    Out,
    Source,
    Venue,
    Year,
    print_json,
    settings,
)

if TYPE_CHECKING:
    from rag.answering.assistant import Assistant
    from rag.answering.events import Event
    from rag.config import Config
    from rag.index.report import Report

app = typer.Typer(
    help="Ask questions over paper abstracts; every sentence of an answer is supported by one.",
    epilog="Examples: rag index papers/ · rag ask 'What does RN-DPO normalize?' · "
    "rag search 'safe imitation learning' -k 5 --json",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(papers, name="papers")
app.add_typer(models, name="models")
app.add_typer(history, name="history")
app.add_typer(prompts, name="prompts")
app.add_typer(watch, name="watch")
app.add_typer(users, name="users")


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        sys.stdout.write(f"askpapers {version('askpapers')}\n")
        raise typer.Exit


@app.callback()
def _whole(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Say which release this is.", is_eager=True, callback=_show_version
        ),
    ] = False,
) -> None:
    """What comes before a command."""


@app.command(epilog="Examples: rag index · rag index papers/ more.jsonl · rag index --rebuild")
def index(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Files and folders; seeds/ if none is named.")
    ] = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Embed the stored papers anew, with new settings.")
    ] = False,
    compact: Annotated[
        bool, typer.Option("--compact", help="Put all vectors into one generation now.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Change nothing if anything cannot be read.")
    ] = False,
    allow_shrink: Annotated[
        bool, typer.Option("--allow-shrink", help="More than half of the papers may leave.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="If another process writes, wait until it is done.")
    ] = False,
    engine: Annotated[
        str | None, typer.Option("--engine", help="Who reads and embeds: local or ray.")
    ] = None,
    ray_address: Annotated[
        str | None, typer.Option("--ray-address", help="With ray: host:port of a cluster, or auto.")
    ] = None,
    watching: Annotated[
        bool, typer.Option("--watch", help="Ask the standing questions again afterwards.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Index papers, or bring the index up to date with its files."""
    config = _with_engine(data_dir, config_file, engine, ray_address)
    from rag import jsonform, terminal
    from rag.answering.parts import limits_of
    from rag.answering.served import add_with, as_wanted, difference, index_with
    from rag.index.sync import Indexer, Options

    options = Options(strict, allow_shrink, dry_run, wait, limits_of(config))
    notify = _unheard if quiet else _notify

    def add(indexer: Indexer) -> Report:
        if compact:
            indexer.rebuild_vectors()
        return indexer.sync(paths or [Path("seeds")], options)

    with nullcontext(_no_progress) if quiet else terminal.counting("papers") as progress:
        if rebuild:
            report = index_with(as_wanted(config), progress, notify, Indexer.rebuild)
        else:
            report = add_with(config, progress, notify, add)
    if difference(config):
        notify(difference(config))
    if not as_json and not (quiet and report.is_flawless):
        terminal.show_report(report)
    watched = [] if dry_run else after_index(config, ask=watching, as_json=as_json, quiet=quiet)
    if as_json:
        print_json(jsonform.report(report) | {"watched": watched})
    if not report.is_flawless:
        raise typer.Exit(EXIT_PARTLY_FAILED)


@app.command(
    epilog="Examples: rag search 'safe imitation learning' -k 5 · "
    "rag search '\"policy gradient\" since 2024' --explain"
)
def search(
    query: Annotated[str | None, typer.Argument(help="What to look for.")] = None,
    k: Annotated[int | None, typer.Option("-k", help="How many papers.")] = None,
    year: Year = "",
    since: Annotated[str, typer.Option("--since", help="The year or a later one.")] = "",
    until: Annotated[str, typer.Option("--until", help="The year or an earlier one.")] = "",
    venue: Venue = "",
    author: Author = "",
    source: Source = "",
    explain: Annotated[
        bool, typer.Option("--explain", help="Tell what was understood, and why each was found.")
    ] = False,
    llm: Annotated[
        str | None, typer.Option("--llm", help="A model that helps: auto, openai or local; none.")
    ] = None,
    batch: Batch = None,
    out: Out = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Find papers, each with the sentences that match best; without a model unless one is named."""
    flags: dict[str, Any] = {"top_k": k, "llm": llm or "none"}
    with _assistant(data_dir=data_dir, file=config_file, **flags) as assistant:
        from rag import jsonform, terminal
        from rag.index.browse import filters_of

        names = {"venue": venue, "author": author, "source": source}
        filters = filters_of(year=year, since=since, until=until, **names)
        if batch:
            work = partial(assistant.search, filters=filters)
            _run_batch(batch, out, lambda q: jsonform.found(work(q)), query)
            return
        found = assistant.search(_required(query, out, "search"), filters=filters)
        if as_json:
            print_json(jsonform.found(found))
        elif explain:
            terminal.show_explained(found)
        else:
            terminal.show_found(found)


@app.command(epilog="Examples: rag ask 'What does RN-DPO normalize?' · rag ask --llm none '…'")
def ask(
    question: Annotated[str | None, typer.Argument(help="What you want to know.")] = None,
    llm: Llm = None,
    batch: Batch = None,
    out: Out = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Answer a question from the abstracts, every sentence cited and checked."""
    with _assistant(data_dir=data_dir, file=config_file, llm=llm) as assistant:
        from rag import jsonform

        if batch:
            _run_batch(batch, out, lambda q: jsonform.answer(assistant.answer(q)), question)
            return
        events = assistant.ask(_required(question, out, "ask"), notify=_waits())
        _show_answer(events, as_json=as_json)


@app.command(epilog="Examples: rag summarize RepoScope · rag summarize 000_d9e28358a154ea35.txt:4")
def summarize(
    paper: Annotated[str, typer.Argument(help="An id, source:ordinal, or a name.")],
    llm: Llm = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Summarise one paper in two to four cited sentences."""
    with _assistant(data_dir=data_dir, file=config_file, llm=llm) as assistant:
        _show_answer(assistant.summarize(paper, notify=_waits()), as_json=as_json)


@app.command()
def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Build damaged vectors anew.")] = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Check settings, weights, index and model server; say what to do about each fault."""
    config = settings(data_dir=data_dir, file=config_file).config
    from rag.doctor import examine

    checks = examine(config, repair=repair)
    if as_json:
        print_json({"checks": [check.as_json() for check in checks]})
    else:
        for check in checks:
            mark = "ok  " if check.ok else "FAIL"
            typer.echo(f"{mark}  {check.name}: {check.detail}")
    raise typer.Exit(max((check.exit_code for check in checks), default=0))


@app.command()
def config(
    as_json: AsJson = False, data_dir: DataDir = None, config_file: ConfigFile = None
) -> None:
    """Show the settings in force, where each comes from, and what it means."""
    loaded = settings(data_dir=data_dir, file=config_file)
    values = loaded.config.model_dump(mode="json")
    if as_json:
        print_json({"settings": values, "origins": dict(loaded.origins)})
        return
    for name, field in type(loaded.config).model_fields.items():
        origin = loaded.origins.get(name, "default")
        typer.echo(f"{_setting(name, values[name])}  # {field.description} ({origin})")


app.command("reembed", epilog=EPILOG)(reembed)
app.command("chat", epilog=cli_chat.EPILOG)(cli_chat.chat)
app.command("compare", epilog=COMPARE_EPILOG)(compare)
app.command("extract", epilog=EXTRACT_EPILOG)(extract)
app.command("export", epilog=EXPORT_EPILOG)(export)
app.command("replay", epilog=REPLAY_EPILOG)(replay)
app.command("backup", epilog=BACKUP_EPILOG)(backup)
app.command("mcp", epilog=cli_mcp.EPILOG)(cli_mcp.mcp)
app.command("list", epilog=LIST_EPILOG)(list_papers)
app.command("survey", epilog=SURVEY_EPILOG)(survey)
app.command("serve", epilog=SERVE_EPILOG)(serve)
app.command("map", epilog=MAP_EPILOG)(show_map)


def main() -> None:
    """Run the command line and leave with the exit code of the outcome."""
    run(app, "rag")


@contextmanager
def _assistant(**flags: Any) -> Iterator[Assistant]:
    config: Config = settings(**flags).config
    from rag.answering.assistant import Assistant

    with Assistant.from_config(config, _notify) as assistant:
        yield assistant


def _with_engine(
    data_dir: Path | None, file: Path | None, engine: str | None, address: str | None
) -> Config:
    flags = {"engine": engine, "ray_address": address}
    config: Config = settings(data_dir=data_dir, file=file, **flags).config
    if address is not None and config.engine != "ray":
        raise UsageError("--ray-address goes with --engine ray only")
    return config


def _show_answer(events: Iterator[Event], *, as_json: bool) -> None:
    from rag import jsonform, terminal
    from rag.answering.assistant import last_answer

    if as_json:
        answer = last_answer(events)
        print_json(jsonform.answer(answer))
    else:
        answer = terminal.show_events(events)
    if not answer.complete:
        raise AnswerIncomplete(f"The answer is incomplete: {answer.note}", partial=answer.text)


def _run_batch(
    path: Path, out: Path | None, work: Callable[[str], dict[str, Any]], extra: str | None
) -> None:
    from rag import batch, terminal

    if extra is not None:
        raise UsageError("A question and --batch were both given", remedy="Give one of them.")
    items = batch.read_items(path)
    todo = batch.resume(items, path, out) if out else items
    with (
        terminal.counting("questions") as progress,
        out.open("a", encoding="utf-8") if out else nullcontext(sys.stdout) as file,
    ):
        done = iter(range(1, len(todo) + 1))
        failed = batch.run(todo, work, file, lambda: progress("answering", next(done), len(todo)))
    if failed:
        raise typer.Exit(EXIT_PARTLY_FAILED)


def _setting(name: str, value: object) -> str:
    """A line of a configuration file; TOML has no null."""
    return f"# {name} is not set" if value is None else f"{name} = {json.dumps(value)}"


def _required(text: str | None, out: Path | None, command: str) -> str:
    if out is not None:
        raise UsageError("--out goes with --batch only", remedy="Redirect the output instead.")
    if text is None:
        raise UsageError(
            f"rag {command} needs a question", remedy=f"Example: rag {command} 'What is …?'"
        )
    return os.fsencode(text).decode("utf-8", "replace")  # whatever the locale made of it


def _waits() -> Callable[[str], None] | None:
    """Who hears of waits as they begin: a person at a terminal. In a file they are told after."""
    return _notify if sys.stderr.isatty() else None


def _notify(text: str) -> None:
    typer.echo(text, err=True)


def _unheard(_text: str) -> None:
    return None


def _no_progress(_what: str, _done: int, _total: int) -> None:
    return None


if __name__ == "__main__":
    main()
