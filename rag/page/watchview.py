"""Standing questions as the page shows them, HTML that is ours alone; no gradio here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rag.display import as_typed, highlighted, inline
from rag.exporting import as_form
from rag.schema import Paper
from rag.text import legible
from rag.watching import Change, Moved, Outcome, Said, Standing

NONE_YET = "No question is kept yet."
_STATES = {
    "first": "Answered for the first time.",
    "not asked": "Not asked: the index is as it was.",
    "same": "The answer is as it was.",
    "changed": "Something is new.",
    "failed": "Not asked.",
}
_MOVES = {"new": "New", "changed": "Changed", "removed": "Removed"}
_LONGEST = 120


def choices(questions: Sequence[Standing], revision: int) -> list[tuple[str, int]]:
    """What each question is called where one is chosen, and its number."""
    return [(_called(one, revision), one.id) for one in questions]


def kept(one: Standing, papers: Mapping[str, Paper]) -> str:
    """A question with its last answer and what was new in it; `papers` are those in the index."""
    if one.last is None:
        return _article(one, '<p class="state">Not asked yet.</p>')
    change = one.last.change
    said = _changes(change, papers) if change else ""
    return _article(one, f"{said}{_answer(one.last.answer)}")


def outcome(one: Outcome, papers: Mapping[str, Paper]) -> str:
    """What came of a question; only its state where nothing is new."""
    state = f'<p class="state">{as_typed(one.reason or _STATES[one.state])}</p>'
    change = _changes(one.change, papers) if one.change and one.state == "changed" else ""
    answer = _answer(one.answer) if one.answer and one.state in {"first", "changed"} else ""
    return _article(one.standing, f"{state}{change}{answer}")


def named(change: Change | None) -> list[str]:
    """The papers that a change tells of."""
    return [paper.paper_id for paper in change.papers] if change else []


def _called(one: Standing, revision: int) -> str:
    question = legible(one.question)
    short = question if len(question) <= _LONGEST else f"{question[:_LONGEST].rstrip()}…"
    filters = f" ({one.told()})" if one.told() else ""
    if one.last is None:
        return f"{short}{filters}: not asked yet"
    waits = ", papers came or left since" if one.waits(revision) else ""
    return f"{short}{filters}: {one.last.answer['status']}, {one.last.asked[:10]}{waits}"


def _article(one: Standing, body: str) -> str:
    return f'<article class="standing"><h3>{as_typed(one.question)}</h3>{body}</article>'


def _changes(change: Change, papers: Mapping[str, Paper]) -> str:
    status = (
        f"<p>It was {change.status_before} and is {change.status_now}.</p>"
        if change.status_before != change.status_now
        else ""
    )
    items = [
        *_items("New", "ins", change.added),
        *_items("Gone", "del", change.gone),
        *_items("In other words", "span", (pair.now for pair in change.reworded)),
        *_items("Now from other papers", "span", (pair.now for pair in change.recited)),
    ]
    claims = f'<ul class="changes">{"".join(items)}</ul>' if items else ""
    moved = "".join(_moved(one, change, papers) for one in change.papers)
    because = f"<h4>Papers that made the difference</h4>{moved}" if moved else ""
    causes = "".join(f'<p class="note">Also: {as_typed(cause)}</p>' for cause in change.causes)
    return f"{status}{claims}{because}{causes}"


def _items(label: str, tag: str, claims: Iterable[Said]) -> list[str]:
    return [f"<li>{label}: <{tag}>{inline(one.text)}</{tag}></li>" for one in claims]


def _moved(one: Moved, change: Change, papers: Mapping[str, Paper]) -> str:
    """A paper, to be opened where it is in the index, with the sentences that are claims marked."""
    near = "" if one.cited else ", near the question"
    title = f"{_MOVES[one.move]}{near}: {inline(one.title)}"
    paper = papers.get(one.paper_id)
    if paper is None:
        return f'<p class="moved">{title}</p>'
    said = {legible(claim.text) for claim in change.added}
    spans = [sentence for sentence in paper.sentences if legible(sentence.text) in said]
    place = as_typed(f"{paper.source}:{paper.ordinal}")
    return (
        f'<details class="moved"><summary>{title}</summary><p class="about">{place}</p>'
        f'<p class="abstract">{highlighted(paper.text, spans)}</p></details>'
    )


def _answer(answer: Mapping[str, object]) -> str:
    form = as_form(answer)
    said = "".join(f"<p>{inline(line)}</p>" for line in form.text.split("\n"))
    note = f'<p class="note">Note: {as_typed(form.note)}.</p>' if form.note else ""
    cited = "".join(f"<li>[{one.number}] {inline(one.title)}</li>" for one in form.citations)
    listed = f'<ul class="cited">{cited}</ul>' if cited else ""
    return f"<h4>The answer</h4>{said}{note}{listed}"
