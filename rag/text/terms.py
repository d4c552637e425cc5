"""The terms by which a text is found."""

from __future__ import annotations

import re
from functools import lru_cache

import Stemmer

from rag.text.normal import join_lines, normalise

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_MARKS = "\u0300-\u036f\u0900-\u0963\u0966-\u0df3\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
_LETTERS = rf"[^\W_{_CJK}]+(?:[{_MARKS}]+[^\W_{_CJK}]*)*"  # vowel signs are no letters to `re`
_TOKEN = re.compile(rf"[{_CJK}]+|\d+(?:[.,]\d+)+|{_LETTERS}(?:[-'’·]{_LETTERS})*")
_ASCII_TOKEN = re.compile(r"\d+(?:[.,]\d+)+|[a-z0-9]+(?:[-'][a-z0-9]+)*")  # the same in ASCII
_MAY_BE_PLURAL = re.compile(r"[A-Z0-9]s\b")
_PLURAL_ACRONYM = re.compile(r"\b([A-Z][A-Z0-9]+)s\b")  # the stemmer keeps the s of GPUs
_STARTS_CJK = re.compile(f"[{_CJK}]")
_GROUPED = re.compile(r"\d+(?:[.,]\d+)+")
_POSSESSIVE = re.compile(r"['’]s$")
_JOINT = re.compile(r"[-'’·]")
_REMEMBERED = 1 << 16  # tokens: the words of a language come again and again
_STOP = frozenset(
    "a about above after again all also am an and any are as at be because been before being "
    "below between both but by can could did do does doing down during each few for from further "
    "had has have having he her here hers him his how i if in into is it its itself just me more "
    "most my no nor not of off on once only or other our ours out over own same she should so "
    "some such than that the their theirs them then there these they this those through to too "
    "under until up very was we were what when where which while who whom whose why will with "
    "would you your yours s t whats paper papers abstract abstracts".split()
)


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


def terms(text: str) -> list[str]:
    r"""What `text` is found by, in order: stems, numbers, names whole and in parts, CJK bigrams.

    "RN-DPO's 10.08\%" gives rn, dpo, rndpo, 10.08. Words that every text has are left out. A word
    that a line end cuts is found whole, and in parts in case its hyphen belongs to it.
    """
    text = join_lines(text, r"\1\2 \1-\2")
    if _MAY_BE_PLURAL.search(text):
        text = _PLURAL_ACRONYM.sub(r"\1", text)
    return [term for token in tokens(text) for term in _terms_of(token)]


def tokens(text: str) -> list[str]:
    """The words, numbers and CJK runs of `text` in normal form, unstemmed, in order."""
    text = normalise(text)
    return (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)


def content_words(text: str) -> list[str]:
    """The tokens of `text` that are not stop words."""
    return [token for token in tokens(text) if token not in _STOP]


@lru_cache(maxsize=_REMEMBERED)
def _terms_of(token: str) -> tuple[str, ...]:
    if _STARTS_CJK.match(token):
        return _bigrams(token)
    if token[0].isdigit() and _GROUPED.fullmatch(token):
        return (token.replace(",", ""),)
    parts = [part for part in _JOINT.split(_POSSESSIVE.sub("", token)) if part]
    stems = [_stem(part) for part in parts if part not in _STOP]
    if len(parts) > 1:
        stems.append("".join(parts))
    return tuple(stems)


def _bigrams(run: str) -> tuple[str, ...]:
    return (run,) if len(run) == 1 else tuple(run[i : i + 2] for i in range(len(run) - 1))


def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word)) if word.isascii() and word.isalpha() else word
