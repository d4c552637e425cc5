"""Answers as `rag ask --json` prints them, read back: what is not of that form is refused.

Keys that are not used here are kept as they are; those that an earlier release had not may be
missing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator

from rag.errors import InputError
from rag.exporting.references import Reference
from rag.schema import Status, Verdict

_REMEDY = "`rag ask … --json` prints one that can be read."


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")


class PaperHead(_Form):
    """What names a paper wherever one is mentioned."""

    paper_id: str
    source: str
    ordinal: int
    title: str
    title_derived: bool = False

    def reference(self) -> Reference:
        """The paper as a reference, where nothing else is known of it."""
        return Reference(self.paper_id, self.source, self.ordinal, self.title, self.title_derived)


class Sentence(_Form):
    """A sentence that is relied on, verbatim."""

    text: str


class Citation(PaperHead):
    """A numbered paper and its sentences."""

    number: int
    sentences: tuple[Sentence, ...] = ()


class Claim(_Form):
    """A sentence of the answer with the numbers of its citations."""

    text: str
    citations: tuple[int, ...] = ()
    verdict: Verdict = "supported"
    reason: str = ""


class Dropped(_Form):
    """What a model wrote and checking refused."""

    text: str
    reason: str = ""


class Row(PaperHead):
    """A row of a table."""

    cells: tuple[Claim | None, ...]


class Table(_Form):
    """What several papers say of the same things."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    @model_validator(mode="after")
    def _rows_are_full(self) -> Table:
        if any(len(row.cells) != len(self.columns) for row in self.rows):
            raise ValueError("a row of the table has not a cell for each column")
        return self


class Section(_Form):
    """A part of an answer, which begins with the claim of that index."""

    title: str
    first: int


class Coverage(_Form):
    """How many papers were looked at one by one."""

    checked: int
    total: int


class AnswerForm(_Form):
    """An answer as it was printed or kept.

    `references` says more of the papers than the citations do; it is there in what was exported or
    kept, and empty in what `rag ask` prints.
    """

    question: str
    status: Status
    text: str
    claims: tuple[Claim, ...]
    citations: tuple[Citation, ...]
    dropped: tuple[Dropped, ...] = ()
    missing: str = ""
    nearest: tuple[PaperHead, ...] = ()
    coverage: Coverage | None = None
    table: Table | None = None
    sections: tuple[Section, ...] = ()
    manifest: dict[str, Any] = {}
    note: str = ""
    complete: bool = True
    references: tuple[Reference, ...] = ()

    def parts(self) -> Iterator[tuple[str, tuple[Claim, ...]]]:
        """The claims under the titles of their sections; those before the first have none."""
        bounds = [("", 0), *((one.title, one.first) for one in self.sections)]
        ends = [first for _, first in bounds[1:]] + [len(self.claims)]
        for (title, first), end in zip(bounds, ends, strict=True):
            if title or first < end:
                yield title, self.claims[first:end]

    @model_validator(mode="after")
    def _numbers_are_cited(self) -> AnswerForm:
        numbers = [citation.number for citation in self.citations]
        if len(set(numbers)) < len(numbers):
            raise ValueError("two citations have the same number")
        cells = [cell for row in self.table.rows for cell in row.cells] if self.table else []
        used = {n for claim in (*self.claims, *cells) if claim for n in claim.citations}
        if lost := sorted(used - set(numbers)):
            raise ValueError(f"a claim cites [{lost[0]}], which is not among the citations")
        return self


_ANSWER = TypeAdapter(AnswerForm)


def as_form(value: object) -> AnswerForm:
    """One answer, from the value of its JSON.

    Raises:
        ValueError: it is not of the form; the message is for a person.
    """
    try:
        return _ANSWER.validate_python(value)
    except ValidationError as error:
        raise ValueError(_told(error)) from None


def read_answers(text: str, where: str) -> tuple[AnswerForm, ...]:
    """The answers of a JSON document, or of JSON Lines as `rag ask --batch` writes them.

    A document is an answer, or an export: `{"answers": […]}`. A line that tells an error is
    passed over.

    Raises:
        InputError: there is no answer in it, or one is not of the form; the message names it.
    """
    found: list[AnswerForm] = []
    for place, value in _values(text, where):
        try:
            found.extend(map(as_form, _answers(value)))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{place} is no answer", cause=str(error), remedy=_REMEDY) from None
    if not found:
        raise InputError(f"{where} holds no answer", remedy=_REMEDY)
    return tuple(found)


def _values(text: str, where: str) -> Iterable[tuple[str, object]]:
    lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    whole = _parsed(text)
    if whole is not None or len(lines) < 2 or _parsed(lines[0][1]) is None:
        return [(where, whole)]
    return [(f"{where}:{number}", _parsed(line)) for number, line in lines]


def _parsed(text: str) -> object:
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None


def _answers(value: object) -> list[object]:
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    if isinstance(value.get("answers"), list):
        return [_with(one, value.get("references")) for one in value["answers"]]
    return [] if "error" in value and "claims" not in value else [value]


def _with(answer: object, references: object) -> object:
    """An answer of an export, with what the export knows of its papers."""
    known = isinstance(answer, dict) and isinstance(references, list)
    return {**answer, "references": references} if known else answer  # type: ignore[dict-item]


def _told(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    said = first["msg"].removeprefix("Value error, ")
    return f"{place}: {said}" if place else said
