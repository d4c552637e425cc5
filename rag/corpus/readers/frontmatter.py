"""The YAML between two lines `---` at the head of a Markdown file. Owner of PyYAML.

Every scalar is taken as the text that stands there: as a number, arXiv's 2401.01230 would lose its
last digit and 1e5 would be no key. Aliases are refused, because a few lines of them unfold to
gigabytes; anchors that nothing refers to do no harm.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rag.corpus.bibliography.metadata import arxiv_number, metadata, one_line, person
from rag.corpus.readers.lines import Line
from rag.corpus.records import Rejected
from rag.schema import Metadata

_NAMES = {
    "title": ("title",),
    "abstract": ("abstract", "summary"),
    "authors": ("authors", "author", "creators", "creator"),
    "year": ("year", "date", "published", "publication_date"),
    "venue": ("venue", "journal", "booktitle", "conference", "container_title"),
    "doi": ("doi",),
    "arxiv": ("arxiv", "arxiv_id", "eprint"),
    "url": ("url", "link", "pdf_url", "pdf"),
    "keywords": ("keywords", "tags", "categories"),
    "key": ("key", "id", "citekey", "slug"),
}
_NOTHING = ("", "~", "null", "Null", "NULL", "None")
_DEEPEST = 20
_REMEDY = "Write it as `name: value` lines of YAML, or remove it."


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the head of a file says of its paper; empty where it is silent."""

    title: str = ""
    abstract: str = ""
    meta: Metadata = field(default_factory=Metadata)
    notes: tuple[str, ...] = ()


def front_matter_of(
    lines: Iterator[Line], most: int
) -> tuple[FrontMatter | Rejected | None, Iterator[Line]]:
    """The front matter, and the lines after it; None and all lines where there is none.

    A rejection says why the front matter cannot be read. One that is not closed within `most`
    characters is none: the file begins with a rule.
    """
    first = next(lines, None)
    if first is None or first.text.rstrip() != "---":
        return None, itertools.chain([first] if first else [], lines)
    held, size = [first], 0
    for line in lines:
        if line.text.rstrip() in ("---", "..."):
            return _parsed("".join(one.text for one in held[1:])), lines
        held.append(line)
        size += len(line.text)
        if size > most:
            break
    return None, itertools.chain(held, lines)


def _parsed(text: str) -> FrontMatter | Rejected:
    import yaml

    source = re.sub(r"\r\n?", "\n", text)  # PyYAML takes a lone CR for a character of the value
    try:
        if refused := _refused(source):
            return refused
        value = yaml.load(source, yaml.BaseLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "a character that YAML does not allow"
        reason = f"its front matter is not YAML: {one_line(str(problem))}"
        return Rejected(1, mark.line + 2 if mark else 1, reason, _REMEDY)
    if value in (None, ""):
        return FrontMatter()
    if not isinstance(value, dict):
        return Rejected(1, 1, "its front matter is no list of names and values", _REMEDY)
    return _described(value)


def _refused(source: str) -> Rejected | None:
    """Why `source` is not to be unfolded, if it is not: seen from its events, one by one."""
    import yaml

    depth = 0
    for event in yaml.parse(source, yaml.BaseLoader):
        line = event.start_mark.line + 2
        if isinstance(event, yaml.AliasEvent):
            return Rejected(1, line, "its front matter holds a YAML alias", "Write out the value.")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            return Rejected(1, line, "its front matter is nested too deeply", _REMEDY)
    return None


def _described(values: Mapping[object, object]) -> FrontMatter:
    plain = {re.sub(r"[\s-]+", "_", str(name).strip().lower()): v for name, v in values.items()}
    found = {name: _first(plain, names) for name, names in _NAMES.items()}
    meta, notes = metadata(
        authors=_authors(found["authors"]),
        year=_text(found["year"]),
        venue=_text(found["venue"]),
        doi=_text(found["doi"]),
        arxiv=arxiv_number(_text(found["arxiv"])),
        urls=_texts(found["url"]),
        keywords=_texts(found["keywords"]),
        key=_text(found["key"]),
    )
    title = " ".join(_text(found["title"]).split())
    return FrontMatter(title, _text(found["abstract"]), meta, notes)


def _first(values: Mapping[str, object], names: tuple[str, ...]) -> object:
    return next((values[name] for name in names if _texts(values.get(name))), None)


def _texts(value: object) -> list[str]:
    """The texts in a value: its own, or those of its parts; of a part with names, its name."""
    if isinstance(value, str):
        return [] if value.strip() in _NOTHING else [value.strip()]
    if isinstance(value, dict):
        named = [value[name] for name in ("name", "given", "family", "title") if name in value]
        return [" ".join(text for part in named for text in _texts(part))] if named else []
    return [text for part in value for text in _texts(part)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return ", ".join(_texts(value))


def _authors(value: object) -> list[str]:
    """The names of a list, or those of one text separated by semicolons, "and" or commas."""
    texts = _texts(value)
    if isinstance(value, list):
        return [person(text) for text in texts]
    pieces = [piece for text in texts for piece in re.split(r";|,? (?:and|&) ", one_line(text))]
    return [person(name) for piece in pieces for name in _between_commas(piece)]


def _between_commas(text: str) -> list[str]:
    """Full names apart; but "Last, First" is one name."""
    names = [name.strip() for name in text.split(",")]
    return names if all(" " in name for name in names) else [text]
