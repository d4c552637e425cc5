"""What kind of answer a question wants, by how it is put; pure.

Precision comes before recall: a form that does not fit (a list where one fact was asked) reads
worse than a plain answer, so whatever is not surely of another kind is a fact.
"""

from __future__ import annotations

import re
from functools import cache

from rag.answering.phrases.questions import COURTESY, NOT_SURE, PHRASES, WORDS
from rag.answering.talk import talk
from rag.schema import Kind
from rag.text import normalise

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|(?<!\w)'[^']*'(?!\w)")
_SLOT = re.compile(r"<(\w+)>")
_MOST_WORDS = 100  # what is longer is a text that was pasted, and searched as such


def kind_of(question: str) -> Kind:
    """The kind of `question`; a fact where that is not sure."""
    if len(question.split()) > _MOST_WORDS:
        return "fact"
    if talk(question):
        return "talk"
    text = asked(question)
    return next((kind for kind, phrases in _patterns() if _is_of(kind, phrases, text)), "fact")


def asked(question: str) -> str:
    """A question in normal form, without opening signs, courtesy and its last question mark.

    What stands in quotation marks becomes one word: it is what is asked about, and never how.
    """
    text = normalise(question.replace("’", "'").replace("‘", "'"))
    text = " ".join(re.sub(r"[¿¡]", " ", _QUOTED.sub(" quoted ", text)).split())
    bare = re.sub(COURTESY, "", text)
    return re.sub(r"[\s?？!.。:]+$", "", bare if any(map(str.isalnum, bare)) else text)


def _is_of(kind: Kind, phrases: re.Pattern[str], text: str) -> bool:
    doubts = _doubts().get(kind)
    return bool(phrases.search(text)) and not (doubts and doubts.search(text))


@cache
def _patterns() -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    return tuple((kind, _any_of(phrases)) for kind, phrases in PHRASES)


@cache
def _doubts() -> dict[Kind, re.Pattern[str]]:
    return {kind: _any_of(phrases) for kind, phrases in NOT_SURE.items()}


def _any_of(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{_filled(one)})" for one in phrases))


def _filled(phrase: str) -> str:
    return _SLOT.sub(lambda match: WORDS[match[1]], phrase)
