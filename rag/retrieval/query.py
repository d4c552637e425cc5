"""What is asked, checked and taken apart before anything is searched."""

from __future__ import annotations

from dataclasses import dataclass

from rag.errors import UsageError
from rag.text import printable

_ASPECT_WORDS = 8
_MOST_ASPECTS = 12


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


def aspects(text: str) -> list[str]:
    """What `text` asks, part by part: windows of eight words, each half over the one before.

    A question that tells several things of one paper is near to several of its sentences, each
    of which is far from the whole of it. A question of one window has no parts; a very long one
    has twelve, of more words.
    """
    words = text.strip(" ?").split()
    size = max(_ASPECT_WORDS, 2 * -(-len(words) // _MOST_ASPECTS))
    if len(words) <= size:
        return []
    starts = [*range(0, len(words) - size, size // 2), len(words) - size]
    return [" ".join(words[start : start + size]) for start in starts]
