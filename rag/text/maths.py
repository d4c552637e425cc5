"""What in a text is maths: a dollar sign is money until it was found to be more."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.text.sentences import MATHS

_MONEY = re.compile(r"\d[\d.,]*\s?[A-Za-z]{3,}|\d[\d.,]*\s.*\s[A-Za-z]{2,}\s")


def is_money(span: str) -> bool:
    """Whether a match of `MATHS` is text between two amounts, as in "$5 for one and $6"."""
    if not span.startswith("$") or span.startswith("$$"):
        return False
    body = span[1:-1].strip()
    return bool(_MONEY.match(body)) and not re.search(r"[\\^_=]", body)


def split_maths(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of `text` in order, joined they are it; and whether each is maths."""
    end = 0
    for match in MATHS.finditer(text):
        if is_money(match.group()):
            continue
        if match.start() > end:
            yield text[end : match.start()], False
        yield match.group(), True
        end = match.end()
    if end < len(text):
        yield text[end:], False
