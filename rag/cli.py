"""The command line. Results go to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag.errors import EXIT_PARTLY_FAILED, AnswerIncomplete, UsageError
from rag.exits import run

if TYPE_CHECKING:
    from rag.answering.assistant import Assistant
    from rag.answering.events import Event
    from rag.config import Config, Loaded

app = typer.Typer(
    help="Ask questions over paper abstracts; every sentence of an answer is supported by one.",
    epilog="Examples: rag index papers/ · rag ask 'What does RN-DPO normalize?' · "
    "rag search 'safe imitation learning' -k 5 --json",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
models = typer.Typer(help="Model weights: list, fetch, check, add.", no_args_is_help=True)
app.add_typer(models, name="models")

DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="Where catalog and index are (RAG_DATA_DIR).")
]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="Another configuration file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
Llm = Annotated[
    str | None, typer.Option("--llm", help="Who writes: auto, openai, local or none (quoting).")
]
Batch = Annotated[
    Path | None,
    typer.Option("--batch", help='Many at once: a file of lines {"id": …, "question": …}.'),
]
Out = Annotated[
    Path | None, typer.Option("--out", help="With --batch: append here, and resume from here.")
]


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
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Index papers, or bring the index up to date with its files."""
    config = _settings(data_dir=data_dir, file=config_file).config
    from rag import jsonform, terminal
    from rag.answering.parts import built_with, embedder_of
    from rag.index.sync import Indexer

    with nullcontext(_no_progress) if quiet else terminal.counting("papers") as progress:
        indexer = Indexer(config.data_dir, embedder_of(config), built_with(config), progress)
        if compact:
            indexer.rebuild_vectors()
        report = indexer.rebuild() if rebuild else indexer.sync(paths or [Path("seeds")])
    if as_json:
        _print_json(jsonform.report(report))
    elif not quiet or report.failures:
        terminal.show_report(report)
    if report.failures:
        raise typer.Exit(EXIT_PARTLY_FAILED)


@app.command(epilog="Example: rag search 'safe imitation learning' -k 5")
def search(
    query: Annotated[str | None, typer.Argument(help="What to look for.")] = None,
    k: Annotated[int | None, typer.Option("-k", help="How many papers.")] = None,
    batch: Batch = None,
    out: Out = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Find papers, each with the sentences that match best."""
    with _assistant(data_dir=data_dir, file=config_file, top_k=k, llm="none") as assistant:
        from rag import jsonform, terminal

        if batch:
            _run_batch(batch, out, lambda q: jsonform.found(assistant.search(q)), query)
            return
        found = assistant.search(_required(query, out, "search"))
        if as_json:
            _print_json(jsonform.found(found))
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
    config = _settings(data_dir=data_dir, file=config_file).config
    from rag.doctor import examine

    checks = examine(config, repair=repair)
    if as_json:
        _print_json({"checks": [check.as_json() for check in checks]})
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
    loaded = _settings(data_dir=data_dir, file=config_file)
    values = loaded.config.model_dump(mode="json")
    if as_json:
        _print_json({"settings": values, "origins": dict(loaded.origins)})
        return
    for name, field in type(loaded.config).model_fields.items():
        origin = loaded.origins.get(name, "default")
        typer.echo(f"{_setting(name, values[name])}  # {field.description} ({origin})")


@models.command("list")
def list_models(as_json: AsJson = False, config_file: ConfigFile = None) -> None:
    """The models that can be used, and which are here."""
    config = _settings(file=config_file).config
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
        _print_json({"models": rows})
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
    config = _settings(file=config_file).config
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
    config = _settings(file=config_file).config
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
    config = _settings(file=config_file).config
    from rag.models.store import WeightStore

    added = WeightStore(config.weights_dir).add(name, path)
    typer.echo(f"{name}: added {', '.join(added)}")


def main() -> None:
    """Run the command line and leave with the exit code of the outcome."""
    run(app, "rag")


def _settings(*, data_dir: Path | None = None, file: Path | None = None, **flags: Any) -> Loaded:
    from rag import config as settings

    overrides = {"data_dir": data_dir, **flags}
    return settings.load({k: v for k, v in overrides.items() if v is not None}, file=file)


@contextmanager
def _assistant(**flags: Any) -> Iterator[Assistant]:
    config: Config = _settings(**flags).config
    from rag.answering.assistant import Assistant

    with Assistant.from_config(config, _notify) as assistant:
        yield assistant


def _show_answer(events: Iterator[Event], *, as_json: bool) -> None:
    from rag import jsonform, terminal
    from rag.answering.assistant import last_answer

    if as_json:
        answer = last_answer(events)
        _print_json(jsonform.answer(answer))
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


def _print_json(value: dict[str, Any]) -> None:
    escaped = not (sys.stdout.encoding or "").lower().startswith("utf")
    sys.stdout.write(json.dumps(value, ensure_ascii=escaped, indent=2) + "\n")


def _waits() -> Callable[[str], None] | None:
    """Who hears of waits as they begin: a person at a terminal. In a file they are told after."""
    return _notify if sys.stderr.isatty() else None


def _notify(text: str) -> None:
    typer.echo(text, err=True)


def _no_progress(_what: str, _done: int, _total: int) -> None:
    return None
