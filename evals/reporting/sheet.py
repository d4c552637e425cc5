"""A report as CSV: a row for each asking of a question, for a spreadsheet or a data frame."""

from __future__ import annotations

import csv
import io

from evals.reporting.report import Report

_FORMULA = (*"=+-@＝＋－＠", "\t", "\r")  # of full width too


def sheet(report: Report) -> str:
    """Id, repeat, kind, outcome, whether there is an answer, why not, and every measure.

    A measure that a question has no value for is empty. Of text that a spreadsheet would take for a
    formula an apostrophe keeps it from being one.
    """
    names = list(dict.fromkeys(name for one in report.scored for name in one.values))
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")  # RFC 4180
    writer.writerow(["id", "repeat", "kind", "answerable", "outcome", "reason", *names])
    for one in report.scored:
        about = [
            plain(one.item.id),
            one.repeat,
            plain(one.item.kind),
            int(one.item.answerable),
            one.outcome,
            plain(one.reason or (f"not judged: {one.refused}" if one.refused else "")),
        ]
        writer.writerow([*about, *(_number(one.values.get(name)) for name in names)])
    return written.getvalue()


def plain(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
