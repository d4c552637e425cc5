"""`rag export`: an answer or a selection of papers, for a text or a reference manager."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag.errors import InputError, UsageError
from rag.flags import Author, ConfigFile, DataDir, Source, Venue, Year, settings

if TYPE_CHECKING:
    from rag.exporting import AnswerForm, Export, Format, Reference
    from rag.index.browse import Filter

EPILOG = (
    "Examples: rag ask 'What does RN-DPO normalize?' --json | rag export - --format bibtex · "
    "rag export --papers RepoScope --format ris -o repo.ris · rag export --year 2024- -o new.bib"
)
_SUFFIXES: dict[str, Format] = {
    ".bib": "bibtex",
    ".ris": "ris",
    ".md": "markdown",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
}
_MANY = 1_000
_MOST_BYTES = 256 << 20

FormatName = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="bibtex, ris, csl, markdown, html or json; else by the suffix of -o, else markdown.",
    ),
]
Output = Annotated[Path | None, typer.Option("-o", "--output", help="Write this file.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]


def export(
    answer: Annotated[
        Path | None, typer.Argument(help="What `rag ask --json` printed; - is standard input.")
    ] = None,
    form: FormatName = None,
    papers: Annotated[
        list[str] | None, typer.Option("--papers", help="An id, source:ordinal or name; repeat it.")
    ] = None,
    year: Year = "",
    venue: Venue = "",
    author: Author = "",
    source: Source = "",
    text: Annotated[str, typer.Option(help="Words that title or abstract must have.")] = "",
    every: Annotated[bool, typer.Option("--all", help="The whole collection.")] = False,
    output: Output = None,
    force: Force = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Export an answer with exactly the papers that it cites, or papers by name or filter."""
    wanted = format_of(form, output)
    check_free(output, force=force)
    filters = [year, venue, author, source, text, "all" if every else ""]
    _check_one(answer, papers, any(filters))
    data = settings(data_dir=data_dir, file=config_file).config.data_dir
    if answer is not None:
        from rag.exporting import read_answers

        found = from_answers(data, read_answers(read_file(answer), str(answer)))
    else:
        from rag.index.browse import Filter, years_of

        found = _selected(
            data,
            papers or [],
            Filter(years_of(year) if year else None, venue, author, source, text),
        )
    put(found, wanted, output)


def format_of(name: str | None, output: Path | None) -> Format:
    """The format that is asked for.

    Raises:
        UsageError: there is no such format.
    """
    if name is None:
        return _SUFFIXES.get(output.suffix.lower(), "markdown") if output else "markdown"
    from rag.exporting import FORMATS

    for form in FORMATS:
        if form == name.casefold():
            return form
    raise UsageError(f"There is no format {name!r}", remedy=f"Use {', '.join(FORMATS)}.")


def check_free(path: Path | None, *, force: bool) -> None:
    """That a file may be written there.

    Raises:
        UsageError: it is there already, or its folder is not.
    """
    if path is None:
        return
    if path.is_dir():
        raise UsageError(f"{path} is a folder", remedy="Name a file.")
    if path.exists() and not force:
        raise UsageError(f"{path} is there already", remedy="Name another, or use --force.")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {path.absolute().parent}", remedy="Make it first.")


def from_answers(data: Path, answers: tuple[AnswerForm, ...], title: str = "") -> Export:
    """Answers with what the collection knows of their papers; what it lacks is told."""
    from rag.exporting import export_of

    heads = [head for one in answers for head in (*one.citations, *one.nearest)]
    known = _known(data, dict.fromkeys(head.paper_id for head in heads))
    kept = {one.paper_id for answer in answers for one in answer.references}
    lost = {one.paper_id for answer in answers for one in answer.citations} - kept - set(known)
    if lost:
        told = "1 cited paper is" if len(lost) == 1 else f"{len(lost)} cited papers are"
        typer.echo(f"{told} not in the collection: only title and place are known.", err=True)
    return export_of(answers, known, title)


def put(export: Export, form: Format, output: Path | None) -> None:
    """Print an export, or write it whole or not at all."""
    from rag.exporting import rendered
    from rag.index.disk import write_durably

    count = len(export.references)
    if count > _MANY and form in ("markdown", "html"):
        typer.echo(f"{count:,} references are formatted, about a hundred each second.", err=True)
    text = rendered(export, form)
    if output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())  # in UTF-8 whatever the terminal is
    else:
        write_durably(output, text)
        typer.echo(f"{output}: {count:,} paper{'' if count == 1 else 's'}.", err=True)


def _check_one(answer: Path | None, papers: list[str] | None, filtered: bool) -> None:
    given = [answer is not None, bool(papers), filtered]
    if sum(given) > 1:
        raise UsageError(
            "An answer, --papers and filters do not go together", remedy="Give one of them."
        )
    if not any(given):
        raise UsageError(
            "Nothing is named to export",
            remedy="Give the file of an answer, --papers, a filter, or --all.",
        )


def read_file(path: Path) -> str:
    """The text of a file, or of standard input where it is called -.

    Raises:
        InputError: it cannot be read, is too large, or is no UTF-8.
    """
    try:
        if str(path) == "-":
            data = sys.stdin.buffer.read(_MOST_BYTES + 1)
        else:
            with path.open("rb") as file:
                data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read", cause=error.strerror or "") from error
    if len(data) > _MOST_BYTES:
        raise InputError(f"{path} is larger than {_MOST_BYTES >> 20} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8", cause=f"byte {error.start}") from error


def _known(data: Path, ids: Iterable[str]) -> dict[str, Reference]:
    """The papers that are in the collection; none where there is no collection."""
    from rag.exporting import reference_of
    from rag.index.catalog import Catalog

    with closing(Catalog(data / "catalog.sqlite3")) as catalog:
        if not catalog.exists():
            return {}
        with catalog.reading() as snapshot:
            found = snapshot.papers(list(ids))
    return {key: reference_of(paper) for key, paper in found.items()}


def _selected(data: Path, papers: list[str], wanted: Filter) -> Export:
    from rag.exporting import reference_of, selection_of
    from rag.index.browse import browse
    from rag.index.catalog import Catalog
    from rag.retrieval.lookup import find_paper

    with closing(Catalog(data / "catalog.sqlite3")) as catalog, catalog.reading() as snapshot:
        named = [find_paper(snapshot, one) for one in papers]
        chosen = named if papers else browse(snapshot, wanted)
        found = selection_of(map(reference_of, chosen))
    if not found.references:
        raise UsageError("No paper has that", remedy="`rag papers list` shows the collection.")
    return found
