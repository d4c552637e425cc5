"""The language of a question, and of what the assistant says to it.

A language is known by its script, or by the words that every text of it has. A question of names
and numbers only, or one whose words tell nothing, is taken for English, which the abstracts are in.
"""

from __future__ import annotations

from collections.abc import Collection

from rag.answering.phrases.english import ENGLISH
from rag.answering.phrases.language import Language
from rag.answering.phrases.languages import LANGUAGES
from rag.schema import Claim
from rag.text import legible, tokens

_ENGLISH = frozenset(
    "the of and is are was were what which how does do did with by that this who when where why "
    "from its to for in on at it be can an or not as has have than between".split()
)
_KANA = ("\u3040", "\u30ff")
_HAN = ("\u4e00", "\u9fff")
_SCRIPT_SHARE = 0.2  # of the letters: names stay in Latin ones
_KNOWN = 2  # words
_REFUSALS = (  # first and last letter of a script, its language, and an abstention in it
    ("\u0456", "\u0457", "Ukrainian", "Колекція про це не говорить."),  # of Ukrainian alone
    ("\u0400", "\u04ff", "Russian", "В собрании об этом не сказано."),
    ("\uac00", "\ud7af", "Korean", "이 컬렉션에는 그에 대한 내용이 없습니다."),
    ("\u0600", "\u06ff", "Arabic", "لا تذكر المجموعة ذلك."),
    ("\u0900", "\u097f", "Hindi", "संग्रह में यह नहीं बताया गया है।"),
)
"""For scripts of which no language has phrases of its own."""


def language_of(text: str) -> Language:
    """The language that a question is in; English where nothing tells."""
    letters = [letter for letter in text if letter.isalpha()]
    kana, han = _count(letters, *_KANA), _count(letters, *_HAN)
    if kana + han > _SCRIPT_SHARE * len(letters):
        return _coded("ja" if kana else "zh")
    words = _words(text)
    best = max(_latin(), key=lambda language: _known(words, language))
    known, english = _known(words, best), sum(word in _ENGLISH for word in words)
    marked = any(mark in text for mark in "¿¡ßäöüñçœ") and known
    return best if known > english and (known >= _KNOWN or marked) else ENGLISH


def is_english(text: str) -> bool:
    """Whether a text is in English, as far as one can see."""
    return language_of(text) is ENGLISH


def writes_in(question: str) -> str:
    """The English name of the language to answer in; empty for English."""
    language = language_of(question)
    named, _ = _by_script(question)
    return named or ("" if language is ENGLISH else language.name)


def refusal_to(question: str) -> str:
    """The sentence of an abstention, in the language of the question or one of its script."""
    _, refusal = _by_script(question)
    return refusal or language_of(question).refusal


def quoted_note(question: str, claims: Collection[Claim]) -> str:
    """Told where an answer only quotes and its reader asked in another language, in that one."""
    language = language_of(question)
    quoted = all(
        legible(claim.text) == " ".join(legible(e.text) for e in claim.support) for claim in claims
    )
    return "" if language is ENGLISH or not quoted or not claims else language.quoted.rstrip(".。")


def _by_script(question: str) -> tuple[str, str]:
    """The language and the refusal that the script of a good part of a question tells, or none."""
    letters = [letter for letter in question if letter.isalpha()]
    for first, last, language, refusal in _REFUSALS:
        least = 0 if language == "Ukrainian" else _SCRIPT_SHARE * len(letters)
        if _count(letters, first, last) > least:
            return language, refusal
    return "", ""


def _words(text: str) -> list[str]:
    """Words with their accents, which tell "que" from "qué"; in normal form they have none."""
    bare = "".join(c if c.isalnum() or c in "'-" else " " for c in text.lower().replace("’", "'"))
    return bare.split() or tokens(text)


def _known(words: list[str], language: Language) -> int:
    return sum(word in language.common for word in words)


def _latin() -> list[Language]:
    return [one for one in LANGUAGES if one.common and one.letters == "[A-Za-z]"]


def _coded(code: str) -> Language:
    return next(one for one in LANGUAGES if one.code == code)


def _count(letters: list[str], first: str, last: str) -> int:
    return sum(first <= letter <= last for letter in letters)
