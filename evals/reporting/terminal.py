"""A report in the terminal: what fits one screen of 100 columns, or everything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from rich.table import Table

from evals.comparing import Comparison
from evals.reporting import compared, forms
from evals.reporting.beside import Beside
from evals.reporting.forms import shown as shown
from evals.reporting.report import Report
from evals.scoring.measures import BY_NAME
from evals.scoring.scored import Scored
from evals.stats import Mean

_NAMED_AT_MOST = 10  # questions that failed, and that were refused
_NAMED = 3  # questions that changed, of each measure
_ABREAST = 8  # measures in one table of 100 columns
_KINDS = 6  # beside each other, where there are more measures


def tables(
    report: Report, since: Beside | None = None, *, everything: bool = False
) -> Iterator[Table]:
    """The means, then those of shares by kind where there are several kinds.

    Without `everything` the main measures only.
    """
    names = forms.told_of(report.summary.means)
    chosen = names if everything else forms.main_of(names)
    if since:
        yield compared.table(_chosen(since, everything=everything).changes)
        return
    yield _means(report, chosen)
    shares = [name for name in chosen if BY_NAME[name].unit == "share"]
    if len(report.summary.kinds) > 1 and shares:
        short = len(shares) <= _ABREAST
        yield from [_by_kind(report, shares)] if short else _by_measure(report, shares)


def lines(
    report: Report, since: Beside | None = None, *, everything: bool = False
) -> Iterator[str]:
    """What does not fit a table: what changed, silence, citations over all, failures."""
    if since:
        comparison = _chosen(since, everything=everything)
        yield from compared.lines(comparison, None if everything else _NAMED)
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
            f"over all statements, citation recall {cited.micro_recall:.2f}; "
            f"over all citations, precision {cited.micro_precision:.2f}{unknown}"
        )
    for name, mean in report.summary.consistency.items():
        yield f"{name}: {mean}"
    most = None if everything else _NAMED_AT_MOST
    refused = {_id(one): one.refused for one in report.scored if one.refused}
    yield from _named("refused", refused, most)
    failed = {_id(one): one.reason for one in report.scored if one.outcome == "failed"}
    yield from _named("failed", failed, most)


def _id(one: Scored) -> str:
    return f"{one.item.id}, repeat {one.repeat}" if one.repeat else one.item.id


def _named(how: str, reasons: Mapping[str, str], most: int | None) -> Iterator[str]:
    """Questions and why, the first so many."""
    for item, reason in list(reasons.items())[:most]:
        yield f"{how}: {item}: {reason}"
    if most is not None and len(reasons) > most:
        yield f"… and {len(reasons) - most:,} more that {how}; --all names them."


def _chosen(since: Beside, *, everything: bool) -> Comparison:
    """The comparison of all measures or of the main ones."""
    found = since.comparison
    if everything:
        return found
    return replace(found, changes=tuple(c for c in found.changes if c.measure.name in forms.MAIN))


def _means(report: Report, names: list[str]) -> Table:
    table = forms.plain_table("measure", "mean, 95% interval", "n", "what")
    for name in names:
        mean = report.summary.means[name]
        table.add_row(
            name, f"{shown(name, mean)}{forms.unit(name)}", str(mean.n), BY_NAME[name].about
        )
    return table


def _by_kind(report: Report, names: list[str]) -> Table:
    """Kinds below each other."""
    table = forms.plain_table("kind", "n")
    for name in names:
        table.add_column(name, max_width=max(map(len, name.split())))
    for kind, means in report.summary.kinds.items():
        cells = (forms.number(name, means[name].value) if name in means else "" for name in names)
        table.add_row(kind or "-", str(_n(means.values())), *cells)
    return table


def _by_measure(report: Report, names: list[str]) -> Iterator[Table]:
    """Measures below each other, a few kinds beside each other."""
    kinds = list(report.summary.kinds)
    for begin in range(0, len(kinds), _KINDS):
        some = kinds[begin : begin + _KINDS]
        table = forms.plain_table("mean by kind", *(kind or "-" for kind in some))
        counts = (str(_n(report.summary.kinds[kind].values())) for kind in some)
        table.add_row("n", *counts)
        for name in names:
            means = [report.summary.kinds[kind].get(name) for kind in some]
            if any(means):
                table.add_row(name, *(forms.number(name, m.value) if m else "" for m in means))
        yield table


def _n(means: Iterable[Mean]) -> int:
    return max((mean.n for mean in means), default=0)
