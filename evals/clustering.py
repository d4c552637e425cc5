"""Clusters of even quality against k-means: the worst and the mean distortion, at equal number."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.table import Table

from rag.index.catalog import Catalog
from rag.index.embedding import Vectors
from rag.mapping.clustering import Clustering, even, k_means
from rag.mapping.topicmap import gathered

METHODS: dict[str, Callable[[Vectors, int], Clustering]] = {"k-means": k_means, "even": even}


@dataclass(frozen=True, slots=True)
class Row:
    """One method at one number of clusters; distortions are mean squared distances."""

    method: str
    papers: int
    clusters: int
    largest: float
    mean: float
    seconds: float


def run(data_dir: Path, counts: Sequence[int]) -> list[Row]:
    """Every method at every number of clusters that the collection has papers for."""
    with closing(Catalog(data_dir / "catalog.sqlite3")) as catalog, catalog.reading() as snapshot:
        _, vectors = gathered(snapshot)
    wanted = [count for count in counts if count <= len(vectors)]
    return [_row(name, vectors, count) for count in wanted for name in METHODS]


def table(rows: Sequence[Row]) -> Table:
    """The rows to print."""
    made = Table("papers", "clusters", "method", "largest", "mean", "seconds")
    for row in rows:
        numbers = (f"{row.largest:.3f}", f"{row.mean:.3f}", f"{row.seconds:.1f}")
        made.add_row(f"{row.papers:,}", str(row.clusters), row.method, *numbers)
    return made


def as_json(rows: Sequence[Row]) -> list[dict[str, object]]:
    """The rows to keep."""
    return [asdict(row) for row in rows]


def _row(name: str, vectors: Vectors, count: int) -> Row:
    since = time.perf_counter()
    found = METHODS[name](vectors, count)
    spent = round(time.perf_counter() - since, 2)
    return Row(name, len(vectors), count, round(found.largest, 4), round(found.mean, 4), spent)
