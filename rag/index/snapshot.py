"""One state of the catalog: what there is to read in it, and how the writer changes it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag.index.embedding import Vectors
from rag.schema import Paper, Sentence

_STORED = np.float16  # a component's error of 2^-11 moves a cosine by 1e-5; half the disk

_PAPER = """
SELECT p.id, p.paper_id, p.text, p.title, p.title_derived, p.sentences,
       f.label, s.ordinal, s.start
FROM papers p
JOIN sources s ON s.paper = p.id
JOIN files f ON f.id = s.file
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """How much the catalog holds."""

    papers: int
    files: int
    sentences: int


class Snapshot:
    """One state of the catalog, for reading."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def setting(self, key: str) -> str | None:
        """A value that the index was built with, or None."""
        row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    @property
    def revision(self) -> int:
        """How many changes the catalog has seen."""
        return int(self.setting("revision") or 0)

    def is_empty(self) -> bool:
        """Whether there is no paper at all."""
        return self.connection.execute("SELECT 1 FROM papers LIMIT 1").fetchone() is None

    def counts(self) -> Counts:
        """How many papers, files and sentences there are."""
        row = self.connection.execute(
            "SELECT (SELECT count(*) FROM papers), (SELECT count(*) FROM files),"
            " (SELECT coalesce(sum(json_array_length(sentences)), 0) FROM papers)"
        ).fetchone()
        return Counts(*row)

    def papers(self, paper_ids: Iterable[str]) -> dict[str, Paper]:
        """Those of the named papers that there are, by id."""
        wanted = json.dumps(list(paper_ids))
        rows = self.connection.execute(
            f"{_PAPER} WHERE p.paper_id IN (SELECT value FROM json_each(?))"
            " ORDER BY f.path DESC, s.ordinal DESC",
            (wanted,),
        )
        return {row[1]: _paper(row) for row in rows}  # the last one, the first source, stays

    def all_papers(self) -> Iterator[Paper]:
        """Every paper with its first source, in the order of files and places."""
        seen: set[str] = set()
        for row in self.connection.execute(f"{_PAPER} ORDER BY f.path, s.ordinal"):
            if row[1] not in seen:
                seen.add(row[1])
                yield _paper(row)

    def titles(self) -> list[tuple[str, str]]:
        """Id and title of every paper."""
        return self.connection.execute("SELECT paper_id, title FROM papers ORDER BY id").fetchall()

    def at_source(self, ordinal: int) -> list[tuple[str, str]]:
        """Label of file and paper id for every paper that stands at place `ordinal` of a file."""
        return self.connection.execute(
            "SELECT f.label, p.paper_id FROM sources s JOIN files f ON f.id = s.file"
            " JOIN papers p ON p.id = s.paper WHERE s.ordinal = ? ORDER BY f.path",
            (ordinal,),
        ).fetchall()

    def existing(self, paper_ids: Iterable[str]) -> set[str]:
        """Those of the given ids that are in the catalog."""
        rows = self.connection.execute(
            "SELECT paper_id FROM papers WHERE paper_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(paper_ids)),),
        )
        return {row[0] for row in rows}

    def count_since(self, revision: int) -> int:
        """How many papers came in after `revision`."""
        row = self.connection.execute(
            "SELECT count(*) FROM papers WHERE revision > ?", (revision,)
        ).fetchone()
        return int(row[0])

    def matrices(self, model: str, paper_ids: Iterable[str], dimension: int) -> dict[str, Vectors]:
        """Chunk vectors, shape (chunks, dimension), of those named papers that have them."""
        rows = self.connection.execute(
            "SELECT paper_id, matrix FROM vectors WHERE model = ?"
            " AND paper_id IN (SELECT value FROM json_each(?))",
            (model, json.dumps(list(paper_ids))),
        )
        return {paper_id: _matrix(blob, dimension) for paper_id, blob in rows}

    def matrices_since(
        self, model: str, revision: int, dimension: int
    ) -> Iterator[tuple[str, Vectors]]:
        """Id and chunk vectors of every paper that came in after `revision`, in stored order."""
        rows = self.connection.execute(
            "SELECT p.paper_id, v.matrix FROM papers p JOIN vectors v USING (paper_id)"
            " WHERE p.revision > ? AND v.model = ? ORDER BY p.id",
            (revision, model),
        )
        for paper_id, blob in rows:
            yield paper_id, _matrix(blob, dimension)

    def files(self) -> dict[str, tuple[str, str]]:
        """Digest and label of every indexed file by its path."""
        rows = self.connection.execute("SELECT path, digest, label FROM files")
        return {path: (digest, label) for path, digest, label in rows}


class Writer(Snapshot):
    """The catalog in the hands of the one process that may change it."""

    def set(self, key: str, value: str) -> None:
        """Record what the index is built with."""
        self.connection.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, value),
        )

    def store_matrices(self, model: str, matrices: Mapping[str, Vectors]) -> None:
        """Keep chunk vectors, before or after their papers are there."""
        self.connection.executemany(
            "INSERT OR REPLACE INTO vectors (paper_id, model, matrix) VALUES (?, ?, ?)",
            [(key, model, m.astype(_STORED).tobytes()) for key, m in matrices.items()],
        )

    def forget_vectors(self, embedding_model: str) -> None:
        """Remove all vectors of an embedding model, however the papers were cut."""
        self.connection.execute(
            "DELETE FROM vectors WHERE substr(model, 1, ?) = ?",
            (len(embedding_model) + 1, f"{embedding_model}/"),
        )

    def renew_papers(self, revision: int) -> None:
        """Have every paper count as new: no earlier generation speaks for it."""
        self.connection.execute("UPDATE papers SET revision = ?", (revision,))

    def replace_file(
        self,
        path: str,
        label: str,
        digest: str,
        papers: Sequence[Paper],
        terms_of: Callable[[Paper], str],
    ) -> None:
        """Make `papers` what the file at `path` holds; new ones are found by their terms."""
        self.remove_file(path, keep_papers=True)
        (file,) = self.connection.execute(
            "INSERT INTO files (path, label, digest) VALUES (?, ?, ?) RETURNING id",
            (path, label, digest),
        ).fetchone()
        for paper in papers:
            key = self._paper_key(paper, terms_of)
            self.connection.execute(
                "INSERT INTO sources (file, ordinal, paper, start) VALUES (?, ?, ?, ?)",
                (file, paper.ordinal, key, paper.source_offset),
            )

    def relabel_file(self, path: str, label: str) -> None:
        """Name a file as it was named last, alone or through its folder."""
        self.connection.execute("UPDATE files SET label = ? WHERE path = ?", (label, path))

    def remove_file(self, path: str, *, keep_papers: bool = False) -> None:
        """Forget a file; its papers go with it unless they stand elsewhere too."""
        self.connection.execute("DELETE FROM files WHERE path = ?", (path,))
        if not keep_papers:
            self.remove_orphans()

    def remove_orphans(self) -> int:
        """Remove the papers that stand in no file any more; how many there were."""
        orphans = "SELECT id FROM papers WHERE id NOT IN (SELECT paper FROM sources)"
        self.connection.execute(f"DELETE FROM postings WHERE rowid IN ({orphans})")
        return self.connection.execute(f"DELETE FROM papers WHERE id IN ({orphans})").rowcount

    def raise_revision(self) -> int:
        """Begin a new revision: papers stored from now on carry it."""
        revision = self.revision + 1
        self.set("revision", str(revision))
        return revision

    def _paper_key(self, paper: Paper, terms_of: Callable[[Paper], str]) -> int:
        row = self.connection.execute(
            "SELECT id FROM papers WHERE paper_id = ?", (paper.id,)
        ).fetchone()
        if row:
            return int(row[0])
        offsets = json.dumps([(s.start, s.end) for s in paper.sentences], separators=(",", ":"))
        (key,) = self.connection.execute(
            "INSERT INTO papers (paper_id, text, title, title_derived, sentences, revision)"
            " VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
            (paper.id, paper.text, paper.title, paper.title_derived, offsets, self.revision),
        ).fetchone()
        self.connection.execute(
            "INSERT INTO postings (rowid, terms) VALUES (?, ?)", (key, terms_of(paper))
        )
        return int(key)


def _paper(row: tuple[int, str, str, str, int, str, str, int, int]) -> Paper:
    _, paper_id, text, title, derived, offsets, label, ordinal, start = row
    sentences = tuple(Sentence(text[a:b], a, b) for a, b in json.loads(offsets))
    return Paper(paper_id, label, ordinal, start, text, title, bool(derived), sentences)


def _matrix(blob: bytes, dimension: int) -> Vectors:
    return np.frombuffer(blob, dtype=_STORED).reshape(-1, dimension).astype(np.float32)
