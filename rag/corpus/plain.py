"""Plain text: an optional heading line, then abstracts separated by blank lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.corpus.content import Content
from rag.corpus.formats import Format
from rag.corpus.records import Record, Rejected
from rag.text import printable

_BLANK_LINES = re.compile(r"(?:\r\n|\r|\n)[^\S\r\n]*(?:\r\n|\r|\n)\s*")
_HEADING_CHARS = 200
_SHORTEST_ABSTRACT = 30


def read(content: Content) -> Iterator[Record | Rejected]:
    """The abstracts of a plain text file, each exactly as it stands there."""
    text = content.text()
    blocks = list(_blocks(text))
    if len(blocks) > 1 and _is_heading(blocks[0][1]):
        blocks = blocks[1:]
    for ordinal, (offset, block) in enumerate(blocks, start=1):
        line = text.count("\n", 0, offset) + 1
        if len(printable(block).strip()) < _SHORTEST_ABSTRACT:
            reason = f"{len(block)} characters are too few for an abstract"
            yield Rejected(ordinal, line, reason)
        else:
            yield Record(ordinal, offset, block, line=line)


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for end, following in [*(m.span() for m in _BLANK_LINES.finditer(text)), (len(text),) * 2]:
        block = text[start:end]
        if stripped := block.strip():
            yield start + block.index(stripped), stripped
        start = following


def _is_heading(block: str) -> bool:
    """One short line that does not end like a sentence, in any language."""
    return len(block) <= _HEADING_CHARS and "\n" not in block and block[-1] not in ".!?。！？"


FORMAT = Format("plain text", (".txt", ".text"), lambda _: False, read)
