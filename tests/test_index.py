"""Keeping the index like the files, at the cost of what has changed."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from fakes import TOPICS, AlikeVectors, HandEmbedder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from library import Library, abstract, one_for_each_topic, same, sentences

from rag.errors import IndexUnusable, InputError, ModelError, ResourceError
from rag.index import lexical
from rag.index.built import BuiltWith
from rag.index.catalog import Catalog
from rag.index.embedding import Vectors
from rag.index.manifest import Unsearchable
from rag.index.vectors.seam import Facts, find_themselves
from rag.text import terms


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


def test_I09_the_second_run_embeds_nothing_and_changes_nothing(library: Library) -> None:
    library.write("a.txt", abstract("apples"), abstract("bridges"))
    library.write("b.txt", abstract("clouds"))
    first = library.index()
    assert (first.added, first.embedded, first.total.papers, first.total.files) == (3, 3, 3, 2)
    assert first.total.sentences == 6
    assert len(library.newly_embedded()) == 6
    second = library.index()
    assert (second.added, second.removed, second.unchanged, second.embedded) == (0, 0, 3, 0)
    assert second.revision == first.revision
    assert library.newly_embedded() == []


def test_I10_an_edited_paper_is_the_only_one_embedded_and_its_old_text_is_gone(
    library: Library,
) -> None:
    library.write("a.txt", *[abstract(topic) for topic in TOPICS[:10]])
    library.index()
    library.newly_embedded()
    edited = abstract("zebras", about="a new case")
    library.write("a.txt", *[abstract(topic) for topic in TOPICS[:9]], edited)
    report = library.index()
    assert (report.added, report.updated, report.removed) == (0, 1, 0)
    assert (report.unchanged, report.embedded) == (9, 1)
    assert library.newly_embedded() == sentences(edited)
    assert library.nearest("zebras", 1) == [(sentences(edited)[0], 1.0)]
    assert abstract(TOPICS[9]) not in library.texts()
    with library.state() as state:
        assert lexical.search(state.snapshot, lexical.equally(TOPICS[9]), 10).scores == {}
        weights = lexical.inverse_frequencies(state.snapshot, [*terms(TOPICS[9]), "never"])
        assert len(set(weights.values())) == 1


def test_a_paper_added_to_a_file_and_one_in_a_new_file(library: Library) -> None:
    library.write("a.txt", abstract("apples"))
    library.index()
    library.newly_embedded()
    library.write("a.txt", abstract("apples"), abstract("bridges"))
    library.write("b.txt", abstract("clouds"))
    assert library.index().embedded == 2
    assert library.newly_embedded() == [
        *sentences(abstract("bridges")),
        *sentences(abstract("clouds")),
    ]
    assert library.nearest("clouds", 1) == [(sentences(abstract("clouds"))[0], 1.0)]


def test_one_abstract_in_two_files_is_one_paper_until_both_are_gone(library: Library) -> None:
    shared = abstract("apples")
    library.write("a.txt", shared)
    library.write("b.txt", abstract("bridges"), shared)
    report = library.index()
    assert (report.total.papers, report.embedded) == (2, 2)
    assert [(p.source, p.ordinal) for p in library.stored().values() if p.text == shared] == [
        ("papers/a.txt", 1)
    ]
    (library.papers / "a.txt").unlink()
    assert library.index().removed == 0
    assert [(p.source, p.ordinal) for p in library.stored().values() if p.text == shared] == [
        ("papers/b.txt", 2)
    ]
    library.write("b.txt", abstract("bridges"))
    assert library.index().removed == 1
    assert library.texts() == {abstract("bridges")}


def test_a_paper_that_comes_back_is_not_embedded_again(library: Library) -> None:
    library.write("a.txt", abstract("apples"), abstract("bridges"))
    library.index()
    library.write("a.txt", abstract("apples"))
    library.index()
    library.newly_embedded()
    library.write("a.txt", abstract("apples"), abstract("bridges"))
    report = library.index()
    assert (report.added, report.embedded) == (1, 0)
    assert library.newly_embedded() == []
    assert library.nearest("bridges", 1) == [(sentences(abstract("bridges"))[0], 1.0)]


def test_only_a_named_folder_loses_what_left_it(library: Library, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text(abstract("clouds"))
    library.write("a.txt", abstract("apples"))
    library.write("b.txt", abstract("bridges"))
    library.index(library.papers, other)
    (library.papers / "a.txt").unlink()
    other.unlink()
    assert library.index(library.papers / "b.txt").removed == 0
    assert library.index().removed == 1
    assert library.texts() == {abstract("bridges"), abstract("clouds")}


@pytest.mark.parametrize("content", [b"", b"\x00\x01" * 50, b"\xff\xfe\xfd"])
def test_a_file_that_became_unreadable_is_named_and_keeps_its_older_papers(
    library: Library, content: bytes
) -> None:
    library.write("a.txt", abstract("apples"))
    library.write("b.txt", abstract("bridges"))
    library.index()
    (library.papers / "a.txt").write_bytes(content)
    library.write("b.txt", abstract("clouds"))
    report = library.index()
    assert [failure.source for failure in report.failures] == ["papers/a.txt"]
    assert (report.added, report.updated, report.removed) == (0, 1, 0)
    assert library.texts() == {abstract("apples"), abstract("clouds")}


def test_I01_where_nothing_can_be_read_there_is_an_error_and_the_index_stays(
    library: Library,
) -> None:
    (library.papers / "a.txt").write_bytes(b"\x00\x01")
    with pytest.raises(InputError, match=r"papers/a\.txt"):
        library.index()
    with pytest.raises(IndexUnusable, match="holds no papers"):
        library.search("apples")
    library.write("a.txt", abstract("apples"))
    library.index()
    (library.papers / "a.txt").unlink()
    with pytest.raises(InputError, match="holds no papers"):
        library.index()
    assert library.texts() == {abstract("apples")}


def test_I11_an_embedder_that_fails_loses_neither_old_papers_nor_work_done(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.write("a.txt", abstract("apples"))
    library.index()
    many = [abstract(t, about=f"case {n}") for n in range(24) for t in TOPICS]  # two batches
    library.write("a.txt", *many)
    failing = library.like(HandEmbedder(fails_at=3))  # probe, first batch, second batch
    with pytest.raises(ModelError):
        failing.index()
    assert library.texts() == {abstract("apples")}
    library.newly_embedded()
    done = len(failing.newly_embedded())
    assert 0 < done < 2 * len(many)
    library.index()
    assert len(library.newly_embedded()) == 2 * len(many) - done


OTHER_SETTINGS: dict[str, tuple[Callable[[], HandEmbedder], BuiltWith, str]] = {
    "model": (
        lambda: HandEmbedder("another", turned=1),
        BuiltWith("another", 1, 254),
        "embedding_model = by hand, the settings say another",
    ),
    "sentences": (
        HandEmbedder,
        BuiltWith("by hand", 2, 254),
        "chunk_sentences = 1, the settings say 2",
    ),
    "word pieces": (
        HandEmbedder,
        BuiltWith("by hand", 1, 128),
        "chunk_word_pieces = 254, the settings say 128",
    ),
    "weights": (
        lambda: HandEmbedder(turned=1),
        BuiltWith("by hand", 1, 254),
        "weights of by hand are not the ones",
    ),
}


@pytest.mark.parametrize(
    "name",
    OTHER_SETTINGS,
    ids=["X02 model", "X04 sentences", "X04 word pieces", "X03 weights"],
)
def test_an_index_of_other_settings_is_refused_until_it_is_rebuilt(
    library: Library, name: str
) -> None:
    embedder, built_with, words = OTHER_SETTINGS[name]
    count = len(TOPICS) if name == "weights" else 12  # with a generation, without
    library.write("a.txt", *[abstract(topic) for topic in TOPICS[:count]])
    library.index()
    other = library.like(embedder(), built_with)
    library.write("b.txt", abstract("apples", "bridges"))
    for use in (lambda: other.search("apples"), other.index):
        with pytest.raises(IndexUnusable, match=words) as caught:
            use()
        remedy = "rag reembed --model another" if name == "model" else "rag index --rebuild"
        assert remedy in str(caught.value)
    other.rebuild()
    assert other.index().added == 1
    assert other.nearest("apples", 2) == [
        (sentences(abstract("apples"))[0], 1.0),
        (sentences(abstract("apples", "bridges"))[0], 0.707),
    ]
    with pytest.raises(IndexUnusable):
        library.search("apples")


def test_a_paper_removed_before_other_weights_came_is_embedded_by_them(library: Library) -> None:
    library.write("a.txt", abstract("apples"), abstract("bridges"))
    library.index()
    library.write("a.txt", abstract("apples"))
    library.index()
    other = library.like(HandEmbedder(turned=1))
    other.rebuild()
    library.write("a.txt", abstract("apples"), abstract("bridges"))
    other.index()
    assert other.nearest("bridges", 1) == [(sentences(abstract("bridges"))[0], 1.0)]


def test_a_rebuild_with_the_same_settings_embeds_nothing(library: Library) -> None:
    library.write("a.txt", abstract("apples"), abstract("bridges"))
    library.index()
    library.newly_embedded()
    assert library.rebuild().embedded == 0
    assert library.newly_embedded() == []


def test_generations_begin_at_16_papers_and_a_few_more_need_no_other(library: Library) -> None:
    library.write("a.txt", *[abstract(topic) for topic in TOPICS[:15]])
    library.index()
    assert library.generation == ""
    assert library.nearest(TOPICS[4], 1) == [(sentences(abstract(TOPICS[4]))[0], 1.0)]
    library.write("b.txt", abstract(TOPICS[15]))
    library.index()
    assert library.generation == "gen-000001"
    library.write("c.txt", *[abstract(topic) for topic in TOPICS[16:19]])
    library.index()
    assert library.generation == "gen-000001"
    for topic in TOPICS[:19]:
        assert library.nearest(topic, 1) == [(sentences(abstract(topic))[0], 1.0)]
    library.newly_embedded()
    library.write("a.txt", *[abstract(topic) for topic in TOPICS[1:15]])
    library.index()
    assert library.newly_embedded() == []
    assert library.generation == "gen-000001"
    near = library.nearest(TOPICS[0], 30)
    assert len(near) == 18
    assert sentences(abstract(TOPICS[0]))[0] not in dict(near)
    library.newly_embedded()
    library.compact()
    assert library.generation == "gen-000002"
    assert library.newly_embedded() == []
    assert len(library.nearest(TOPICS[0], 30)) == 18
    for topic in TOPICS[1:19]:
        assert library.nearest(topic, 1) == [(sentences(abstract(topic))[0], 1.0)]
    assert library.notices == []


def test_many_new_papers_make_a_new_generation_and_one_older_is_kept(library: Library) -> None:
    library.write("a.txt", one_for_each_topic())
    library.index()
    names = [library.generation]
    for file in range(2):
        more = [abstract(TOPICS[n % 30], about=f"case {file} of {n}") for n in range(300)]
        library.write(f"{file}.txt", *more)
        library.index()
        names.append(library.generation)
    assert names == ["gen-000001", "gen-000002", "gen-000003"]
    assert library.generations() == names[-2:]
    assert len(library.nearest("apples", 1000)) == 630


FILES = ("p.txt", "q.txt", "r.txt")
Step = tuple[str, frozenset[int]]
STEPS = st.lists(
    st.tuples(st.sampled_from(FILES), st.frozensets(st.integers(0, 11), max_size=5)),
    min_size=1,
    max_size=6,
)
QUESTIONS = ("apples", "bridges and clouds", "case of engines", "What is measured twice?")


def play(library: Library, steps: list[Step], rng: random.Random) -> None:
    """Each step makes a file hold those papers, or removes it; then the index follows, or not."""
    for name, numbers in steps:
        path = library.papers / name
        texts = [abstract(TOPICS[n % 6], TOPICS[n // 6], about=f"case {n}") for n in numbers]
        if texts:
            path.write_text("\n\n".join(texts))
        else:
            path.unlink(missing_ok=True)
        if rng.random() < 0.7:
            library.index()
    library.index()


def compare_with_a_new_index(library: Library, fresh: Path) -> None:
    other = library.like(HandEmbedder())
    other.data = fresh
    other.index()
    assert library.stored() == other.stored()
    for question in QUESTIONS:
        assert same(library.search(question, 40), other.search(question, 40)), question


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS, seed=st.integers(0, 99))
def test_however_it_came_about_an_index_is_like_a_new_one(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step], seed: int
) -> None:
    library = Library(tmp_path_factory.mktemp("steps"))
    library.write("always.txt", abstract("yachts"))
    play(library, steps, random.Random(seed))
    compare_with_a_new_index(library, library.papers.parent / "fresh")


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS, seed=st.integers(0, 99))
def test_so_is_one_with_a_generation(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step], seed: int
) -> None:
    library = Library(tmp_path_factory.mktemp("steps"))
    library.write("always.txt", *[abstract(topic, about="the base") for topic in TOPICS[:20]])
    library.index()
    play(library, steps, random.Random(seed))
    assert library.generation == "gen-000001"
    compare_with_a_new_index(library, library.papers.parent / "fresh")


@pytest.mark.case("C22")
def test_a_catalog_of_a_newer_release_is_left_alone(library: Library) -> None:
    library.write("a.txt", abstract("apples"))
    library.index()
    path = library.data / "catalog.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    for use in (lambda: library.search("apples"), library.index):
        with pytest.raises(IndexUnusable, match=r"format 99.*Upgrade askpapers"):
            use()


def test_a_data_folder_that_cannot_be_made_is_a_fault_of_this_machine(library: Library) -> None:
    path = library.write("a.txt", abstract("apples"))
    library.data = path / "below"
    with pytest.raises(ResourceError, match="--data-dir"):
        library.index()


def test_X01_before_the_first_run_there_is_no_index(library: Library) -> None:
    with pytest.raises(IndexUnusable, match="Run `rag index`"):
        library.search("apples")
    assert not library.data.exists()


def test_a_file_is_named_as_it_was_named_last(library: Library) -> None:
    path = library.write("a.txt", abstract("apples"))
    library.indexer().sync([path])
    assert library.labels() == ["a.txt"]
    library.index()
    assert library.labels() == [f"{path.parent.name}/a.txt"]


def test_a_file_name_that_is_not_utf_8_is_taken_and_shown(library: Library) -> None:
    folder = library.write("a.txt", abstract("apples")).parent
    odd = os.fsdecode(os.fsencode(folder) + b"/b\xff.txt")
    Path(odd).write_text(abstract("bridges"), encoding="utf-8")
    report = library.index()
    assert (report.added, report.failures) == (2, ())
    assert library.labels() == [f"{folder.name}/a.txt", f"{folder.name}/b\\xff.txt"]
    assert library.index().unchanged == 2
    Path(odd).unlink()
    assert library.index().removed == 1


@pytest.mark.case("R09")
def test_papers_that_no_vector_index_can_tell_apart_are_searched_exactly(library: Library) -> None:
    vectors = AlikeVectors()
    library.vectors = lambda _: vectors
    for number in range(20):
        library.write(f"{number}.txt", abstract(TOPICS[number]))
    library.index()
    assert vectors.builds == 1
    assert library.nearest(TOPICS[7], 1) == [(sentences(abstract(TOPICS[7]))[0], 1.0)]
    library.write("more.txt", abstract(TOPICS[20]))
    library.index()
    assert vectors.builds == 1  # in vain once more, and as dear as before
    library.write("more.txt", *[abstract(topic) for topic in TOPICS[20:26]])
    library.index()
    assert vectors.builds == 2


class Forgetful:
    """A generation that finds every row but the first few that are asked for."""

    name = "gen"

    def __init__(self, facts: Facts, forgotten: int) -> None:
        self.facts = facts
        self.forgotten = forgotten

    def query(self, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        self.forgotten -= 1
        return [] if self.forgotten >= 0 else [("some content", 1.0)]

    def verify(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.mark.parametrize(("forgotten", "usable"), [(0, True), (2, True), (3, False), (20, False)])
def test_a_generation_must_find_nine_rows_in_ten(
    library: Library, forgotten: int, usable: bool
) -> None:
    library.write("a.txt", *[abstract(topic) for topic in TOPICS[:20]])
    library.index()
    facts = Facts(library.built_with.key, library.embedder.dimension, 20, 1)
    with closing(Catalog(library.data / "catalog.sqlite3")) as catalog:
        if usable:
            find_themselves(Forgetful(facts, forgotten), catalog)
        else:
            with pytest.raises(Unsearchable, match=f"{forgotten} of 20 rows"):
                find_themselves(Forgetful(facts, forgotten), catalog)
