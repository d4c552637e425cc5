"""What an index holds: how much of what, from where, and on how much disk."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rag.index.built import BuiltWith, recorded_dimension
from rag.index.catalog import Catalog
from rag.index.snapshot import STORED, Snapshot

MOST_SOURCES = 200


@dataclass(frozen=True, slots=True)
class Source:
    """A file, and how many papers stand in it; one that stands in two counts in both."""

    label: str
    papers: int


@dataclass(frozen=True, slots=True)
class Holdings:
    """What there is.

    `chunks` counts embedded titles too. `bytes` are those of the whole data folder, which holds
    more than the index. `sources` are the first so many of `files`, by name.
    """

    papers: int
    sentences: int
    chunks: int
    files: int
    revision: int
    embedding_model: str
    bytes: int
    sources: tuple[Source, ...]


def holdings_of(data_dir: Path) -> Holdings:
    """Count what the index in a folder holds.

    Raises:
        IndexUnusable: there is none.
    """
    occupied = bytes_under(data_dir)  # before it is opened: reading makes a log
    with closing(Catalog(data_dir / "catalog.sqlite3")) as catalog, catalog.reading() as snapshot:
        built = BuiltWith.recorded(snapshot)
        counts = snapshot.counts()
        return Holdings(
            counts.papers,
            counts.sentences,
            _chunks(snapshot, built.key) if built else 0,
            counts.files,
            snapshot.revision,
            built.embedding_model if built else "",
            occupied,
            tuple(_sources(snapshot)),
        )


def bytes_under(folder: Path) -> int:
    """The size of all files in a folder; what vanishes meanwhile does not count."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += (Path(place) / name).stat(follow_symlinks=False).st_size
    return total


def _chunks(snapshot: Snapshot, key: str) -> int:
    """Each is a row of its paper's matrix."""
    dimension = recorded_dimension(snapshot)
    row = snapshot.connection.execute(
        "SELECT sum(length(v.matrix)) FROM papers p JOIN texts t ON t.id = p.text"
        " JOIN vectors v ON v.content = t.content AND v.model = ?",
        (key,),
    ).fetchone()
    return int(row[0] or 0) // (dimension * np.dtype(STORED).itemsize) if dimension else 0


def _sources(snapshot: Snapshot) -> list[Source]:
    rows = snapshot.connection.execute(
        "SELECT f.label, count(DISTINCT r.paper) FROM files f LEFT JOIN records r ON r.file = f.id"
        " GROUP BY f.id ORDER BY f.label LIMIT ?",
        (MOST_SOURCES,),
    )
    return [Source(label, papers) for label, papers in rows]
