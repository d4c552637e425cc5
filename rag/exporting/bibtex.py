"""BibTeX, in UTF-8: what has a meaning to LaTeX is escaped, maths stays maths."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from rag.corpus.bibliography.latex import decoded
from rag.exporting.names import name_of
from rag.exporting.references import Reference
from rag.text import legible, split_maths

_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\textbraceleft{}",
        "}": r"\textbraceright{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        **{sign: f"\\{sign}" for sign in "$&%#_"},
    }
)
_TYPES = {
    "journal": ("article", "journal"),
    "conference": ("inproceedings", "booktitle"),
    "preprint": ("misc", "howpublished"),
    "other": ("misc", "howpublished"),
}
_IN_ADDRESS = "!#$&'()*+,/:;=?@[]~%<>"  # braces, backslashes and spaces are not


def bibtex(references: Sequence[Reference]) -> str:
    """One entry for each reference, with an empty line between two."""
    return "\n".join(_entry(one) for one in references)


def escaped(text: str) -> str:
    """`text` as LaTeX prints it; maths whose braces do not close is text."""
    return "".join(
        part if maths and _closes(part) else part.translate(_SPECIAL)
        for part, maths in split_maths(legible(text))
    )


def _entry(reference: Reference) -> str:
    kind, _ = _TYPES[reference.sort]
    fields = "".join(f"  {name} = {{{value}}},\n" for name, value in _fields(reference) if value)
    return f"@{kind}{{{reference.key},\n{fields}}}\n"


def _fields(reference: Reference) -> Iterator[tuple[str, str]]:
    meta = reference.meta
    title = decoded(reference.title) if reference.title_derived else reference.title
    yield "title", f"{{{escaped(title)}}}"  # twice in braces: its capitals stay
    yield "author", " and ".join(map(_author, meta.authors))
    yield "year", str(meta.year or "")
    yield _TYPES[reference.sort][1], escaped(meta.venue)
    yield "doi", quote(meta.doi, safe=_IN_ADDRESS)
    if meta.arxiv:
        yield "eprint", quote(meta.arxiv, safe=_IN_ADDRESS)
        yield "archiveprefix", "arXiv"
    yield "url", quote(reference.url, safe=_IN_ADDRESS)
    yield "keywords", escaped(", ".join(meta.keywords))
    yield "abstract", escaped(decoded(reference.abstract))
    yield "note", escaped(reference.remark)


def _author(written: str) -> str:
    """As BibTeX reads three parts, in "Last, Jr, First"; what is no person in braces."""
    name = name_of(legible(written))
    if name.literal:
        return f"{{{escaped(name.literal)}}}"
    return ", ".join(_joined(part) for part in (name.family, name.suffix, name.given) if part)


def _joined(part: str) -> str:
    """A part of a name; "and" would part it from the next."""
    text = escaped(part)
    return f"{{{text}}}" if re.search(r"(?i)\band\b", part) else text


def _closes(maths: str) -> bool:
    """Whether its braces pair, as BibTeX counts them: those behind a backslash too."""
    depth = 0
    for sign in re.findall(r"[{}]", maths):
        depth += 1 if sign == "{" else -1
        if depth < 0:
            return False
    return depth == 0
