"""The topic map: neighbours, the plane, clusters of even quality, names, what is drawn."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from command import rag
from hypothesis import given, settings
from hypothesis import strategies as st
from library import Library, abstract
from scipy.spatial.distance import cdist
from test_cli_json import check

from rag.errors import IndexUnusable, UsageError
from rag.index.catalog import Catalog
from rag.mapping import Cluster, Point, TopicMap, map_of
from rag.mapping.clustering import even, k_means
from rag.mapping.drawing import drawing, webpage
from rag.mapping.naming import names
from rag.mapping.neighbours import nearest
from rag.mapping.projection import project

HOSTILE = '</script><img src=x onerror="window.broken=1">"quoted" & {{value}}'


def unit(rows: np.ndarray) -> np.ndarray:
    units: np.ndarray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return units.astype(np.float32)


def blobs(sizes: tuple[int, ...], spread: tuple[float, ...], dimension: int = 24) -> np.ndarray:
    """Groups of unit vectors about the axes, each as wide as it is told."""
    random = np.random.default_rng(7)
    rows = [
        np.eye(dimension)[axis] + wide * random.normal(size=(size, dimension)) / dimension**0.5
        for axis, (size, wide) in enumerate(zip(sizes, spread, strict=True))
    ]
    return unit(np.concatenate(rows))


THREE = blobs((40, 40, 40), (0.3, 0.3, 0.3))
UNEVEN = blobs((200, 50, 50), (0.9, 0.3, 0.3))


@given(st.integers(2, 40), st.integers(1, 12))
@settings(max_examples=25, deadline=None)
def test_neighbours_are_those_that_scipy_finds(size: int, count: int) -> None:
    vectors = unit(np.random.default_rng(size).normal(size=(size, 5)))
    places, squares = nearest(vectors, count)
    apart = cdist(vectors, vectors, "sqeuclidean")
    np.fill_diagonal(apart, np.inf)
    expected = np.sort(apart, axis=1)[:, : min(count, size - 1)]
    np.testing.assert_allclose(squares, expected, atol=1e-4)
    np.testing.assert_allclose(np.take_along_axis(apart, places, 1), expected, atol=1e-4)


def test_what_is_near_stays_near_in_the_plane() -> None:
    plane = project(THREE)
    labels = np.repeat([0, 1, 2], 40)
    near, _ = nearest(plane.astype(np.float32), 5)
    assert (labels[near] == labels[:, None]).mean() > 0.98
    assert np.abs(plane).max() == pytest.approx(1.0)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 12, 60])
def test_a_collection_of_any_size_has_a_map_which_is_always_the_same(size: int) -> None:
    plane = project(THREE[:size])
    assert plane.shape == (size, 2)
    assert np.isfinite(plane).all()
    assert np.array_equal(plane, project(THREE[:size]))


def test_papers_that_are_all_the_same_are_no_fault() -> None:
    same = np.repeat(THREE[:1], 30, axis=0)
    assert np.isfinite(project(same)).all()
    assert even(same, 3).labels.shape == (30,)


def test_k_means_finds_groups_that_are_there() -> None:
    labels = k_means(THREE, 3).labels
    assert [len(set(labels[start : start + 40])) for start in (0, 40, 80)] == [1, 1, 1]
    assert len(set(labels[::40])) == 3


def test_distortion_is_the_mean_squared_distance_to_the_mean() -> None:
    found = k_means(THREE, 3)
    mine = THREE[:40].astype(np.float64)
    expected = ((mine - mine.mean(axis=0)) ** 2).sum(axis=1).mean()
    assert found.distortion[found.labels[0]] == pytest.approx(expected, rel=1e-4)


def test_the_worst_cluster_is_better_than_that_of_k_means_and_little_is_paid() -> None:
    before, after = k_means(UNEVEN, 6), even(UNEVEN, 6)
    assert after.largest < before.largest
    assert after.mean <= 1.05 * before.mean


@given(st.integers(1, 30), st.integers(1, 30))
@settings(max_examples=25, deadline=None)
def test_no_cluster_is_empty(size: int, count: int) -> None:
    vectors = unit(np.random.default_rng(size).normal(size=(size, 6)))
    count = min(size, count)
    found = even(vectors, count)
    assert set(found.labels.tolist()) == set(range(count))
    assert found.largest <= k_means(vectors, count).largest + 1e-9


def test_a_cluster_is_named_by_what_the_others_do_not_say() -> None:
    texts = [
        "Owls hunt voles at night, we show.",
        "Owls hunt by night in forests.",
        "A compiler inlines calls.",
        "Compilers and inlined calls.",
    ]
    owls, compilers = names(texts, [0, 0, 1, 1], 2)
    assert owls[0] in {"owls hunt", "owls", "hunt", "night"}
    assert "compiler" in " ".join(compilers)
    assert not set(" ".join(owls).split()) & set(" ".join(compilers).split())


@pytest.mark.parametrize("text", ["", "12 3.5", "the of and", "見る"])
def test_texts_without_words_have_no_name_or_their_own(text: str) -> None:
    assert len(names([text], [0], 1)) == 1


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    made = Library(tmp_path_factory.mktemp("map"))
    topics = ("apples", "bread", "cars", "dogs") * 3
    made.write(
        "a.txt", *(f"{abstract(topic)} Take {number}." for number, topic in enumerate(topics))
    )
    made.index()
    return made


def drawn(library: Library, clusters: int | None = None) -> TopicMap:
    catalog = Catalog(library.data / "catalog.sqlite3")
    try:
        with catalog.reading() as snapshot:
            return map_of(snapshot, clusters)
    finally:
        catalog.close()


def test_every_paper_is_a_point_and_clusters_come_by_size(library: Library) -> None:
    found = drawn(library)
    assert len(found.points) == len(library.stored())
    sizes = [cluster.size for cluster in found.clusters]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == len(found.points)
    assert all(abs(point.x) <= 1 and abs(point.y) <= 1 for point in found.points)


def test_more_clusters_than_papers_are_refused(library: Library) -> None:
    with pytest.raises(UsageError, match="13 clusters cannot be made of"):
        drawn(library, 13)


def test_without_an_index_there_is_no_map(tmp_path: Path) -> None:
    with pytest.raises(IndexUnusable, match="There is no index"):
        drawn(Library(tmp_path))


class Attributes(HTMLParser):
    """The tags of a text, and the attributes of its elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.values: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.values |= {name: value or "" for name, value in attrs}


