"""JSON read value by value, so that memory holds one record and a bad one spoils no other.

Written here because ijson 3.6 and json-stream 2.5 stop at the first bad record and lose all that
follow. ijson also stops at the `NaN` that pandas writes and at a raw line end in a string, and
silently makes "?" of half a surrogate pair, where json-stream stops. Here each value is decoded
by itself by the standard library; where that fails, or the value is longer than a block, it is
first cut out by its brackets and quotation marks, whatever its depth.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_LONGEST_NAME = 1 << 18
_SPACE = re.compile(r"[\s\ufeff]*")
_MARK = re.compile(r"[\"\[\]{}]")
_QUOTED = re.compile(r"\"|\\.?", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)  # raw line ends and tabs in strings are taken
_NOT_YET = object()
_SCALAR = re.compile(r"[^\s,:\[\]{}\"]{1,1000}")


class Broken(ValueError):
    """The text ceases to be JSON, and nothing after `line` can be read."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


@dataclass(frozen=True, slots=True)
class Piece:
    """One value as it is written, or "" where it is longer than was asked for, and its place."""

    text: str
    line: int
    column: int
    offset: int
    known: object = _NOT_YET

    def value(self) -> object:
        """The value decoded.

        Raises:
            ValueError: it is not JSON; the message is the reason, with line and column.
        """
        if self.known is not _NOT_YET:
            return self.known
        return decoded(self.text, self.line, self.column)

    def place(self, text: str) -> int:
        """Where `text` begins in the decoded file, if it stands here as it is; else 0."""
        whole = self.text.find(f'"{text}"') + 1  # a short text may stand in a name before
        at = whole or self.text.find(text)
        return self.offset + at if at >= 0 else 0


def decoded(text: str, line: int = 1, column: int = 1) -> object:
    """The value of JSON text that begins at a line and column of its file.

    Raises:
        ValueError: it is not JSON; the message is the reason, with line and column.
    """
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        there = error.colno + (column - 1 if error.lineno == 1 else 0)
        where = f"line {line + error.lineno - 1}, column {there}"
        raise ValueError(f"not valid JSON at {where}: {error.msg}") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


class Scanner:
    """A cursor over JSON text that arrives in blocks; what it has passed is forgotten."""

    def __init__(self, coming: Iterator[str]) -> None:
        self._coming = coming
        self._buffer = ""
        self._at = 0
        self._forgotten = 0
        self._line_start = 0
        self.line = 1

    @property
    def offset(self) -> int:
        """Where the cursor stands in the decoded text."""
        return self._forgotten + self._at

    @property
    def column(self) -> int:
        """Where the cursor stands in its line, from 1."""
        return self.offset - self._line_start + 1

    def peek(self) -> str:
        """The next character that is not white space, the cursor on it; "" at the end."""
        while True:
            space = _SPACE.match(self._buffer, self._at)
            self._pass(space.end() if space else self._at)
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._more():
                return ""

    def members(self) -> Iterator[str]:
        """The names of an object's members; at each the cursor is on the value, to be passed.

        Raises:
            Broken: the object is not closed, or is none.
        """
        self._pass(self._at + 1)
        while (mark := self.peek()) != "}":
            if mark == ",":
                self._pass(self._at + 1)
                continue
            if mark != '"':
                raise self._broken("a name in quotation marks")
            name = self._name()
            if self.peek() != ":":
                raise self._broken("a colon")
            self._pass(self._at + 1)
            yield name
        self._pass(self._at + 1)

    def elements(self) -> Iterator[None]:
        """One step for each element of a list; at each the cursor is on it, to be passed.

        Raises:
            Broken: the list is not closed, or holds what is no value.
        """
        self._pass(self._at + 1)
        while (mark := self.peek()) != "]":
            if mark == ",":
                self._pass(self._at + 1)
            elif mark and mark not in "}:":
                yield
            else:
                raise self._broken("a value or the end of the list")
        self._pass(self._at + 1)

    def piece(self, longest: int) -> Piece:
        """The value at the cursor, which passes it.

        Raises:
            Broken: the text ends inside it, or it is none.
        """
        mark, line, column, offset = self.peek(), self.line, self.column, self.offset
        if not mark or mark not in '"[{':
            return Piece(self._scalar(), line, column, offset)
        try:
            value, end = _DECODER.raw_decode(self._buffer, self._at)
        except (ValueError, RecursionError):
            return Piece(self._cut(longest), line, column, offset)
        text = self._pass(end)
        return Piece(text if len(text) <= longest else "", line, column, offset, value)

    def skip(self) -> None:
        """Passes the value at the cursor."""
        self.piece(0)

    def _name(self) -> str:
        try:
            return str(self.piece(_LONGEST_NAME).value())
        except Broken:
            raise
        except ValueError as error:
            raise Broken(str(error), self.line) from error

    def _scalar(self) -> str:
        if self._at + 1000 > len(self._buffer):
            self._more()
        found = _SCALAR.match(self._buffer, self._at)
        try:
            json.loads(found.group() if found else "")
        except ValueError:
            raise self._broken("a value") from None
        return self._pass(found.end() if found else self._at)

    def _cut(self, longest: int) -> str:
        """The text of the value at the cursor, or "" if it is longer; no more than that is held."""
        parts: list[str] = []
        size = 0
        for part in self._stretches():
            size += len(part)
            if size <= longest:
                parts.append(part)
            else:
                parts.clear()
        return "".join(parts)

    def _stretches(self) -> Iterator[str]:
        """A string, list or object as it arrives; its end is where brackets and quotes are even."""
        line, column, depth, quoted = self.line, self.column, 0, False
        while True:
            at = self._at
            while match := (_QUOTED if quoted else _MARK).search(self._buffer, at):
                mark = match.group()
                if mark == "\\":  # what it escapes has not arrived
                    break
                at = match.end()
                quoted ^= mark == '"'
                depth += (mark in "[{") - (mark in "]}")
                if depth == 0 and not quoted:
                    yield self._pass(at)
                    return
            yield self._pass(match.start() if match else len(self._buffer))
            if not self._more():
                reason = f"the file ends inside what begins in line {line}, column {column}"
                raise Broken(reason, line)

    def _pass(self, to: int) -> str:
        passed = self._buffer[self._at : to]
        if lines := passed.count("\n"):
            self.line += lines
            self._line_start = self._forgotten + self._at + passed.rindex("\n") + 1
        self._at = to
        return passed

    def _more(self) -> bool:
        block = next(self._coming, "")
        self._forgotten += self._at
        self._buffer = self._buffer[self._at :] + block
        self._at = 0
        return bool(block)

    def _broken(self, expected: str) -> Broken:
        where = f"line {self.line}, column {self.column}"
        if not self.peek():
            return Broken(f"the file ends at {where}, where {expected} should be", self.line)
        return Broken(f"not valid JSON at {where}: {expected} should be there", self.line)
