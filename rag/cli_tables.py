"""`rag compare` and `rag extract`: tables whose every cell is pinned to a sentence."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rag.errors import AnswerIncomplete, UsageError
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
    from rag.answering.asking import Reading
    from rag.answering.events import Event

COMPARE_EPILOG = (
    "Examples: rag compare RepoScope RN-DPO · rag compare RARe DIOS --columns method,theory "
    "--format csv > table.csv"
)
EXTRACT_EPILOG = (
    "Examples: rag extract 'safe imitation learning' --columns method,dataset,metric -k 5 · "
    "rag extract --all --since 2024 --columns method,code --format markdown"
)

Columns = Annotated[
    str,
    typer.Option(
        "--columns",
        help="What to ask each paper for: method, dataset, metric, result, limitation, baseline, "
        "problem, code, size, hardware, theory, type, or any other words.",
    ),
]
Form = Annotated[
    Literal["csv", "markdown"] | None,
    typer.Option("--format", help="Print CSV or Markdown, for a file or another program."),
]
_DEFAULT = "method,dataset,metric,result,limitation"


def compare(
    papers: Annotated[
        list[str], typer.Argument(help="2 to 12 papers: ids, source:ordinal, DOIs or names.")
    ],
    columns: Columns = _DEFAULT,
    form: Form = None,
    llm: Llm = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Compare papers in a table, each cell with the sentence that says it."""
    _refuse_both(form, as_json=as_json)
    config = settings(data_dir=data_dir, file=config_file, llm=llm).config
    from rag.answering.assistant import Assistant

    with Assistant.from_config(config, _notify) as assistant:
        events = assistant.tables.compare(papers, columns, _reading())
        _show(events, form, as_json=as_json)


def extract(
    topic: Annotated[str | None, typer.Argument(help="A question or topic.")] = None,
    columns: Columns = "method,dataset,metric",
    k: Annotated[int | None, typer.Option("-k", help="How many papers.")] = None,
    every: Annotated[
        bool, typer.Option("--all", help="All papers of the collection that pass the filters.")
    ] = False,
    year: Year = "",
    since: Annotated[str, typer.Option("--since", help="The year or a later one.")] = "",
    until: Annotated[str, typer.Option("--until", help="The year or an earlier one.")] = "",
    venue: Venue = "",
    author: Author = "",
    source: Source = "",
    form: Form = None,
    llm: Llm = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Gather what the papers on a topic say of each column, in a table."""
    _refuse_both(form, as_json=as_json)
    if every and (topic is not None or k is not None):
        raise UsageError("--all takes no topic and no -k", remedy="Leave them out.")
    if not every and topic is None:
        raise UsageError("rag extract needs a topic", remedy="Give one, or --all.")
    config = settings(data_dir=data_dir, file=config_file, llm=llm).config
    from rag.answering.assistant import Assistant
    from rag.index.browse import filters_of

    names = {"venue": venue, "author": author, "source": source}
    filters = filters_of(year=year, since=since, until=until, **names)
    with Assistant.from_config(config, _notify) as assistant:
        events = assistant.tables.extract(
            topic, columns, limit=k, filters=filters, reading=_reading()
        )
        _show(events, form, as_json=as_json)


def _refuse_both(form: str | None, *, as_json: bool) -> None:
    if form and as_json:
        raise UsageError("--format and --json were both given", remedy="Give one of them.")


def _show(events: Iterator[Event], form: str | None, *, as_json: bool) -> None:
    from rag import jsonform, terminal
    from rag.answering.assistant import last_answer
    from rag.answering.tableform import as_csv, markdown_document

    answer = last_answer(events) if form or as_json else terminal.show_events(events)
    if as_json:
        print_json(jsonform.answer(answer))
    elif form and answer.table is not None:
        table = answer.table
        text = as_csv(table) if form == "csv" else markdown_document(table, answer.citations)
        sys.stdout.write(text)
    if form and answer.note:
        _notify(f"Note: {answer.note}.")
    if not answer.complete:
        raise AnswerIncomplete(f"The table is incomplete: {answer.note}", partial=answer.text)


def _reading() -> Reading:
    """A person at a terminal hears of each paper as it is read."""
    from rag.answering.asking import Reading

    return Reading(_notify) if sys.stderr.isatty() else Reading()


def _notify(text: str) -> None:
    typer.echo(text, err=True)
