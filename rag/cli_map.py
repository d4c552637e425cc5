"""`rag map`: all papers in the plane, in clusters that are named by their words."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from rag.errors import UsageError
from rag.flags import AsJson, ConfigFile, DataDir, print_json, settings

MAP_EPILOG = "Examples: rag map · rag map --html map.html · rag map --clusters 12 --json"
_SHOWN = 3


def show_map(
    html: Annotated[
        Path | None, typer.Option("--html", help="Write the map as a page of its own.")
    ] = None,
    clusters: Annotated[
        int | None, typer.Option("--clusters", min=1, max=200, help="How many; else by the size.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write over a file that is there.")
    ] = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Map the collection: clusters of even quality, named by their terms, every paper a point."""
    from rag.cli_export import check_free

    check_free(html, force=force)
    if html is not None and as_json:
        raise UsageError("--html and --json were both given", remedy="Give one of them.")
    data = settings(data_dir=data_dir, file=config_file).config.data_dir
    from rag import jsonform, terminal_map
    from rag.index.catalog import Catalog
    from rag.mapping import map_of

    with closing(Catalog(data / "catalog.sqlite3")) as catalog, catalog.reading() as snapshot:
        found = map_of(snapshot, clusters)
    if html is not None:
        from rag.index.disk import write_durably
        from rag.mapping.drawing import webpage

        write_durably(html, webpage(found))
        typer.echo(f"{html}: {len(found.points):,} papers.", err=True)
    elif as_json:
        print_json(jsonform.topic_map(found))
    else:
        terminal_map.show_map(found, _SHOWN)
