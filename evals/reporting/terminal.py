"""A report in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from evals.reporting.report import Report
from evals.scoring.measures import BY_NAME
from evals.stats import Mean


def tables(report: Report) -> Iterator[Table]:
    """The means, then those of shares by kind where there are several kinds."""
    yield _means(report)
    if len(report.summary.kinds) > 1:
        yield _by_kind(report)


def lines(report: Report) -> Iterator[str]:
    """What does not fit a table: silence, citations over all, failures."""
    silence = report.summary.silence
    answerable = silence.answered + silence.wrongly_abstained
    unanswerable = silence.abstained + silence.wrongly_answered
    if answerable or unanswerable:
        yield (
            f"answered {silence.answered} of {answerable} that have an answer; "
            f"left alone {silence.abstained} of {unanswerable} that have none"
        )
    if cited := report.summary.citations:
        unknown = f", {cited.unknown} numbers name no source" if cited.unknown else ""
        yield (
            f"citations by {report.judge}: recall {cited.macro_recall:.2f} (over statements "
            f"{cited.micro_recall:.2f}), precision {cited.macro_precision:.2f} (over citations "
            f"{cited.micro_precision:.2f}), n={cited.answers}{unknown}"
        )
    for name, mean in report.summary.consistency.items():
        yield f"{name}: {mean}"
    for one in report.scored:
        if one.outcome == "failed":
            yield f"failed: {one.item.id}: {one.reason}"


def shown(name: str, mean: Mean) -> str:
    """A mean as a person reads it, in the digits that its unit deserves."""
    digits = {"share": 2, "s": 1, "tokens": 0, "$": 4}[BY_NAME[name].unit]
    return f"{mean.value:.{digits}f} [{mean.low:.{digits}f}, {mean.high:.{digits}f}]"


def _means(report: Report) -> Table:
    table = Table("measure", "mean, 95% interval", "n", "what")
    for name, mean in report.summary.means.items():
        measure = BY_NAME[name]
        unit = "" if measure.unit == "share" else f" {measure.unit}"
        table.add_row(name, f"{shown(name, mean)}{unit}", str(mean.n), measure.about)
    return table


def _by_kind(report: Report) -> Table:
    names = [name for name in report.summary.means if BY_NAME[name].unit == "share"]
    table = Table("kind", "n", *names)
    for kind, means in report.summary.kinds.items():
        n = max((mean.n for mean in means.values()), default=0)
        cells = (f"{means[name].value:.2f}" if name in means else "" for name in names)
        table.add_row(kind or "-", str(n), *cells)
    return table
