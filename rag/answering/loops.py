"""When a reply goes nowhere: it repeats itself, or what the model was given, or has no end.

A model that does so goes on until its token limit, which is half a minute on two cores. What it
had said before stands; the rest is not waited for.
"""

from __future__ import annotations

import re

from rag.answering.replies import spoken

REPEATS, SHORTEST = 4, 160
_COUNTED_REPEATS, _COUNTED_SHORTEST, _COUNTED_UNIT = 6, 600, 12
_WINDOW = 2_400
_STEP = 32  # characters between two looks
_BEGINNING = 160  # characters of the instructions that no answer has by chance
_CHARS_PER_TOKEN = 4
_DIGITS = re.compile(r"\d+")


class Watch:
    """Looks at a reply as it grows.

    `system` and `user` are what the model was given; `tokens` are those that it may write, and
    `most` the claims that it was asked for.
    """

    def __init__(self, system: str, user: str, tokens: int, most: int) -> None:
        self._beginning = system.strip()[:_BEGINNING]
        self._given = len(system) + len(user)
        self._room = tokens * _CHARS_PER_TOKEN
        self._most = most
        self._seen = 0

    def fault(self, text: str, claims: int) -> str:
        """What the reply, with so many claims in it so far, does in place of going on."""
        if claims >= 2 * self._most:
            return "the model wrote more than was asked for and was cut"
        if len(text) - self._seen < _STEP:
            return ""
        self._seen = len(text)
        if is_loop(text):
            return "the model repeated itself and was cut"
        return (
            "the model repeated its instructions and was cut" if self._echoes(text, claims) else ""
        )

    def _echoes(self, text: str, claims: int) -> bool:
        """Whether the instructions come behind claims, or first and there is no room behind them.

        A short echo is let pass: an answer may stand behind it.
        """
        said = spoken(text)
        place = said.find(self._beginning) if self._beginning else -1
        if place < 0:
            return False
        return claims > 0 if place else len(said) < self._given > self._room


def is_loop(text: str) -> bool:
    """Whether `text` ends in one piece over and over.

    It counts from four times and 160 characters on: no sentence, list of labels or indentation of
    an answer is like that. A piece that differs in its numbers only, as in a list that counts,
    needs six times and 600 characters.
    """
    end = text[-_WINDOW:]
    if _repeats(end, REPEATS, SHORTEST, 1):
        return True
    counted = _DIGITS.sub("0", end)
    return _repeats(counted, _COUNTED_REPEATS, _COUNTED_SHORTEST, _COUNTED_UNIT)


def _repeats(text: str, times: int, shortest: int, unit: int) -> bool:
    """Whether an end of `text` is at least so often the same piece of at least `unit` characters.

    By the prefix function of the text read backwards (Knuth, Morris & Pratt 1977): a beginning of
    length n whose longest border is b has the period n - b.
    """
    backwards = text[::-1]
    borders = [0] * len(backwards)
    for place in range(1, len(backwards)):
        border = borders[place - 1]
        while border and backwards[place] != backwards[border]:
            border = borders[border - 1]
        borders[place] = border + (backwards[place] == backwards[border])
        length = place + 1
        period = length - borders[place]
        if length >= shortest and period >= unit and length >= times * period:
            return True
    return False
