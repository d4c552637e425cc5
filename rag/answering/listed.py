"""Lists that go together: "on A, B and C by 1, 2 and 3 respectively"."""

from __future__ import annotations

import re

from rag.answering.facts import numbers
from rag.text import normalise, plain

_LIST_OF_NUMBERS = re.compile(r"\d[\d.,]*%?(?:, \d[\d.,]*%?)*,? and \d[\d.,]*\d?%?")
_ITEM = r"[\w@+./-]+(?: [\w@+./-]+){0,2}?"
_LIST_OF_ITEMS = re.compile(rf"{_ITEM}(?:, {_ITEM})*,? and {_ITEM}(?=[\s,.;:)])")
_SEPARATOR = re.compile(r",? and |, ")


def misread(claim: str, sentences: str, question: str) -> str:
    """How a claim gives a number of such a list to another item than its own, else nothing.

    The item is looked for in the claim, and if it names none, in the question.
    """
    for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", plain(sentences)):
        amounts = _LIST_OF_NUMBERS.search(sentence)
        if not amounts or "respectively" not in sentence:
            continue
        values = _SEPARATOR.split(amounts.group())
        for listed in _LIST_OF_ITEMS.finditer(sentence[: amounts.start()]):
            items = _SEPARATOR.split(listed.group())
            if len(items) == len(values):
                return _wrong_pair(claim, question, dict(zip(items, values, strict=True)))
    return ""


def _wrong_pair(claim: str, question: str, pairs: dict[str, str]) -> str:
    stated = numbers(claim)
    spoken = [item for item in pairs if _names_item(claim, item)]
    spoken = spoken or [item for item in pairs if _names_item(question, item)]
    right = {number for item in spoken for number in numbers(pairs[item])}
    for item, value in pairs.items():
        if spoken and numbers(value) <= stated and not numbers(value) <= right:
            return f"{value} is the number of {item.split()[-1]}"
    return ""


def _names_item(text: str, item: str) -> bool:
    """Whether the last word of a list's item, its name, stands in `text`."""
    return item.split()[-1].casefold() in re.findall(r"[\w@+./-]+", normalise(text))
