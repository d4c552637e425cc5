"""The languages in which it is known whether somebody asks who answers."""

from __future__ import annotations

from rag.answering.phrases.chinese import CHINESE
from rag.answering.phrases.english import ENGLISH
from rag.answering.phrases.french import FRENCH
from rag.answering.phrases.german import GERMAN
from rag.answering.phrases.japanese import JAPANESE
from rag.answering.phrases.language import Language
from rag.answering.phrases.portuguese import PORTUGUESE
from rag.answering.phrases.spanish import SPANISH

LANGUAGES: tuple[Language, ...] = (
    ENGLISH,
    GERMAN,
    SPANISH,
    FRENCH,
    PORTUGUESE,
    CHINESE,
    JAPANESE,
)
"""Tried in this order; the first that matches is the language of the question."""
