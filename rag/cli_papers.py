"""`rag papers`: what is in the collection, what was taken for one paper, what is to leave."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag.errors import UsageError
from rag.flags import (
    AsJson,
    Author,
    ConfigFile,
    DataDir,
    Source,
    Venue,
    Year,
    print_json,
    settings,
)

if TYPE_CHECKING:
    from rag.index.catalog import Catalog

papers = typer.Typer(
    help="The collection: list, show, remove papers; see and undo merges.", no_args_is_help=True
)

Reference = Annotated[
    str, typer.Argument(help="An id, source:ordinal, a DOI, an arXiv id, or a name.")
]
Several = Annotated[list[str], typer.Argument(help="Ids, source:ordinal, DOIs or names.")]


@papers.command(
    "list",
    epilog="Examples: rag papers list --year 2020-2024 --venue NeurIPS · "
    "rag papers list --author 'Zoe Muller' --json",
)
def list_papers(
    year: Year = "",
    venue: Venue = "",
    author: Author = "",
    source: Source = "",
    text: Annotated[str, typer.Option(help="Words that title or abstract must have.")] = "",
    limit: Annotated[int, typer.Option(min=0, help="How many are shown; 0: all.")] = 50,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """List the papers of the collection, in the order of their files."""
    with _catalog(data_dir, config_file) as catalog, catalog.reading() as snapshot:
        from rag import jsonform, terminal
        from rag.index.browse import Filter, browse, years_of

        wanted = Filter(years_of(year) if year else None, venue, author, source, text)
        found = browse(snapshot, wanted)
        shown = list(islice(found, limit or None))
        total = len(shown) + sum(1 for _ in found)
        if as_json:
            print_json(jsonform.listing(shown, total))
        else:
            terminal.show_listing(shown, total)


@papers.command("show", epilog="Example: rag papers show 10.1000/xyz")
def show_paper(
    paper: Reference,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Show one paper: what is known of it, where it stands, its abstract."""
    with _catalog(data_dir, config_file) as catalog, catalog.reading() as snapshot:
        from rag import jsonform, terminal
        from rag.index.browse import sources_of
        from rag.retrieval.lookup import find_paper

        found = find_paper(snapshot, paper)
        sources = sources_of(snapshot, found.id)
        if as_json:
            print_json(jsonform.paper(found, sources))
        else:
            terminal.show_paper(found, sources)


@papers.command("remove", epilog="Example: rag papers remove papers/old.bib:3 10.1000/xyz")
def remove_papers(
    papers: Several,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Remove papers from the collection; indexing their files again brings them back."""
    with _catalog(data_dir, config_file) as catalog:
        from rag.index.curation import Curator
        from rag.retrieval.lookup import find_paper

        with catalog.reading() as snapshot:
            found = {paper.id: paper for paper in (find_paper(snapshot, one) for one in papers)}
        removed = Curator(catalog).remove(list(found))
        if as_json:
            print_json({"removed": removed, "paper_ids": list(found)})
        else:
            typer.echo(f"{removed} removed.")


@papers.command(
    "duplicates",
    epilog="Examples: rag papers duplicates · rag papers duplicates --undo 10.1000/xyz · "
    "rag papers duplicates --redo 10.1000/xyz",
)
def duplicates(
    undo: Annotated[
        str, typer.Option("--undo", help="A paper whose sources are not the same paper.")
    ] = "",
    redo: Annotated[
        str, typer.Option("--redo", help="One of the papers that --undo made: take it back.")
    ] = "",
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Show which records were taken for one paper, and why; undo it for one, and take that back."""
    if undo and redo:
        raise UsageError("--undo and --redo were both given", remedy="Give one of them.")
    with _catalog(data_dir, config_file) as catalog:
        from rag import jsonform, terminal
        from rag.index.browse import merged

        if undo or redo:
            _decide(catalog, undo, redo, as_json=as_json)
            return
        with catalog.reading() as snapshot:
            found = list(merged(snapshot))
        if as_json:
            print_json(jsonform.duplicates(found))
        else:
            terminal.show_duplicates(found)


def _decide(catalog: Catalog, undo: str, redo: str, *, as_json: bool) -> None:
    """Undo the merge of one paper, or take that back for another."""
    from rag.index.curation import Curator
    from rag.retrieval.lookup import find_paper

    with catalog.reading() as snapshot:
        paper = find_paper(snapshot, undo or redo)
    if undo:
        name, count = paper.id, Curator(catalog).separate(paper.id)
        told = f"{count} papers now stand where one stood; `--redo {name}` takes that back."
    else:
        name, *others = Curator(catalog).rejoin(paper.id)
        count = 1 + len(others)
        told = "They are one paper again." if count == 1 else f"They are {count} papers now."
    if as_json:
        print_json({"paper_id": name, "papers": count})
    else:
        typer.echo(told)


@contextmanager
def _catalog(data_dir: Path | None, config_file: Path | None) -> Iterator[Catalog]:
    config = settings(data_dir=data_dir, file=config_file).config
    from rag.index.catalog import Catalog

    catalog = Catalog(config.data_dir / "catalog.sqlite3")
    try:
        yield catalog
    finally:
        catalog.close()
