"""One state of the catalog: what there is to read in it."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rag.index.counts import TermCounts
from rag.index.embedding import Vectors
from rag.schema import Metadata, Paper, Sentence

STORED = np.float16  # a component's error of 2^-11 moves a cosine by 1e-5; half the disk

_PAPER = """
SELECT p.paper_id, t.content, p.version, t.title, t.title_derived, t.text, t.sentences, p.meta,
       f.label, r.ordinal, r.start
FROM papers p
JOIN texts t ON t.id = p.text
JOIN records r ON r.id = p.record
JOIN files f ON f.id = r.file
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """How much the catalog holds; `records` beyond `papers` repeat one."""

    papers: int
    files: int
    sentences: int
    records: int


class Snapshot:
    """One state of the catalog, for reading.

    `counts` remembers what was counted in it before; without it all is counted anew, as it must be
    where the state still changes.
    """

    def __init__(self, connection: sqlite3.Connection, counts: TermCounts | None = None) -> None:
        self.connection = connection
        self._counts = counts
        self._revision: int | None = None  # of a state that no longer changes

    def setting(self, key: str) -> str | None:
        """A value that the index was built with, or None."""
        row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    @property
    def revision(self) -> int:
        """How many changes the catalog has seen."""
        if self._counts is None:
            return int(self.setting("revision") or 0)
        if self._revision is None:
            self._revision = int(self.setting("revision") or 0)
        return self._revision

    def is_empty(self) -> bool:
        """Whether there is no paper at all."""
        return self.connection.execute("SELECT 1 FROM papers LIMIT 1").fetchone() is None

    def size(self) -> int:
        """How many papers there are."""
        if self._counts is None:
            return self._size()
        return self._counts.papers(self.revision, self._size)

    def _size(self) -> int:
        return int(self.connection.execute("SELECT count(*) FROM papers").fetchone()[0])

    def holding(self, terms: Iterable[str]) -> dict[str, int]:
        """In how many papers each of the terms stands, for those that stand in any."""
        wanted = set(terms)
        if self._counts is None:
            return self._count(sorted(wanted))
        found = self._counts.of(self.revision, wanted, self._count)
        return {term: papers for term, papers in found.items() if papers}

    def _count(self, terms: Sequence[str]) -> dict[str, int]:
        rows = self.connection.execute(
            "SELECT term, doc FROM vocabulary WHERE term IN (SELECT value FROM json_each(?))",
            (json.dumps(list(terms)),),
        )
        return dict(rows.fetchall())

    def counts(self) -> Counts:
        """How many papers, files and sentences there are."""
        row = self.connection.execute(
            "SELECT (SELECT count(*) FROM papers), (SELECT count(*) FROM files),"
            " (SELECT coalesce(sum(json_array_length(sentences)), 0)"
            "  FROM papers p JOIN texts t ON t.id = p.text), (SELECT count(*) FROM records)"
        ).fetchone()
        return Counts(*row)

    def papers(self, paper_ids: Iterable[str]) -> dict[str, Paper]:
        """Those of the named papers that there are, by id."""
        rows = self.connection.execute(
            f"{_PAPER} WHERE p.paper_id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(paper_ids)),),
        )
        return {row[0]: _paper(row) for row in rows}

    def all_papers(self) -> Iterator[Paper]:
        """Every paper in the order of files and places."""
        for row in self.connection.execute(f"{_PAPER} ORDER BY f.path, r.ordinal"):
            yield _paper(row)

    def titles(self) -> list[tuple[str, str]]:
        """Id and title of every paper."""
        return self.connection.execute(
            "SELECT p.paper_id, t.title FROM papers p JOIN texts t ON t.id = p.text ORDER BY p.id"
        ).fetchall()

    def at_source(self, ordinal: int) -> list[tuple[str, str]]:
        """Label of file and paper id for every paper that stands at place `ordinal` of a file."""
        return self.connection.execute(
            "SELECT f.label, p.paper_id FROM records r JOIN files f ON f.id = r.file"
            " JOIN papers p ON p.id = r.paper WHERE r.ordinal = ? ORDER BY f.path",
            (ordinal,),
        ).fetchall()

    def named(self, key: str) -> list[str]:
        """The papers of which a record goes by `key`; see identity.identity_keys."""
        rows = self.connection.execute(
            "SELECT DISTINCT p.paper_id FROM identities i JOIN records r ON r.id = i.record"
            " JOIN papers p ON p.id = r.paper WHERE i.key = ? ORDER BY p.id",
            (key,),
        )
        return [row[0] for row in rows]

    def shown(self, contents: Iterable[str]) -> dict[str, str]:
        """The paper that shows each of the given contents now, for those that are shown."""
        rows = self.connection.execute(
            "SELECT t.content, p.paper_id FROM texts t JOIN papers p ON p.text = t.id"
            " WHERE t.content IN (SELECT value FROM json_each(?))",
            (json.dumps(list(contents)),),
        )
        return dict(rows.fetchall())

    def count_since(self, revision: int) -> int:
        """How many papers came in after `revision`."""
        row = self.connection.execute(
            "SELECT count(*) FROM papers WHERE revision > ?", (revision,)
        ).fetchone()
        return int(row[0])

    def matrices(self, model: str, paper_ids: Iterable[str], dimension: int) -> dict[str, Vectors]:
        """Chunk vectors, shape (chunks, dimension), of those named papers that have them."""
        rows = self.connection.execute(
            "SELECT p.paper_id, v.matrix FROM papers p JOIN texts t ON t.id = p.text"
            " JOIN vectors v ON v.content = t.content AND v.model = ?"
            " WHERE p.paper_id IN (SELECT value FROM json_each(?))",
            (model, json.dumps(list(paper_ids))),
        )
        return _matrices(rows.fetchall(), dimension)

    def matrices_since(
        self, model: str, revision: int, dimension: int
    ) -> Iterator[tuple[str, str, Vectors]]:
        """Id, content and chunk vectors of every paper whose version is newer than `revision`."""
        rows = self.connection.execute(
            "SELECT p.paper_id, t.content, v.matrix FROM papers p JOIN texts t ON t.id = p.text"
            " JOIN vectors v ON v.content = t.content AND v.model = ?"
            " WHERE p.revision > ? ORDER BY p.id",
            (model, revision),
        )
        for paper_id, content, blob in rows:
            yield paper_id, content, _matrix(blob, dimension)

    def matrices_of(
        self, model: str, contents: Iterable[str], dimension: int
    ) -> dict[str, Vectors]:
        """Chunk vectors, shape (chunks, dimension), of those contents that have them."""
        stored = self.vector_bytes(model, contents)
        return {content: _matrix(blob, dimension) for content, blob in stored.items()}

    def vector_bytes(self, model: str, contents: Iterable[str]) -> dict[str, bytes]:
        """What is stored for those contents, whatever its dimension may be."""
        rows = self.connection.execute(
            "SELECT content, matrix FROM vectors WHERE model = ?"
            " AND content IN (SELECT value FROM json_each(?))",
            (model, json.dumps(list(contents))),
        )
        return dict(rows.fetchall())

    def sample(self, model: str, revision: int, dimension: int, count: int) -> list[Vectors]:
        """Chunk vectors of about `count` papers not newer than `revision`, spread evenly."""
        first, last, papers = self.connection.execute(
            "SELECT min(id), max(id), count(*) FROM papers WHERE revision <= ?", (revision,)
        ).fetchone()
        if not papers:
            return []
        step = max(1, (last - first + 1) // count)
        places = json.dumps(list(range(first, last + 1, step)))
        rows = self.connection.execute(
            "SELECT v.matrix FROM json_each(?) j JOIN papers p ON p.id = j.value"
            " JOIN texts t ON t.id = p.text"
            " JOIN vectors v ON v.content = t.content AND v.model = ? WHERE p.revision <= ?",
            (places, model, revision),
        )
        return [_matrix(blob, dimension) for (blob,) in rows]

    def drawn(self, model: str, count: int, seed: int) -> list[Paper]:
        """At most `count` texts of papers that have vectors of `model`, drawn at random.

        The same for the same collection, in the order of their papers.
        """
        having = [
            row[0]
            for row in self.connection.execute(
                "SELECT t.id FROM papers p JOIN texts t ON t.id = p.text"
                " JOIN vectors v ON v.content = t.content AND v.model = ? ORDER BY p.id",
                (model,),
            )
        ]
        chosen = random.Random(seed).sample(having, min(count, len(having)))
        rows = self.connection.execute(
            "SELECT content, title, title_derived, text, sentences FROM texts"
            " WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (json.dumps(chosen),),
        )
        return [bare_paper(*row) for row in rows]

    def vector_rows(self, embedding_model: str) -> list[int]:
        """Where the vectors of an embedding model stand, however the papers were cut."""
        prefix = f"{embedding_model}/"
        rows = self.connection.execute(
            "SELECT rowid FROM vectors WHERE substr(model, 1, ?) = ?", (len(prefix), prefix)
        )
        return [row[0] for row in rows]

    def unembedded(self, model: str, after: int, limit: int) -> list[tuple[int, Paper]]:
        """The next texts, staged or published, that have no vectors of `model`, as papers."""
        rows = self.connection.execute(
            "SELECT t.id, t.content, t.title, t.title_derived, t.text, t.sentences FROM texts t"
            " WHERE t.id > ? AND NOT EXISTS (SELECT 1 FROM vectors v"
            " WHERE v.content = t.content AND v.model = ?) ORDER BY t.id LIMIT ?",
            (after, model, limit),
        )
        return [(row[0], bare_paper(*row[1:])) for row in rows]

    def count_texts(self) -> int:
        """How many texts there are, shown or not."""
        return int(self.connection.execute("SELECT count(*) FROM texts").fetchone()[0])

    def count_unembedded(self, model: str) -> int:
        """How many texts have no vectors of `model`."""
        row = self.connection.execute(
            "SELECT count(*) FROM texts t WHERE NOT EXISTS (SELECT 1 FROM vectors v"
            " WHERE v.content = t.content AND v.model = ?)",
            (model,),
        ).fetchone()
        return int(row[0])

    def files(self) -> dict[str, tuple[str, str]]:
        """Digest and label of every indexed file by its path."""
        rows = self.connection.execute("SELECT path, digest, label FROM files")
        return {path: (digest, label) for path, digest, label in rows}


def _paper(row: tuple[Any, ...]) -> Paper:
    paper_id, content, version, title, derived, text, offsets, meta, label, ordinal, start = row
    return Paper(
        id=paper_id,
        source=label,
        ordinal=ordinal,
        source_offset=start,
        text=text,
        title=title,
        title_derived=bool(derived),
        sentences=tuple(Sentence(text[a:b], a, b) for a, b in json.loads(offsets)),
        meta=read_meta(meta),
        content=content,
        version=version,
    )


def bare_paper(content: str, title: str, derived: int, text: str, offsets: str) -> Paper:
    """A text that is not yet a paper, for embedding."""
    sentences = tuple(Sentence(text[a:b], a, b) for a, b in json.loads(offsets))
    return Paper(content, "", 0, 0, text, title, bool(derived), sentences, content=content)


def text_row(paper: Paper) -> tuple[str, str, bool, str, str]:
    """A paper's content, title, whether that is derived, text and sentences, as stored."""
    offsets = json.dumps([(s.start, s.end) for s in paper.sentences], separators=(",", ":"))
    return paper.content, paper.title, paper.title_derived, paper.text, offsets


def read_meta(text: str) -> Metadata:
    """Metadata as the catalog has them."""
    values = json.loads(text)
    lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
    return Metadata(**{**values, **lists})


def written_meta(meta: Metadata) -> str:
    """Metadata as the catalog has them: what is empty is left out."""
    named = ((name, getattr(meta, name)) for name in Metadata.__slots__)
    kept = {name: value for name, value in named if value not in ("", (), None)}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def _matrices(rows: Sequence[tuple[str, bytes]], dimension: int) -> dict[str, Vectors]:
    """The matrix of each row by its key; all are converted at once."""
    joined = _matrix(b"".join(blob for _, blob in rows), dimension)
    size = dimension * np.dtype(STORED).itemsize
    ends = np.cumsum([len(blob) // size for _, blob in rows])
    keys = [key for key, _ in rows]
    return dict(zip(keys, np.split(joined, ends[:-1]), strict=True)) if rows else {}


def _matrix(blob: bytes, dimension: int) -> Vectors:
    return np.frombuffer(blob, dtype=STORED).reshape(-1, dimension).astype(np.float32)
