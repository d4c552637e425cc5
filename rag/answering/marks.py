"""Citations that a model wrote into a claim by itself, found and taken out.

A model is not asked for them, and its numbers mean nothing: ours are given when a claim has been
checked. They come in every form that scholars and machines have: `[1, 2]`, `[1][2]`, `[[4]]`,
`[2–4, 7]`, `[Source 2]`, `(Document 3)`, `[^3]`, `【1†source】`, `(Smith et al., 2020)`,
`(Smith2020; Jones1999)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_AUTHORS = r"[A-Z][\w'’-]+(?: et al\.?|(?:, | and | & )[A-Z][\w'’-]+)*"
_AUTHOR_YEAR = rf"{_AUTHORS},? (?:19|20)\d\d[a-z]?"
_KEY = r"@?[A-Z][A-Za-z]{1,30}(?:19|20)\d\d[a-z]?"
_KIND = (
    r"(?:(?:sources?|documents?|docs?|ref(?:erence)?s?|papers?|abstracts?|citations?|passages?"
    r"|contexts?|chunks?|sentences?|ids?)[ .:#-]{1,3})"
)
_NUMBER = rf"(?:(?i:{_KIND})?[Ss]?\d+|[a-z])"
_AND = r"\s*(?:[,;–-]|and|&)\s*"
_NAMED = rf"(?:(?i:{_KIND})\d+|S\d+)"
_IN_BRACKETS = (
    rf"[\[【]{{1,2}}\s*(?:\^?{_NUMBER}(?:{_AND}{_NUMBER})*(?:†[^\]】]{{0,40}})?"
    rf"|{_KEY}(?:{_AND}{_KEY})*)\s*[\]】]{{1,2}}"
)
_IN_PARENTHESES = (
    rf"\(\s*(?:{_NAMED}(?:{_AND}(?:{_NAMED}|\d+))*|{_KEY}(?:{_AND}{_KEY})*"
    rf"|{_AUTHOR_YEAR}(?:; {_AUTHOR_YEAR})*)\s*\)"
)
_LEAD = (
    r"(?:(?:(?<=[.!?] )|^)(?i:in|from|by|per)\s+"
    r"|,?\s*\b(?i:according to|as (?:shown|stated|reported|described|noted|seen|given) (?:in|by)"
    r"|see)\s+)?"
)
_MARK = re.compile(rf"(?P<lead>{_LEAD})(?P<mark>\s*(?:{_IN_BRACKETS}|{_IN_PARENTHESES}))")
_INTERVAL = re.compile(r"[\[【]\s*(?:0\s*[,;–-]\s*\d+|\d+\s*[,;–-]\s*0)\s*[\]】]")
_INDEX = re.compile(r"(?<!\w)\w$")
_DOUBLED = re.compile(r"^[,;:]\s*|[,;:](?=\s*[.!?]$)")


def without_marks(text: str, sentences: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """A claim without the citations that a model wrote into it, and these.

    `[9]` and `(Smith 2020)` would be taken for one of ours, or for a source that was found. What
    stands in a sentence that the model was given, such as an interval, stays. So does an interval
    from or to 0, which is no source's number, and the index of a formula. With "according to [1]"
    goes the whole phrase.
    """
    held = "".join("".join(sentences).split())
    marks: list[str] = []

    def judged(match: re.Match[str]) -> str:
        mark = match["mark"]
        kept = "".join(mark.split()) in held or _INTERVAL.fullmatch(mark.strip())
        if kept or _is_index(mark, text[: match.start()]):
            return match.group()
        marks.append(mark.strip())
        return ""

    bare = _MARK.sub(judged, text).strip()
    return (_whole(bare, text) if marks else bare), tuple(marks)


def _is_index(mark: str, before: str) -> bool:
    """Whether brackets are those of `x[i]` or `a[0]`: closed up to a letter, or a letter inside."""
    closed_up = not mark[:1].isspace() and before[-1:].isalnum()
    return closed_up and bool(_INDEX.search(before) or mark[1:2].isalpha())


def _whole(text: str, before: str) -> str:
    """What is left with its punctuation whole, and a capital where there was one."""
    tidy = _DOUBLED.sub("", text).strip()
    return tidy[:1].upper() + tidy[1:] if before.lstrip()[:1].isupper() else tidy
