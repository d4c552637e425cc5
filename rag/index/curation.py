"""What a person decides about the collection: papers to remove, and records that are not one."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rag.errors import UsageError
from rag.index.browse import Source, sources_of
from rag.index.catalog import LOCK, Catalog
from rag.index.grouping import forget_apart, regroup, remove, set_apart
from rag.index.lock import write_lock
from rag.index.writer import Writer


class Curator:
    """Changes the catalog by hand, one change at a time."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._lock = catalog.path.parent / LOCK

    def remove(self, paper_ids: Sequence[str]) -> int:
        """Take papers out of the collection, with every record of theirs; how many there were.

        Their files count as changed from now on: indexing one of them again brings back what it
        holds.
        """
        with write_lock(self._lock), self._catalog.writing() as writer:
            sources = [source for paper in paper_ids for source in sources_of(writer, paper)]
            before = writer.counts().papers
            writer.raise_revision()
            writer.forget_digests([source.record for source in sources])
            remove(writer, [source.record for source in sources])
            writer.sweep()
            removed = before - writer.counts().papers
        self._catalog.checkpoint()
        return removed

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