def hostile() -> TopicMap:
    points = (Point("a", HOSTILE, "f", 1, 0.5, -0.5, 0), Point("b", "B", "g", 2, -1.0, 1.0, 0))
    return TopicMap(1, points, (Cluster((HOSTILE,), 2, 0.1, 0.0, 0.0),))


def test_titles_and_terms_are_text_in_a_drawing() -> None:
    for text in (drawing(hostile(), {"a"}, with_actions=True), webpage(hostile())):
        page = Attributes(text)
        assert "img" not in page.tags
        assert "onerror" not in page.values
        rows = json.loads(page.values["data-map"])
        assert [row[3] for row in rows] == ["a", "b"]
    assert "http" not in re.sub(r"http-equiv", "", webpage(hostile()))


def test_points_of_a_drawing_stand_where_the_map_has_them_and_hits_are_ringed() -> None:
    text = drawing(hostile(), {"a"})
    assert 'd="M730 730h0M40 40h0"' in text
    assert '<path class="rings" d="M730 730h0"/>' in text
    assert "1 of the last answer" in text


def test_the_command_tells_writes_and_prints(seeds_index: Path, tmp_path: Path) -> None:
    printed = rag("map", "--json", data=seeds_index)
    check(printed.json(), "rag map")
    assert len(printed.json()["points"]) == sum(c["size"] for c in printed.json()["clusters"])
    page = tmp_path / "map.html"
    assert rag("map", "--html", page, data=seeds_index).code == 0
    assert "RepoScope" in page.read_text(encoding="utf-8")
    again = rag("map", "--html", page, data=seeds_index)
    assert (again.code, "is there already" in again.error_line) == (2, True)
