"""`rag replay`: an answer of before, checked against the collection of now and made again."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from rag.errors import EXIT_PARTLY_FAILED
from rag.flags import AsJson, ConfigFile, DataDir, Llm, print_json, settings

REPLAY_EPILOG = (
    "Examples: rag ask 'What does RN-DPO normalize?' --json > answer.json · "
    "rag replay answer.json · rag replay answers.jsonl --id q1 --no-run --json"
)


def replay(
    answer: Annotated[
        Path, typer.Argument(help="The output of `rag ask --json`, or a file of such lines; or -.")
    ],
    wanted: Annotated[str, typer.Option("--id", help="Which one, in a file of several.")] = "",
    no_run: Annotated[
        bool, typer.Option("--no-run", help="Check the citations; do not answer again.")
    ] = False,
    llm: Llm = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Check an answer's citations against the index, make it again, and say what differs and why.

    Exit code 0: a reader would see the same. 1: something differs. 2: no answer can be read.
    """
    present = settings(data_dir=data_dir, file=config_file, llm=llm).config
    from rag import jsonform
    from rag.answering.assistant import Assistant
    from rag.replaying.record import read_recorded
    from rag.replaying.replay import replay as replayed
    from rag.replaying.settings import as_recorded

    recorded = read_recorded(answer, wanted)
    config, refused = as_recorded(present, recorded.changed, {"llm"} if llm else ())
    for one in refused:
        _tell(f"{one}; it was not taken from the answer")
    with Assistant.from_config(config, _tell) as assistant:
        result = replayed(assistant, recorded, run=not no_run, notify=_waits())
    if as_json:
        print_json(jsonform.replayed(result))
    else:
        from rag.terminal_replay import show_replayed

        show_replayed(result)
    if not result.same:
        raise typer.Exit(EXIT_PARTLY_FAILED)


def _waits() -> Callable[[str], None] | None:
    return _tell if sys.stderr.isatty() else None


def _tell(text: str) -> None:
    typer.echo(text, err=True)
