"""What many papers need: sizes and times, in proportion to what was measured on few.

Every figure is a rate times a number of papers. That is right for the catalog, for embedding and
for exact search, each of which costs the same for every paper, and too little for building an
HNSW index, whose cost for a row grows with the logarithm of their number; `build_seconds` allows
for that. Memory is that of the vector index alone.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rag.answering.parts import built_with, embedder_of
from rag.config import Config
from rag.index.catalog import Catalog
from rag.index.delta import Deltas
from rag.index.embedding import Vectors, paper_vector
from rag.index.reader import IndexState
from rag.index.serving import Serving
from rag.index.snapshot import Snapshot
from rag.index.vectors.local import Generations
from rag.index.vectors.seam import Facts

LINKS = 16  # hnsw:M, neighbours of a row on each level but the lowest, which has twice as many
_QUESTIONS = 3


@dataclass(frozen=True, slots=True)
class Measured:
    """Rates of one machine, over `papers` papers.

    `catalog_bytes` and `row_bytes` are on disk and for one paper; `exact_seconds` is what an
    exact search spends on a paper.
    """

    papers: int
    dimension: int
    catalog_bytes: float
    row_bytes: float
    papers_per_second: float
    rows_per_second: float
    exact_seconds: float


@dataclass(frozen=True, slots=True)
class Need:
    """What `papers` papers need; seconds are those of one machine, or of `workers` for embedding.

    `exact_seconds` is a search without a vector index, `delta_seconds` what a search spends at
    most on papers that are not in the present generation.
    """

    papers: int
    workers: int
    catalog_gb: float
    vectors_gb: float
    memory_gb: float
    index_seconds: float
    build_seconds: float
    exact_seconds: float
    delta_seconds: float


def need(measured: Measured, papers: int, workers: int = 1, share: float = 0.1) -> Need:
    """What `papers` papers need, a delta being at most `share` of them."""
    growth = max(1.0, math.log(papers) / math.log(measured.papers))
    exact = measured.exact_seconds * papers
    return Need(
        papers=papers,
        workers=workers,
        catalog_gb=measured.catalog_bytes * papers / 1e9,
        vectors_gb=measured.row_bytes * papers / 1e9,
        memory_gb=row_memory(measured.dimension) * papers / 1e9,
        index_seconds=papers / (measured.papers_per_second * workers),
        build_seconds=papers / measured.rows_per_second * growth,
        exact_seconds=exact,
        delta_seconds=share * exact,
    )


def row_memory(dimension: int) -> int:
    """Bytes of one row in an HNSW index: its vector, two links per neighbour below, its label."""
    return 4 * dimension + 4 * 2 * LINKS + 12


def lasting(seconds: float) -> str:
    """A time in the unit that a person would use."""
    for unit, size in (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0), ("s", 1.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.2g} s"


def sized(gigabytes: float) -> str:
    """A size with two figures."""
    return f"{gigabytes:.2g} GB" if gigabytes < 100 else f"{gigabytes / 1000:,.2g} TB"


def table(needs: Sequence[Need]) -> str:
    """A Markdown table with a column for each number of papers."""
    rows = {
        "papers": [f"{one.papers:,}" for one in needs],
        "catalog on disk": [sized(one.catalog_gb) for one in needs],
        "vector index on disk": [sized(one.vectors_gb) for one in needs],
        "vector index in memory": [sized(one.memory_gb) for one in needs],
        "embedding, machines": [f"{one.workers:,}" for one in needs],
        "embedding, time": [lasting(one.index_seconds) for one in needs],
        "building the vector index": [lasting(one.build_seconds) for one in needs],
        "a search without vector index": [lasting(one.exact_seconds) for one in needs],
        "of a search, the delta at most": [lasting(one.delta_seconds) for one in needs],
    }
    lines = [f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()]
    return "\n".join([lines[0], "|---" * (len(needs) + 1) + "|", *lines[1:]])


def measure(config: Config, papers_per_second: float) -> Measured:
    """Sizes and rates of the index that the settings name; a generation is built for it anew."""
    catalog = Catalog(config.data_dir / "catalog.sqlite3")
    embedder, built = embedder_of(config), built_with(config)
    question = embedder.embed(["What is measured?"])[0]
    try:
        with catalog.reading() as snapshot:
            papers = snapshot.counts().papers
            serving = Serving(built, embedder, embedder)
            state = IndexState(snapshot, None, serving, Deltas(), lambda *_: None)
            exact = min(_seconds(state, question) for _ in range(_QUESTIONS))
            facts = Facts(built.key, embedder.dimension, papers, snapshot.revision)
            row_bytes, build = _build(snapshot, facts)
    finally:
        catalog.close()
    return Measured(
        papers=papers,
        dimension=embedder.dimension,
        catalog_bytes=catalog.path.stat().st_size / papers,
        row_bytes=row_bytes,
        papers_per_second=papers_per_second,
        rows_per_second=papers / build,
        exact_seconds=exact / papers,
    )


def _seconds(state: IndexState, question: Vectors) -> float:
    started = time.perf_counter()
    state.nearest(question, 10)
    return time.perf_counter() - started


def _build(snapshot: Snapshot, facts: Facts) -> tuple[float, float]:
    """Bytes for a row, and seconds for all."""
    stored = snapshot.matrices_since(facts.model, 0, facts.dimension)
    rows = [(content, np.asarray(paper_vector(matrix))) for _, content, matrix in stored]
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        built = Generations(Path(folder)).build(rows, facts)
        seconds = time.perf_counter() - started
        size = sum(path.stat().st_size for path in built.folder.rglob("*") if path.is_file())
    return size / len(rows), seconds
