"""The map of a collection: every paper a point in a named cluster."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rag.errors import IndexUnusable, UsageError
from rag.index.built import BuiltWith, recorded_dimension
from rag.index.embedding import Vectors, paper_vector
from rag.index.snapshot import Snapshot
from rag.mapping.clustering import Clustering, even
from rag.mapping.naming import names
from rag.mapping.projection import project
from rag.schema import Paper

MOST = 20_000  # papers of a map: the time grows with their square, some 15 s for so many
_MOST_CLUSTERS = 20
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Point:
    """A paper on the map, at `x` and `y` within -1 and 1; `cluster` counts from 0."""

    paper_id: str
    title: str
    source: str
    ordinal: int
    x: float
    y: float
    cluster: int


@dataclass(frozen=True, slots=True)
class Cluster:
    """Papers that are near each other, the largest cluster first; `distortion` as in clustering.

    `x` and `y` are where its name stands: in the middle of its points.
    """

    terms: tuple[str, ...]
    size: int
    distortion: float
    x: float
    y: float

    @property
    def name(self) -> str:
        """Its terms in a line."""
        return ", ".join(self.terms) or "without a name"


@dataclass(frozen=True, slots=True)
class TopicMap:
    """All papers in the order of files and places; `revision` is the state of the collection."""

    revision: int
    points: tuple[Point, ...]
    clusters: tuple[Cluster, ...]


def map_of(snapshot: Snapshot, clusters: int | None = None) -> TopicMap:
    """The map of a collection. It needs the stored vectors only, and no model.

    Args:
        snapshot: The state of the catalog.
        clusters: How many clusters; √n, at most 20, where it is None.

    Raises:
        IndexUnusable: there are no papers, or none has a vector.
        UsageError: more papers than a map can have, or more clusters than papers.
    """
    if snapshot.size() > MOST:
        raise UsageError(
            f"A map has at most {MOST:,} papers", cause=f"the collection has {snapshot.size():,}"
        )
    papers, vectors = gathered(snapshot)
    count = clusters or min(_MOST_CLUSTERS, max(1, round(math.sqrt(len(papers)))))
    if count > len(papers):
        raise UsageError(f"{count} clusters cannot be made of {len(papers)} papers")
    found = _by_size(even(vectors, count))
    places = np.round(project(vectors), 4)
    labels = found.labels.tolist()
    titles = names([_text(paper) for paper in papers], labels, count)
    points = tuple(
        Point(p.id, p.title, p.source, p.ordinal, float(x), float(y), label)
        for p, (x, y), label in zip(papers, places, labels, strict=True)
    )
    return TopicMap(snapshot.revision, points, tuple(_clusters(titles, found, places)))


def gathered(snapshot: Snapshot) -> tuple[list[Paper], Vectors]:
    """The papers that have vectors, in order, and those, shape (papers, dimension).

    Raises:
        IndexUnusable: there is none.
    """
    there, dimension = BuiltWith.recorded(snapshot), recorded_dimension(snapshot)
    papers = list(snapshot.all_papers())
    found: dict[str, Vectors] = {}
    for start in range(0, len(papers) if there else 0, _AT_ONCE):
        assert there is not None
        ids = [paper.id for paper in papers[start : start + _AT_ONCE]]
        matrices = snapshot.matrices(there.key, ids, dimension)
        found |= {key: paper_vector(matrix) for key, matrix in matrices.items()}
    having = [paper for paper in papers if paper.id in found]
    if not having:
        raise IndexUnusable("The index holds no papers", remedy="Run `rag index` on your files.")
    return having, np.stack([found[paper.id] for paper in having])


def _by_size(found: Clustering) -> Clustering:
    """The same clusters, the largest first."""
    sizes = np.bincount(found.labels, minlength=len(found.distortion))
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Clustering(rank[found.labels], found.distortion[order])


def _clusters(
    titles: list[tuple[str, ...]],
    found: Clustering,
    places: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> Iterator[Cluster]:
    for cluster, terms in enumerate(titles):
        mine = places[found.labels == cluster]
        x, y = np.median(mine, axis=0)
        spread = round(float(found.distortion[cluster]), 6)
        yield Cluster(terms, len(mine), spread, float(x), float(y))


def _text(paper: Paper) -> str:
    return paper.text if paper.title_derived else f"{paper.title}. {paper.text}"
