"""Another embedding model, while the index goes on answering."""

from __future__ import annotations

import random
import sqlite3
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from fakes import TOPICS, HandEmbedder, WatchedEngine
from killing import Point, killed, newer, there, told
from library import Library, Template, abstract, sentences

from rag.errors import IndexLocked, IndexUnusable, ModelError, WeightsError
from rag.index.built import BuiltWith
from rag.index.catalog import Catalog
from rag.index.curation import Curator
from rag.index.embedding import Embedder, Vectors
from rag.index.lock import write_lock
from rag.index.vectors.local import Generations
from rag.index.vectors.seam import Facts, Unreachable

OLD, NEW = "by hand", "turned"
MANY = 1_100  # papers of two sentences: three batches


def other() -> HandEmbedder:
    """The new model: the same likenesses, every axis in another place."""
    return HandEmbedder(NEW, turned=3)


def here(name: str) -> Embedder:
    """Both models, as a machine that has the weights of both."""
    return HandEmbedder() if name == OLD else other()


def first(topic: str) -> str:
    return sentences(abstract(topic))[0]


def models_stored(library: Library) -> set[str]:
    with closing(sqlite3.connect(library.data / "catalog.sqlite3")) as connection:
        rows = connection.execute("SELECT DISTINCT model FROM vectors").fetchall()
    return {model.split("/")[0] for (model,) in rows}


def served(library: Library) -> str:
    with library.state() as state:
        return state.embedding_model


def best(library: Library, topic: str) -> str:
    """The text of the paper that a search by meaning finds first, with whatever model serves."""
    with library.reader() as reader, reader.state() as state:
        near = state.nearest(state.embed([topic])[0], 1)
        return next(iter(state.snapshot.papers(near).values())).text


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    texts = [abstract(topic) for topic in TOPICS]
    return Template(tmp_path_factory.mktemp("reembed"), *texts)


@pytest.fixture
def library(template: Template) -> Library:
    library = template.fresh()
    library.models = here
    return library


