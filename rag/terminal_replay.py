"""What `rag replay` and `rag prompts` show in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.markup import escape

from rag.answering.templates import Template, Versions
from rag.replaying.checking import ClaimCheck, SentenceCheck
from rag.replaying.comparing import Difference
from rag.replaying.replay import Replayed
from rag.terminal import out
from rag.text import plain

_LONGEST, _SHORT = 400, 100


def show_replayed(result: Replayed) -> None:
    """What of an answer is as it was, what is not, and why."""
    out.print(f"[bold]{_text(result.question)}[/]")
    _show_sentences(result.sentences)
    _show_claims(result.claims)
    if result.answer:
        again = "otherwise" if any(d.is_seen for d in result.differences) else "the same"
        out.print(f"Made again, the answer is {again}.")
    if result.not_run:
        out.print(f"[yellow]Not made again: {_text(result.not_run)}[/]")
    for difference in result.differences:
        _show_difference(difference)
    for reason in result.why:
        out.print(f"Why: {_text(reason)}")
    for line in sorted({one.told for one in result.causes} - set(result.why)):
        out.print(f"[dim]Also not as it was: {_text(line)}[/]")


def _show_sentences(checks: Sequence[SentenceCheck]) -> None:
    told = _counted(check.state for check in checks) or "none"
    out.print(f"Cited sentences: {told}.")
    for check in checks:
        if check.state == "unchanged":
            continue
        where = f", now in {check.paper.title}" if check.paper and check.state != "moved" else ""
        out.print(f"\\[{check.number}] {_text(check.title)}: {check.state}{_text(where)}")
        out.print(f"    “{_text(check.text)}”")


def _show_claims(checks: Sequence[ClaimCheck]) -> None:
    told = _counted(check.now for check in checks) or "none"
    out.print(f"Claims: {told}.")
    for check in checks:
        if check.now != check.before:
            reason = f" ({_text(check.reason)})" if check.reason else ""
            out.print(f"  {_text(check.text)}: {check.before} → {check.now}{reason}")


def _show_difference(difference: Difference) -> None:
    if len(difference.told) < _SHORT:
        out.print(f"  {_text(difference.told)}")
        return
    out.print(f"  {difference.what}:")
    out.print(f"    [red]- {_text(difference.before) or 'none'}[/]")
    out.print(f"    [green]+ {_text(difference.now) or 'none'}[/]")


def show_templates(templates: Iterable[Template]) -> None:
    """Names and versions; which ones a folder of the reader's overrides."""
    for one in templates:
        own = "  own, in place of the product's" if one.is_own else ""
        out.print(f"{one.name:16} {one.version}{own}")


def show_versions(found: Iterable[Versions]) -> None:
    """The prompts of two answers, side by side."""
    for one in found:
        mark = "same" if one.first == one.second else "differs"
        out.print(f"{one.name:16} {one.first or '-':8}  {one.second or '-':8}  {mark}")


def _counted(values: Iterable[str]) -> str:
    return ", ".join(f"{count} {value}" for value, count in Counter(values).items())


def _text(text: str) -> str:
    shown = plain(text)
    return escape(shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]} …")
