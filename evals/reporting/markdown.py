"""A report as GitHub-flavoured Markdown, for a pull request.

What comes from questions, documents and models is text and nothing else there: it makes no table
cell, no link, no picture, and calls nobody's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from evals.comparing import Change
from evals.reporting import forms
from evals.reporting.beside import Beside, is_better, moved
from evals.reporting.report import Report
from evals.scoring.measures import BY_NAME
from evals.scoring.scored import Scored

_MOST = 20  # rows of a list
_LONGEST = 160  # characters of a cell
_SPECIAL = re.compile(r"([\\`*_{}\[\]|~$])")
_TAGGING = re.compile(r"(?<=[@#])(?=\w)|(?<=GH-)(?=\d)|(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)
_NOTHING = "\u200b"  # between a sign and what it would call


def markdown(report: Report, since: Beside | None = None) -> str:
    """Headline, means, what changed, and the questions that failed or were not judged."""
    failed = [one for one in report.scored if one.outcome == "failed"]
    parts = [
        _headline(report),
        _with_changes(since) if since else _means(report),
        _moves(report, since) if since else "",
        _listed("answer", "not judged", [(o, o.refused) for o in report.scored if o.refused]),
        _listed("question", "failed", [(o, o.reason) for o in failed]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def text(value: str, longest: int = _LONGEST) -> str:
    """Text as it is, in one line and in one cell."""
    line = " ".join(value.split())
    line = line if len(line) <= longest else f"{line[: longest - 1]}…"
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _TAGGING.sub(_NOTHING, _SPECIAL.sub(r"\\\1", line))


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """A table of cells that are Markdown already; columns `right` are flush right."""
    flush = set(right)
    rule = ["--:" if place in flush else "---" for place in range(len(head))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def _headline(report: Report) -> str:
    by = text(str(report.manifest.identity["writer"]))
    judge = f", judged by {text(report.judge)}" if report.judge else ""
    sign = "" if report.summary.valid else "⚠️ "
    return f"### {sign}{text(report.headline)}\n\nAnswered by {by}{judge}."


def _means(report: Report) -> str:
    means = report.summary.means
    rows = (
        (
            name,
            f"{forms.number(name, means[name].value)}{forms.unit(name)}",
            text(forms.interval(name, means[name])),
            str(means[name].n),
        )
        for name in forms.told_of(means)
    )
    return table(("measure", "mean", "95% interval", "n"), rows, (1, 3))


def _with_changes(since: Beside) -> str:
    head = ("measure", "before", "now", "difference", "95% interval", "questions", "n", "verdict")
    changed = since.comparison.changes
    rows = (_row(one) for one in changed if one.before or one.after)
    before = (
        f"Beside {text(since.other.folder.name)}: {since.comparison.paired} questions compared,"
        f" {since.comparison.unpaired.total} not."
    )
    settings = "".join(f"\n- {text(one, 400)}" for one in since.settings)
    told = f"\n\nThe runs differ in\n{settings}" if settings else ""
    return f"{before}\n\n{table(head, rows, (1, 2, 3, 6))}{told}"


def _row(one: Change) -> Sequence[str]:
    name = one.measure.name
    counts = f"{len(one.wins)} better, {len(one.losses)} worse"
    sign = {"better": "✅ ", "worse": "❌ "}.get(one.verdict, "")
    return (
        name,
        forms.number(name, one.before),
        f"{forms.number(name, one.after)}{forms.unit(name)}",
        forms.signed(name, one.difference.value),
        text(forms.signed_interval(name, one.difference)),
        counts if one.wins or one.losses else "as before",
        str(one.difference.n),
        f"{sign}{forms.verdict(one)}",
    )


def _moves(report: Report, since: Beside) -> str:
    """Questions whose main measures got worse, then those that got better."""
    found = list(_moved(report, since))
    worse = [cells for is_good, cells in found if not is_good]
    better = [cells for is_good, cells in found if is_good]
    return "\n\n".join(
        _folded(
            f"{forms.count(len(rows), 'value')} {what}", ("question", "measure", "change"), rows
        )
        for what, rows in (("worse", worse), ("better", better))
        if rows
    )


def _moved(report: Report, since: Beside) -> Iterator[tuple[bool, Sequence[str]]]:
    for one in report.scored:
        moves = moved(one, since.askings.get((one.item.id, one.repeat)))
        for name in forms.main_of(moves):
            if BY_NAME[name].unit == "share":
                now = one.values[name]
                change = f"{forms.number(name, now - moves[name])} → {forms.number(name, now)}"
                yield is_better(name, moves[name]), (_asked(one), name, change)


def _listed(what: str, how: str, reasons: Sequence[tuple[Scored, str]]) -> str:
    rows = [(_asked(one), text(reason)) for one, reason in reasons]
    if not rows:
        return ""
    return _folded(f"{forms.count(len(rows), what)} {how}", ("question", "why"), rows)


def _folded(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    more = f"\n\n… and {len(rows) - _MOST:,} more." if len(rows) > _MOST else ""
    inside = f"{table(head, rows[:_MOST])}{more}"
    return f"<details><summary>{title}</summary>\n\n{inside}\n\n</details>"


def _asked(one: Scored) -> str:
    return f"**{text(one.item.id)}** {text(one.item.asked.question)}"
