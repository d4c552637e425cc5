"""A person goes through drafts in the terminal: accepts, drops, rewords, or goes on later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from evals.drafting.review import Reviewed

Ask = Callable[[str], str]
"""Shows a prompt and gives what was typed.

Raises:
    EOFError: nobody types any more.
"""

CHOICES = "accept? [y]es [n]o [e]dit [q]uit: "


class _Quit(Exception):
    """The rest is left for later."""


def decide(
    drafts: Sequence[Reviewed],
    ask: Ask,
    show: Callable[[str], None],
    keep: Callable[[Sequence[Reviewed]], None],
) -> list[Reviewed]:
    """The drafts with what was decided; `keep` is called after every decision."""
    decided = list(drafts)
    waiting = [place for place, one in enumerate(decided) if one.accept is None]
    for number, place in enumerate(waiting, start=1):
        others = [one.question for other, one in enumerate(decided) if other != place]
        try:
            decided[place] = _decided(decided[place], f"{number}/{len(waiting)}", others, ask, show)
        except (_Quit, EOFError):
            break
        keep(decided)
    return decided


def _decided(
    draft: Reviewed, count: str, others: Sequence[str], ask: Ask, show: Callable[[str], None]
) -> Reviewed:
    while True:
        show(told(draft, count))
        choice = ask(CHOICES).strip().lower()[:1]
        if choice == "q":
            raise _Quit
        if choice == "e":
            question = ask("question: ").strip() or draft.question
            answer = ask("answer: ").strip() or draft.answer
            draft = draft.worded(question, answer, others)
        elif choice in {"y", "n"}:
            return replace(draft, accept=choice == "y")


def told(draft: Reviewed, count: str) -> str:
    """A draft as it is shown."""
    lines = [f"{count}  {draft.question}", f"  answer: {draft.answer}"]
    lines.append(f"  from: {draft.sentence or 'no sentence that is there'}")
    if draft.failed:
        lines.append(f"  fails: {', '.join(draft.failed)}")
    found = "not found by its question" if draft.rank is None else f"found at place {draft.rank}"
    return "\n".join([*lines, f"  the paper is {found}"])