def some(number: int) -> list[str]:
    """So many abstracts, no two of them near-identical."""
    draw = random.Random(number)
    return [
        abstract(*draw.sample(TOPICS, 3), about=" ".join(draw.choices(TOPICS[5:], k=9)) + f" {n}")
        for n in range(number)
    ]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Many papers, of which tests take copies."""
    library = Library(tmp_path_factory.mktemp("large"))
    library.models = here
    library.write("a.txt", *[abstract(topic) for topic in TOPICS])
    library.write("many.txt", *some(MANY))
    library.index()
    return library


@pytest.fixture
def large(sound: Library, tmp_path: Path) -> Library:
    return sound.copy(tmp_path / "data")


# --- the whole change


def test_afterwards_the_new_model_serves_and_nothing_of_the_old_one_is_left(
    library: Library,
) -> None:
    done = library.reembed(other())
    assert (done.embedding_model, done.former, done.switched) == (NEW, OLD, True)
    assert (done.embedded, done.papers) == (30, 30)
    assert models_stored(library) == {NEW}
    now = library.like(other())
    assert now.nearest("yachts", 1) == [(first("yachts"), 1.0)]
    with now.state() as state:
        assert state.name == "revision 2, gen-000002"
    assert library.notices == []


def test_a_second_run_finds_nothing_to_do(library: Library) -> None:
    library.reembed(other())
    embedder = other()
    done = library.reembed(embedder)
    assert (done.switched, done.embedded, done.papers, done.revision) == (False, 0, 30, 2)
    assert embedder.embedded == []
    assert library.generation == "gen-000002"


def test_of_the_model_that_serves_other_weights_embed_nothing(library: Library) -> None:
    library.write("b.txt", abstract("apples", "zebras"))
    with pytest.raises(ModelError):
        library.like(HandEmbedder(fails_at=2)).index()  # it waits there without vectors
    with pytest.raises(IndexUnusable, match="rag index --rebuild"):
        library.reembed(HandEmbedder(turned=5))
    assert library.reembed(HandEmbedder()).embedded == 1


def test_there_and_back_is_as_before(library: Library) -> None:
    before = library.nearest("apples", 1)
    library.reembed(other())
    assert library.reembed(HandEmbedder()).embedded == 30
    assert library.nearest("apples", 1) == before
    assert models_stored(library) == {OLD}


def test_a_collection_without_papers_changes_its_model(library: Library) -> None:
    catalog = Catalog(library.data / "catalog.sqlite3")
    with catalog.reading() as snapshot:
        papers = [paper.id for paper in snapshot.all_papers()]
    assert Curator(catalog).remove(papers) == 30
    catalog.close()
    done = library.reembed(other())
    assert (done.switched, done.embedded, done.papers) == (True, 0, 0)
    with pytest.raises(IndexUnusable, match="holds no papers"):
        library.search("apples")
    assert library.like(other()).index().added == 30


def test_without_an_index_there_is_nothing_to_take_over(tmp_path: Path) -> None:
    library = Library(tmp_path)
    with pytest.raises(IndexUnusable, match="Run `rag index` first"):
        library.reembed(other())
    assert not library.data.exists()


def test_a_model_of_another_dimension_takes_over_too(library: Library) -> None:
    wide = Wide()
    library.reembed(wide)
    now = library.like(wide)
    assert now.nearest("yachts", 1) == [(first("yachts"), 1.0)]


class Wide(HandEmbedder):
    """The vectors of the old model with three zeros behind them."""

    def __init__(self, name: str = "wide", fails_at: int = 0) -> None:
        super().__init__(name, fails_at=fails_at)
        self.dimension += 3

    def embed(self, texts: Iterable[str]) -> Vectors:
        self.calls += 1
        if self.calls == self.fails_at:
            raise ModelError("The embedding server is gone")
        inner = HandEmbedder().embed(list(texts))
        grown: Vectors = np.pad(inner, [(0, 0), (0, 3)])
        return grown


# --- readers


@pytest.mark.parametrize("asks", [OLD, NEW])
def test_a_reader_that_is_open_goes_on_through_the_whole_change(
    library: Library, asks: str
) -> None:
    reading = library.like(HandEmbedder() if asks == OLD else other())
    ends, wrong, seen = threading.Event(), list[str](), set[tuple[str, str]]()

    def ask() -> None:
        draw = random.Random(1)
        with reading.reader() as reader:
            while not ends.is_set():
                topic = draw.choice(TOPICS)
                with reader.state() as state:
                    near = state.nearest(state.embed([topic])[0], 1)
                    found = next(iter(state.snapshot.papers(near).values())).text
                    seen.add((state.embedding_model, state.name))
                wrong.extend([topic] if found != abstract(topic) else [])

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        wait_until(lambda: len(seen) > 0)
        library.reembed(other())
        wait_until(lambda: any(state[1].endswith("gen-000002") for state in seen))
        library.like(other()).reembed(HandEmbedder())
        wait_until(lambda: any(state[1].endswith("gen-000003") for state in seen))
    finally:
        ends.set()
        thread.join()
    assert wrong == []
    assert {model for model, _ in seen} == {OLD, NEW}
    assert all("rag reembed --model" in notice for notice in reading.notices)
    assert len(reading.notices) >= 1


def wait_until(met: Callable[[], bool]) -> None:
    waiting = threading.Event()
    for _ in range(2_000):
        if met():
            return
        waiting.wait(0.01)
    raise AssertionError("it did not come about")


def test_settings_that_say_another_model_are_told_once_and_how_to_change_it(
    library: Library,
) -> None:
    reading = library.like(other())
    with reading.reader() as reader:
        for _ in range(2):
            with reader.state() as state:
                assert state.embedding_model == OLD
    assert reading.notices == [
        "The index is served with embedding_model = by hand, the settings say turned."
        " `rag reembed --model turned` changes the index."
    ]


def test_without_the_weights_of_the_index_the_error_names_both_models(library: Library) -> None:
    reading = library.like(other())

    def absent(name: str) -> Embedder:
        raise WeightsError(f"{name}.onnx is not there", remedy=f"Run `rag models pull {name}`.")

    reading.models = absent
    with pytest.raises(IndexUnusable) as caught:
        reading.search("apples")
    assert caught.value.exit_code == 3
    assert str(caught.value) == (
        "The index was built with embedding_model = by hand, the settings say turned"
        " (by hand.onnx is not there). Run `rag models pull by hand`. Or run"
        " `rag reembed --model turned`."
    )


# --- other writers


def test_papers_that_come_in_meanwhile_are_there_before_and_after_the_switch(
    large: Library, tmp_path: Path
) -> None:
    library = large
    library.papers = tmp_path
    seen = list[str]()

    def meddle(number: int) -> None:
        text = abstract("apples", "bridges", about=f"a place that is number {number}")
        path = library.write(f"new{number}.txt", text)
        assert library.index(path).added == 1
        if number == 2:
            library.write("new0.txt", abstract("clouds", about="what came in place of it"))
            report = library.index(tmp_path / "new0.txt")
            assert (report.added, report.removed) == (1, 1)
        seen.append(served(library))

    embedder = other()
    engine = WatchedEngine(embedder, library.built_with.with_model(NEW), meddle)
    with library.reembedding(embedder, engine=engine) as reembedder:
        reembedder.run()
    assert len(seen) >= 3
    assert set(seen) == {OLD}
    now = library.like(other())
    assert now.texts() == library.texts()
    assert served(now) == NEW
    assert models_stored(library) == {NEW}
    text = abstract("apples", "bridges", about="a place that is number 1")
    assert text in now.texts()


def test_a_paper_of_the_very_last_moment_is_embedded_in_a_further_pass(library: Library) -> None:
    def meddle(number: int) -> None:
        if number == 0:  # the only batch: nothing is left to be embedded but this
            library.write("b.txt", abstract("apples", "zebras", about="the last moment"))
            library.index()

    embedder = other()
    engine = WatchedEngine(embedder, library.built_with.with_model(NEW), meddle)
    with library.reembedding(embedder, engine=engine) as reembedder:
        done = reembedder.run()
    assert (done.embedded, done.papers) == (31, 31)
    assert "the last moment" in best(library.like(other()), "apples zebras")


def test_a_writer_at_the_start_is_not_disturbed_and_one_that_reembeds_is_alone(
    library: Library,
) -> None:
    for name in ("writer.lock", "reembed.lock"):
        with write_lock(library.data / name), pytest.raises(IndexLocked, match="Wait for it"):
            library.reembed(other())
    assert served(library) == OLD


def test_an_index_that_was_rebuilt_with_other_chunks_meanwhile_is_left_as_it_is(
    library: Library,
) -> None:
    cut = BuiltWith(OLD, 2, 254)

    def meddle(_: int) -> None:
        library.like(HandEmbedder(), cut).rebuild()

    embedder = other()
    engine = WatchedEngine(embedder, library.built_with.with_model(NEW), meddle)
    with (
        library.reembedding(embedder, engine=engine) as reembedder,
        pytest.raises(IndexUnusable, match="Run `rag reembed` again"),
    ):
        reembedder.run()
    assert served(library.like(HandEmbedder(), cut)) == OLD


# --- runs that end early


def test_a_run_that_fails_keeps_what_it_has_embedded(large: Library) -> None:
    library = large
    failing = HandEmbedder(NEW, turned=3, fails_at=3)  # the third batch
    with pytest.raises(ModelError):
        library.reembed(failing)
    assert served(library) == OLD
    assert library.nearest("apples", 1)[0][1] > 0
    embedder = other()
    done = library.reembed(embedder)
    left = [text for text in embedder.embedded if text not in failing.embedded]
    assert 0 < done.embedded < MANY // 2
    assert len(left) >= 2 * done.embedded - 4  # the others: probes, and one text to compare
    assert served(library.like(other())) == NEW


@pytest.mark.parametrize("width", [0, 3])
def test_vectors_of_that_name_by_other_weights_are_not_taken_for_its_own(
    large: Library, width: int
) -> None:
    before = Wide(NEW, fails_at=2) if width else HandEmbedder(NEW, turned=7, fails_at=2)
    library = large
    with pytest.raises(ModelError):
        library.reembed(before)
    library.reembed(other())
    now = library.like(other())
    for text in some(MANY)[::200]:
        assert best(now, sentences(text)[0]) == text


class Failing(Generations):
    """The place of the vectors is gone when a generation is to be built there."""

    def build(self, rows: object, facts: Facts) -> object:  # type: ignore[override]
        raise Unreachable("The vectors' server is gone")


@pytest.mark.parametrize("ends", ["index", "reembed", "reembed elsewhere"])
def test_where_no_generation_can_be_built_the_catalog_answers_and_the_next_run_completes_it(
    library: Library, ends: str
) -> None:
    def failing(data: Path) -> Generations:
        return Failing(data / "vectors")

    sound, library.vectors = library.vectors, failing
    with pytest.raises(Unreachable, match="turned serves now, but its vectors are not in place"):
        library.reembed(other())
    now = library.like(other())
    assert now.nearest("yachts", 1) == [(first("yachts"), 1.0)]
    with now.state() as state:
        assert state.name == "revision 2, exact"
    assert models_stored(library) == {OLD, NEW}  # the former go once the vectors are there
    now.vectors = sound
    if ends == "index":
        now.index()
    elif ends == "reembed":
        assert not now.reembed(other()).switched
    else:
        assert now.reembed(HandEmbedder()).embedded == 30
        now = library.like(HandEmbedder())
        now.vectors = sound
    assert now.generation >= "gen-000002"
    assert models_stored(library) == {now.embedder.name}
    assert now.nearest("yachts", 1) == [(first("yachts"), 1.0)]


POINTS = {
    "embed": Point(told("embedding"), 0.05, "reembed"),
    "build": Point(told("building"), 0.3, "reembed"),
    "fill": Point(there("vectors/*.tmp/chroma.sqlite3"), 0.3, "reembed"),
    "verify": Point(there("vectors/*.tmp/manifest.json"), 0.15, "reembed"),
    "switch": Point(newer, 0.01, "reembed"),
    "remove": Point(told("removing"), 0.01, "reembed"),
    "any": Point(lambda *_: True, 1.5, "reembed"),
}


@pytest.mark.parametrize("name", POINTS)
def test_a_run_killed_at_any_point_leaves_an_index_that_answers_and_is_completed(
    sound: Library, tmp_path: Path, name: str
) -> None:
    rng = random.Random(name)
    texts = sound.texts()
    for attempt in range(10):  # a run may be over before it is hit, and then another is begun
        library = sound.copy(tmp_path / str(attempt))
        hits = 0
        for _ in range(3):
            hits += killed(library, POINTS[name], rng)
            for topic in rng.sample(TOPICS, 3):
                assert best(library, topic) == abstract(topic)
            assert library.texts() == texts
        if hits:
            break
    assert hits
    if served(library) == NEW and rng.random() < 0.5:
        library.like(other()).index()
    else:
        library.reembed(other())
    now = library.like(other())
    assert models_stored(library) == {NEW}
    with now.state() as state:
        assert "gen-" in state.name
    for topic in rng.sample(TOPICS, 3):
        assert best(now, topic) == abstract(topic)
    assert now.texts() == texts
    assert now.notices == []
