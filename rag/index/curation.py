"""What a person decides about the collection: papers to remove, and records that are not one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rag.errors import UsageError
from rag.index.browse import Source, sources_of
from rag.index.catalog import LOCK, Catalog
from rag.index.grouping import forget_apart, regroup, remove, set_apart
from rag.index.lock import write_lock
from rag.index.snapshot import bare_paper, read_meta
from rag.index.writer import StagedRecord, Writer


@dataclass(frozen=True, slots=True)
class RemovedRecord:
    """A record that was taken out, with all that brings it back to its place."""

    path: str
    label: str
    staged: StagedRecord


@dataclass(frozen=True, slots=True)
class Removed:
    """What a removal took out: how many papers, and their records."""

    papers: int
    records: tuple[RemovedRecord, ...] = ()


class Curator:
    """Changes the catalog by hand, one change at a time."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._lock = catalog.path.parent / LOCK

    def remove(self, paper_ids: Sequence[str]) -> int:
        """Take papers out of the collection, with every record of theirs; how many there were."""
        return self.take_out(paper_ids).papers

    def take_out(self, paper_ids: Sequence[str]) -> Removed:
        """As `remove`, and what `put_back` needs to undo it, which is kept nowhere else.

        Their files count as changed from now on: indexing one of them again brings back what it
        holds.
        """
        with write_lock(self._lock), self._catalog.writing() as writer:
            sources = [source for paper in paper_ids for source in sources_of(writer, paper)]
            taken = _taken(writer, [source.record for source in sources])
            before = writer.counts().papers
            writer.raise_revision()
            writer.forget_digests([source.record for source in sources])
            remove(writer, [source.record for source in sources])
            writer.sweep()
            removed = before - writer.counts().papers
        self._catalog.checkpoint()
        return Removed(removed, taken)

    def put_back(self, removed: Removed) -> int:
        """Undo a removal; how many papers came back. A place that was taken since is left alone."""
        with write_lock(self._lock), self._catalog.writing() as writer:
            before = writer.counts().papers
            writer.raise_revision()
            placed = (writer.put_back(one.path, one.label, one.staged) for one in removed.records)
            regroup(writer, [record for record in placed if record is not None])
            return writer.counts().papers - before

    def separate(self, paper_id: str) -> int:
        """Undo a merge: every different text of a paper becomes a paper; how many there are then.

        Raises:
            UsageError: all its sources have the same text, so there is nothing to tell apart.
        """
        with write_lock(self._lock), self._catalog.writing() as writer:
            sources = sources_of(writer, paper_id)
            contents = sorted({source.content for source in sources})
            if len(contents) < 2:
                raise UsageError(
                    f"{paper_id} has one text", cause=_places(sources), remedy="Nothing to undo."
                )
            writer.raise_revision()
            set_apart(writer, contents, contents)
            regroup(writer, [source.record for source in sources])
            return len(_papers_of(writer, contents))

    def rejoin(self, paper_id: str) -> list[str]:
        """Take back what was undone for a paper: its texts are compared as if it never was.

        Returns:
            The papers that then hold the texts that were set apart; mostly one.

        Raises:
            UsageError: no merge of this paper was undone.
        """
        with write_lock(self._lock), self._catalog.writing() as writer:
            sources = sources_of(writer, paper_id)
            contents = forget_apart(writer, [source.content for source in sources])
            if not contents:
                raise UsageError(
                    f"No merge of {paper_id} was undone",
                    cause=_places(sources),
                    remedy="`rag papers duplicates` shows what is merged.",
                )
            writer.raise_revision()
            regroup(writer, _records_of(writer, contents))
            return _papers_of(writer, contents)


def _taken(writer: Writer, records: Sequence[int]) -> tuple[RemovedRecord, ...]:
    rows = writer.connection.execute(
        "SELECT f.path, f.label, r.ordinal, r.line, r.start, r.meta, t.content, t.title,"
        " t.title_derived, t.text, t.sentences FROM records r JOIN files f ON f.id = r.file"
        " JOIN texts t ON t.id = r.text WHERE r.id IN (SELECT value FROM json_each(?))"
        " ORDER BY f.path, r.ordinal",
        (json.dumps(list(records)),),
    )
    return tuple(_record(*row) for row in rows)


def _record(
    path: str, label: str, ordinal: int, line: int, start: int, meta: str, *text: Any
) -> RemovedRecord:
    paper = replace(bare_paper(*text), meta=read_meta(meta))
    return RemovedRecord(path, label, StagedRecord(ordinal, line, start, paper))


def _records_of(writer: Writer, contents: Sequence[str]) -> list[int]:
    rows = writer.connection.execute(
        "SELECT r.id FROM records r JOIN texts t ON t.id = r.text"
        " WHERE t.content IN (SELECT value FROM json_each(?)) ORDER BY r.id",
        (json.dumps(list(contents)),),
    )
    return [row[0] for row in rows]


def _places(sources: Sequence[Source]) -> str:
    return ", ".join(f"{source.label}:{source.ordinal}" for source in sources)


def _papers_of(writer: Writer, contents: Sequence[str]) -> list[str]:
    rows = writer.connection.execute(
        "SELECT DISTINCT p.paper_id FROM records r JOIN texts t ON t.id = r.text"
        " JOIN papers p ON p.id = r.paper WHERE t.content IN (SELECT value FROM json_each(?))"
        " ORDER BY p.id",
        (json.dumps(list(contents)),),
    )
    return [row[0] for row in rows]
