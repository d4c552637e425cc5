"""Where title and abstract stand on the first pages of a paper: pure functions on its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

_SAME_SIZE = 0.04  # share by which lines of one block may differ
_LARGER = 1.05  # a heading against the text below it
_GAP = 1.7  # distance of lines, in sizes, that parts paragraphs
_SHORTEST_PARAGRAPH, _LONGEST_FALLBACK = 200, 2_000
_LONGEST_ABSTRACT = 6_000
_TITLE_LINES, _LONGEST_TITLE = 6, 400
_LONGEST_HEADING = 60

_HEADING = re.compile(
    r"(?:[01]\.?\s+)?(?:abstract|summary|a\s?b\s?s\s?t\s?r\s?a\s?c\s?t)\s*(?:[.:—–-]+\s*(?P<rest>.*))?\Z",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"(?:(?:\d|[IVX]+)\s?[.:]?\s*)?(?:introduction|background and summary)\b"
    r"|(?:author\s)?key\s?-?words?\b|index terms\b|ccs concepts|categories and subject"
    r"|(?:mathematics|ams|\d{4}|msc).{0,30}subject class|\bpacs\b|jel class|acm reference format"
    r"|1[.\s]\s*[A-Z]|©|\(c\) (?:19|20)|copyright\b|correspondence to\b|preprint\b|arxiv:",
    re.IGNORECASE,
)
_STAMP = re.compile(
    r"arXiv:(?P<id>\d{4}\.\d{4,5}|[\w.-]+/\d{7})(?:v\d+)?(?:.*?\b(?P<year>\d{4})\b)?"
)
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}|\\^]+")
_FILE_NAME = re.compile(
    r"\.(?:docx?|tex|dvi|pdf|indd|rtf|odt|qxd|ps)\b|\A(?:microsoft word|untitled|slide 1)\b"
    r"|paper title|\Adoi:|\Apii\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text. `size` in points, 0 where it is not upright; `height` on its page."""

    page: int
    size: float
    height: float
    text: str


def title_of(lines: Sequence[Line], stored: str) -> str:
    """The stored title if it is one and stands on the first page, else the largest lines there."""
    first = [line for line in _upright(lines) if line.page == 1]
    words = set(_words(" ".join(line.text for line in first)))
    own = _words(stored)
    shared = sum(word in words for word in own)
    if len(own) > 1 and not _FILE_NAME.search(stored) and (shared * 10 >= len(own) * 7):
        return stored.strip()
    return _largest(first)


def _largest(lines: Sequence[Line]) -> str:
    above = list(takewhile(lambda line: not _HEADING.match(line.text), lines)) or list(lines)
    named = [line for line in above if len(line.text) > 3 and not _STAMP.search(line.text)]
    size = max((line.size for line in named), default=0.0)
    blocks = groupby(named, lambda line: _is_near(line.size, size))
    block = next((list(group) for largest, group in blocks if largest), [])
    if len(block) == len(named) and len(block) > 1:  # all of one size: a title is one line
        block = block[:1]
    return joined([line.text for line in block[:_TITLE_LINES]])[:_LONGEST_TITLE]


def abstract_of(lines: Sequence[Line]) -> tuple[str, str]:
    """The abstract, and a note where it is not surely that; both empty where there is none."""
    upright = list(_upright(lines))
    for place, line in enumerate(upright):
        if heading := _HEADING.match(line.text):
            rest = [heading["rest"]] if heading["rest"] else []
            body, ended = _until_next_heading(upright[place + 1 :], len("".join(rest)))
            if text := joined([*rest, *body]):
                return text, "" if ended else "the end of the abstract was not found"
    text = _paragraphs(line for line in upright if line.page < 3)
    return text, "no heading of an abstract was found: the first paragraphs were taken"


def _until_next_heading(lines: Sequence[Line], size: int) -> tuple[list[str], bool]:
    body: list[str] = []
    for line in lines:
        ends = _AFTER.match(line.text) or (body and _is_heading(line, lines[0].size))
        if ends and size > 0:
            return body, True
        if size + len(line.text) > _LONGEST_ABSTRACT:
            return body, False
        body.append(line.text)
        size += len(line.text)
    return body, True


def _is_heading(line: Line, body: float) -> bool:
    return line.size > body * _LARGER and len(line.text) <= _LONGEST_HEADING


def _paragraphs(lines: Iterator[Line]) -> str:
    """The first paragraphs that are long enough to be text, up to a bound."""
    taken = ""
    for block in _blocks(list(lines)):
        text = joined([line.text for line in block])
        if len(text) < _SHORTEST_PARAGRAPH:
            if taken:
                break
            continue
        if taken and len(taken) + len(text) > _LONGEST_FALLBACK:
            break
        taken = f"{taken}\n\n{text}" if taken else text
    return _cut(taken)


def _cut(text: str) -> str:
    """At most the bound, and whole sentences if there is one."""
    if len(text) <= _LONGEST_FALLBACK:
        return text
    short = text[:_LONGEST_FALLBACK]
    return short[: short.rfind(". ") + 1] or short


def _blocks(lines: Sequence[Line]) -> Iterator[list[Line]]:
    block: list[Line] = []
    for line in lines:
        if block and not _continues(block[-1], line):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _continues(above: Line, line: Line) -> bool:
    gap = above.height - line.height
    return (
        above.page == line.page
        and _is_near(above.size, line.size)
        and -1 <= gap <= _GAP * max(above.size, 1)
    )


def joined(lines: Sequence[str]) -> str:
    """The lines as running text, words that were broken at a line's end made whole.

    A hyphen stays where the word before it has another or a capital or figure stands beside it,
    as in state-of-the-art, Bose-Einstein and COVID-19, and where the text has the word with it.
    """
    everything = " ".join(lines)
    text = ""
    for line in (" ".join(line.split()) for line in lines):
        if not line:
            continue
        if text.endswith("\u00ad"):
            text = text[:-1] + line
        elif broken := re.search(r"(?P<before>[^\W\d_][\w-]*)[-‐]\Z", text):
            text = _rejoined(text, broken["before"], line, everything)
        else:
            text = f"{text} {line}" if text else line
    return text


def _rejoined(text: str, before: str, line: str, everything: str) -> str:
    after = re.match(r"\w+", line)
    word = after.group() if after else ""
    is_compound = (
        not word[:1].islower()
        or "-" in before
        or re.search(rf"\b{re.escape(f'{before}-{word}')}\b", everything) is not None
    )
    return text + line if is_compound else text[:-1] + line


def identifiers_of(lines: Sequence[Line], info: Mapping[str, str]) -> tuple[str, str, int | None]:
    """DOI, arXiv id and the year of arXiv's stamp, from the first page and the stored fields."""
    first = "\n".join(line.text for line in lines if line.page == 1)
    stamp = _STAMP.search(first)
    doi = _DOI.search("\n".join([info.get("doi", ""), info.get("Subject", ""), first]))
    return (
        doi.group() if doi else "",
        stamp["id"] if stamp else "",
        int(stamp["year"]) if stamp and stamp["year"] else None,
    )


def _upright(lines: Sequence[Line]) -> Iterator[Line]:
    return (line for line in lines if line.size > 0)


def _is_near(size: float, other: float) -> bool:
    return abs(size - other) <= _SAME_SIZE * max(size, other)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
