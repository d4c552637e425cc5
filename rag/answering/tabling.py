"""Tables of what several papers say of the same things, every cell with its sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from rag.answering.abstention import holds_nothing
from rag.answering.asking import Reading
from rag.answering.citations import Numbering
from rag.answering.cues import Column
from rag.answering.events import CitationAdded, Done, Event
from rag.answering.rows import Cell, Read, RowReader, Subject, sentences_of
from rag.answering.tableform import as_markdown
from rag.errors import UsageError
from rag.index.browse import Filter, passing
from rag.index.embedding import Vectors
from rag.index.reader import IndexState
from rag.retrieval.lookup import find_paper
from rag.retrieval.search import Found
from rag.schema import Answer, Claim, Dropped, Paper, Row, Status, Table

FEWEST, MOST = 2, 12
"""Papers that are compared side by side."""

_AT_ONCE = 512  # papers whose vectors are held together
_NOTHING = "no abstract states any of it"


def compared(state: IndexState, references: Sequence[str]) -> list[Paper]:
    """The papers to compare.

    Raises:
        UsageError: they are too few or too many.
        PaperNotFound: as `find_paper`.
    """
    found = (find_paper(state.snapshot, reference) for reference in references)
    papers = list({paper.id: paper for paper in found}.values())
    if not FEWEST <= len(papers) <= MOST:
        named = "1 paper is" if len(papers) == 1 else f"{len(papers)} papers are"
        if len(papers) < len(references):
            named = f"Only {named}"
            cause = f"{' and '.join(references)} name the same"
            remedy = f"Name {FEWEST} to {MOST} different ones."
            raise UsageError(f"{named} named to compare", cause=cause, remedy=remedy)
        remedy = f"Name {FEWEST} to {MOST} different ones."
        raise UsageError(f"{named} named to compare", remedy=remedy)
    return papers


def gathered(state: IndexState, found: Found | None, filters: Sequence[Filter]) -> list[Paper]:
    """The papers to read: those that were found, or without a search all that pass the filters."""
    if found is not None:
        return [] if holds_nothing(found) else [hit.paper for hit in found.hits]
    passed = [passing(state.snapshot, wanted) for wanted in filters]
    papers = state.snapshot.all_papers()
    return [paper for paper in papers if all(paper.id in ids for ids in passed)]


def subjects(
    state: IndexState, papers: Sequence[Paper], columns: Sequence[Column]
) -> list[Subject]:
    """Papers as they are read for a table.

    Raises:
        ModelError: the embedding model failed.
    """
    wanted = state.embed([column.description for column in columns])
    result: list[Subject] = []
    for start in range(0, len(papers), _AT_ONCE):
        result += _with_cosines(state, papers[start : start + _AT_ONCE], wanted)
    return result


def _with_cosines(state: IndexState, papers: Sequence[Paper], wanted: Vectors) -> Iterator[Subject]:
    """Each paper with the cosine of its sentences to `wanted`; 0 where it is not embedded yet."""
    matrices = state.chunk_matrices([paper.id for paper in papers])
    for paper in papers:
        if paper.id not in matrices:
            yield Subject(paper, ((0.0,) * len(paper.sentences),) * len(wanted))
            continue
        cosines = (matrices[paper.id] @ wanted.T).T.tolist()
        yield Subject(paper, tuple(tuple(state.by_sentence(paper, one)) for one in cosines))


class Tabling:
    """One table being made: papers are read one by one, cells are numbered as they come."""

    def __init__(
        self,
        columns: Sequence[Column],
        reader: RowReader,
        reading: Reading,
        numbers: Mapping[str, int] | None = None,
    ) -> None:
        """`numbers` are those that papers bear already, by id."""
        self._columns = tuple(columns)
        self._reader = reader
        self._reading = reading
        self._numbering = Numbering(numbers)
        self._rows: list[Row] = []
        self._dropped: list[Dropped] = []
        self._faults: dict[str, int] = {}
        self._prompts: dict[str, None] = {}
        self._shown: dict[str, int] = {}

    def fill(
        self, given: Sequence[Subject], empty: Answer, kind: Literal["comparison", "list"]
    ) -> Iterator[Event]:
        """Read the papers, and end with the answer; `empty` is what it says where none says it."""
        for number, subject in enumerate(given, start=1):
            if self._reading.stop.given:
                break
            self._reading.notify(f"reading paper {number} of {len(given)}")
            self._add(subject.paper, self._reader.read(subject, self._columns, self._reading))
            yield from self._citations()
        yield Done(self._answer(given, empty, kind))

    def _add(self, paper: Paper, read: Read) -> None:
        self._rows.append(Row(paper, tuple(map(self._claim, read.cells))))
        self._dropped += read.dropped
        self._prompts |= dict.fromkeys(filter(None, [read.prompt]))
        if read.fault:
            self._faults[read.fault] = self._faults.get(read.fault, 0) + 1

    def _claim(self, cell: Cell | None) -> Claim | None:
        if cell is None:
            return None
        judged = cell.judgement
        claim = self._numbering.cite(cell.text, cell.support, judged.verdict)
        return replace(claim, reason=judged.reason, probability=judged.probability)

    def _citations(self) -> Iterator[CitationAdded]:
        for citation in self._numbering.citations():
            if self._shown.get(citation.paper.id) != len(citation.sentences):
                self._shown[citation.paper.id] = len(citation.sentences)
                yield CitationAdded(citation)

    def _answer(
        self, given: Sequence[Subject], empty: Answer, kind: Literal["comparison", "list"]
    ) -> Answer:
        table = Table(tuple(column.name for column in self._columns), tuple(self._rows))
        claims = tuple(cell for row in table.rows for cell in row.cells if cell is not None)
        citations = self._numbering.citations()
        cited = {citation.paper.id for citation in citations}
        broken = len(self._rows) < len(given)
        return replace(
            empty,
            kind=kind,
            status=self._status(claims, broken=broken),
            text=as_markdown(table) if claims else empty.text,
            claims=claims,
            citations=citations,
            dropped=tuple(self._dropped),
            nearest=tuple(one for one in empty.nearest if one.paper.id not in cited),
            manifest={**empty.manifest, **self._facts(given)},
            note="; ".join(filter(None, [empty.note, *self._notes(broken=broken)])),
            complete=not broken,
            missing="" if claims else _NOTHING,
            table=table,
        )

    def _status(self, claims: Sequence[Claim], *, broken: bool) -> Status:
        if not claims:
            return "abstained"
        return "partial" if broken or self._dropped or self._faults else "answered"

    def _facts(self, given: Sequence[Subject]) -> dict[str, object]:
        evidence = [f"{e.paper_id}:{e.index}" for one in given for e in sentences_of(one.paper)]
        facts: dict[str, object] = {"evidence": evidence}
        return facts | ({"prompt": ", ".join(self._prompts)} if self._prompts else {})

    def _notes(self, *, broken: bool) -> list[str]:
        told = [
            f"{count} of {len(self._rows)} papers are quoted ({fault})"
            for fault, count in self._faults.items()
        ]
        return [*told, *(["the table was stopped before its end"] if broken else [])]
