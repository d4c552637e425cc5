"""Whether a question asks if a person answers, and what is said then.

The assistant says that it is an AI system without asking a model or the index, so that no persona,
no instruction in the question and no paper can make it say otherwise. A question about papers is
never taken for such a one: where a sentence speaks of papers, only what is put to the assistant
before counts, and what stands in quotation marks counts never. What is missed here goes on as any
question, and is answered from abstracts or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from rag.answering.phrases.language import Language
from rag.answering.phrases.languages import LANGUAGES
from rag.text import normalise

_QUOTED = re.compile(
    r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|(?<!\w)'[^']*'(?!\w)|《[^》]*》"
)
_SENTENCE = re.compile(r"[^.?!;。\n]+(?:\.(?=\w)[^.?!;。\n]*)*[.?!;。\n]*")
_END = r"(?=\s*(?:$|[,.?!;:)])|\s+(?:-|(?:or|and|then|again|here|oder|und|o|y|ou|et|e)\b))"
_SLOT = re.compile(r"<(\w+)>")
_MOST_CHARS = 1_000  # a question about oneself is short; what is longer is searched for


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What is said to whoever asks; `language` is that of the question, as en."""

    language: str
    text: str


def disclosure(question: str) -> Disclosure | None:
    """What to say to a question whether a person answers; None for any other question."""
    sentences = list(_sentences(question[:_MOST_CHARS]))
    for language in LANGUAGES:
        if re.search(language.letters, question) and any(
            _asks(sentence, language.code) for sentence in sentences
        ):
            return Disclosure(language.code, language.says)
    return None


@dataclass(frozen=True, slots=True)
class _Patterns:
    asks: re.Pattern[str]
    supposes: re.Pattern[str]
    hints: re.Pattern[str]
    papers: re.Pattern[str]
    introduces: re.Pattern[str]


def _asks(sentence: str, code: str) -> bool:
    """Whether a sentence asks, as it stands or without what introduces it."""
    patterns = _patterns(code)
    bare = patterns.introduces.sub("", sentence)
    return any(_is_asked(one, patterns) for one in dict.fromkeys((sentence, bare)))


def _is_asked(sentence: str, patterns: _Patterns) -> bool:
    if (match := patterns.asks.search(sentence)) and not patterns.papers.search(
        sentence[: match.start()]
    ):
        return True
    if patterns.papers.search(sentence):
        return False
    is_question = sentence.rstrip().endswith("?")
    supposed = is_question and patterns.supposes.search(sentence)
    return bool(supposed or patterns.hints.search(sentence))


def _sentences(question: str) -> Iterator[str]:
    """The sentences in normal form, without what they quote and without opening signs."""
    text = normalise(question.replace("’", "'").replace("‘", "'"))
    text = re.sub(r"[¿¡*]", "", text.replace("。", "。 "))
    said = _QUOTED.sub(" ", text)
    if not any(character.isalnum() for character in said):
        said = text  # the whole question stands in quotation marks
    for match in _SENTENCE.finditer(said):
        yield " ".join(match.group().split())


@cache
def _patterns(code: str) -> _Patterns:
    language = next(one for one in LANGUAGES if one.code == code)
    return _Patterns(
        _any_of(language, language.asks),
        _any_of(language, language.supposes),
        _any_of(language, language.hints),
        re.compile(language.papers),
        re.compile(language.introduces),
    )


def _any_of(language: Language, phrases: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for all phrases; for none of them one that matches nothing."""
    words = {**language.words, "end": _END}

    def filled(phrase: str) -> str:
        while _SLOT.search(phrase):  # a word may be made of others
            phrase = _SLOT.sub(lambda match: words[match[1]], phrase)
        return phrase

    return re.compile("|".join(f"(?:{filled(one)})" for one in phrases) or r"(?!)")
