"""A suite from what people thought of answers: the questions that were answered badly, asked again.

A conversation in which only the first answer was rejected becomes a question; one in which a later
one was becomes a conversation up to there, as the question may lean on those before it. What was
rejected has the tag `feedback`; the reason stands in its note.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from evals import suite
from rag.history import Conversation, Feedback, Turn

TAG = "feedback"


def lines_of_feedback(
    rejected: Iterable[tuple[Conversation, Sequence[Turn]]],
) -> list[dict[str, Any]]:
    """The lines of a suite, one for each conversation; a question that stands twice is asked once.

    Answers are not known, only what was wrong with one; where a person named the papers that are
    right, or said that the collection does not answer, that is what is measured.
    """
    found: dict[str, dict[str, Any]] = {}
    for conversation, turns in rejected:
        for line in _lines(conversation, turns):
            suite.parse(line)
            found[_asked(line)] = line  # the last opinion counts
    return list(found.values())


def _lines(conversation: Conversation, turns: Sequence[Turn]) -> Iterator[dict[str, Any]]:
    last = max(turn.number for turn in turns if _is_bad(turn.feedback))
    name = f"feedback-{conversation.id}"
    if last == 1:
        yield {"id": name, **_question(turns[0])}
        return
    asked = [{"turn": turn.number, **_question(turn)} for turn in turns if turn.number <= last]
    yield {"id": name, "topic": conversation.name, "turns": asked}


def _question(turn: Turn) -> dict[str, Any]:
    line: dict[str, Any] = {"question": turn.question}
    feedback = turn.feedback
    if feedback is None or feedback.good:
        return line
    line |= {"tags": [TAG], "note": feedback.reason}
    if feedback.papers:
        line["paper_ids"] = list(feedback.papers)
    if feedback.answerable is False:
        line["answerable"] = False
    if kind := str(turn.answer.get("kind", "")):
        line["kind"] = kind
    return {name: value for name, value in line.items() if value != ""}


def _asked(line: dict[str, Any]) -> str:
    turns = line.get("turns", [line])
    return "\n".join(" ".join(str(turn["question"]).casefold().split()) for turn in turns)


def _is_bad(feedback: Feedback | None) -> bool:
    return feedback is not None and not feedback.good
