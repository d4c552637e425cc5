"""`rag history`: conversations that are kept, what was said in them, and what people thought."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag.cli_export import (
    Force,
    FormatName,
    Output,
    check_free,
    format_of,
    from_answers,
    put,
    read_file,
)
from rag.errors import UsageError
from rag.flags import AsJson, ConfigFile, DataDir, print_json, settings

if TYPE_CHECKING:
    from rag.history import History

history = typer.Typer(
    help="Kept conversations: list, show, search, rename, delete, export; add and rate answers.",
    no_args_is_help=True,
)

Which = Annotated[int, typer.Argument(help="The number of a conversation.", min=1)]


@history.command("list")
def list_conversations(
    limit: Annotated[int, typer.Option(min=0, help="How many are shown; 0: all.")] = 50,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """List the conversations, the last used first."""
    found = _history(data_dir, config_file)[0].conversations(limit or None)
    from rag import jsonform, terminal

    if as_json:
        print_json(jsonform.conversations(found))
    else:
        terminal.show_conversations(found)


@history.command("show")
def show_conversation(
    conversation: Which,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Show a conversation: its questions, answers and sources."""
    kept, _ = _history(data_dir, config_file)
    found, turns = kept.conversation(conversation), kept.turns(conversation)
    from rag import jsonform, terminal

    if as_json:
        print_json(jsonform.conversation(found, turns))
    else:
        terminal.show_conversation(found, turns)


@history.command("search", epilog="Example: rag history search 'preference optim'")
def search_conversations(
    words: Annotated[str, typer.Argument(help="Words that must all stand in a turn.")],
    limit: Annotated[int, typer.Option(min=1, help="How many are shown.")] = 20,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Find the turns in which words were said."""
    found = _history(data_dir, config_file)[0].search(words, limit)
    from rag import jsonform, terminal

    if as_json:
        print_json(jsonform.mentions(found))
    else:
        terminal.show_mentions(found)


@history.command("rename")
def rename_conversation(
    conversation: Which,
    name: Annotated[str, typer.Argument(help="The new name.")],
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Give a conversation another name."""
    _history(data_dir, config_file)[0].rename(conversation, name)


@history.command("delete")
def delete_conversations(
    conversations: Annotated[list[int], typer.Argument(help="Numbers of conversations.", min=1)],
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Delete conversations for good."""
    _history(data_dir, config_file)[0].delete(conversations)
    typer.echo(f"{len(set(conversations))} deleted.")


@history.command("export", epilog="Example: rag history export 3 -o review.html")
def export_conversation(
    conversation: Which,
    form: FormatName = None,
    output: Output = None,
    force: Force = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Export a conversation, or the papers that it cites."""
    wanted = format_of(form, output)
    check_free(output, force=force)
    kept, data = _history(data_dir, config_file)
    found = kept.conversation(conversation)
    answers = tuple(turn.form() for turn in kept.turns(conversation))
    if not answers:
        raise UsageError(f"Conversation {conversation} has no turn yet", remedy="Add an answer.")
    put(from_answers(data, answers, found.name), wanted, output)


@history.command("add", epilog="Example: rag ask 'What is RN-DPO?' --json | rag history add -")
def add_answer(
    answer: Annotated[
        Path, typer.Argument(help="What `rag ask --json` printed; - is standard input.")
    ],
    to: Annotated[
        int | None, typer.Option("--to", min=1, help="A conversation; else a new one.")
    ] = None,
    name: Annotated[str, typer.Option("--name", help="Of a new conversation.")] = "",
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Keep an answer, in a conversation of its own or as the next turn of one."""
    if to is not None and name:
        raise UsageError("--to and --name were both given", remedy="Give one of them.")
    kept, data = _history(data_dir, config_file)
    from rag.exporting import read_answers

    answers = read_answers(read_file(answer), str(answer))
    number, turn = to, 1
    for one in answers:
        references = from_answers(data, (one,))
        known = (*references.references, *references.others)
        value = one.model_dump(mode="json", exclude={"references"})
        if number is None:
            number = kept.begin(value, known, name)
        else:
            turn = kept.append(number, value, known)
    if as_json:
        print_json({"conversation": number, "turn": turn})
    else:
        typer.echo(f"Conversation {number}, turn {turn}.")


@history.command("rate", epilog="Example: rag history rate 3 1 bad --reason 'wrong paper'")
def rate_answer(
    conversation: Which,
    turn: Annotated[int, typer.Argument(help="The number of a turn.", min=1)],
    opinion: Annotated[str, typer.Argument(help="good or bad.")],
    reason: Annotated[str, typer.Option("--reason", help="Why.")] = "",
    papers: Annotated[
        list[str] | None, typer.Option("--papers", help="A paper that is right; repeat it.")
    ] = None,
    unanswerable: Annotated[
        bool, typer.Option("--unanswerable", help="The collection does not say.")
    ] = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Say what you think of an answer; `python -m evals new --from-feedback` asks the bad again."""
    if opinion not in ("good", "bad"):
        raise UsageError(f"{opinion!r} is no opinion", remedy="Say good or bad.")
    if papers and unanswerable:
        raise UsageError("--papers and --unanswerable do not go together", remedy="Give one.")
    kept, data = _history(data_dir, config_file)
    from rag.history import Feedback

    ids = tuple(_ids(data, papers)) if papers else ()
    answerable = False if unanswerable else True if ids else None
    kept.rate(conversation, turn, Feedback(opinion == "good", reason, ids, answerable))


def _history(data_dir: Path | None, config_file: Path | None) -> tuple[History, Path]:
    data = settings(data_dir=data_dir, file=config_file).config.data_dir
    from rag.history import history_of

    return history_of(data), data


def _ids(data: Path, papers: list[str]) -> list[str]:
    from rag.index.catalog import Catalog
    from rag.retrieval.lookup import find_paper

    with closing(Catalog(data / "catalog.sqlite3")) as catalog, catalog.reading() as snapshot:
        return [find_paper(snapshot, one).id for one in papers]
