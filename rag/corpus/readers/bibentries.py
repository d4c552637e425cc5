"""The entries of a BibTeX file, cut out of the stream and parsed one by one. Owner of pybtex."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rag.corpus.content import Content
from rag.corpus.readers.lines import Line, lines_of

_OPENING = re.compile(r"(?<!\w)@\s*(?P<type>[A-Za-z]+)\s*(?P<opener>[{(])")
_NEXT_ENTRY = re.compile(r"\s{0,3}@\s*[A-Za-z]+\s*[{(]\s*[^\s,{}()=]+\s*,")
_NAME_ALONE = re.compile(r"\s*@\s*[A-Za-z]+\s*")
_HEAD = re.compile(r"@\s*(?P<type>[A-Za-z]+)\s*(?P<opener>[{(])(?:(?P<key>[^,={}\"]*),)?")
_MARK = {"{": re.compile("[{}]"), "(": re.compile('[{})"]')}
_MONTHS = "jan feb mar apr may jun jul aug sep sept oct nov dec".split()
_USED = frozenset(
    "title abstract author editor year date journal journaltitle booktitle doi eprint url keywords "
    "crossref".split()
)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry with its fields' values as text: names in lower case, `#` and `@string` resolved.

    `type` is in lower case; `line` is where it begins; `fault` says why it could not be read
    whole; `size` counts its characters, of which none are held where they are more than the limit.
    """

    line: int
    size: int
    type: str = ""
    key: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""
    notes: tuple[str, ...] = ()
    source: str = ""
    offset: int = 0

    def place_of(self, text: str) -> int:
        """Where `text`, the value of the abstract, begins in the decoded file; 0 if it does not."""
        named = re.search(r"\babstract\s*=", self.source, re.IGNORECASE)
        found = self.source.find(text, named.end() if named else 0)
        return 0 if found < 0 else self.offset + found


def entries_of(content: Content) -> Iterator[Entry]:
    """All entries in order, broken ones with their fault."""
    abbreviations, most = _Abbreviations(), content.limits.record_chars
    for block in _blocks(_joined(lines_of(content)), most):
        kind = block.type
        if kind in ("comment", "preamble"):
            if not block.closed and kind == "comment":
                yield Entry(block.line, 0, fault="this @comment is not closed; it hides the rest")
        elif kind == "string":
            _parse(block.text, abbreviations)
            abbreviations.pop_unknown()
        elif not block.closed or block.size > most:
            yield Entry(block.line, block.size, kind, fault="its braces are not closed")
        else:
            yield _entry(block, abbreviations)


class _Abbreviations(dict[str, str]):
    """What `@string` defined. Names have no case; an unknown one stands for itself."""

    def __init__(self) -> None:
        super().__init__({month: month for month in _MONTHS})
        self._unknown: list[str] = []

    def __setitem__(self, name: str, value: str) -> None:
        super().__setitem__(name.lower(), value)

    def __getitem__(self, name: str) -> str:
        if name.lower() not in self:
            self._unknown.append(name)
            return name
        return super().__getitem__(name.lower())

    def pop_unknown(self) -> list[str]:
        """The names met since the last call that were not defined."""
        names = list(dict.fromkeys(self._unknown))
        self._unknown.clear()
        return names


def _entry(block: _Block, abbreviations: _Abbreviations) -> Entry:
    head = _HEAD.match(block.text)
    if head is None:
        return Entry(block.line, block.size, block.type)
    # The key may hold what pybtex does not take in one; so it is taken out before.
    body = f"@{head['type']}{head['opener']}{block.text[head.end() :]}"
    values, error = _parse(body, abbreviations)
    unknown = abbreviations.pop_unknown()
    key = " ".join((head["key"] or "").split())
    if error:
        line = block.line + block.text.count("\n", 0, head.end()) + error.line - 1
        return Entry(block.line, block.size, block.type, key, fault=f"line {line}: {error.message}")
    fields: dict[str, str] = {}
    notes = []
    for name, value in values:
        if not fields.get(name):
            fields[name] = value
        elif name in _USED and fields[name] != value:
            notes.append(f"the field {name} is given again; the first was taken")
    notes += [f"@string {name} is not defined" for name in unknown]
    return Entry(
        block.line,
        block.size,
        block.type,
        key,
        fields,
        notes=tuple(notes),
        source=block.text,
        offset=block.offset,
    )


@dataclass(frozen=True, slots=True)
class _SyntaxFault:
    line: int
    message: str


def _parse(
    text: str, abbreviations: _Abbreviations
) -> tuple[list[tuple[str, str]], _SyntaxFault | None]:
    """The fields of the one entry in `text`, and the first thing in it that is not BibTeX."""
    from pybtex.database.input.bibtex import LowLevelParser

    errors: list[_SyntaxFault] = []
    parser = LowLevelParser(
        text,
        keyless_entries=True,
        macros=abbreviations,
        handle_error=lambda e: errors.append(_SyntaxFault(e.lineno, str(e.args[0]))),
    )
    found = next(iter(parser), None)
    fields = found[1][1] if found and found[0].lower() != "string" else []
    return [(name.lower(), "".join(parts)) for name, parts in fields], next(iter(errors), None)


class _Block:
    """What is between an `@type{` and its closing brace, while it is being read."""

    def __init__(self, kind: str, opener: str, line: int, offset: int) -> None:
        self.type = kind.lower()
        self.line = line
        self.offset = offset
        self.size = 0
        self.closed = False
        self._held: list[str] = []
        self._opener = opener
        self._depth = 0
        self._quoted = False

    @property
    def text(self) -> str:
        return "".join(self._held)

    def take(self, text: str, start: int, begin: int, most: int) -> int:
        """Takes `text` from `start` up to the closing brace; gives where it ended.

        Marks before `begin` are the entry's own opening.
        """
        end = len(text)
        for match in _MARK[self._opener].finditer(text, begin):
            if self._closes(match.group()):
                self.closed, end = True, match.end()
                break
        if self.size <= most and self.type != "comment":
            self._held.append(text[start:end])
        self.size += end - start
        return end

    def _closes(self, mark: str) -> bool:
        if mark == "{":
            self._depth += 1
        elif mark == "}" and self._depth:
            self._depth -= 1
        elif mark == '"':
            self._quoted ^= not self._depth
        else:
            closing = "}" if self._opener == "{" else ")"
            return mark == closing and not self._depth and not self._quoted
        return False


def _blocks(lines: Iterator[Line], most: int) -> Iterator[_Block]:
    """The blocks in order. A line that opens an entry ends one whose braces were not closed."""
    block: _Block | None = None
    for line in lines:
        if block and block.type != "comment" and _NEXT_ENTRY.match(line.text):
            yield block
            block = None
        position = 0
        while position < len(line.text):
            begin = position
            if block is None:
                opening = _opening(line.text, position)
                if opening is None:
                    break
                position, begin = opening.span()
                block = _Block(
                    opening["type"], opening["opener"], line.number, line.offset + position
                )
            position = block.take(line.text, position, begin, most)
            if block.closed:
                yield block
                block = None
    if block:
        yield block


def _opening(text: str, position: int) -> re.Match[str] | None:
    opening = _OPENING.search(text, position)
    return opening if opening and "%" not in text[position : opening.start()] else None


def _joined(lines: Iterator[Line]) -> Iterator[Line]:
    """`lines`, with an `@type` that stands alone put before the line that opens its brace."""
    before: Line | None = None
    for line in lines:
        if before:
            line = Line(before.text + line.text, before.number, before.offset)
        before = line if _NAME_ALONE.fullmatch(line.text) else None
        if before is None:
            yield line
