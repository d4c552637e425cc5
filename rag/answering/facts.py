"""What a sentence states that must not change: its numbers with their units, and its names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.text import content_words, normalise, plain

_NUMBER = re.compile(r"(?<![\w.])\d++(?:[.,]\d++)*+(?!\w{0,20}-?bit)")
_AMOUNT = re.compile(r"(?<![\w.])(\d++(?:[.,]\d++)*+)(\s?[%×]|\s?-?[A-Za-z]+)?")
_NAME = re.compile(r"(?<!\w)(?=\w*[A-Za-z])(?:\w*[a-z0-9][A-Z]\w*|[A-Z][A-Z0-9]+|[A-Za-z]+\d\w*)")
_PROPER = re.compile(r"(?<=[\w,;:)] )[A-Z][a-z]{2,}\w*")
_WORDS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
} | {"thirty": "30", "forty": "40", "fifty": "50", "hundred": "100", "half": "50", "both": "2"}
_HARDLY_COUNTS = frozenset({"zero", "one", "two", "both", "half"})
_UNITS = {
    form: unit
    for unit, forms in {
        "%": "% percent",
        "×": "× x times fold",
        "ms": "ms millisecond milliseconds",
        "s": "s sec second seconds",
        "min": "min minute minutes",
        "h": "h hour hours",
        "day": "day days",
        "year": "year years",
        "thousand": "k thousand",
        "million": "m million",
        "billion": "b bn billion",
        "mb": "mb megabytes",
        "gb": "gb gigabytes",
        "tb": "tb terabytes",
        "mg": "mg",
        "kg": "kg",
        "mm": "mm",
        "cm": "cm",
        "km": "km",
    }.items()
    for form in forms.split()
}


def numbers(text: str) -> frozenset[str]:
    """The numbers in `text`, written alike: digits, `1,000` as 1000, `eight` as 8, 2.50 as 2.5."""
    return _in_digits(text) | _in_words(text, frozenset())


def missing_numbers(claim: str, sentences: str) -> list[str]:
    """The numbers of a claim that its sentences do not have.

    A small number in words is more often a way to speak than an amount: "both", "the two methods".
    """
    stated = _in_digits(claim) | _in_words(claim, _HARDLY_COUNTS)
    return sorted(stated - numbers(sentences))


def other_unit(claim: str, sentences: str) -> str:
    """A number that a claim has in one unit and its sentences only in another, else nothing."""
    held: dict[str, set[str]] = {}
    for number, unit in _amounts(sentences):
        held.setdefault(number, set()).add(unit)
    for number, unit in _amounts(claim):
        if unit and (units := held.get(number)) and "" not in units and unit not in units:
            return f"{number} {unit} is {number} {sorted(units)[0]} in the sentences it names"
    return ""


def names(text: str) -> frozenset[str]:
    """Words that can only be names: RepoScope, RN-DPO in its parts, G2PO, FID; folded."""
    return frozenset(name.casefold().rstrip("s") for name in _NAME.findall(plain(text)))


def missing_names(claim: str, abstracts: str, question: str) -> list[str]:
    """The names of a claim that stand nowhere in the abstracts that it cites.

    A capital within a sentence makes a name too, unless the question has the word.
    """
    held = frozenset(word.rstrip("s") for word in re.findall(r"\w+", normalise(abstracts)))
    missing = names(claim) - names(abstracts) - held
    known = held | {word.rstrip("s") for word in re.findall(r"\w+", normalise(question))}
    proper = {word.casefold().rstrip("s") for word in _PROPER.findall(plain(claim))}
    return sorted(missing | (proper - known))


def _in_digits(text: str) -> frozenset[str]:
    found = {_canonical(number) for number in _NUMBER.findall(plain(text))}
    return frozenset(found) - {"1"}  # "one" is more often an article than a count


def _in_words(text: str, left_out: frozenset[str]) -> frozenset[str]:
    words = set(content_words(text)) - left_out
    return frozenset(_WORDS[word] for word in words if word in _WORDS) - {"1"}


def _amounts(text: str) -> Iterator[tuple[str, str]]:
    for number, behind in _AMOUNT.findall(plain(text)):
        yield _canonical(number), _UNITS.get(behind.strip(" -").casefold(), "")


def _canonical(number: str) -> str:
    number = re.sub(r",(?=\d{3}\b)", "", number).replace(",", ".")
    return number.rstrip("0").rstrip(".") if "." in number else number.lstrip("0") or "0"
