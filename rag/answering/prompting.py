"""Prompts: files with `$name` placeholders, rendered strictly and known by their content.

A template has two parts parted by a line `---`: the system message, the same for every question
so that a server can keep it in its cache, and the user message.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rag.answering.fencing import fenced, suspect, without_labels
from rag.errors import ConfigError
from rag.guarding.guard import suspicious
from rag.schema import Evidence, Paper
from rag.text import legible

_WORDS_OF_A_NAME = 4
_PLACEHOLDER = re.compile(r"\$(\w+)")
_PARTS = re.compile(r"^---$\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt ready to be sent, and the version of the template that made it."""

    system: str
    user: str
    version: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """A sentence under the label by which a model may refer to it.

    `relevance` is the place that choosing gave it among the others: higher is better.
    """

    label: str
    paper: Paper
    evidence: Evidence
    relevance: float = 0.0


def label(chosen: Sequence[tuple[Paper, Evidence]]) -> list[Labelled]:
    """Labels S1, S2, … for sentences (best first), grouped by paper, in the order of the text.

    Papers come in the order of their best sentence: what is read first weighs most.
    """
    order = {paper.id: None for paper, _ in chosen}
    rank = {paper_id: place for place, paper_id in enumerate(order)}
    relevance = {(e.paper_id, e.index): -float(n) for n, (_, e) in enumerate(chosen)}
    grouped = sorted(chosen, key=lambda item: (rank[item[0].id], item[1].index))
    return [
        Labelled(f"S{number}", paper, e, relevance[e.paper_id, e.index])
        for number, (paper, e) in enumerate(grouped, start=1)
    ]


def show(sentences: Sequence[Labelled]) -> str:
    """The labelled sentences as a model reads them, under the titles of their papers.

    Where a sentence or a title looks like an order to whoever reads it, it is marked, and all of
    them are fenced; see `rag.answering.fencing`.
    """
    lines: list[str] = []
    before, found = "", False
    for item in sentences:
        if item.paper.id != before:
            title = without_labels(name_of(item.paper))
            marked = bool(title) and suspicious(title)
            lines.append(f"Paper: {suspect(title) if marked else title}".rstrip())
            before, found = item.paper.id, found or marked
        text = without_labels(legible(item.evidence.text))
        marked = suspicious(item.evidence.text)
        lines.append(f"[{item.label}] {suspect(text) if marked else text}")
        found = found or marked
    return fenced(lines) if found else "\n".join(lines)


def name_of(paper: Paper) -> str:
    """The title that its source gives, or the name of its system.

    Our own first clause says nothing that the sentences do not, and every word has to be read
    before the first claim.
    """
    derived = paper.title_derived and len(paper.title.split()) > _WORDS_OF_A_NAME
    return "" if derived else legible(paper.title)


def render(name: str, values: Mapping[str, object], own: Path | None = None) -> Rendered:
    """Fill the template `name`: that of the folder `own` if it has one, else the product's.

    Raises:
        ConfigError: the template is missing, or its placeholders and `values` do not agree.
    """
    template, version = _read(_path(name, own))
    wanted = set(_PLACEHOLDER.findall(template))
    if wanted != values.keys():
        odd = ", ".join(sorted(wanted ^ values.keys()))
        raise ConfigError(f"The prompt {name} and its values do not agree", cause=odd)
    parts = _PARTS.split(template)
    if len(parts) != 2:
        raise ConfigError(f"The prompt {name} must have one line --- between its two parts")
    system, user = (
        _PLACEHOLDER.sub(lambda m: str(values[m.group(1)]), part).strip() for part in parts
    )
    return Rendered(system, user, version)


def template(name: str, own: Path | None = None) -> str:
    """The template `name` as it stands in its file.

    Raises:
        ConfigError: it is missing.
    """
    return _read(_path(name, own))[0]


def spoken_as(persona: str, own: Path | None = None) -> str:
    """What stands before the instructions where the model is to speak as somebody, else nothing.

    Behind it come the rules, so that they have the last word.
    """
    if not persona:
        return ""
    return f"{render('persona', {'persona': legible(persona)}, own).system}\n\n"


def spoken_in(language: str, own: Path | None = None) -> str:
    """What stands behind the instructions where the answer is to be in another language.

    For English it is nothing, so that the beginning of every prompt stays the same.
    """
    return f"\n\n{render('language', {'language': language}, own).system}" if language else ""


def versions(own: Path | None = None) -> dict[str, str]:
    """The version of every prompt, by name.

    Raises:
        ConfigError: one cannot be read.
    """
    names = sorted(path.stem for path in folder().glob("*.md"))
    return {name: _read(_path(name, own))[1].partition("@")[2] for name in names}


def _path(name: str, own: Path | None) -> Path:
    file = f"{name}.md"
    return own / file if own is not None and (own / file).is_file() else folder() / file


@cache
def _read(path: Path) -> tuple[str, str]:
    """A template and its version; a file is read once, as long as the process lives."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"The prompt {path} cannot be read", cause=error.strerror or ""
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"The prompt {path} cannot be read",
            cause=f"it is not UTF-8 (byte {error.start})",
            remedy="Save it as UTF-8.",
        ) from error
    return text, f"{path.stem}@{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def folder() -> Path:
    """Where the product's templates are: beside the package in a checkout, else inside it."""
    inside = Path(__file__).parents[1] / "prompts"
    return inside if inside.is_dir() else Path(__file__).parents[2] / "prompts"


def claims_schema(labels: Sequence[str], most: int) -> dict[str, object]:
    """The JSON schema of a reply: support comes before the text and knows these labels only.

    Asked for the text first, small models leave the support empty.
    """
    claim = {
        "type": "object",
        "properties": {
            "support": {
                "type": "array",
                "items": {"type": "string", "enum": list(labels)},
                "minItems": 1,
                "maxItems": 3,
            },
            "text": {"type": "string", "minLength": 1, "maxLength": 400},
        },
        "required": ["support", "text"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"claims": {"type": "array", "items": claim, "maxItems": most}},
        "required": ["claims"],
        "additionalProperties": False,
    }
