"""`rag backup`: a copy of papers, conversations, uploads and users."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag.flags import AsJson, ConfigFile, DataDir, print_json, settings

EPILOG = (
    "Examples: rag backup ~/copies/papers-2026-12-01 · "
    "rag doctor --repair --data-dir ~/copies/papers-2026-12-01"
)


def backup(
    folder: Annotated[Path, typer.Argument(help="A new folder.")],
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Copy the data folder while others read and write it; a copy is used by --data-dir.

    The vector index is not copied: `rag doctor --repair` makes it from the copy.
    """
    from rag.backup import back_up

    config = settings(data_dir=data_dir, file=config_file).config
    copied = back_up(config.data_dir, folder.expanduser())
    if as_json:
        print_json({"folder": str(folder), "files": copied.files, "bytes": copied.bytes})
    else:
        typer.echo(f"copied {copied.files} files, {copied.bytes / 1e6:,.1f} MB, to {folder}")
