"""What the commands have in common: their flags, the settings, and JSON on standard output."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rag.config import Loaded

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

Year = Annotated[str, typer.Option("--year", help="2020, 2020-2024, 2020- or -2024.")]
Venue = Annotated[str, typer.Option("--venue", help="Part of the venue's name.")]
Author = Annotated[str, typer.Option("--author", help="An author's name, or how it begins.")]
Source = Annotated[str, typer.Option("--source", help="Part of the name of the file.")]


def settings(*, data_dir: Path | None = None, file: Path | None = None, **flags: Any) -> Loaded:
    """The settings in force with the flags of a command over them."""
    from rag import config

    overrides = {"data_dir": data_dir, **flags}
    return config.load({k: v for k, v in overrides.items() if v is not None}, file=file)


def print_json(value: dict[str, Any]) -> None:
    """Print a result as JSON, escaped where the terminal is not Unicode."""
    escaped = not (sys.stdout.encoding or "").lower().startswith("utf")
    sys.stdout.write(json.dumps(value, ensure_ascii=escaped, indent=2) + "\n")
