"""What `rag watch` shows in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.markup import escape

from rag.exporting import AnswerForm, as_form
from rag.terminal import out
from rag.text import plain
from rag.watching import Change, Outcome, Said, Standing

_WORDS = {
    "first": "answered for the first time",
    "not asked": "not asked: the index is as it was",
    "same": "the answer is as it was",
    "changed": "",
    "failed": "not asked",
}


def show_standing(questions: Sequence[Standing]) -> None:
    """The standing questions, a line each."""
    if not questions:
        out.print("No standing question. `rag watch add 'QUESTION'` adds one.")
    for one in questions:
        told = f"  [dim]({_text(one.told())})[/]" if one.told() else ""
        last = one.last
        asked = f"{last.answer['status']}, asked {last.asked[:10]}" if last else "not asked yet"
        out.print(f"{one.id:4}  [bold]{_text(one.question)}[/]{told}  [dim]{asked}[/]")


def show_outcome(one: Outcome) -> None:
    """One question: a line where nothing is new, else what is otherwise and by which papers."""
    said = one.reason or _WORDS[one.state]
    if one.state != "changed":
        out.print(f"{one.standing.id:4}  {_text(one.standing.question)}: {_text(said)}")
    if one.state == "first" and one.answer:
        _show_answer(as_form(one.answer))
    if one.state == "changed" and one.change and one.answer:
        out.print(f"{one.standing.id:4}  [bold]{_text(one.standing.question)}[/]")
        show_change(one.change)
        _show_answer(as_form(one.answer))


def show_kept(one: Standing) -> None:
    """A standing question, its last answer and what was otherwise in it than before."""
    show_standing([one])
    if one.last is None:
        return
    if one.last.change:
        show_change(one.last.change)
    _show_answer(as_form(one.last.answer))


def show_change(change: Change) -> None:
    """What is otherwise, then the papers that made it so."""
    if not change.answer_differs:
        out.print("      The answer is as it was, with papers near it that are new.")
    if change.status_before != change.status_now:
        out.print(f"      {change.status_before} → {change.status_now}")
    _show_claims("[green]+[/]", change.added)
    _show_claims("[red]-[/]", change.gone)
    for pair in (*change.reworded, *change.recited):
        _show_claims("[yellow]~[/]", [pair.now])
    for paper in change.papers:
        cited = "" if paper.cited else ", near it"
        out.print(f"      {paper.move}{cited}: {_text(paper.title)}  [dim]{paper.paper_id}[/]")
    for cause in change.causes:
        out.print(f"      [dim]also {_text(cause)}[/]")


def _show_claims(mark: str, claims: Iterable[Said]) -> None:
    for one in claims:
        out.print(f"      {mark} {_text(one.text)}")


def _show_answer(form: AnswerForm) -> None:
    for line in form.text.split("\n"):
        out.print(f"      {_text(line)}")
    if form.note:
        out.print(f"      [yellow]Note: {_text(form.note)}.[/]")
    for cited in form.citations:
        out.print(f"      \\[{cited.number}] {_text(cited.title)}  [dim]{_text(cited.source)}[/]")


def _text(text: str) -> str:
    return escape(plain(text))
