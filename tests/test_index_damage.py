"""Damage of every kind to what lies on disk: found before it can change a result."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from command import rag
from fakes import TOPICS, HandEmbedder
from library import BY_MEANING, Library, abstract, sentences

from rag.config import Config
from rag.errors import IndexUnusable
from rag.index.embedding import PROBE
from rag.index.manifest import Damaged, check
from rag.index.vectors.local import Generations

Damage = Callable[[Path], None]
TOPIC = "quarries"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Library:
    library = Library(tmp_path_factory.mktemp("sound"))
    library.write("a.txt", *[abstract(topic) for topic in TOPICS])
    library.index()
    library.write("b.txt", abstract(TOPIC, about="a later case"))  # searched beside the generation
    library.index()
    assert library.generation == "gen-000001"
    return library


@pytest.fixture
def library(sound: Library, tmp_path: Path) -> Library:
    return sound.copy(tmp_path / "data")


def generation(vectors: Path) -> Path:
    return max(vectors.glob("gen-??????"))


def segment(vectors: Path) -> Path:
    (found,) = [path for path in generation(vectors).iterdir() if path.is_dir()]
    return found


def database(vectors: Path) -> Path:
    return generation(vectors) / "chroma.sqlite3"


def flip(path: Path, at: float = 0.5) -> None:
    data = bytearray(path.read_bytes())
    place = min(int(len(data) * at), len(data) - 1)
    data[place] ^= 0xFF
    path.write_bytes(data)


def truncate(path: Path, share: float = 0.5) -> None:
    os.truncate(path, int(path.stat().st_size * share))


def edit_manifest(vectors: Path, **values: object) -> None:
    path = generation(vectors) / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def remove_a_row(vectors: Path) -> None:
    """Leaves a database that is sound by itself."""
    with closing(sqlite3.connect(database(vectors))) as connection, connection:
        connection.execute("DELETE FROM embeddings WHERE id IN (SELECT min(id) FROM embeddings)")


def in_segment(name: str, harm: Damage) -> Damage:
    return lambda vectors: harm(segment(vectors) / name)


def current_is_a_folder(vectors: Path) -> None:
    (vectors / "CURRENT").unlink()
    (vectors / "CURRENT").mkdir()


SEGMENT_FILES = ("data_level0.bin", "header.bin", "length.bin", "link_lists.bin")
FILLED = SEGMENT_FILES[:3]  # of so few papers none has links above level 0
DAMAGE: dict[str, Damage] = {
    "no segment": lambda v: shutil.rmtree(segment(v)),
    "flipped level 0": lambda v: flip(segment(v) / "data_level0.bin"),
    "90 GB of links": lambda v: os.truncate(segment(v) / "link_lists.bin", 90 << 30),
    "no database": lambda v: database(v).unlink(),
    "empty database": lambda v: truncate(database(v), 0.0),
    "torn database": lambda v: truncate(database(v)),
    "garbage for a database": lambda v: write(database(v), b"no database " * 5000),
    "a row less": remove_a_row,
    "torn manifest": lambda v: truncate(generation(v) / "manifest.json"),
    "no generation": lambda v: shutil.rmtree(generation(v)),
    "empty CURRENT": lambda v: write(v / "CURRENT", b""),
    "CURRENT to nowhere": lambda v: write(v / "CURRENT", b"gen-000077\n"),
    "binary CURRENT": lambda v: write(v / "CURRENT", b"\xff\xfe"),
}
MORE_DAMAGE: dict[str, Damage] = {
    **{f"no {name}": in_segment(name, Path.unlink) for name in SEGMENT_FILES},
    **{f"torn {name}": in_segment(name, truncate) for name in FILLED},
    **{f"flipped {name}": in_segment(name, flip) for name in FILLED},
    "no manifest": lambda v: (generation(v) / "manifest.json").unlink(),
    "manifest of another format": lambda v: edit_manifest(v, format=99),
    "manifest of more rows": lambda v: edit_manifest(v, rows=31),
    "manifest of other ids": lambda v: edit_manifest(v, ids="0" * 64),
    "manifest without files": lambda v: edit_manifest(v, files=None),
    "CURRENT outside": lambda v: write(v / "CURRENT", b"gen-../../etc\n"),
    "CURRENT a folder": current_is_a_folder,
}
OWN_CODES = {"90 GB of links": "X06", "no database": "X07"}


def code_of(name: str) -> str:
    """A damage after the code of the case that it is one of."""
    if "manifest" in name:
        return f"X09 {name}"
    if "CURRENT" in name or name == "no generation":
        return f"X08 {name}"
    return f"{OWN_CODES.get(name, 'X05')} {name}"


def test_the_vector_index_is_on_disk(library: Library) -> None:
    there = {path.name for path in segment(library.data / "vectors").iterdir()}
    assert set(SEGMENT_FILES) <= there


@pytest.mark.parametrize("name", DAMAGE, ids=code_of)
@pytest.mark.case("X05", "X06", "X07", "X08", "X09")
def test_damage_is_repaired_from_the_catalog_before_the_first_result(
    library: Library, name: str
) -> None:
    DAMAGE[name](library.data / "vectors")
    found = library.search(TOPIC, 2, BY_MEANING)
    assert {hit.paper.sentences[0].text for hit in found.hits} == {
        sentences(abstract(TOPIC))[0],
        sentences(abstract(TOPIC, about="a later case"))[0],
    }
    assert len(library.notices) == 1
    assert set(library.embedder.embedded) <= {TOPIC, PROBE}
    remade = "gen-000001" if name == "no generation" else "gen-000002"
    assert library.generation == remade
    assert library.nearest("yachts", 1) == [(sentences(abstract("yachts"))[0], 1.0)]
    assert len(library.nearest("yachts", 100)) == 31
    assert len(library.notices) == 1


@pytest.mark.parametrize("name", [*DAMAGE, *MORE_DAMAGE], ids=code_of)
@pytest.mark.case("X05", "X06", "X07", "X08", "X09")
def test_damage_is_seen_before_chroma_opens_the_folder(library: Library, name: str) -> None:
    (DAMAGE | MORE_DAMAGE)[name](library.data / "vectors")
    with pytest.raises(Damaged) as caught:
        current = Generations(library.data / "vectors").current()
        assert current is not None
        check(current.folder, current.manifest)
    assert str(library.data / "vectors") in str(caught.value)


def test_X08_without_a_current_generation_every_paper_is_compared_and_the_next_run_builds(
    library: Library,
) -> None:
    (library.data / "vectors" / "CURRENT").unlink()
    assert library.nearest("yachts", 1) == [(sentences(abstract("yachts"))[0], 1.0)]
    assert len(library.nearest("yachts", 100)) == 31
    library.index()
    assert library.generation == "gen-000002"
    assert library.notices == []


def test_a_generation_that_breaks_while_it_is_open_is_replaced(library: Library) -> None:
    with library.reader() as reader:
        with reader.state() as state:
            vector = library.embedder.embed(["yachts"])[0]
            state.nearest(vector, 1)
        (library.data / "vectors" / "CURRENT").write_text("gen-000088\n")
        with reader.state() as state:
            assert len(state.nearest(vector, 100)) == 31
    assert library.generation == "gen-000002"


@pytest.mark.case("C14")
def test_I16_leftovers_of_a_build_that_was_killed_are_removed(library: Library) -> None:
    leftover = library.data / "vectors" / "gen-000009.tmp"
    leftover.mkdir()
    (leftover / "chroma.sqlite3").write_bytes(b"half")
    library.write("b.txt", abstract(TOPIC, about="a later case"))
    library.index()
    assert not leftover.exists()


CATALOG_DAMAGE: dict[str, Damage] = {
    "empty": lambda path: truncate(path, 0.0),
    "garbage": lambda path: write(path, b"this is no database" * 500),
    "torn": truncate,
    "header": lambda path: flip(path, 0.0),
}


@pytest.fixture
def with_catalog(library: Library) -> Iterator[Path]:
    path = library.data / "catalog.sqlite3"
    assert not path.with_name("catalog.sqlite3-wal").exists()
    yield path


@pytest.mark.parametrize("name", CATALOG_DAMAGE)
@pytest.mark.case("X05")
def test_a_damaged_catalog_is_said_to_be_so_and_never_searched(
    library: Library, with_catalog: Path, name: str
) -> None:
    CATALOG_DAMAGE[name](with_catalog)
    with pytest.raises(IndexUnusable) as caught:
        library.search(TOPIC)
    assert str(with_catalog) in str(caught.value)
    assert caught.value.remedy
    before = with_catalog.read_bytes()
    with pytest.raises(IndexUnusable):
        library.index()
    assert with_catalog.read_bytes() == before


def test_the_command_line_tells_a_damaged_catalog_in_one_line(
    seeds_config: Config, tmp_path: Path
) -> None:
    data = shutil.copytree(seeds_config.data_dir, tmp_path / "data")
    (data / "catalog.sqlite3").write_bytes(b"this is no database" * 500)
    ran = rag("search", "apples", data=data)
    assert (ran.code, ran.out) == (3, "")
    assert "is damaged" in ran.error_line
    checked = rag("doctor", "--json", env={"RAG_LLM": "none"}, data=data)
    assert checked.code == 3
    (catalog,) = [check for check in checked.json()["checks"] if check["name"] == "catalog"]
    assert not catalog["ok"]


def test_X05_the_command_line_repairs_and_says_so(seeds_config: Config, tmp_path: Path) -> None:
    data = shutil.copytree(seeds_config.data_dir, tmp_path / "data")
    flip(segment(data / "vectors") / "data_level0.bin")
    checked = rag("doctor", "--json", env={"RAG_LLM": "none"}, data=data)
    assert checked.code == 3
    (vectors,) = [check for check in checked.json()["checks"] if check["name"] == "vectors"]
    assert (vectors["ok"], "--repair" in vectors["detail"]) == (False, True)
    ran = rag("search", "repository documentation", "--json", data=data)
    assert ran.code == 0
    assert ran.json()["hits"][0]["title"] == "RepoScope"
    assert "damaged" in ran.err
    assert "built again from the catalog" in ran.err
    assert rag("doctor", env={"RAG_LLM": "none"}, data=data).code == 0


def test_the_embedder_by_hand_is_what_it_says() -> None:
    one, both = HandEmbedder().embed(["Apples, apples.", "apples bridges"])
    assert round(float(one @ both), 4) == 0.7071
