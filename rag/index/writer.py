"""The catalog in the hands of the one process that may change it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag.index import lexical
from rag.index.embedding import Vectors
from rag.index.identity import bands, identity_keys, shingles, successors
from rag.index.snapshot import STORED, Snapshot, read_meta, text_row, written_meta
from rag.schema import Paper

_SIMILAR_FILES = 500  # records of a file whose edited texts are compared with each other, at most


@dataclass(frozen=True, slots=True)
class StagedRecord:
    """A record as it was read, before it is known which paper it is."""

    ordinal: int
    line: int
    start: int
    paper: Paper


@dataclass(frozen=True, slots=True)
class FileChange:
    """What publishing a file did: records that are new or other, and those to be deleted."""

    changed: list[int]
    gone: list[int]


class Writer(Snapshot):
    """One change of the catalog."""

    def set(self, key: str, value: str) -> None:
        """Record what the index is built with."""
        self.connection.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, value),
        )

    def unset(self, key: str) -> None:
        """Forget a setting."""
        self.connection.execute("DELETE FROM meta WHERE key = ?", (key,))

    def raise_revision(self) -> int:
        """Begin a new revision: papers stored from now on carry it."""
        revision = self.revision + 1
        self.set("revision", str(revision))
        return revision

    # --- vectors

    def store_matrices(self, model: str, matrices: Mapping[str, Vectors]) -> None:
        """Keep chunk vectors by content, before or after their papers are there."""
        self.connection.executemany(
            "INSERT OR REPLACE INTO vectors (content, model, matrix) VALUES (?, ?, ?)",
            [(key, model, m.astype(STORED).tobytes()) for key, m in matrices.items()],
        )

    def forget_vectors(self, embedding_model: str) -> None:
        """Remove all vectors of an embedding model, however the papers were cut."""
        self.connection.execute(
            "DELETE FROM vectors WHERE substr(model, 1, ?) = ?",
            (len(embedding_model) + 1, f"{embedding_model}/"),
        )

    def drop_vectors(self, rows: Sequence[int]) -> None:
        """Remove the vectors that stand at the given places; see `vector_rows`."""
        self.connection.executemany("DELETE FROM vectors WHERE rowid = ?", [(row,) for row in rows])

    def renew_papers(self, revision: int) -> None:
        """Have every paper count as new: no earlier generation speaks for it."""
        self.connection.execute("UPDATE papers SET revision = ?", (revision,))

    # --- staging

    def forget_staged(self) -> None:
        """Drop what a run that did not finish has read; its vectors stay."""
        self.connection.execute("DELETE FROM staged")

    def stage(self, path: str, records: Iterable[StagedRecord]) -> None:
        """Keep what the file at `path` holds until it is published."""
        for one in records:
            self.connection.execute(
                "INSERT OR REPLACE INTO staged VALUES (?, ?, ?, ?, ?, ?)",
                (
                    *(path, one.ordinal, one.line, one.start),
                    *(self._text_key(one.paper), written_meta(one.paper.meta)),
                ),
            )

    def drop_staged(self, path: str) -> None:
        """Drop what was read of a file that turned out to be unreadable."""
        self.connection.execute("DELETE FROM staged WHERE path = ?", (path,))

    def _text_key(self, paper: Paper) -> int:
        row = self.connection.execute(
            "SELECT id FROM texts WHERE content = ?", (paper.content,)
        ).fetchone()
        if row:
            return int(row[0])
        (key,) = self.connection.execute(
            "INSERT INTO texts (content, title, title_derived, text, sentences)"
            " VALUES (?, ?, ?, ?, ?) RETURNING id",
            text_row(paper),
        ).fetchone()
        self.connection.executemany(
            "INSERT OR IGNORE INTO bands VALUES (?, ?)",
            [(band, key) for band in bands(shingles(paper.text))],
        )
        return int(key)

    # --- publishing

    def publish_file(self, path: str, label: str, digest: str) -> FileChange:
        """Make what was staged for `path` what the file holds.

        A record that was there keeps its identity: at the same place, or with the same text
        elsewhere in the file, or under the source's own name for it, or in other words.
        """
        (file,) = self.connection.execute(
            "INSERT INTO files (path, label, digest) VALUES (?, ?, ?)"
            " ON CONFLICT (path) DO UPDATE SET label = excluded.label, digest = excluded.digest"
            " RETURNING id",
            (path, label, digest),
        ).fetchone()
        old = {
            row[0]: tuple(row[1:])
            for row in self.connection.execute(
                "SELECT id, ordinal, text, meta FROM records WHERE file = ? ORDER BY ordinal",
                (file,),
            )
        }
        by_text: dict[int, list[int]] = {}
        for record, (_, text, _) in old.items():
            by_text.setdefault(text, []).append(record)
        changed: list[int] = []
        fresh = []
        for row in self._staged(path):
            ordinal, line, start, text, meta = row
            if by_text.get(text):
                record = by_text[text].pop(0)
                if old[record][2] != meta:
                    changed.append(record)
                self._place(record, ordinal, line, start, text, meta)
                del old[record]
            else:
                fresh.append(row)
        replaced = self._successors(list(old), fresh)
        for index, row in enumerate(fresh):
            if index in replaced:
                self._place(replaced[index], *row)
                changed.append(replaced[index])
                del old[replaced[index]]
            else:
                changed.append(self._insert(file, row))
        for record in changed:
            self._identify(record)
        self.drop_staged(path)
        return FileChange(changed, list(old))

    def _staged(self, path: str) -> Iterator[tuple[int, int, int, int, str]]:
        rows = self.connection.execute(
            "SELECT ordinal, line, start, text, meta FROM staged WHERE path = ? ORDER BY ordinal",
            (path,),
        ).fetchall()
        yield from rows

    def _place(
        self, record: int, ordinal: int, line: int, start: int, text: int, meta: str
    ) -> None:
        self.connection.execute(
            "UPDATE records SET ordinal = ?, line = ?, start = ?, text = ?, meta = ? WHERE id = ?",
            (ordinal, line, start, text, meta, record),
        )

    def _insert(self, file: int, row: tuple[int, int, int, int, str]) -> int:
        (record,) = self.connection.execute(
            "INSERT INTO records (file, ordinal, line, start, text, meta)"
            " VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
            (file, *row),
        ).fetchone()
        return int(record)

    def _successors(
        self, left: list[int], fresh: list[tuple[int, int, int, int, str]]
    ) -> dict[int, int]:
        """Which of the records that are `left` each of the `fresh` ones replaces."""
        if not left or not fresh:
            return {}
        alike = len(left) <= _SIMILAR_FILES and len(fresh) <= _SIMILAR_FILES
        old = {}
        for record in left:
            text, meta = self._record(record)
            old[record] = (read_meta(meta).key, self._words(text) if alike else "")
        new = [(read_meta(row[4]).key, self._words(row[3]) if alike else "") for row in fresh]
        return successors(old, new)

    def _record(self, record: int) -> tuple[int, str]:
        row = self.connection.execute(
            "SELECT text, meta FROM records WHERE id = ?", (record,)
        ).fetchone()
        return int(row[0]), str(row[1])

    def _words(self, text: int) -> str:
        row = self.connection.execute("SELECT text FROM texts WHERE id = ?", (text,)).fetchone()
        return str(row[0])

    def _identify(self, record: int) -> None:
        """Note what names the paper of a record."""
        text, meta = self._record(record)
        title, derived = self.connection.execute(
            "SELECT title, title_derived FROM texts WHERE id = ?", (text,)
        ).fetchone()
        self.connection.execute("DELETE FROM identities WHERE record = ?", (record,))
        self.connection.executemany(
            "INSERT OR IGNORE INTO identities VALUES (?, ?)",
            [(key, record) for key in identity_keys(None if derived else title, read_meta(meta))],
        )

    def put_back(self, path: str, label: str, one: StagedRecord) -> int | None:
        """Insert a record where it stood before it was removed; None where another stands there.

        A file that was forgotten since counts as changed, as one does of which records were
        removed.
        """
        self.connection.execute(
            "INSERT OR IGNORE INTO files (path, label, digest) VALUES (?, ?, '')", (path, label)
        )
        (file,) = self.connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
        there = self.connection.execute(
            "SELECT 1 FROM records WHERE file = ? AND ordinal = ?", (file, one.ordinal)
        ).fetchone()
        if there:
            return None
        place = (one.ordinal, one.line, one.start)
        meta = written_meta(one.paper.meta)
        record = self._insert(file, (*place, self._text_key(one.paper), meta))
        self._identify(record)
        return record

    def relabel_file(self, path: str, label: str) -> None:
        """Name a file as it was named last, alone or through its folder."""
        self.connection.execute("UPDATE files SET label = ? WHERE path = ?", (label, path))

    def records_of(self, path: str) -> list[int]:
        """The records of a file."""
        rows = self.connection.execute(
            "SELECT r.id FROM records r JOIN files f ON f.id = r.file WHERE f.path = ?", (path,)
        )
        return [row[0] for row in rows]

    def remove_file(self, path: str) -> None:
        """Forget a file; its records must have been deleted."""
        self.connection.execute("DELETE FROM files WHERE path = ?", (path,))

    def forget_digests(self, records: list[int]) -> None:
        """Have the files of these records be read again when they are indexed next."""
        self.connection.execute(
            "UPDATE files SET digest = '' WHERE id IN (SELECT file FROM records"
            " WHERE id IN (SELECT value FROM json_each(?)))",
            (json.dumps(records),),
        )

    def sweep(self) -> None:
        """Delete the texts that stand nowhere any more: nothing of what was removed is kept."""
        self.connection.execute(
            "DELETE FROM texts WHERE id NOT IN (SELECT text FROM records)"
            " AND id NOT IN (SELECT text FROM staged) AND id NOT IN (SELECT text FROM papers)"
        )

    # --- papers

    def count_changed(self) -> tuple[int, int]:
        """How many papers are new in this revision, and how many have a new version."""
        now = self.revision
        row = self.connection.execute(
            "SELECT coalesce(sum(created = ?), 0), coalesce(sum(created != ?), 0)"
            " FROM papers WHERE revision = ?",
            (now, now, now),
        ).fetchone()
        return int(row[0]), int(row[1])

    def count_duplicates(self, records: list[int]) -> int:
        """How many of the given records repeat a paper that another record shows."""
        row = self.connection.execute(
            "SELECT count(*) FROM records r JOIN papers p ON p.id = r.paper"
            " WHERE p.record != r.id AND r.id IN (SELECT value FROM json_each(?))",
            (json.dumps(records),),
        ).fetchone()
        return int(row[0])

    def show(self, papers: Mapping[int, int]) -> None:
        """Have each paper be found by the terms of its text.

        All at once: between two changes of other tables the terms that came are made a segment
        of the full-text index, and many small segments cost more than the terms.
        """
        self.connection.execute(
            "DELETE FROM postings WHERE rowid IN (SELECT value FROM json_each(?))",
            (json.dumps(list(papers)),),
        )
        self.connection.executemany(
            "INSERT INTO postings (rowid, terms) VALUES (?, ?)",
            [(paper, self._terms(text)) for paper, text in papers.items()],
        )

    def _terms(self, text: int) -> str:
        title, words, derived = self.connection.execute(
            "SELECT title, text, title_derived FROM texts WHERE id = ?", (text,)
        ).fetchone()
        return lexical.index_terms(title, words, title_derived=bool(derived))

    def delete_paper(self, paper: int) -> None:
        """Delete a paper that has no record any more."""
        self.connection.execute("DELETE FROM postings WHERE rowid = ?", (paper,))
        self.connection.execute("DELETE FROM papers WHERE id = ?", (paper,))
