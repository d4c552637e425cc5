"""A JSON file as a whole: a list of records, an object with such lists in it, or single records.

Which list of an object holds the records is found by looking through it once before it is read:
one with a usual name (`results`, `message.items`, …), else those whose first element looks like a
record, else the only list of objects. An object whose members are records, as `{"id": {…}}`, gives
these. Two levels are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from rag.corpus.bibliography.fields import (
    ABSTRACT,
    TEXT,
    TITLE,
    UNDERSTOOD,
    WRAPS,
    folded,
)
from rag.corpus.bibliography.metadata import shortened
from rag.corpus.content import Content
from rag.corpus.formats import Format
from rag.corpus.readers.jsonl import PER_RECORD, is_told_by_lines, record_in
from rag.corpus.readers.jsonscan import Broken, Piece, Scanner
from rag.corpus.records import Record, Rejected
from rag.errors import InputError

_LISTS = frozenset(
    "results data papers notes items hits articles publications entries records documents docs "
    "works collection rows result".split()
)
_ENOUGH = 5000  # members of an object and of those in it, to see what it is
_STARTS = re.compile(r"\[\s*(?:\[\s*[\[{\"\]\d-]|[{\"\]]|null\b|\Z)|\{\s*(?:[\"}]|\Z)")

_Path = tuple[str, ...]
_Shape = Literal["record list", "object list", "object", "other"]


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of the object, or of an object in it; a list is told by its first element."""

    path: _Path
    shape: _Shape


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the records are: in the lists at `lists`, else the objects that are `members`.

    With neither, each value of the file is a record or a list of them.
    """

    lists: frozenset[_Path] = field(default_factory=frozenset)
    members: bool = False


def read(content: Content) -> Iterator[Record | Rejected]:
    """The records one by one; a bad one is told with line and column and the next are read.

    Raises:
        InputError: not JSON from its beginning on, or an object without anything like records.
    """
    ordinal, most = 0, content.limits.record_chars * PER_RECORD
    try:
        for name, piece in _pieces(Scanner(content.blocks()), _layout_of(content), most):
            ordinal += 1
            yield record_in(piece, ordinal, most, name)
    except Broken as error:
        if not ordinal:
            raise InputError(
                f"{content.label} is not readable as JSON",
                cause=str(error),
                remedy="Export or download it again.",
            ) from error
        reason = f"{error}; the rest is not read"
        yield Rejected(ordinal + 1, error.line, reason, "Export or download it again.")


# --- Where the records are -----------------------------------------------------------------


def _layout_of(content: Content) -> _Layout:
    scanner = Scanner(content.blocks())
    if scanner.peek() != "{":
        return _Layout()
    members = []
    try:
        for member in islice(_members(scanner), _ENOUGH):
            members.append(member)
            if _is_usual(member) and not _has(members, ABSTRACT):
                return _Layout(frozenset([member.path]))
    except Broken:  # it is read as far as it goes
        return _best(members) or _Layout()
    if any(map(_is_cell_of_a_column, members)):
        raise InputError(
            f"{content.label} holds its records by its columns",
            remedy='Write it as a list of records (pandas: orient="records").',
        )
    if layout := _best(members):
        return layout
    names = ", ".join(dict.fromkeys(shortened(member.path[0]) for member in members))
    raise InputError(
        f"{content.label} holds no records that are understood",
        cause=f"its names: {names[:200]}" if names else "an empty object",
        remedy=f"Make it a list of objects with one of {UNDERSTOOD}.",
    )


def _members(scanner: Scanner) -> Iterator[_Member]:
    for name in scanner.members():
        if scanner.peek() != "{":
            yield from _member(scanner, (name,))
            continue
        yield _Member((name,), "object")
        for inner in scanner.members():
            yield from _member(scanner, (name, inner))


def _member(scanner: Scanner, path: _Path) -> Iterator[_Member]:
    """The member whose value is at the cursor; what is left of that is passed when asked for more.

    So a long list is not gone through where its name is enough.
    """
    if (mark := scanner.peek()) == "[":
        elements = scanner.elements()
        yield _Member(path, _shape(scanner, elements))
        for _ in elements:
            scanner.skip()
    else:
        yield _Member(path, "object" if mark == "{" else "other")
        scanner.skip()


def _shape(scanner: Scanner, elements: Iterator[None]) -> _Shape:
    """The shape of a list by its first element, which is passed."""
    for _ in elements:
        if scanner.peek() != "{":
            scanner.skip()
            return "other"
        names = set()
        for name in scanner.members():
            names.add(folded(name))
            scanner.skip()
        return "record list" if names & {*TEXT, "title"} else "object list"
    return "other"


def _is_usual(member: _Member) -> bool:
    return member.shape.endswith("list") and folded(member.path[-1]) in _LISTS


def _has(members: Iterable[_Member], names: Iterable[str]) -> bool:
    """Whether the object itself, or the inner one that holds its record, has one of the names."""
    known = set(names)
    return any(folded(member.path[-1]) in known and _is_of_the_record(member) for member in members)


def _is_cell_of_a_column(member: _Member) -> bool:
    """Whether it is as pandas writes tables unless told otherwise: `{"abstract": {"0": …}}`."""
    is_numbered = len(member.path) == 2 and member.path[1].isdecimal()
    return is_numbered and folded(member.path[0]) in {"abstract", "text", "summary", "title"}


def _is_of_the_record(member: _Member) -> bool:
    outer, last = folded(member.path[0]), folded(member.path[-1])
    if member.shape.endswith("list") and last not in ABSTRACT:
        return False
    if len(member.path) == 1:
        return not (member.shape == "object" and outer in WRAPS)
    return outer in WRAPS


def _best(members: list[_Member]) -> _Layout | None:
    if _has(members, ABSTRACT):
        return _Layout()
    records = [member.path for member in members if member.shape == "record list"]
    if records:
        return _Layout(frozenset(records))
    if _has(members, [*TEXT, *TITLE]):
        return _Layout()
    if any(len(m.path) == 2 and folded(m.path[1]) in {*TEXT, *TITLE} for m in members):
        return _Layout(members=True)
    lists = [member.path for member in members if member.shape == "object list"]
    return _Layout(frozenset(lists)) if len(lists) == 1 else None


# --- Reading them --------------------------------------------------------------------------


def _pieces(scanner: Scanner, layout: _Layout, most: int) -> Iterator[tuple[str, Piece]]:
    """Each record with the name under which it stands, if it has one, and what is written of it."""
    whole = not layout.lists and not layout.members
    while mark := scanner.peek():
        if mark == "[":
            for _ in scanner.elements():
                yield "", scanner.piece(most)
        elif mark == "{" and not whole:
            yield from _inside(scanner, layout, (), most)
        elif mark == "{":
            yield "", scanner.piece(most)
        else:
            where = f"line {scanner.line}, column {scanner.column}"
            raise Broken(f"neither a list nor an object at {where}", scanner.line)


def _inside(
    scanner: Scanner, layout: _Layout, path: _Path, most: int
) -> Iterator[tuple[str, Piece]]:
    for name in scanner.members():
        here, mark = (*path, name), scanner.peek()
        if mark == "[" and here in layout.lists:
            for _ in scanner.elements():
                yield "", scanner.piece(most)
        elif mark == "{" and layout.members:
            yield name, scanner.piece(most)
        elif mark == "{" and any(one[: len(here)] == here for one in layout.lists):
            yield from _inside(scanner, layout, here, most)
        else:
            scanner.skip()


def _recognises(content: Content) -> bool:
    """Whether it begins like JSON; a single line longer than the head may be either kind."""
    is_one_line = "\n" not in content.start
    return bool(_STARTS.match(content.start)) and (is_one_line or not is_told_by_lines(content))


FORMAT = Format("JSON", (".json",), _recognises, read, "record")
