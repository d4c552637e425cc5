"""Questions of one model among the vectors of another: the map, its trial, and its use."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from fakes import TOPICS, HandEmbedder
from hypothesis import given
from hypothesis import strategies as st
from library import Library, Template, abstract
from scipy.linalg import orthogonal_procrustes
from scipy.stats import ortho_group

from rag.errors import IndexUnusable, UsageError
from rag.index.bridge import Trial, carry, depth, fit, judge, ranked
from rag.index.bridging import Bridging, build_bridge
from rag.index.built import BuiltWith
from rag.index.embedding import Embedder, Vectors
from rag.index.lock import write_lock

SIZES = st.integers(2, 12)
SEEDS = st.integers(0, 2**32 - 1)


def drawn(seed: int, rows: int, dimension: int) -> Vectors:
    """Unit vectors in every direction."""
    vectors = np.random.default_rng(seed).standard_normal((rows, dimension))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def rotation(seed: int, dimension: int) -> Vectors:
    return np.asarray(ortho_group.rvs(dimension, random_state=seed), dtype=np.float32)


# --- the map


@given(SIZES, SIZES, SEEDS)
def test_the_map_keeps_angles_of_the_smaller_space(new: int, old: int, seed: int) -> None:
    bridge = fit(drawn(seed, 40, new), drawn(seed + 1, 40, old))
    assert bridge.shape == (new, old)
    gram = bridge @ bridge.T if new <= old else bridge.T @ bridge
    np.testing.assert_allclose(gram, np.eye(min(new, old)), atol=1e-5)


@given(SIZES, SEEDS)
def test_a_rotated_space_is_recovered_exactly(dimension: int, seed: int) -> None:
    new, turned = drawn(seed, 40, dimension), rotation(seed, dimension)
    np.testing.assert_allclose(fit(new, new @ turned), turned, atol=1e-4)
    unseen = drawn(seed + 1, 5, dimension)
    np.testing.assert_allclose(carry(unseen, fit(new, new @ turned)), unseen @ turned, atol=1e-4)


@given(SIZES, SEEDS)
def test_a_space_that_lies_turned_inside_a_larger_one_is_recovered(size: int, seed: int) -> None:
    new = drawn(seed, 40, size)
    inside = rotation(seed, size + 3)[:size]
    np.testing.assert_allclose(fit(new, new @ inside), inside, atol=1e-4)


@given(SIZES, SEEDS)
def test_it_is_the_solution_of_scipy(dimension: int, seed: int) -> None:
    new, old = drawn(seed, 60, dimension), drawn(seed + 1, 60, dimension)
    expected, _ = orthogonal_procrustes(new.astype(np.float64), old.astype(np.float64))
    np.testing.assert_allclose(fit(new, old), expected, atol=1e-4)


@given(SIZES, SIZES, SEEDS)
def test_of_two_dimensions_it_is_what_scipy_gives_for_padded_vectors(
    new: int, old: int, seed: int
) -> None:
    one, other = drawn(seed, 60, new), drawn(seed + 1, 60, old)
    size = max(new, old)
    padded = [np.pad(v.astype(np.float64), [(0, 0), (0, size - v.shape[1])]) for v in (one, other)]
    expected, _ = orthogonal_procrustes(*padded)
    np.testing.assert_allclose(fit(one, other), expected[:new, :old], atol=1e-4)


@given(SIZES, SIZES, SEEDS)
def test_what_is_carried_has_length_1(new: int, old: int, seed: int) -> None:
    bridge = fit(drawn(seed, 40, new), drawn(seed + 1, 40, old))
    lengths = np.linalg.norm(carry(drawn(seed + 2, 7, new), bridge), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-5)


def test_what_the_map_leaves_nothing_of_is_near_to_nothing() -> None:
    bridge = np.array([[1.0], [0.0]], dtype=np.float32)
    nothing = carry(np.array([0.0, 1.0], dtype=np.float32), bridge)
    assert nothing.tolist() == [0.0]


# --- what a trial comes to


def test_equals_are_ranked_by_place() -> None:
    assert ranked(np.array([0.0, 1.0, 0.6, 1.0], dtype=np.float32), 3) == [1, 3, 2]
    assert ranked(np.zeros(99, dtype=np.float32), 10) == list(range(10))


@pytest.mark.parametrize(
    ("drawn", "papers", "first"), [(57, 57, 10), (400, 800, 5), (400, 5_183, 1), (30, 10**6, 1)]
)
def test_how_deep_a_sample_is_looked_into(drawn: int, papers: int, first: int) -> None:
    assert depth(drawn, papers) == first


def test_figures_by_hand() -> None:
    trials = [
        Trial(1, full=[1, 2], bridged=[2, 1], present=[1, 3]),  # found by all
        Trial(4, full=[4, 5], bridged=[6, 7], present=[4, 5]),  # not over the bridge
        Trial(8, full=[9, 0], bridged=[9, 0], present=[8, 0]),  # by the old model only
        Trial(3, full=[3, 1], bridged=[3, 2], present=[3, 1]),  # found by all
    ]
    quality = judge(trials)
    assert (quality.recall_full, quality.recall_bridged, quality.recall_present) == (0.75, 0.5, 1)
    assert quality.recovered.value == pytest.approx(2 / 3)
    assert 0 <= quality.recovered.low < 2 / 3 < quality.recovered.high
    assert quality.overlap_bridged.value == pytest.approx((2 + 0 + 2 + 1) / 8)
    assert quality.overlap_present == pytest.approx((1 + 2 + 1 + 2) / 8)
    assert quality.questions == 4


def test_without_anything_to_recover_nothing_is() -> None:
    quality = judge([Trial(1, full=[2], bridged=[1], present=[1])] * 3)
    assert (quality.recovered.value, quality.recovered.low, quality.recovered.high) == (0, 0, 0)


# --- over an index


class Scattered(HandEmbedder):
    """Vectors that have nothing to do with what a text says."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        seeds = [int.from_bytes(hashlib.sha256(t.encode()).digest()[:4]) for t in texts]
        return np.vstack([drawn(seed, 1, self.dimension) for seed in seeds])


