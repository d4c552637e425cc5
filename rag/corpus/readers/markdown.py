"""Markdown: one paper, or a list of papers.

One paper: the title is the front matter's, else the first heading of level 1 that names no
section, else the first other heading that names none. The text is the front matter's abstract,
else the section called Abstract or Summary, else all that stands below the title up to the
references, as it stands in the file.

A list of papers: no front matter gives a title, and at least two headings of one level (level 1 if
it has two, else level 2), none of which names a section, such as Introduction. Each of these is
the title of a paper; what stands before the first is passed over.

A file with neither headings nor front matter is plain text. Lines of fenced code are no headings.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from operator import itemgetter

from rag.corpus.bibliography.fields import Fields, fields_of
from rag.corpus.content import Content
from rag.corpus.formats import Format
from rag.corpus.readers import plain
from rag.corpus.readers.frontmatter import front_matter_of
from rag.corpus.readers.lines import Line, block_of, lines_of
from rag.corpus.records import Record, Rejected, too_large

_OPENS_FRONT_MATTER = re.compile(r"---[ \t]*(?:\r\n|\r|\n)\s*[\w-]+[ \t]*:")
_MARKS = re.compile(r" {0,3}(?P<marks>#{1,6})[ \t]")
_BOLD_HEADING = re.compile(
    r" {0,3}(?P<bold>\*\*|__)(?P<title>abstract|summary)[.:]?(?P=bold)[.:]?\s*$", re.IGNORECASE
)
_FENCE = re.compile(r" {0,3}(?P<fence>```|~~~)")
_NUMBER = re.compile(r"(?:\d[\d.]*|[IVX]+)[.)]?\s+")
_ABSTRACT = frozenset({"abstract", "summary"})
_REFERENCES = frozenset({"references", "bibliography"})
_SECTIONS = frozenset(
    "introduction background motivation method methods methodology approach experiments evaluation "
    "results discussion conclusion conclusions limitations acknowledgements acknowledgments "
    "appendix keywords authors citation".split()
).union(_ABSTRACT, _REFERENCES, {"related work", "materials and methods", "future work"})


@dataclass(frozen=True, slots=True)
class _Part:
    """A line: text where `level` is 0, else a heading of that level called `title`."""

    line: Line
    level: int = 0
    title: str = ""

    @property
    def section(self) -> str:
        """The title as sections are called: without number and case."""
        return _NUMBER.sub("", self.title, count=1).strip(" .:*_").lower()

    @property
    def is_title(self) -> bool:
        return self.level > 0 and self.section not in _SECTIONS


@dataclass(frozen=True, slots=True)
class _Body:
    """The lines of a paper as far as they may be held, and how many characters there are."""

    parts: list[_Part]
    size: int
    whole: bool


def read(content: Content) -> Iterator[Record | Rejected]:
    """The paper, or the papers, of a Markdown file."""
    most = content.limits.record_chars
    front, lines = front_matter_of(lines_of(content), most)
    if isinstance(front, Rejected):
        yield front
        return
    headings = Counter((part.level, part.is_title) for part in _parts(lines) if part.level)
    level = 0 if front and front.title else _level_of_papers(headings)
    if front is None and not headings:
        yield from plain.read(content)
        return
    parts = _parts(front_matter_of(lines_of(content), most)[1])
    if level:
        yield from _papers(parts, level, most)
    else:
        yield _paper(front or fields_of({}), _held(parts, most), most)


def _parts(lines: Iterable[Line]) -> Iterator[_Part]:
    fence = ""
    for line in lines:
        mark = _FENCE.match(line.text)
        if mark and fence in ("", mark["fence"]):
            fence = "" if fence else mark["fence"]
        yield _Part(line) if fence else _part(line)


def _part(line: Line) -> _Part:
    if not line.begins:
        return _Part(line)
    marks = _MARKS.match(line.text)
    if marks and (title := _without_closing_marks(line.text[marks.end() :].strip())):
        return _Part(line, len(marks["marks"]), title)
    bold = _BOLD_HEADING.match(line.text)
    return _Part(line, 6, bold["title"]) if bold else _Part(line)


def _without_closing_marks(title: str) -> str:
    """`title` without the marks that may close a heading: "Title ##" but not "C#"."""
    shorter = title.rstrip("#")
    return shorter.rstrip() if shorter[-1:] in ("", " ", "\t") else title


def _level_of_papers(headings: Counter[tuple[int, bool]]) -> int:
    """The level whose headings are the titles of a list of papers; 0 if it is one paper."""
    for level in (1, 2):
        if headings[level, True] > 1:
            return 0 if headings[level, False] else level
    return 0


def _papers(parts: Iterator[_Part], level: int, most: int) -> Iterator[Record | Rejected]:
    ordinal = 0
    for number, run in itertools.groupby(_numbered(parts, level), key=itemgetter(0)):
        _, heading = next(run)
        if number and heading.level == level:
            ordinal += 1
            body = _held((part for _, part in run), most)
            yield _titled(ordinal, heading.title, heading.line.number, body, most)


def _numbered(parts: Iterator[_Part], level: int) -> Iterator[tuple[int, _Part]]:
    """Each part with the number of headings of `level` or above up to it."""
    number = 0
    for part in parts:
        number += 0 < part.level <= level
        yield number, part


def _held(parts: Iterable[_Part], most: int) -> _Body:
    held, size = [], 0
    for part in parts:
        if size <= most:
            held.append(part)
        size += len(part.line.text)
    return _Body(held, size, size <= most)


def _paper(front: Fields, body: _Body, most: int) -> Record | Rejected:
    titles = [part for part in body.parts if part.is_title]
    heading = next((part for part in titles if part.level == 1), None)
    if heading is None and not front.title:
        heading = next(iter(titles), None)
    title = front.title or (heading.title if heading else "")
    if front.text:
        return Record(1, 0, front.text, title or None, front.meta, 1, front.notes)
    start = body.parts.index(heading) + 1 if heading else 0
    line = heading.line.number if heading else 1
    below = replace(body, parts=body.parts[start:])
    found = _titled(1, title, line, below, most)
    if isinstance(found, Rejected):
        return found
    return replace(found, meta=front.meta, notes=front.notes)


def _titled(ordinal: int, title: str, line: int, body: _Body, most: int) -> Record | Rejected:
    """The paper whose text is the abstract in `body`, else all of it up to the references."""
    start, end = _abstract(body.parts)
    if end == len(body.parts) and not body.whole:
        return too_large(ordinal, line, body.size, most)
    block = block_of((part.line for part in body.parts[start:end]), most)
    found = plain.titled(ordinal, title, line, block, most)
    return replace(found, title=title or None) if isinstance(found, Record) else found


def _abstract(parts: list[_Part]) -> tuple[int, int]:
    """Where the abstract begins and ends among `parts`."""
    headings = [(index, part) for index, part in enumerate(parts) if part.level]
    for index, part in headings:
        if part.section in _ABSTRACT:
            ends = (i for i, other in headings if i > index and other.level <= part.level)
            return index + 1, next(ends, len(parts))
    references = (index for index, part in headings if part.section in _REFERENCES)
    return 0, next(references, len(parts))


FORMAT = Format(
    "Markdown",
    (".md", ".markdown"),
    lambda content: _OPENS_FRONT_MATTER.match(content.start) is not None,
    read,
)
