"""XML as a stream of elements: one in memory at a time, and nothing is fetched that it names.

Owner of defusedxml. A document that defines entities is refused before its first record: they
are how a few hundred bytes become gigabytes, and how a file on this machine gets into a paper.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from html.entities import name2codepoint
from typing import Any, BinaryIO
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from rag.corpus.content import Content
from rag.corpus.records import Record, Rejected
from rag.errors import InputError

DEEPEST = 200  # elements inside each other that a record may have
_DEEPEST_FILE = 1_000_000  # the same for anything else; the parser keeps their names in memory
_LARGEST_ITEM = 8_000_000  # characters and elements of one record; its references count too
_LONGEST_REASON = 200
_BLOCK = 1 << 16
_LONGEST_TAG = 1 << 24  # bytes without a tag or text being complete
_FAULTS = (ParseError, ValueError, LookupError)  # the last is how an unknown encoding is told


@dataclass(frozen=True, slots=True)
class Item:
    """One element that may be a paper; `element` is None where `fault` says why it was let go."""

    ordinal: int
    line: int
    element: Element | None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Dialect:
    """A vocabulary: what it is called, its root elements (the usual one first), and its records.

    Names are local, without namespace. `record` makes a record of an element or raises ValueError
    with the reason why it is none.
    """

    name: str
    roots: tuple[str, ...]
    items: Set[str]
    record: Callable[[Item, Element], Record]


def local(tag: str) -> str:
    """The name of an element without its namespace."""
    return tag.rpartition("}")[2]


def root_of(content: Content) -> str:
    """The local name of the root element; empty where the head of the content shows none."""
    return _root(iter([content.head])) if content.start.startswith("<") else ""


def whole_root_of(content: Content) -> str:
    """The same, sought through the whole content; empty where it is no XML."""
    with content.open() as stream:
        return _root(iter(lambda: stream.read(_BLOCK), b""))


def _root(blocks: Iterator[bytes]) -> str:
    found: list[str] = []
    parser = _parser(_Target(frozenset(), found.append))
    try:
        while not found and (block := next(blocks, b"")):
            parser.feed(block)
    except _FAULTS:
        pass  # reading it with a dialect tells what is wrong
    return next(iter(found), "")


def read_dialect(content: Content, dialect: Dialect) -> Iterator[Record | Rejected]:
    """The records of a file in `dialect`; what follows a fault in its form is rejected with it.

    Raises:
        InputError: no XML, another root, or definitions of entities.
    """
    for item in _items(content, dialect):
        if item.element is None:
            yield Rejected(item.ordinal, item.line, item.fault, "Export it again.")
            continue
        try:
            yield dialect.record(item, item.element)
        except ValueError as error:
            reason = " ".join(str(error).split())[:_LONGEST_REASON]
            yield Rejected(item.ordinal, item.line, reason, "Export it with its abstract.")


def _items(content: Content, dialect: Dialect) -> Iterator[Item]:
    def check(root: str) -> None:
        if root not in dialect.roots:
            raise InputError(f"{content.label} is no {dialect.name}", cause=f"its root is <{root}>")

    target = _Target(dialect.items, check)
    with content.open() as stream:
        try:
            for _ in _fed(target, stream):
                yield from target.taken()
        except _FAULTS as error:
            yield from target.taken()
            yield _broken(target, content, error)


def _fed(target: _Target, stream: BinaryIO) -> Iterator[None]:
    """Push the file through the parser, block by block."""
    parser = _parser(target)
    target.line = lambda: int(parser.parser.CurrentLineNumber)
    silent = 0
    while block := stream.read(_BLOCK):
        events = target.events
        parser.feed(block)
        silent = 0 if target.events > events else silent + len(block)
        if silent > _LONGEST_TAG:
            raise ValueError(f"a tag, comment or entity of more than {_LONGEST_TAG:,} bytes")
        yield
    parser.close()
    yield


def _broken(target: _Target, content: Content, error: Exception) -> Item:
    """The rest of a file as one item that is none, if anything came before it.

    Raises:
        InputError: nothing came before it, so that the file is not readable at all.
    """
    reason = _reason(error)
    line = getattr(error, "position", (target.line(), 0))[0]
    if not target.begun:
        raise InputError(f"{content.label} cannot be read as XML", cause=reason) from error
    ordinal = target.count + (not target.inside)
    return Item(ordinal, line, None, f"{reason}; nothing after it can be read")


def _reason(error: Exception) -> str:
    from defusedxml.common import DefusedXmlException, EntitiesForbidden

    if isinstance(error, EntitiesForbidden):
        outside = error.sysid or error.pubid
        kind = "an external entity, which would read a file or address" if outside else "an entity"
        return f"it defines {error.name!r}, {kind}, and entities are refused"
    if isinstance(error, DefusedXmlException):
        return "it refers to something outside itself, which is refused"
    if isinstance(error, ParseError):
        line, column = error.position
        return f"not well-formed at line {line}, column {column + 1}: {_plain(error)}"
    return str(error)


def _plain(error: ParseError) -> str:
    return str(error).rpartition(": line")[0] or str(error)


def _parser(target: _Target) -> Any:
    from defusedxml.ElementTree import DefusedXMLParser

    parser = DefusedXMLParser(target=target, forbid_entities=True, forbid_external=True)
    # Exports name a DTD that is never fetched; the letters that it would define are HTML's.
    parser.entity.update({name: chr(code) for name, code in name2codepoint.items()})
    return parser


class _Target:
    """Receives the parser's events and builds the elements that are records, nothing else."""

    def __init__(self, items: Set[str], on_root: Callable[[str], None]) -> None:
        self.line: Callable[[], int] = lambda: 0
        self.events = 0
        self.count = 0
        self.begun = False
        self._items = items
        self._on_root = on_root
        self._depth = 0
        self._done: deque[Item] = deque()
        self._builder: TreeBuilder | None = None
        self._top = self._size = self._at = 0
        self._fault = ""

    @property
    def inside(self) -> bool:
        """Whether a record has begun and not ended."""
        return self._top > 0

    def taken(self) -> Iterator[Item]:
        """The items that are complete, handed out once."""
        while self._done:
            yield self._done.popleft()

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self.events += 1
        self._depth += 1
        if not self.begun:
            self._on_root(local(tag))
            self.begun = True
        if self._depth > _DEEPEST_FILE:
            raise ValueError(f"elements nested more than {_DEEPEST_FILE:,} deep")
        if not self.inside and local(tag) in self._items:
            self._begin()
        if self._depth - self._top > DEEPEST:
            self._let_go(f"elements nested more than {DEEPEST} deep")
        self._grow(1 + sum(map(len, attributes.values())))
        if self._builder:
            self._builder.start(tag, attributes)

    def data(self, text: str) -> None:
        """Text, or a piece of it."""
        self.events += 1
        self._grow(len(text))
        if self._builder:
            self._builder.data(text)

    def end(self, tag: str) -> None:
        """An element ends."""
        self.events += 1
        if self._builder:
            self._builder.end(tag)
        if self.inside and self._depth == self._top:
            element = self._builder.close() if self._builder else None
            self._done.append(Item(self.count, self._at, element, self._fault))
            self._builder, self._top = None, 0
        self._depth -= 1

    def close(self) -> None:
        """The document ends."""

    def _begin(self) -> None:
        self.count += 1
        self._top, self._size, self._fault = self._depth, 0, ""
        self._at = self.line()
        self._builder = TreeBuilder()

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > _LARGEST_ITEM:
            self._let_go(f"more than {_LARGEST_ITEM:,} characters in one record")

    def _let_go(self, fault: str) -> None:
        if self._builder:
            self._builder, self._fault = None, fault
