"""`rag list` and `rag survey`: what the whole collection has, every paper checked."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag.errors import AnswerIncomplete
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
    from rag.answering.assistant import Assistant
    from rag.answering.events import Event
    from rag.index.browse import Filter

LIST_EPILOG = (
    "Examples: rag list 'Which papers mention reward hacking?' · rag list 'face recognition' "
    "--since 2024 --json"
)
SURVEY_EPILOG = (
    "Examples: rag survey 'reinforcement learning' · rag survey 'LLM agents' --llm none --json"
)

Since = Annotated[str, typer.Option("--since", help="The year or a later one.")]
Until = Annotated[str, typer.Option("--until", help="The year or an earlier one.")]


def list_papers(
    condition: Annotated[str, typer.Argument(help="A question, or what papers must be about.")],
    year: Year = "",
    since: Since = "",
    until: Until = "",
    venue: Venue = "",
    author: Author = "",
    source: Source = "",
    llm: Llm = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """List the papers that meet a condition, each with the sentence that says so."""
    filters = _filters(year, since, until, venue, author, source)
    with _assistant(data_dir, config_file, llm) as assistant:
        events = assistant.list_papers(_text(condition), filters=filters, notify=_waits())
        _show(events, as_json=as_json)


def survey(
    topic: Annotated[str, typer.Argument(help="What the overview is to be about.")],
    year: Year = "",
    since: Since = "",
    until: Until = "",
    venue: Venue = "",
    author: Author = "",
    source: Source = "",
    llm: Llm = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Give an overview of a topic, theme by theme, every sentence cited and checked."""
    filters = _filters(year, since, until, venue, author, source)
    with _assistant(data_dir, config_file, llm) as assistant:
        events = assistant.survey(_text(topic), filters=filters, notify=_waits())
        _show(events, as_json=as_json)


def _filters(
    year: str, since: str, until: str, venue: str, author: str, source: str
) -> tuple[Filter, ...]:
    from rag.index.browse import filters_of

    return filters_of(
        year=year, since=since, until=until, venue=venue, author=author, source=source
    )


@contextmanager
def _assistant(data_dir: Path | None, file: Path | None, llm: str | None) -> Iterator[Assistant]:
    config = settings(data_dir=data_dir, file=file, llm=llm).config
    from rag.answering.assistant import Assistant

    with Assistant.from_config(config, _notify) as assistant:
        yield assistant


def _show(events: Iterator[Event], *, as_json: bool) -> None:
    from rag import jsonform, terminal
    from rag.answering.assistant import last_answer

    answer = last_answer(events) if as_json else terminal.show_events(events)
    if as_json:
        print_json(jsonform.answer(answer))
    if not answer.complete:
        raise AnswerIncomplete(f"The answer is incomplete: {answer.note}", partial=answer.text)


def _text(text: str) -> str:
    """What was typed, whatever the locale made of it."""
    return os.fsencode(text).decode("utf-8", "replace")


def _waits() -> Callable[[str], None] | None:
    """Who hears of waits as they begin: a person at a terminal."""
    return _notify if sys.stderr.isatty() else None


def _notify(text: str) -> None:
    typer.echo(text, err=True)
