"""The registry: which reader takes a file, by what it holds and by what it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rag.corpus.content import Content
from rag.corpus.records import Record, Rejected


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file. `recognises` looks at the head of the content, never at its name.

    `holds` is what people are told was expected where nothing like it is found.
    """

    name: str
    suffixes: tuple[str, ...]
    recognises: Callable[[Content], bool]
    read: Callable[[Content], Iterator[Record | Rejected]]
    holds: str = "abstract"


def recognise(content: Content, formats: Sequence[Format]) -> Format | None:
    """The format that the content shows, else the one that its suffix names, else None.

    Where several recognise the content, the one that the suffix names goes first, then the order
    of `formats`, strict ones before lenient ones.
    """
    seen = [one for one in formats if one.recognises(content)]
    named = [one for one in formats if content.suffix in one.suffixes]
    both = [one for one in seen if one in named]
    return next(iter([*both, *seen, *named]), None)
