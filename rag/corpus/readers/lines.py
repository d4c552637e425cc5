"""Lines and stretches of a file with their places, for readers of text by the line."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter

from rag.corpus.content import Content


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its end, or a piece of a long one: its number from 1 and where it begins.

    `begins`: it is no later piece. `blank`: nothing but white space so far.
    """

    text: str
    number: int
    offset: int
    begins: bool = True
    blank: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a file, the line where it begins and the offset of its first character.

    `size` counts its characters; `text` is empty where they are more than may be held.
    """

    text: str
    line: int
    offset: int
    size: int


def lines_of(content: Content) -> Iterator[Line]:
    """The lines with their places. A line may come in pieces, of which the last has its end."""
    number, offset, begins, blank = 1, 0, True, True
    for text in content.lines():
        blank = (begins or blank) and not text.strip()
        yield Line(text, number, offset, begins, blank)
        begins = text.endswith(("\n", "\r"))
        number += begins
        offset += len(text)


def whole_lines(content: Content, most: int) -> Iterator[Block]:
    """Each line with its end as one block."""
    for number, pieces in itertools.groupby(lines_of(content), key=attrgetter("number")):
        held: list[str] = []
        size = end = 0
        for piece in pieces:
            size += len(piece.text)
            end = piece.offset + len(piece.text)
            if size <= most:
                held.append(piece.text)
            else:
                held.clear()
        yield Block("".join(held), number, end - size, size)


def block_of(lines: Iterable[Line], most: int) -> Block:
    """`lines` as one block without the white space around it.

    Those that would make it larger than `most` are only counted.
    """
    solid_lines = itertools.dropwhile(is_blank, lines)
    first = next(solid_lines, None)
    if first is None:
        return Block("", 0, 0, 0)
    held = [first.text.lstrip()]
    indent = len(first.text) - len(held[0])
    size = len(held[0])
    solid = len(held[0].rstrip())  # up to the last character that is not white space
    for line in solid_lines:
        if size < most:
            held.append(line.text)
        if not is_blank(line):
            solid = size + len(line.text.rstrip())
        size += len(line.text)
    text = "".join(held)[:solid] if solid <= most else ""
    return Block(text, first.number, first.offset + indent, solid)


def is_blank(line: Line) -> bool:
    """Whether the line holds nothing but white space."""
    return line.blank
