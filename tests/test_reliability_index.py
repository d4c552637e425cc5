"""The index when something is wrong with it or its settings, each test under the code of its case.

Cases with tests elsewhere have them under the same codes.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from fakes import TOPICS, HandEmbedder
from library import Library, abstract, sentences
from test_index_damage import generation, segment

from rag.errors import IndexUnusable
from rag.index.built import BuiltWith
from rag.index.embedding import Vectors
from rag.index.manifest import Damaged, check
from rag.index.vectors.local import Generations
from rag.index.vectors.seam import Facts
from rag.schema import Paper

WARM = 80  # switches after which the pools of Chroma and the allocator have stopped to grow


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Library:
    library = Library(tmp_path_factory.mktemp("sound"))
    library.write("a.txt", *[abstract(topic) for topic in TOPICS])
    library.index()
    assert library.generation == "gen-000001"
    return library


@pytest.fixture
def library(sound: Library, tmp_path: Path) -> Library:
    return sound.copy(tmp_path / "data")


def first(topic: str) -> str:
    return sentences(abstract(topic))[0]


class WiderEmbedder(HandEmbedder):
    """The same vectors with three zeros behind them."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.dimension += 3

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.dimension -= 3
        try:
            vectors = super().embed(texts)
        finally:
            self.dimension += 3
        return np.pad(vectors, [(0, 0), (0, 3)])


# --- X02 to X04: other settings


@pytest.mark.parametrize(
    ("name", "words", "remedy"),
    [
        ("wide", "embedding_model = by hand, the settings say wide", "rag reembed --model wide"),
        ("by hand", "The weights of by hand are not the ones", "rag index --rebuild"),
    ],
)
def test_X02_a_model_of_another_dimension_is_refused_until_the_index_is_rebuilt(
    tmp_path: Path, name: str, words: str, remedy: str
) -> None:
    library = Library(tmp_path)
    library.write("a.txt", *[abstract(topic) for topic in TOPICS])
    library.index()
    library.write("b.txt", abstract("apples", "bridges"))
    other = library.like(WiderEmbedder(name), BuiltWith(name, 1, 254))
    for use in (lambda: other.search("apples"), other.index):
        with pytest.raises(IndexUnusable, match=words) as caught:
            use()
        assert caught.value.exit_code == 3
        assert remedy in caught.value.remedy
    assert library.nearest("apples", 1) == [(first("apples"), 1.0)]
    other.rebuild()
    assert other.index().added == 1
    assert other.nearest("apples", 1) == [(first("apples"), 1.0)]
    with pytest.raises(IndexUnusable):
        library.search("apples")


# --- X06, X07, X09: damage that Chroma must not see


def test_X06_links_that_claim_90_gb_are_refused_by_their_size_at_once(library: Library) -> None:
    os.truncate(segment(library.data / "vectors") / "link_lists.bin", 90 << 30)
    started = time.monotonic()
    with pytest.raises(Damaged, match=r"link_lists\.bin is damaged"):
        check_current(library)
    assert time.monotonic() - started < 30.0
    assert library.nearest("yachts", 1) == [(first("yachts"), 1.0)]
    blocks = sum(path.stat().st_blocks for path in library.data.rglob("*"))
    assert blocks * 512 < 100_000_000  # nothing of it was copied


def check_current(library: Library) -> None:
    current = Generations(library.data / "vectors").current()
    assert current is not None
    check(current.folder, current.manifest)


def test_X07_a_missing_database_is_not_replaced_by_an_empty_one(library: Library) -> None:
    broken = generation(library.data / "vectors")
    (broken / "chroma.sqlite3").unlink()
    with pytest.raises(Damaged, match=r"chroma\.sqlite3 is missing") as caught:
        check_current(library)
    assert caught.value.exit_code == 3
    assert library.nearest("yachts", 1) == [(first("yachts"), 1.0)]
    assert not (broken / "chroma.sqlite3").exists()
    assert library.generation == "gen-000002"
    assert ["missing" in notice for notice in library.notices] == [True]


# --- X10: made again from the stored vectors


def shown(library: Library) -> tuple[list[Paper], list[list[tuple[str, float]]]]:
    """Every paper, and the best for some questions."""
    with library.state() as state:
        papers = list(state.snapshot.all_papers())
    return papers, [library.nearest(topics, 5) for topics in ("apples", "bridges")]


@pytest.mark.parametrize("how", ["compact", "rebuild"])
def test_X10_a_lost_generation_is_made_again_the_same_without_embedding(
    tmp_path: Path, how: str
) -> None:
    library = Library(tmp_path)
    often = range(1, 21)  # the more often a paper says "apples", the nearer it is to them
    library.write(
        "a.txt", *[abstract(*["apples"] * n, "bridges", about=f"case {n}") for n in often]
    )
    library.index()
    before = shown(library)
    assert [int(told.split("case ")[1].split()[0]) for told, _ in before[1][0]] == [
        *(20, 19, 18, 17, 16)
    ]
    shutil.rmtree(library.data / "vectors")
    library.newly_embedded()
    getattr(library, how)()
    assert library.newly_embedded() == []
    assert library.generation == "gen-000001"
    assert shown(library) == before


# --- X14: a reader through many switches


def resident() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="there is no /proc here")
def test_X14_an_open_reader_takes_one_generation_after_another_in_the_same_memory(
    library: Library,
) -> None:
    vectors = library.data / "vectors"
    files: list[int] = []
    memory: list[int] = []
    with library.reader() as reader:
        vector = library.embedder.embed(["yachts"])[0]
        for number in range(2, 2 + WARM + 20):
            shutil.copytree(vectors / "gen-000001", vectors / f"gen-{number:06d}")
            (vectors / "CURRENT").write_text(f"gen-{number:06d}\n")
            with reader.state() as state:
                assert state.name == f"revision 1, gen-{number:06d}"
                near = state.nearest(vector, 31)
                assert len(near) == 30
                assert state.snapshot.papers(near)[next(iter(near))].text == abstract("yachts")
            files.append(open_files())
            memory.append(resident())
    assert library.notices == []
    assert files[-1] - files[WARM] < 20  # a generation has some five of them open
    assert memory[-1] - memory[WARM] < 10_000_000


# --- X17: 20,000 rows


def test_X17_20000_rows_are_verified_opened_and_found(tmp_path: Path) -> None:
    random = np.random.default_rng(17)
    rows = random.standard_normal((20_000, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    generations = Generations(tmp_path / "vectors")
    named = ((f"row{number}", row) for number, row in enumerate(rows))
    generations.build(named, Facts("by hand/1/254", 384, len(rows), 1))
    current = generations.current()
    assert current is not None
    assert current.facts.rows == 20_000
    current.verify()
    for number in (0, 9_999, 19_999):
        found = dict(current.query(rows[number], 10))
        assert len(found) == 10
        assert found[f"row{number}"] == pytest.approx(1.0, abs=1e-3)
    current.close()
