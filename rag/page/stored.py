"""Answers that were kept, as values again: shown and gone on with as when they were given.

What is kept may come from another program (`rag history add`), and its papers may have left the
collection: an answer is restored from what was kept with it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rag import history
from rag.exporting import AnswerForm, Reference
from rag.exporting.forms import Claim as ClaimForm
from rag.exporting.forms import PaperHead
from rag.page.turns import STOPPED, Turn, next_turn
from rag.schema import (
    Answer,
    Citation,
    Claim,
    Coverage,
    Dropped,
    Evidence,
    Nearest,
    Paper,
    Row,
    Section,
    Sentence,
    Table,
)
from rag.text import split_sentences

INSTEAD = "instead_of"  # in the manifest of what is kept

Known = Callable[[Iterable[str]], Mapping[str, Paper]]


def restored(kept: Sequence[history.Turn], known: Known) -> tuple[Turn, ...]:
    """The turns of a kept conversation; `known` finds those papers that are still there."""
    turns: list[Turn] = []
    for one in kept:
        answer = restored_answer(one.form())
        begun = next_turn(turns, answer.question, _instead(answer))
        stopped = not answer.complete and answer.note == STOPPED
        helpful = one.feedback.good if one.feedback else None
        turn = replace(begun.ended(answer), number=one.number, kept=one.number)
        turns.append(replace(turn, stopped=stopped, helpful=helpful))
    return _against(turns, known)


def _instead(answer: Answer) -> int:
    """The number of the turn in whose place an answer stands, 0 if there is none."""
    number = answer.manifest.get(INSTEAD)
    return number if isinstance(number, int) else 0


def _against(turns: Sequence[Turn], known: Known) -> tuple[Turn, ...]:
    """The turns with what has become of their papers since."""
    shown = {paper.id: paper for turn in turns for paper in _papers(turn)}
    found = known(shown)
    gone = frozenset(shown) - frozenset(found)
    changed = frozenset(key for key, paper in found.items() if paper.text != shown[key].text)
    return tuple(replace(turn, gone=gone, changed=changed) for turn in turns)


def _papers(turn: Turn) -> list[Paper]:
    nearest = turn.answer.nearest if turn.answer else ()
    return [*(one.paper for one in turn.citations), *(one.paper for one in nearest)]


def restored_answer(form: AnswerForm) -> Answer:
    """An answer from its kept form."""
    papers = {head.paper_id: _paper(head, form) for head in _heads(form)}
    numbers = {one.number: papers[one.paper_id] for one in form.citations}
    extra: Mapping[str, Any] = form.model_extra or {}
    return Answer(
        form.question,
        form.status,
        form.text,
        tuple(_claim(one, numbers) for one in form.claims),
        tuple(_citation(one.number, papers[one.paper_id], one.sentences) for one in form.citations),
        tuple(Dropped(one.text, one.reason) for one in form.dropped),
        tuple(Nearest(papers[one.paper_id], 0.0) for one in form.nearest),
        form.manifest,
        form.note,
        form.complete,
        extra.get("kind", "fact"),
        _number(extra.get("confidence")),
        form.missing,
        Coverage(form.coverage.checked, form.coverage.total) if form.coverage else None,
        _table(form, papers, numbers),
        tuple(Section(one.title, one.first) for one in form.sections),
    )


def _heads(form: AnswerForm) -> list[PaperHead]:
    rows = form.table.rows if form.table else ()
    return [*rows, *form.nearest, *form.citations]


def _paper(head: PaperHead, form: AnswerForm) -> Paper:
    """A paper as it was known when it was kept; without its abstract, what was cited of it."""
    known = {one.paper_id: one for one in form.references}.get(head.paper_id, head.reference())
    cited = (s.text for c in form.citations if c.paper_id == head.paper_id for s in c.sentences)
    return paper_of(known, known.abstract or " … ".join(cited))


def paper_of(known: Reference, text: str) -> Paper:
    """A reference as a paper with that text."""
    return Paper(
        known.paper_id,
        known.source,
        known.ordinal,
        0,
        text,
        known.title,
        known.title_derived,
        tuple(Sentence(text[a:b], a, b) for a, b in split_sentences(text)),
        known.meta,
    )


def _citation(number: int, paper: Paper, sentences: Iterable[Any]) -> Citation:
    """A citation; its sentences are where they were, or else where their text stands now."""
    placed = [_placed(one.text, (one.model_extra or {}).get("start"), paper) for one in sentences]
    return Citation(number, paper, tuple(one for one in placed if one))


def _placed(text: str, start: object, paper: Paper) -> Sentence | None:
    if not isinstance(start, int) or paper.text[start : start + len(text)] != text:
        start = paper.text.find(text)
    return Sentence(text, start, start + len(text)) if text and start >= 0 else None


def _claim(form: ClaimForm, numbers: Mapping[int, Paper]) -> Claim:
    extra: Mapping[str, Any] = form.model_extra or {}
    support = tuple(
        found for pin in extra.get("support") or () if (found := _evidence(pin, numbers))
    )
    probability = _number(extra.get("probability"))
    return Claim(form.text, form.citations, form.verdict, support, probability, form.reason)


def _evidence(pin: object, numbers: Mapping[int, Paper]) -> Evidence | None:
    """The sentence that a pin names by the number of its paper and its offsets."""
    if not isinstance(pin, Mapping) or (paper := numbers.get(pin.get("number", 0))) is None:
        return None
    places = {s.start: (index, s) for index, s in enumerate(paper.sentences)}
    index, sentence = places.get(pin.get("start", -1), (-1, None))
    if sentence is None:
        return None
    return Evidence(paper.id, index, sentence.text, sentence.start, sentence.end, 0.0)


def _table(
    form: AnswerForm, papers: Mapping[str, Paper], numbers: Mapping[int, Paper]
) -> Table | None:
    if form.table is None:
        return None
    rows = (
        Row(
            papers[row.paper_id],
            tuple(_claim(cell, numbers) if cell else None for cell in row.cells),
        )
        for row in form.table.rows
    )
    return Table(form.table.columns, tuple(rows))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
