"""Writing a report into files, each in its form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from evals.reporting.beside import Beside
from evals.reporting.markdown import markdown
from evals.reporting.report import Report
from evals.reporting.sheet import sheet
from rag.errors import ResourceError, UsageError

Write = Callable[[Report, Beside | None], str]


def check_free(paths: Iterable[Path], *, force: bool) -> None:
    """Check before any work that no file would be written over; with `force` any may be.

    Raises:
        UsageError: one is there.
    """
    for path in paths:
        if path.exists() and not force:
            raise UsageError(f"{path} is there already", remedy="Name another, or use --force.")


def write_all(report: Report, since: Beside | None, paths: Mapping[str, Path]) -> None:
    """Write the forms that are wanted, each to its path.

    Raises:
        ResourceError: one cannot be written.
    """
    for form, path in paths.items():
        content = FORMS[form](report, since).encode("utf-8", errors="replace")
        try:
            path.write_bytes(content)
        except OSError as error:
            raise ResourceError(
                f"{path} cannot be written", cause=error.strerror or str(error)
            ) from error


def _page(report: Report, since: Beside | None) -> str:
    from evals.reporting.page import page  # Jinja is loaded for a page alone

    return page(report, since)


FORMS: Mapping[str, Write] = {
    "html": _page,
    "markdown": markdown,
    "csv": lambda report, _: sheet(report),
}