class Wide(HandEmbedder):
    """The likenesses of the old model in a space of seven dimensions more."""

    def __init__(self) -> None:
        super().__init__("turned")
        self._inner = HandEmbedder()
        self.dimension = self._inner.dimension + 7
        self._turn = rotation(5, self.dimension)[: self._inner.dimension]

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.asarray(self._inner.embed(texts) @ self._turn, dtype=np.float32)


def turned() -> HandEmbedder:
    return HandEmbedder("turned", turned=3)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """Papers of three topics each, all in both sentences."""
    draw = random.Random(0)
    texts = [
        abstract(*draw.sample(TOPICS, 3), about=f"{' '.join(draw.choices(TOPICS, k=2))} {n}")
        for n in range(150)
    ]
    return Template(tmp_path_factory.mktemp("bridge"), *texts)


@pytest.fixture
def library(template: Template) -> Library:
    return template.fresh()


def bridge(library: Library, new: Embedder, least: float = 0.9, sample: int = 400) -> Bridging:
    with library.reembedding(new) as reembedder:
        return build_bridge(reembedder, sample=sample, least=least)


def serves(library: Library) -> str:
    with library.state() as state:
        return state.embedding_model


@pytest.mark.parametrize("new", [turned, Wide])
def test_over_a_turned_space_questions_of_the_new_model_find_what_the_old_one_found(
    library: Library, new: type[HandEmbedder]
) -> None:
    found = bridge(library, new())
    assert found.stored
    assert (found.new, found.old) == ("turned", "by hand")
    assert found.quality.recovered.value == 1
    assert found.quality.overlap_bridged.value > 0.9  # of equals either may be among the ten
    now = library.like(new())  # the weights of the old model are not here
    assert serves(now) == "turned, bridged to by hand"
    for topics in ("apples", "bridges clouds", "yachts"):
        old, carried = library.nearest(topics, 5), now.nearest(topics, 5)
        assert [cosine for _, cosine in old] == pytest.approx([c for _, c in carried], abs=0.01)
    assert now.notices == []
    assert serves(library) == "by hand"


def test_papers_cut_into_chunks_of_several_sentences_are_bridged_too(library: Library) -> None:
    cut = BuiltWith("by hand", 2, 254)
    library.write("b.txt", *(" ".join([abstract(t), abstract(u)]) for t, u in pairs()))
    library.index()
    windows = library.like(HandEmbedder(), cut)
    windows.rebuild()
    windows.models = lambda name: HandEmbedder(name)
    assert bridge(windows, turned(), sample=1_000).stored
    now = windows.like(turned(), cut.with_model("turned"))
    assert serves(now) == "turned, bridged to by hand"
    assert now.search("apples bridges", 3).hits


def pairs() -> list[tuple[str, str]]:
    return [(t, u) for t in TOPICS[:9] for u in TOPICS[9:15]]


def test_a_bridge_that_is_not_good_enough_is_refused_and_the_one_before_goes(
    library: Library,
) -> None:
    assert bridge(library, turned()).stored
    found = bridge(library, Scattered("turned"))
    assert not found.stored
    assert found.quality.recovered.value < 0.9
    assert found.quality.overlap_bridged.value < 0.3
    with pytest.raises(IndexUnusable, match="rag reembed --model turned"):
        serves(library.like(turned()))
    assert bridge(library, Scattered("turned"), least=0).stored


def test_a_bridge_goes_when_all_is_embedded(library: Library) -> None:
    bridge(library, turned())
    library.reembed(turned())
    assert serves(library.like(turned())) == "turned"
    library.like(turned()).reembed(HandEmbedder())
    with pytest.raises(IndexUnusable):
        serves(library.like(turned()))


def test_a_bridge_is_of_those_weights_only(library: Library) -> None:
    bridge(library, turned())
    with pytest.raises(IndexUnusable):
        serves(library.like(HandEmbedder("turned", turned=9)))


def test_a_bridge_can_be_fitted_while_all_is_being_embedded(library: Library) -> None:
    with library.reembedding(turned()) as reembedder, write_lock(library.data / "reembed.lock"):
        assert build_bridge(reembedder, sample=100, least=0.9).stored
    assert serves(library.like(turned())) == "turned, bridged to by hand"


def test_the_sample_is_what_is_embedded(library: Library) -> None:
    new = turned()
    found = bridge(library, new, sample=60)
    assert found.sample == found.quality.questions == 60
    assert len(new.embedded) == 2 * 60 + 1  # and the probe


@pytest.mark.parametrize(
    ("new", "sample", "words"),
    [
        (HandEmbedder, 400, "served with by hand already"),
        (turned, 29, "29 papers are too few to fit and try a bridge .30 are needed"),
    ],
)
def test_what_cannot_be_tried(
    library: Library, new: type[HandEmbedder], sample: int, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        bridge(library, new(), sample=sample)


def test_without_an_index(tmp_path: Path) -> None:
    with pytest.raises(IndexUnusable, match="Run `rag index` first"):
        bridge(Library(tmp_path), turned())
