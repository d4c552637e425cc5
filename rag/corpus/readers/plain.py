"""Plain text, in three forms.

1. A list: an optional heading line, then abstracts separated by blank lines. The heading names
   the list, not a paper.
2. One abstract: a heading line and one paragraph, which is taken however short it is. The heading
   is the paper's title.
3. One paper: a first line `# Title`, and all paragraphs after it are the text.

A line that holds nothing but white space is blank. Memory holds one record, and of a record that
is larger than the limit only its size.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from rag.corpus.content import Content
from rag.corpus.formats import Format
from rag.corpus.readers.lines import Block, Line, block_of, is_blank, lines_of
from rag.corpus.records import Record, Rejected, too_large
from rag.text import printable

_HEADING_CHARS = 200
_SHORTEST_ABSTRACT = 30


def read(content: Content) -> Iterator[Record | Rejected]:
    """The abstracts of a plain text file, each exactly as it stands there."""
    lines = itertools.dropwhile(is_blank, lines_of(content))
    first = next(lines, None)
    most = content.limits.record_chars
    if first is None:
        return
    if first.text.startswith("# ") and (title := first.text[1:].strip()):
        yield titled(1, title, first.number, block_of(lines, most), most)
    else:
        yield from _untitled(itertools.chain([first], lines), most)


def titled(ordinal: int, title: str, line: int, body: Block, most: int) -> Record | Rejected:
    """The paper with a title of its own at `line`."""
    if body.size > most:
        return too_large(ordinal, line, body.size, most)
    if not printable(body.text).strip():
        return Rejected(ordinal, line, "it has a title but no abstract", "Add its abstract.")
    return Record(ordinal, body.offset, body.text, title, line=line)


def _untitled(lines: Iterator[Line], most: int) -> Iterator[Record | Rejected]:
    """The list and the one abstract: forms 1 and 2."""
    blocks = _blocks(lines, most)
    head = list(itertools.islice(blocks, 3))
    if len(head) == 2 and _is_title(head[0].text):
        yield titled(1, head[0].text, head[0].line, head[1], most)
        return
    if len(head) > 1 and _is_heading(head[0].text):
        head = head[1:]
    for ordinal, block in enumerate(itertools.chain(head, blocks), start=1):
        yield _abstract(ordinal, block, most)


def _abstract(ordinal: int, block: Block, most: int) -> Record | Rejected:
    if block.size > most:
        return too_large(ordinal, block.line, block.size, most)
    if len(printable(block.text).strip()) < _SHORTEST_ABSTRACT:
        reason = f"{block.size} characters are too few for an abstract"
        return Rejected(ordinal, block.line, reason, "Join it to its abstract, or remove it.")
    return Record(ordinal, block.offset, block.text, line=block.line)


def _blocks(lines: Iterator[Line], most: int) -> Iterator[Block]:
    """Runs of lines that are not blank."""
    for blank, run in itertools.groupby(lines, key=is_blank):
        if not blank:
            yield block_of(run, most)


def _is_title(block: str) -> bool:
    """One short line that does not end like a sentence, but it may be a question."""
    return _is_line(block) and block[-1] not in ".。"


def _is_heading(block: str) -> bool:
    """One short line that does not end like a sentence, in any language."""
    return _is_line(block) and block[-1] not in ".!?。！？"


def _is_line(block: str) -> bool:
    return 0 < len(block) <= _HEADING_CHARS and "\n" not in block and "\r" not in block


FORMAT = Format("plain text", (".txt", ".text"), lambda _: False, read)
