"""Vectors in stores of llama-index: one in memory, one behind a server, some that misbehave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from chroma import Server
from fakes import TOPICS
from library import BY_MEANING, Library, abstract, same, sentences
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryResult

from rag.errors import ConfigError
from rag.index.vectors import Unreachable, VectorIndex, vector_index
from rag.index.vectors.wire import Patience

SIMPLE = "llama_index.core.vector_stores:SimpleVectorStore"
CHROMA = "llama_index.vector_stores.chroma:ChromaVectorStore"


class Odd(SimpleVectorStore):
    """Nearest last, with scores that are no cosines; rows of another program come between."""

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        found = super().query(query, **kwargs)
        ids = ["someone-elses", *(found.ids or [])[: query.similarity_top_k - 1]]
        return VectorStoreQueryResult(ids=ids[::-1], similarities=[-7.0] * len(ids))


class Forgetful(SimpleVectorStore):
    """Keeps nothing."""

    def add(self, nodes: Sequence[BaseNode], **add_kwargs: Any) -> list[str]:
        return [node.node_id for node in nodes]


class Failing(SimpleVectorStore):
    """Fails when it is told to, as a store whose server is gone."""

    failing: ClassVar[bool] = False

    def add(self, nodes: Sequence[BaseNode], **add_kwargs: Any) -> list[str]:
        self._fail()
        return super().add(nodes, **add_kwargs)

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        self._fail()
        return super().query(query, **kwargs)

    def _fail(self) -> None:
        if Failing.failing:
            raise OSError("no route to host")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("chroma")) as server:
        yield server


def at(named: str, **options: object) -> Callable[[Path], VectorIndex]:
    return lambda data: vector_index(data, named, options, Patience())


def library_at(root: Path, named: str, **options: object) -> Library:
    """A library that is not indexed yet."""
    library = Library(root)
    library.vectors = at(named, **options)
    library.write("a.txt", *[abstract(topic) for topic in TOPICS])
    return library


def odd(name: str) -> str:
    return f"test_vectors_stores:{name}"


def state_name(library: Library) -> str:
    with library.state() as state:
        state.nearest(library.embedder.embed(["apples"])[0], 1)
        return state.name


@pytest.fixture(params=["simple", "odd", "chroma"])
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Library:
    if request.param == "chroma":
        server: Server = request.getfixturevalue("server")
        name = f"{tmp_path.name[-40:]}.x"
        return library_at(
            *(tmp_path, CHROMA), host="127.0.0.1", port=server.port, collection_name=name
        )
    return library_at(tmp_path, SIMPLE if request.param == "simple" else odd("Odd"))


def test_a_search_gives_what_it_gives_without_a_store(library: Library, tmp_path: Path) -> None:
    library.index()
    local = Library(tmp_path)
    local.data = tmp_path / "local"
    local.index()
    for one in (library, local):
        one.write("b.txt", abstract("apples", "zebras"))  # beside the generation
        one.index()
    assert state_name(library).endswith("gen-000001")
    for question in ("apples", "zebras and bridges", "What is measured twice?"):
        assert same(library.search(question, 40), local.search(question, 40)), question
    assert len(library.nearest("apples", 100)) == 31
    assert library.notices == []


def test_a_new_generation_takes_the_place_of_the_one_before(library: Library) -> None:
    library.index()
    library.compact()
    library.write("a.txt", *[abstract(topic) for topic in TOPICS[:20]])
    library.index()
    library.compact()
    assert state_name(library).endswith("gen-000003")
    near = library.nearest("apples", 100)
    assert len(near) == 20
    assert near[0] == (sentences(abstract("apples"))[0], 1.0)
    assert library.notices == []
    saved = [path.name for path in (library.data / "vectors").glob("*")]
    assert len(saved) <= 1


def test_a_store_whose_file_is_lost_is_filled_again(tmp_path: Path) -> None:
    library = library_at(tmp_path, SIMPLE)
    library.index()
    (saved,) = (library.data / "vectors").iterdir()
    saved.unlink()
    library.newly_embedded()
    found = library.search("yachts", 1, BY_MEANING)
    assert found.hits[0].paper.text == abstract("yachts")
    assert found.index_state.endswith("exact")
    assert library.newly_embedded() == ["yachts"]
    assert state_name(library).endswith("gen-000002")
    (notice,) = library.notices
    assert "are gone" in notice


@pytest.mark.parametrize("content", ["", "{", '{"embedding_dict": 3}'])
def test_a_store_whose_file_is_damaged_is_filled_again(tmp_path: Path, content: str) -> None:
    library = library_at(tmp_path, SIMPLE)
    library.index()
    (saved,) = (library.data / "vectors").iterdir()
    saved.write_text(content)
    found = library.search("yachts", 1, BY_MEANING)
    assert found.hits[0].paper.text == abstract("yachts")
    assert state_name(library).endswith("gen-000002")
    (notice,) = library.notices
    assert f"{saved} is damaged" in notice


def test_a_store_that_keeps_nothing_is_found_out(tmp_path: Path) -> None:
    library = library_at(tmp_path, odd("Forgetful"))
    with pytest.raises(Unreachable, match="did not keep what it was given") as caught:
        library.index()
    assert caught.value.exit_code == 4
    assert len(library.nearest("yachts", 100)) == 30
    assert state_name(library).endswith("exact")


def test_a_store_that_fails_costs_no_paper(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    request.addfinalizer(lambda: setattr(Failing, "failing", False))
    library = library_at(tmp_path, odd("Failing"))
    Failing.failing = True
    with pytest.raises(Unreachable, match="no route to host"):
        library.index()
    assert len(library.nearest("yachts", 100)) == 30
    Failing.failing = False
    library.index()
    assert state_name(library).endswith("gen-000001")
    Failing.failing = True
    found = library.search("yachts", 1, BY_MEANING)
    assert found.hits[0].paper.text == abstract("yachts")
    assert found.index_state.endswith("exact")
    (notice,) = library.notices
    assert "no route to host" in notice


def test_a_store_whose_server_is_down(server: Server, tmp_path: Path) -> None:
    where = {"host": "127.0.0.1", "port": server.port, "collection_name": "down"}
    library = library_at(tmp_path, CHROMA, **where)
    server.kill()
    try:
        with pytest.raises(Unreachable, match="Could not connect"):
            library.index()
        assert len(library.nearest("yachts", 100)) == 30
    finally:
        server.start()
    library.index()
    assert state_name(library).endswith("gen-000001")


@pytest.mark.parametrize(
    ("named", "options", "words"),
    [
        ("no_such_package.stores:Store", {}, "no_such_package"),
        ("llama_index.core.vector_stores:NoSuchStore", {}, "NoSuchStore"),
        ("llama_index.core:__version__", {}, "not a class"),
        ("pathlib:Path", {}, "not a vector store of llama-index"),
        (CHROMA, {"chroma_collection": 3, "ssl": "sk-canary"}, "vectors_options"),
    ],
)
def test_a_store_that_cannot_be_is_a_fault_of_the_settings(
    tmp_path: Path, named: str, options: dict[str, object], words: str
) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        library_at(tmp_path, named, **options).index()
    assert "canary" not in str(caught.value)
