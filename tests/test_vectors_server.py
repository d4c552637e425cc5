"""Vectors on a Chroma server: the real one, killed, refusing, slow, or emptied by somebody."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chroma import Gate, Server
from command import rag_apart
from fakes import TOPICS
from library import BY_MEANING, Library, abstract, same, sentences

from rag.config import Config
from rag.errors import ConfigError
from rag.index.catalog import Catalog
from rag.index.manifest import Damaged
from rag.index.vectors import Refused, Unreachable, VectorIndex, vector_index
from rag.index.vectors.wire import Patience

PATIENCE = Patience(connecting=2.0, searching=2.0, building=20.0)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("chroma")) as server:
        yield server


@pytest.fixture
def server(running: Server) -> Server:
    """The server of this module, emptied."""
    with running.client() as client:
        for collection in client.list_collections():
            client.delete_collection(collection.name)
    return running


@pytest.fixture
def gate(server: Server) -> Iterator[Gate]:
    with Gate(server) as gate:
        yield gate


def at(url: str, **options: object) -> Callable[[Path], VectorIndex]:
    return lambda data: vector_index(data, url, options, PATIENCE)


def library_at(root: Path, url: str, papers: int = len(TOPICS)) -> Library:
    """A library that is not indexed yet."""
    library = Library(root)
    library.vectors = at(url)
    library.write("a.txt", *[abstract(topic) for topic in TOPICS[:papers]])
    return library


def state_name(library: Library) -> str:
    with library.state() as state:
        state.nearest(library.embedder.embed(["apples"])[0], 1)
        return state.name


def nearest_itself(library: Library, topic: str) -> bool:
    return library.nearest(topic, 1) == [(sentences(abstract(topic))[0], 1.0)]


def test_a_generation_is_a_collection_that_says_what_it_holds(
    server: Server, tmp_path: Path
) -> None:
    library = library_at(tmp_path, server.url)
    library.index()
    (name,) = server.names()
    assert name.startswith("askpapers-")
    assert name.endswith("-gen-000001")
    with server.client() as client:
        collection = client.get_collection(name, embedding_function=None)
        assert collection.count() == 30
        assert collection.metadata.items() >= {"rows": 30, "dimension": 31, "revision": 1}.items()
    assert state_name(library) == f"revision 1, {name}"
    assert all(nearest_itself(library, topic) for topic in TOPICS)
    assert not (library.data / "vectors").exists()
    assert library.notices == []


def test_a_search_gives_what_it_gives_on_this_machine(server: Server, tmp_path: Path) -> None:
    remote = library_at(tmp_path, server.url)
    remote.index()
    local = Library(tmp_path)
    local.data = tmp_path / "local"
    local.index()
    for library in (remote, local):
        library.write("b.txt", abstract("apples", "zebras"))  # beside the generation
        library.index()
    for question in ("apples", "zebras and bridges", "What is measured twice?"):
        assert same(remote.search(question, 40), local.search(question, 40)), question


def test_few_changes_leave_the_server_alone_and_one_older_generation_is_kept(
    gate: Gate, tmp_path: Path
) -> None:
    library = library_at(tmp_path, gate.url)
    library.index()
    first = gate.server.names()
    gate.paths.clear()
    library.write("b.txt", abstract("apples", about="a new case"))
    library.index()
    assert gate.paths == []
    library.compact()
    second = [name for name in gate.server.names() if name not in first]
    library.compact()
    names = gate.server.names()
    assert [name[-6:] for name in names] == ["000002", "000003"]
    assert second == names[:1]
    assert len(library.nearest("apples", 100)) == 31


def test_catalogs_on_one_server_keep_to_their_own(server: Server, tmp_path: Path) -> None:
    one = library_at(tmp_path / "one", server.url)
    two = library_at(tmp_path / "two", server.url, papers=20)
    one.index()
    two.index()
    copied = one.copy(tmp_path / "copy")
    copied.vectors = at(server.url)
    for library in (copied, two, one, copied, two, one):
        library.compact()
    assert len(server.names()) == 6
    for library, count in ((one, 30), (two, 20), (copied, 30)):
        assert len(library.nearest("apples", 100)) == count
        assert "exact" not in state_name(library)
        assert library.notices == []


# --- faults while building


def is_built(library: Library, server: Server) -> bool:
    """Whether there is one generation, it is the current one, and it is whole."""
    names = server.names()
    return [state_name(library).split(", ")[1]] == names and nearest_itself(library, "yachts")


@pytest.mark.parametrize("moment", ["/version", "/collections", "/upsert", "/count", "/query"])
def test_a_server_killed_while_a_generation_is_built(
    server: Server, gate: Gate, tmp_path: Path, moment: str
) -> None:
    library = library_at(tmp_path, gate.url)
    again = threading.Thread(target=server.restart, args=(0.3,))

    def kill(path: str) -> tuple[int, bytes] | None:
        if not path.split("?")[0].endswith(moment) or again.ident is not None:
            return None
        again.start()
        return 502, b"bad gateway"

    gate.before = kill
    try:
        library.index()
        ended = 0
    except Unreachable as error:
        ended = error.exit_code
    again.join()
    assert len(library.texts()) == 30  # published, and searched exactly if need be
    assert nearest_itself(library, "yachts")
    assert ended == (0 if moment in {"/upsert", "/collections"} else 4)
    library.index()
    assert is_built(library, server)
    assert library.newly_embedded().count(sentences(abstract("yachts"))[0]) == 1


@pytest.mark.parametrize("seconds", [0.0, 0.03, 0.1])
def test_a_server_killed_while_many_rows_are_sent(
    server: Server, gate: Gate, tmp_path: Path, seconds: float
) -> None:
    texts = [abstract(TOPICS[n % 30], about=f"case {n}") for n in range(2_200)]
    library = Library(tmp_path)
    library.vectors = at(gate.url)
    library.write("many.txt", *texts)
    seen: list[str] = []
    killer = threading.Timer(seconds, server.restart)

    def kill_soon(path: str) -> None:
        if path.endswith("/upsert"):
            seen.append(path)
            if len(seen) == 2:  # of three, 1,000 rows in each
                killer.start()

    gate.before = kill_soon
    try:
        library.index()
    except Unreachable:
        killer.join()  # the server is there again
        library.index()
    killer.join()
    assert [state_name(library).split(", ")[1]] == server.names()
    with server.client() as client:
        (name,) = server.names()
        rows = client.get_collection(name, embedding_function=None)
        assert rows.count() == 2_200
        assert len(set(rows.get()["ids"])) == 2_200
    assert library.notices == []


def test_without_a_server_papers_are_published_and_the_next_run_builds(
    server: Server, tmp_path: Path
) -> None:
    library = library_at(tmp_path, server.url)
    server.kill()
    started = time.monotonic()
    with pytest.raises(Unreachable, match="cannot be reached") as caught:
        library.index()
    assert time.monotonic() - started < 30
    assert caught.value.exit_code == 4
    assert server.url in str(caught.value)
    assert "papers are indexed" in str(caught.value)
    assert nearest_itself(library, "yachts")
    assert library.notices == []
    server.start()
    library.index()
    assert is_built(library, server)


def test_what_a_server_loses_while_it_is_filled_is_not_made_current(
    gate: Gate, tmp_path: Path
) -> None:
    library = library_at(tmp_path, gate.url)
    library.index()
    before = state_name(library)
    gate.before = lambda path: (200, b"{}") if path.endswith("/upsert") else None
    with pytest.raises(Unreachable, match="did not keep what it was sent"):
        library.compact()
    gate.before = lambda _: None
    assert state_name(library) == before
    assert len(gate.server.names()) == 1


# --- faults while searching


def test_a_search_goes_on_without_its_server_and_returns_to_it(
    server: Server, tmp_path: Path
) -> None:
    library = library_at(tmp_path, server.url)
    library.index()
    with_server = library.search("apples bridges", 40, BY_MEANING)
    server.kill()
    assert same(library.search("apples bridges", 40, BY_MEANING), with_server)
    (notice,) = library.notices
    assert "cannot be reached" in notice
    vector = library.embedder.embed(["apples"])[0]
    library.left_alone = 0.0
    with library.reader() as reader:
        with reader.state() as state:
            assert "gen-000001" in state.name
            assert len(state.nearest(vector, 100)) == 30
            assert state.name.endswith("exact")
        server.start()
        with reader.state() as state:
            assert "gen-000001" in state.name
            assert len(state.nearest(vector, 100)) == 30


def test_a_server_that_failed_is_left_alone_for_a_while(gate: Gate, tmp_path: Path) -> None:
    library = library_at(tmp_path, gate.url)
    library.index()
    with library.reader() as reader:
        gate.before = lambda _: (503, b"")
        with reader.state() as state:
            state.nearest(library.embedder.embed(["apples"])[0], 100)
        gate.before = lambda _: None
        gate.paths.clear()
        with reader.state() as state:
            assert state.name == "revision 1, exact"
            assert len(state.nearest(library.embedder.embed(["apples"])[0], 100)) == 30
    assert gate.paths == []


def test_a_server_that_does_not_answer_is_not_waited_for_long(gate: Gate, tmp_path: Path) -> None:
    library = library_at(tmp_path, gate.url)
    library.index()
    gate.hanging = True
    started = time.monotonic()
    found = library.search("yachts", 1, BY_MEANING)
    assert time.monotonic() - started < 30
    assert found.hits[0].paper.text == abstract("yachts")
    assert found.index_state.endswith("exact")
    (notice,) = library.notices
    assert "did not answer in time" in notice


def test_a_server_that_wants_a_token(gate: Gate, tmp_path: Path) -> None:
    library = library_at(tmp_path, gate.url)
    gate.token = "Bearer canary-0123"
    with pytest.raises(Refused, match=r"HTTP 401.*vectors_options") as caught:
        library.index()
    assert caught.value.exit_code == 4
    library.vectors = at(gate.url, headers={"Authorization": "Bearer canary-0123"})
    library.index()
    assert "gen-000001" in state_name(library)
    library.vectors = at(gate.url, headers={"Authorization": "Bearer canary-old"})
    assert library.search("yachts", 1, BY_MEANING).hits[0].paper.text == abstract("yachts")
    (notice,) = library.notices
    assert "HTTP 401" in notice
    assert "canary" not in notice


@pytest.mark.parametrize(
    ("status", "said", "words"),
    [
        (404, b'{"detail": "Not Found"}', "HTTP 404"),
        (200, b"<html>welcome</html>", "does not answer as a Chroma server does"),
        (200, b'"0.6.3"', "version 0.6.3"),
        (410, b'{"error": "Unimplemented", "message": "The v1 API is deprecated"}', "HTTP 410"),
    ],
)
def test_something_else_at_the_address_is_said_to_be_so(
    gate: Gate, tmp_path: Path, status: int, said: bytes, words: str
) -> None:
    library = library_at(tmp_path, gate.url)
    gate.before = lambda _: (status, said)
    with pytest.raises(Refused, match=words):
        library.index()
    assert nearest_itself(library, "yachts")


def deleted(client: Any, name: str) -> None:
    client.delete_collection(name)


def replaced(client: Any, name: str) -> None:
    client.delete_collection(name)
    other = client.create_collection(name, embedding_function=None)
    other.upsert(ids=["x", "y"], embeddings=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def imitated(client: Any, name: str) -> None:
    """What the catalog says of it, and another dimension."""
    metadata = client.get_collection(name, embedding_function=None).metadata
    client.delete_collection(name)
    other = client.create_collection(name, metadata=metadata, embedding_function=None)
    other.upsert(ids=["x", "y"], embeddings=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


@pytest.mark.parametrize("harm", [deleted, replaced, imitated])
def test_a_collection_that_somebody_harmed_is_built_again(
    server: Server, tmp_path: Path, harm: Callable[[Any, str], None]
) -> None:
    library = library_at(tmp_path, server.url)
    library.index()
    with server.client() as client:
        harm(client, server.names()[0])
    library.newly_embedded()
    found = library.search("yachts", 1, BY_MEANING)
    assert found.hits[0].paper.text == abstract("yachts")
    assert library.newly_embedded() == ["yachts"]
    assert state_name(library).endswith("gen-000002")
    assert len(library.notices) == 1
    assert len(library.nearest("yachts", 100)) == 30


def test_a_row_that_somebody_removed_is_missed_by_verifying(server: Server, tmp_path: Path) -> None:
    library = library_at(tmp_path, server.url)
    library.index()
    vectors = library.vectors(library.data)
    current = vectors.current()
    assert current is not None
    current.verify()
    with server.client() as client:
        collection = client.get_collection(server.names()[0], embedding_function=None)
        collection.delete(ids=collection.get(limit=1)["ids"])
    with pytest.raises(Damaged, match="29 of 30 rows"):
        current.verify()
    vectors.close()


def test_a_record_that_cannot_be_read_is_replaced(server: Server, tmp_path: Path) -> None:
    library = library_at(tmp_path, server.url)
    library.index()
    catalog = Catalog(library.data / "catalog.sqlite3")
    with catalog.writing() as writer:
        writer.set(f"vectors {server.url}", '{"name": 3}')
    catalog.close()
    assert nearest_itself(library, "yachts")
    assert len(library.notices) == 1
    assert state_name(library).endswith("gen-000002")


# --- settings and commands


@pytest.mark.parametrize(
    "options", [{"header": {}}, {"headers": "x"}, {"tenant": 3}], ids=["name", "headers", "tenant"]
)
def test_options_that_no_server_knows_are_refused(
    tmp_path: Path, options: dict[str, object]
) -> None:
    with pytest.raises(ConfigError, match="vectors_options"):
        vector_index(tmp_path, "http://127.0.0.1:1", options, PATIENCE)


def test_the_command_line_with_and_without_its_server(
    server: Server, seeds_config: Config, tmp_path: Path
) -> None:
    data = shutil.copytree(seeds_config.data_dir, tmp_path / "data")
    headers = json.dumps({"headers": {"X-Chroma-Token": "canary-0123"}})
    env = {"RAG_LLM": "none", "RAG_VECTORS": server.url, "RAG_VECTORS_OPTIONS": headers}
    asked = ("search", "repository documentation", "--json")
    assert rag_apart("index", env=env, data=data).code == 0
    found = rag_apart(*asked, env=env, data=data).json()
    assert found["hits"][0]["title"] == "RepoScope"
    (vectors,) = [
        check
        for check in rag_apart("doctor", "--json", env=env, data=data).json()["checks"]
        if check["name"] == "vectors"
    ]
    assert vectors["ok"]
    assert server.url in vectors["detail"]
    shown = rag_apart("config", env=env, data=data).out
    assert server.url in shown
    assert "canary" not in shown
    server.kill()
    try:
        ran = rag_apart(*asked, env=env, data=data)
        assert ran.code == 0
        assert ran.json()["hits"] == found["hits"]
        assert "Until then papers are searched exactly" in ran.err
        assert rag_apart("doctor", env=env, data=data).code == 4
        ran = rag_apart("index", "--compact", env=env, data=data)
        assert (ran.code, server.url in ran.error_line) == (4, True)
    finally:
        server.start()
