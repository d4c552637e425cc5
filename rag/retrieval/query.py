"""What is asked, checked and taken apart before anything is searched."""

from __future__ import annotations

from dataclasses import dataclass

from rag.errors import UsageError
from rag.text import printable


@dataclass(frozen=True, slots=True)
class Question:
    """A question that can be searched: `text` is trimmed and free of invisible characters."""

    text: str


def read_question(text: str, *, max_chars: int) -> Question:
    """Accept a question.

    Raises:
        UsageError: there is nothing in it, or it is longer than `max_chars`.
    """
    if len(text) > max_chars:
        raise UsageError(
            f"The question has {len(text):,} characters, the limit is {max_chars:,}",
            remedy="Shorten it, or raise max_question_chars.",
        )
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    clean = " ".join(printable(text.replace("\n", " ")).split())
    if not any(character.isalnum() for character in clean):
        raise UsageError("The question is empty", remedy="Ask it in words.")
    return Question(clean)
