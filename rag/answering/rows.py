"""A row of a table: what one paper says of each column, read by a model or quoted without one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from rag.answering.asking import Asker, GivenUp, Reading, object_schema
from rag.answering.cells import quoted, speaks_of
from rag.answering.cues import Column
from rag.answering.marks import without_marks
from rag.answering.prompting import Labelled, label, show
from rag.answering.replies import labels_in
from rag.answering.support import Judgement, Pinned, repin
from rag.schema import Dropped, Evidence, Paper
from rag.text import legible, normalise

SENTENCES = 20
"""Sentences of an abstract that a model is shown, from its beginning."""

_ROW = "table_row"  # no column is called so: their names are given as they are read, without "_"
_TOKENS, _TOKENS_OF_A_CELL, _LONGEST_CELL = 40, 60, 300
_VERBATIM = Judgement("supported", probability=1.0)
_HOLDS = {"supported", "partly"}
_SILENT = {"", "null", "none", "n/a", "not stated", "not given", "not mentioned", "unknown"}


@dataclass(frozen=True, slots=True)
class Cell:
    """Words for a cell, the sentences that they rest on, and how these were judged."""

    text: str
    support: tuple[Pinned, ...]
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Read:
    """One paper read for all columns: a cell each, or None where it does not say.

    `dropped` is what a model wrote and checking refused; `fault` says why the paper was quoted
    though a model was there; `prompt` is the version of the prompt, empty where none was used.
    """

    cells: tuple[Cell | None, ...]
    dropped: tuple[Dropped, ...] = ()
    fault: str = ""
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """A paper to be read, with the cosine of each of its sentences to each column.

    `similarities` holds for each column one value for each sentence.
    """

    paper: Paper
    similarities: tuple[tuple[float, ...], ...] = field(repr=False)


class RowReader(Protocol):
    """Reads one paper for all columns."""

    def read(self, subject: Subject, columns: Sequence[Column], reading: Reading) -> Read:
        """The row of the paper; what goes wrong is told in it."""


class QuotingRows:
    """Quotes the words of the sentence that says what a column asks for."""

    def read(self, subject: Subject, columns: Sequence[Column], reading: Reading) -> Read:  # noqa: ARG002
        """See `RowReader.read`."""
        found = [
            quoted(subject.paper, column, similarities)
            for column, similarities in zip(columns, subject.similarities, strict=True)
        ]
        return Read(
            tuple(
                Cell(one.text, ((subject.paper, one.evidence),), _VERBATIM) if one else None
                for one in found
            )
        )


class ModelRows:
    """Has a model read the abstract, one request for each paper, and checks every cell.

    A cell whose sentences do not support it is refused. Where nothing can be read of a reply the
    paper is quoted.
    """

    def __init__(self, asker: Asker, *, doubted: bool = False) -> None:
        """`doubted`: the model fills every column with something, as small ones do.

        Then a sentence that has no sign of speaking of a column is no evidence for it, and what
        is left empty is quoted.
        """
        self._asker = asker
        self._doubted = doubted
        self._quoting = QuotingRows()

    def read(self, subject: Subject, columns: Sequence[Column], reading: Reading) -> Read:
        """See `RowReader.read`."""
        paper = subject.paper
        given = label([(paper, evidence) for evidence in sentences_of(paper)])
        names = [normalised_name(column) for column in columns]
        values = {
            "columns": "\n".join(_described(c, n) for c, n in zip(columns, names, strict=True)),
            "evidence": show(given),
        }
        schema = object_schema(_ROW, _form(names, [item.label for item in given]))
        tokens = _TOKENS + _TOKENS_OF_A_CELL * len(columns)
        try:
            reply = self._asker.ask("compare", values, schema, tokens, reading)
        except GivenUp as reason:
            return self._quoted(subject, columns, reading, str(reason))
        row = reply.value.get(_ROW)
        if not isinstance(row, Mapping):
            return self._quoted(subject, columns, reading, "the reply could not be read")
        cells = [
            self._judged(_cell(row, column, given), column, subject, likeness)
            for column, likeness in zip(columns, subject.similarities, strict=True)
        ]
        read = _read(cells, columns, paper, reply.prompt)
        return self._filled(read, subject, columns, reading) if self._doubted else read

    def _filled(
        self, read: Read, subject: Subject, columns: Sequence[Column], reading: Reading
    ) -> Read:
        quotes = self._quoting.read(subject, columns, reading).cells
        return replace(
            read, cells=tuple(one or quote for one, quote in zip(read.cells, quotes, strict=True))
        )

    def _judged(
        self, cell: Cell | None, column: Column, subject: Subject, likeness: Sequence[float]
    ) -> Cell | None:
        if cell is None or not self._doubted or cell.judgement.verdict not in _HOLDS:
            return cell
        if any(speaks_of(subject.paper, e.index, column, likeness) for _, e in cell.support):
            return cell
        return replace(cell, judgement=Judgement("unsupported", f"it is no {column.name}"))

    def _quoted(
        self, subject: Subject, columns: Sequence[Column], reading: Reading, fault: str
    ) -> Read:
        return Read(self._quoting.read(subject, columns, reading).cells, fault=fault)


def sentences_of(paper: Paper) -> Iterator[Evidence]:
    """The sentences of a paper that a model is shown."""
    for index, sentence in enumerate(paper.sentences[:SENTENCES]):
        yield Evidence(paper.id, index, sentence.text, sentence.start, sentence.end, 0.0)


def normalised_name(column: Column) -> str:
    """What a column is called before a model: its name without signs that JSON would escape."""
    return " ".join(legible(column.name).replace("_", " ").replace('"', "'").split())


def _described(column: Column, name: str) -> str:
    return f"{name}: {column.description}" if column.known else name


def _form(names: Sequence[str], labels: Sequence[str]) -> dict[str, object]:
    cell = {
        "type": "object",
        "properties": {
            "support": {"type": "string", "enum": list(labels)},
            "text": {"type": "string", "minLength": 1, "maxLength": _LONGEST_CELL},
        },
        "required": ["support", "text"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {name: {"anyOf": [cell, {"type": "null"}]} for name in names},
        "required": list(names),
        "additionalProperties": False,
    }


def _read(
    cells: Sequence[Cell | None], columns: Sequence[Column], paper: Paper, prompt: str
) -> Read:
    """The cells that hold, and what is refused."""
    kept: list[Cell | None] = []
    dropped: list[Dropped] = []
    for cell, column in zip(cells, columns, strict=True):
        holds = cell is None or cell.judgement.verdict in _HOLDS
        kept.append(cell if holds else None)
        if cell is not None and not holds:
            text = f"{paper.title}, {column.name}: {cell.text}"
            dropped.append(Dropped(text, cell.judgement.reason))
    return Read(tuple(kept), tuple(dropped), prompt=prompt)


def _cell(row: Mapping[str, object], column: Column, given: Sequence[Labelled]) -> Cell | None:
    """What a model gave for a column, judged; None where it says that nothing states it."""
    by_name = {normalise(str(name)): value for name, value in row.items()}
    value = by_name.get(normalise(normalised_name(column)))
    if not isinstance(value, Mapping) or not isinstance(value.get("text"), str):
        return None
    clean = legible(value["text"])[:_LONGEST_CELL].strip(" \"'")
    text, _ = without_marks(clean, (item.evidence.text for item in given))
    if normalise(text).rstrip(".") in _SILENT:
        return None
    named = set(labels_in(str(value.get("support", ""))))
    support, judgement = repin(text, [i for i in given if i.label in named], given, column.name)
    return Cell(text, tuple(support), judgement)
