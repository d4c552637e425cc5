"""Numbers written in Chinese characters, as digits: 九百 is 900, 三点五 is 3.5, 百分之十 is 10."""

from __future__ import annotations

import re

_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")}
_DIGITS |= {"〇": 0, "两": 2}
_TENS = {"十": 10, "百": 100, "千": 1_000}
_GROUPS = {"万": 10_000, "亿": 100_000_000}
_CHARACTERS = "".join([*_DIGITS, *_TENS, *_GROUPS])
_NUMBER = re.compile(rf"[{_CHARACTERS}]+(?:点[{''.join(_DIGITS)}]+)?")
_POINTS = re.compile("百分点")
_PERCENT = "百分之"
_COUNTED = re.compile(r"[个种篇项倍层次克座台张条位名组类步轮年月天秒分]")
_SMALL = 1  # 一 is more often an article than a count


def numbers_in_hanzi(text: str) -> frozenset[str]:
    """The numbers of `text` that surely are some.

    A single character counts before a measure word only: 一 stands in many words, and so do others.
    """
    bare = _POINTS.sub("％", text)
    found = set()
    for match in _NUMBER.finditer(bare.replace(_PERCENT, "％")):
        written, behind = match.group(), match.string[match.end() :]
        is_share = match.string[: match.start()].endswith("％")
        if len(written) > 1 or is_share or _COUNTED.match(behind):
            found.add(_as_digits(written))
    return frozenset(found - {str(_SMALL), "0"})


def _as_digits(written: str) -> str:
    whole, _, part = written.partition("点")
    fraction = "".join(str(_DIGITS[character]) for character in part).rstrip("0")
    return f"{_whole(whole)}.{fraction}" if fraction else str(_whole(whole))


def _whole(written: str) -> int:
    if not any(character in _TENS or character in _GROUPS for character in written):
        return int("".join(str(_DIGITS[character]) for character in written) or 0)
    total = section = digit = 0
    for character in written:
        if character in _DIGITS:
            digit = _DIGITS[character]
        elif character in _TENS:
            section += (digit or 1) * _TENS[character]
            digit = 0
        else:
            total = (total + section + digit or 1) * _GROUPS[character]
            section = digit = 0
    return total + section + digit
