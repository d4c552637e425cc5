"""Numbers as they are written in answers, brought to values that can be compared.

A comma before exactly three digits, and a space between groups of three, separates thousands; any
other comma within a number is a decimal one, so that 1,5 is 1.5 and 1,500 is 1500. Per cent are
hundredths: 98.5% is 0.985. In a range as 34-72% the first number stands for itself and for the unit
of the second. Marks of citations, exponents and what belongs to a name, as in GPT-4, are no
numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from evals.matching import normalised

_MARK = re.compile(r"\[\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\]")
_SPACE = "[ \u00a0\u2009\u202f]"
_MINUS = "-\u2212\u2013"
_NUMBER = re.compile(
    r"(?<![\w.,^])(?<!\^\{)(?<![^\W\d_]-)"  # not in a word, an exponent, or a name
    rf"(?P<sign>[{_MINUS}](?=[\d.]))?"
    rf"(?P<digits>\d{{1,3}}(?:(?:,\d{{3}})+|(?:{_SPACE}\d{{3}})+)(?!\d)(?:\.\d+)?|\d+(?:[.,]\d+)?|\.\d+)"
    rf"(?:[eE](?P<power>[+{_MINUS}]?\d+))?"
    r"(?:\s?(?P<unit>%|×|[^\W\d_]+)(?!\d))?"
    rf"(?P<range>\s?[{_MINUS}]\s?(?=\d))?"
)
_POWER = re.compile(
    rf"(?:(?P<factor>\d[\d.,]*)\s*[×x·]\s*)?(?<![\d.])10\s*\^\s*\{{?\s*(?P<power>[{_MINUS}]?\d+)\s*\}}?"
)
_SCALES = {  # a small m is a metre or a minute, a small t a ton
    **dict.fromkeys(("k", "thousand"), Decimal(1_000)),
    **dict.fromkeys(("M", "mio", "million", "millions"), Decimal(1_000_000)),
    **dict.fromkeys(("b", "bn", "billion", "billions"), Decimal(1_000_000_000)),
    **dict.fromkeys(("T", "trillion", "trillions"), Decimal(1_000_000_000_000)),
    **dict.fromkeys(("%", "percent", "prozent"), Decimal("0.01")),
}
_UNITS = {  # what is measured, and how much of it one of the unit is
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), ("time", Decimal("0.001"))),
    **dict.fromkeys(("s", "sec", "second", "seconds"), ("time", Decimal(1))),
    **dict.fromkeys(("min", "minute", "minutes"), ("time", Decimal(60))),
    **dict.fromkeys(("h", "hour", "hours"), ("time", Decimal(3_600))),
    **dict.fromkeys(("day", "days"), ("time", Decimal(86_400))),
    "kb": ("size", Decimal(1_000)),
    "mb": ("size", Decimal(1_000_000)),
    "gb": ("size", Decimal(1_000_000_000)),
    "tb": ("size", Decimal(1_000_000_000_000)),
    **dict.fromkeys(("mg",), ("mass", Decimal("0.001"))),
    **dict.fromkeys(("g", "gram", "grams"), ("mass", Decimal(1))),
    "kg": ("mass", Decimal(1_000)),
    **dict.fromkeys(("x", "×", "times", "fold"), ("factor", Decimal(1))),
}
_WORDS = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "hundred": "100"}
_WORD = re.compile(rf"(?<![\w-])(?:{'|'.join(_WORDS)})(?![\w-])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value and what it is of: time in seconds, size in bytes, mass in grams, factor, or ""."""

    value: Decimal
    of: str = ""

    def equals(self, other: Quantity) -> bool:
        """Whether both say the same; one without a unit may be of anything."""
        return self.value == other.value and (self.of == other.of or not (self.of and other.of))


def quantities(text: str) -> list[Quantity]:
    """The numbers of a text in their order, those in words up to seventy included."""
    plain = _plain(_MARK.sub(" ", text))
    plain = _WORD.sub(lambda match: _WORDS[match[0].lower()], plain)
    return list(_read(_NUMBER.finditer(plain)))


def is_quantity(text: str) -> bool:
    """Whether a text is one number, with its unit at most."""
    match = _NUMBER.fullmatch(_plain(text).strip(" ~≈"))
    return match is not None and (not match["unit"] or _is_unit(match["unit"]))


def matches(answer: str, response: str) -> bool:
    """Whether a response has the number of an answer, however it is written."""
    wanted = quantities(answer)
    return bool(wanted) and all(
        any(one.equals(found) for found in quantities(response)) for one in wanted
    )


def _plain(text: str) -> str:
    """Without LaTeX, and with powers of ten as 1e5."""
    text = text.replace("\\%", "%").replace("\\times", "×").replace("{,}", ",")
    text = re.sub(r"\\(?:[A-Za-z]+|[,;:! ])", " ", text).replace("$", "")
    text = re.sub(r"(?<=\w)-(?=fold\b)|(?<=\d)-(?=[^\W\d_])", " ", text)
    text = re.sub(r"\bper cent\b", "percent", text)
    return _POWER.sub(lambda match: f"{match['factor'] or 1}e{match['power']}", text)


def _read(matches: Iterator[re.Match[str]]) -> Iterator[Quantity]:
    begun: re.Match[str] | None = None  # the first number of a range
    for match in matches:
        if begun is not None and not begun["unit"]:
            yield _quantity(begun, match["unit"] or "")
        yield _quantity(match, match["unit"] or "")
        begun = match if match["range"] else None


def _quantity(match: re.Match[str], unit: str) -> Quantity:
    digits = re.sub(_SPACE, "", match["digits"])
    digits = re.sub(r",(?=\d{3}(?:\D|$))", "", digits).replace(",", ".")
    power = re.sub(f"[{_MINUS}]", "-", match["power"] or "0")
    value = Decimal(f"{digits}e{power}") * (-1 if match["sign"] else 1)
    of, size = _UNITS.get(unit.lower(), ("", _scale(unit)))
    return Quantity((value * size).normalize(), of)


def _scale(unit: str) -> Decimal:
    return _SCALES.get(unit, _SCALES.get(unit.lower(), Decimal(1)))


def _is_unit(unit: str) -> bool:
    return unit in _SCALES or unit.lower() in _SCALES or unit.lower() in _UNITS


def tokens_of(text: str) -> Iterator[str]:
    """The words of a normalised text without articles and punctuation (SQuAD's normalisation)."""
    bare = re.sub(r"[^\w\s%.]", " ", normalised(_MARK.sub(" ", text)))
    for word in bare.split():
        if (kept := word.strip(".")) and kept not in {"a", "an", "the"}:
            yield kept
