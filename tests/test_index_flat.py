"""The flat file that serves papers which an approximate index does not find."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rag.index.embedding import Vectors
from rag.index.flat import IDS, VECTORS, FlatRows, copied
from rag.index.manifest import Damaged
from rag.index.vectors.local import Generations, LocalGeneration
from rag.index.vectors.seam import Facts

DIRECTIONS, COPIES = 240, 30  # at right angles: the graph of an index falls into islands
ROWS = DIRECTIONS * COPIES


def axis(number: int) -> Vectors:
    vector: Vectors = np.eye(DIRECTIONS, dtype=np.float32)[number]
    return vector


def alike() -> Iterator[tuple[str, Vectors]]:
    axes = np.eye(DIRECTIONS, dtype=np.float32)
    return ((f"row {number}", axes[number // COPIES]) for number in range(ROWS))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("alike") / "vectors"
    vectors = Generations(root)
    vectors.build(alike(), Facts("model/1/254", DIRECTIONS, ROWS, 7)).close()
    return root


@pytest.fixture
def generation(built: Path, tmp_path: Path) -> Iterator[LocalGeneration]:
    root = Path(shutil.copytree(built, tmp_path / "vectors"))
    found = Generations(root).current()
    assert found is not None
    yield found
    found.close()


def test_every_row_that_an_approximate_index_loses_is_found(generation: LocalGeneration) -> None:
    assert generation.facts == Facts("model/1/254", DIRECTIONS, ROWS, 7)
    for number in range(0, DIRECTIONS, 24):
        found = generation.query(axis(number), COPIES)
        first = number * COPIES
        assert {row for row, _ in found} == {f"row {first + copy}" for copy in range(COPIES)}
        assert [cosine for _, cosine in found] == [1.0] * COPIES
    generation.verify()


def test_only_what_is_needed_stays_on_the_disk(built: Path) -> None:
    assert sorted(path.name for path in built.iterdir()) == ["CURRENT", "gen-000001"]
    files = {path.name: path.stat().st_size for path in (built / "gen-000001").iterdir()}
    assert sorted(files) == [IDS, "manifest.json", VECTORS]
    assert files[VECTORS] == ROWS * DIRECTIONS * 4


def test_more_rows_than_there_are_can_be_asked_for(generation: LocalGeneration) -> None:
    found = generation.query(axis(3), ROWS + 5)
    assert len({row for row, _ in found}) == ROWS
    assert [cosine for _, cosine in found] == [1.0] * COPIES + [0.0] * (ROWS - COPIES)


@pytest.mark.parametrize("name", [IDS, VECTORS])
def test_damage_is_found_before_the_first_query(generation: LocalGeneration, name: str) -> None:
    path = generation.folder / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(Damaged, match="checksum"):
        generation.query(axis(0), 1)
    with pytest.raises(Damaged, match="checksum"):
        generation.verify()
    path.unlink()
    with pytest.raises(Damaged, match=name):
        generation.query(axis(0), 1)


def test_nearest_first_and_rows_pass_unchanged(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    vectors = random.normal(size=(500, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids: list[str] = []
    passed = list(copied(((f"{n}", v) for n, v in enumerate(vectors)), tmp_path, ids))
    assert [name for name, _ in passed] == ids == [str(number) for number in range(500)]
    asked = vectors[123]
    found = FlatRows(tmp_path, 16).query(asked, 40)
    exact = sorted(range(500), key=lambda row: -float(vectors[row] @ asked))[:40]
    assert [row for row, _ in found] == [str(row) for row in exact]
    assert found[0][0] == "123"
    assert found[0][1] == pytest.approx(1.0)
