"""CSV and TSV: a header with the names of the columns, then one record for each row."""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterator

from rag.corpus.bibliography.fields import TEXT, TITLE, UNDERSTOOD, folded, record_of
from rag.corpus.bibliography.metadata import shortened
from rag.corpus.bibliography.values import is_void
from rag.corpus.content import Content
from rag.corpus.formats import Format
from rag.corpus.readers.lines import Block, whole_lines
from rag.corpus.records import Record, Rejected
from rag.errors import InputError

_DELIMITERS = ",;\t|"
_PER_RECORD = 5  # how much longer than title and text a row may be, with its other cells
_LARGEST_CELL = 2**31 - 1  # rows are measured here; csv's own limit would lose its place
_LONGEST_NAME = 60
_EXCEL_HINT = re.compile(r"sep=(.)[\r\n]+")


class _TooLong(Exception):
    """A row goes on past the limit, most likely because a quotation mark is not closed."""


class _Lines:
    """The lines of a file as csv takes them, which remembers those of the row at hand."""

    def __init__(self, lines: Iterator[Block], longest_row: int) -> None:
        self._coming = lines
        self._again: deque[Block] = deque()
        self._longest = longest_row
        self._size = 0
        self.row: list[Block] = []
        self.line = 1  # where the row begins
        self.offset = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if self._size > self._longest:
            raise _TooLong
        line = self._again.popleft() if self._again else next(self._coming)
        self.row.append(line)
        self._size += line.size
        if line.size > self._longest:
            raise _TooLong
        return line.text

    def next_row(self) -> None:
        """Forgets the row at hand."""
        self.line += len(self.row)
        self.offset += self._size
        self.row, self._size = [], 0

    def back_to_the_second(self) -> None:
        """All lines of the row but its first are to come again."""
        self._again.extendleft(reversed(self.row[1:]))
        self.row = self.row[:1]
        self._size = self.row[0].size if self.row else 0

    def place(self, text: str) -> int:
        """Where `text` begins in the decoded file, if it stands in the row as it is; else 0."""
        at = "".join(line.text for line in self.row).find(text)
        return self.offset + at if at >= 0 else 0


def read(content: Content) -> Iterator[Record | Rejected]:
    """The rows as records; a row that does not fit the header is told, and the next are read.

    Raises:
        InputError: no column is known to hold abstracts.
    """
    delimiter, hint = _delimiter(content.start)
    most = content.limits.record_chars * _PER_RECORD
    lines = _Lines(whole_lines(content, most), most)
    rows = _rows(lines, delimiter)
    header: list[str] = []
    ordinal = 0
    for row in rows:
        if isinstance(row, list) and (not any(map(str.strip, row)) or row == hint):
            continue
        if not header:
            header = _header(row, content.label)
            continue
        ordinal += 1
        yield _record(ordinal, header, row, lines)


def _record(
    ordinal: int, header: list[str], row: list[str] | str, lines: _Lines
) -> Record | Rejected:
    if isinstance(row, str):
        remedy = "Double the quotation marks inside a cell, or shorten it."
        return Rejected(ordinal, lines.line, row, remedy)
    if len(row) < len(header) or any(map(str.strip, row[len(header) :])):
        given = "1 cell" if len(row) == 1 else f"{len(row)} cells"
        reason = f"{given}, but the header has {len(header)}"
        return Rejected(ordinal, lines.line, reason, "Quote cells that hold a delimiter.")
    cells: dict[str, object] = {}
    for name, cell in zip(header, row, strict=False):
        if not is_void(cell):
            cells.setdefault(name, cell)
    return record_of(cells, ordinal, lines.line, lines.place)


def _header(row: list[str] | str, label: str) -> list[str]:
    names = [name.strip() for name in row] if isinstance(row, list) else []
    if not {folded(name) for name in names} & set(TEXT):
        raise InputError(
            f"{label} has no column for abstracts",
            cause=f"its columns: {', '.join(map(shortened, names[:20])) or row}",
            remedy=f"Name one of them {UNDERSTOOD.replace('passage, ', 'passage or ')}.",
        )
    return names


# --- Rows ----------------------------------------------------------------------------------


def _rows(lines: _Lines, delimiter: str) -> Iterator[list[str] | str]:
    """Each row as its cells, or the reason why it is none.

    Where a quotation mark is not closed or not doubled, the row is taken to end with its first
    line, so that it does not swallow those after it. TSV without quoting is read as it stands.
    """
    csv.field_size_limit(_LARGEST_CELL)  # of the whole process, and only ever raised
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        row: list[str] | str
        try:
            row = next(rows)
        except StopIteration:
            return
        except (csv.Error, _TooLong) as error:
            lines.back_to_the_second()
            row = _first_line(lines, delimiter, error)
        yield row
        lines.next_row()


def _first_line(lines: _Lines, delimiter: str, error: Exception) -> list[str] | str:
    """What becomes of the first line of a row that is none."""
    first = lines.row[0]
    if first.size and not first.text:
        return f"a row of {first.size:,} characters, over {_PER_RECORD} times max_record_chars"
    if delimiter == "\t":
        return first.text.rstrip("\r\n").split("\t")
    return _reason(error)


def _reason(error: Exception) -> str:
    if isinstance(error, _TooLong) or "unexpected end" in str(error):
        return "a quotation mark is opened and not closed"
    return f"a quotation mark stands inside a quoted cell ({error})"


# --- What it looks like --------------------------------------------------------------------


def _delimiter(start: str) -> tuple[str, list[str]]:
    """What divides the cells, and the row that only says so, as Excel writes it."""
    if hint := _EXCEL_HINT.match(start):
        return hint.group(1), next(csv.reader([hint.group()], delimiter=hint.group(1)))
    headers = {mark: _first_row(start, mark) for mark in _DELIMITERS}
    return max(headers, key=lambda mark: (_knows(headers[mark]), len(headers[mark]))), []


def _first_row(start: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(start.splitlines(keepends=True), delimiter=delimiter), [])
    except csv.Error:
        return []


def _knows(header: list[str]) -> int:
    """How many of the names are known to hold the text or the title."""
    return sum(folded(name) in {*TEXT, *TITLE} for name in header)


def _recognises(content: Content) -> bool:
    """Whether the first line names two columns or more and one of them for the text.

    Prose begins with a comma in its first line often enough, but its parts are longer than names
    or end like a sentence, and a blank line follows its heading.
    """
    start = _EXCEL_HINT.sub("", content.start, count=1)
    delimiter, _ = _delimiter(content.start)
    names = [name.strip() for name in _first_row(start, delimiter)]
    looks_named = all(len(name) <= _LONGEST_NAME for name in names) and names[-1:] != [""]
    known = any(folded(name) in TEXT for name in names)
    ends_like_prose = names[-1:] and names[-1].endswith((".", "!", "?"))
    is_heading = any(not line.strip() for line in start.splitlines()[1:2])
    return len(names) > 1 and known and looks_named and not ends_like_prose and not is_heading


FORMAT = Format("table", (".csv", ".tsv", ".tab"), _recognises, read, "row below a header")
