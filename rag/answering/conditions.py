"""What a question about the whole collection wants of each paper; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from rag.answering.phrases.framing import LIGHT, LIGHT_CHINESE, LITERAL, PLACES
from rag.answering.phrases.questions import COURTESY, WORDS
from rag.text import normalise

_NOUNS = "|".join(WORDS[name] for name in ("papers", "arbeiten", "articulos", "travaux", "lunwen"))
OTHER_LANGUAGES = re.compile(
    r"^\W*(?:welche[rsn]?|wie viele|nenne|liste|gibt es|quels?|quelles?|combien|y a-t-il|que"
    r"|cuales|cuant[oa]s|hay|existen|enumera|quais|quantos)\b|[\u0400-\u04ff\u3040-\u9fff]"
)
"""How a question for papers that is not in English begins, or the letters that it has."""
_CJK = re.compile("[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Condition:
    """What each paper must meet; an empty text is met by all.

    `literal`: the very words are asked for, as with "mention", and not what a paper is about.
    """

    text: str
    literal: bool


def condition_of(question: str) -> Condition:
    """The condition of "Which papers deal with owl nests?", here "owl nests".

    What frames it goes: courtesy, words for papers and for the collection, and at both ends of
    what is left the words that any such question has.
    """
    literal = bool(re.search(LITERAL, normalise(question)))
    text = " ".join(question.replace("’", "'").split())
    text = re.sub(COURTESY, "", text, flags=re.IGNORECASE)
    text = re.sub(r"[\s?？!.。:]+$", "", text)
    text = re.sub(PLACES, " ", text, flags=re.IGNORECASE)
    if _CJK.search(text):
        return Condition(" ".join(re.sub(LIGHT_CHINESE, " ", text).split()), literal)
    parts = [_bare(part) for part in _split(text)]
    return Condition(" ".join(part for part in parts if part), literal)


def _split(text: str) -> list[str]:
    """What stands before the first word for papers, and what stands behind it."""
    noun = _noun().search(_folded(text))
    return [text[: noun.start()], text[noun.end() :]] if noun else [text]


@cache
def _noun() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{_NOUNS}|paper|anything|something)\b")


def _folded(text: str) -> str:
    """Small letters without accents, character for character as in `text`."""
    return "".join(normalise(c) if len(normalise(c)) == 1 else c for c in text)


def _bare(part: str) -> str:
    words = part.split()
    while words and _is_light(words[0]):
        words = words[1:]
    while words and _is_light(words[-1]):
        words = words[:-1]
    return " ".join(words).strip(" ,;:¿¡")


def _is_light(word: str) -> bool:
    bare = re.sub(r"[^\w]", "", normalise(word))
    return not bare or bare in LIGHT
