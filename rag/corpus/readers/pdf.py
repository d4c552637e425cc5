"""PDF: one paper in each file, read by a child process that may die without harm."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from rag.corpus.bibliography.metadata import metadata
from rag.corpus.bibliography.names import authors_of, keywords_of
from rag.corpus.content import Content
from rag.corpus.formats import Format
from rag.corpus.readers.pdflayout import Line, abstract_of, identifiers_of, title_of
from rag.corpus.records import Record, Rejected
from rag.errors import InputError

_MARK = b"%PDF-"
_ROOT = Path(__file__).parents[3]
_SHORTEST_TEXT = 30  # characters; less than that is no abstract
_START_UP = 10  # seconds that a busy machine may need before the child counts its own
_BY_HAND = "Give its abstract as text."
_BY_OCR = "Run OCR on it, or give its abstract as text."
_FAULTS = {
    "encrypted": ("it is encrypted and asks for a password", "Save it without password."),
    "pages": ("it has {detail} pages, max_pages = {pages:,}", "Cut it, or raise max_pages."),
    "bomb": ("a part of it unpacks to more than any page needs", _BY_HAND),
    "memory": ("reading it takes more than 1 GB of memory", _BY_HAND),
    "damaged": ("it is damaged or cut off ({detail})", "Download it again."),
    "time": ("it was not read within max_pdf_seconds = {seconds}", "Raise that, or leave it out."),
    "killed": ("its reader was ended by the system ({detail})", _BY_HAND),
}  # fmt: skip


def read(content: Content) -> Iterator[Record | Rejected]:
    """The one paper of a PDF, from its first pages, or the reason why there is none.

    Raises:
        InputError: it is no PDF.
    """
    if _MARK not in content.head[:1024]:
        begins = content.start[:20] or "other bytes"
        raise InputError(
            f"{content.label} is no PDF",
            cause=f"it begins with {begins}",
            remedy="Download it again; a page that asks for a login may have been saved.",
        )
    found = _child(content)
    if "fault" in found:
        reason, remedy = _FAULTS[found["fault"]]
        limits = {"pages": content.limits.pages, "seconds": content.limits.seconds}
        yield Rejected(1, 0, reason.format(detail=found.get("detail", ""), **limits), remedy)
        return
    lines = [Line(*line) for line in found["lines"]]
    if not any(line.text for line in lines):
        yield Rejected(1, 0, "no text was found on its first pages, as in a scan", _BY_OCR)
        return
    yield _record(lines, found["info"])


def _record(lines: list[Line], info: dict[str, str]) -> Record | Rejected:
    text, note = abstract_of(lines)
    if len(text) < _SHORTEST_TEXT:
        return Rejected(1, 0, "neither an abstract nor a paragraph was found in it", _BY_HAND)
    doi, arxiv, year = identifiers_of(lines, info)
    meta, told = metadata(
        authors=stored_authors(info.get("Author", "")),
        years=[year],
        dois=[doi],
        arxivs=[arxiv],
        keywords=keywords_of(info.get("Keywords", "")),
    )
    title = title_of(lines, info.get("Title", ""))
    return Record(1, 0, text, title or None, meta, notes=(*filter(None, [note]), *told))


def stored_authors(stored: str) -> tuple[str, ...]:
    """The names in the stored field; a single word is the login of who made the file."""
    return tuple(name for name in authors_of(stored) if " " in name)


def _child(content: Content) -> dict[str, Any]:
    """What `rag.corpus.readers.pdfpages` says of the content, or the fault that ended it."""
    seconds = content.limits.seconds
    command = [
        sys.executable,
        "-m",
        "rag.corpus.readers.pdfpages",
        str(seconds),
        str(content.limits.pages),
    ]
    with _as_file(content) as file:
        try:
            done = subprocess.run(
                command,
                cwd=_ROOT,  # found wherever it is run from, and no other `rag` in its place
                stdin=file,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=seconds + _START_UP,
                start_new_session=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"fault": "time"}
    return _answer(done.returncode, done.stdout)


def _answer(code: int, output: bytes) -> dict[str, Any]:
    if code in {-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGALRM}:
        return {"fault": "time"}
    try:
        found: dict[str, Any] = json.loads(output)
    except ValueError:
        return {"fault": "killed", "detail": f"exit code {code}"}
    return found


@contextmanager
def _as_file(content: Content) -> Iterator[IO[bytes]]:
    """The content as a file of the system, which a child can be given."""
    with content.open() as stream:
        try:
            stream.fileno()
        except OSError:
            with tempfile.TemporaryFile() as copy:
                shutil.copyfileobj(stream, copy)
                copy.seek(0)
                yield copy
        else:
            yield stream


FORMAT = Format("PDF", (".pdf",), lambda content: content.head.lstrip().startswith(_MARK), read)
