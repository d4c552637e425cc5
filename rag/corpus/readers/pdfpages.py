"""The first pages of a PDF as lines, read in a process of its own.

Owner of pypdf. A PDF is a program as much as a document: a few bytes can ask for hours or for all
memory. So this module is run as `python -m rag.corpus.readers.pdfpages SECONDS PAGES`, sets limits
on itself, reads the PDF from standard input, which must be a file, and prints one JSON object:
`info` and `lines`, or `fault` with the name of one and its `detail`. Nothing else imports it.
"""

from __future__ import annotations

import json
import logging
import math
import re
import resource
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

FIRST_PAGES = 3
_MEMORY = 1 << 30  # bytes of address space
_MOST_CHARS = 100_000  # of the text of one page
_INFO = ("Title", "Author", "Keywords", "Subject", "doi")
_NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_UPRIGHT = 0.9  # cosine of the steepest line that still counts as horizontal

Line = tuple[int, float, float, str]
"""Page from 1; size in points, 0 if the line is not upright; height on the page; text."""


def main() -> None:
    """Read the PDF on standard input within the limits of the command line."""
    seconds, pages = int(sys.argv[1]), int(sys.argv[2])
    _limit(seconds)
    logging.disable()
    try:
        found = contents(sys.stdin.buffer, pages)
    except MemoryError:
        found = {"fault": "memory"}
    sys.stdout.write(json.dumps(found))


def _limit(seconds: int) -> None:
    """Bounds that hold even when the parent has died."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(seconds + 1)


def contents(stream: BinaryIO, most_pages: int) -> dict[str, object]:
    """What the module's docstring promises, for the PDF in `stream`."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError, LimitReachedError

    try:
        reader = PdfReader(stream)
        if reader.is_encrypted and not reader.decrypt(""):
            return {"fault": "encrypted"}
        if (count := len(reader.pages)) > most_pages:
            return {"fault": "pages", "detail": f"{count:,}"}
        lines = [
            line
            for number, page in enumerate(reader.pages[:FIRST_PAGES], start=1)
            for line in _lines(number, page)
        ]
        return {"info": _info(reader), "lines": lines}
    except (DependencyError, FileNotDecryptedError):
        return {"fault": "encrypted"}
    except LimitReachedError:
        return {"fault": "bomb"}
    except MemoryError:
        raise
    except Exception as error:  # a broken file makes the parser fail in every way there is
        return {"fault": "damaged", "detail": f"{type(error).__name__}: {error}"[:200]}


def _info(reader: Any) -> dict[str, str]:
    stored = reader.metadata or {}
    found = {name: stored.get(f"/{name}") for name in _INFO}
    return {name: _clean(str(value)[:2000]) for name, value in found.items() if value}


def _clean(text: str) -> str:
    """Without the control characters and halves of pairs that fonts without names leave."""
    return _NO_TEXT.sub("", text)


def _lines(number: int, page: Any) -> Iterator[Line]:
    """The lines of a page in the order of its content, which is nearly always that of reading."""
    pieces: list[tuple[str, float, float]] = []

    def visit(
        text: str, outer: Sequence[float], inner: Sequence[float], _: Any, size: float
    ) -> None:
        if text:
            pieces.append((text, size * _scale(outer, inner), _height(outer, inner)))

    page.extract_text(visitor_text=visit)
    current: list[tuple[str, float, float]] = []
    for text, size, height in _capped(pieces):
        first, *others = text.split("\n")
        current.append((first, size, height))
        for other in others:
            yield from _line(number, current)
            current = [(other, size, height)]
    yield from _line(number, current)


def _capped(pieces: list[tuple[str, float, float]]) -> Iterator[tuple[str, float, float]]:
    left = _MOST_CHARS
    for text, size, height in pieces:
        yield text[:left], size, height
        left -= len(text)
        if left <= 0:
            return


def _line(number: int, pieces: list[tuple[str, float, float]]) -> Iterator[Line]:
    """One line of pieces, as large as most of its letters; none where nothing is written."""
    written = [piece for piece in pieces if piece[0].strip()]
    if written:
        _, size, height = max(written, key=lambda piece: len(piece[0]))
        text = "".join(text for text, _, _ in pieces).strip()
        yield number, round(size, 1), round(height, 1), _clean(text)


def _scale(outer: Sequence[float], inner: Sequence[float]) -> float:
    """How much larger a letter gets; 0 if its line is not upright."""
    across = (
        inner[0] * outer[0] + inner[1] * outer[2],
        inner[0] * outer[1] + inner[1] * outer[3],
    )
    length = math.hypot(*across)
    return length if length and across[0] / length >= _UPRIGHT else 0.0


def _height(outer: Sequence[float], inner: Sequence[float]) -> float:
    return inner[4] * outer[1] + inner[5] * outer[3] + outer[5]


if __name__ == "__main__":
    main()
