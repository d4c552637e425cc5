"""Known faults of comparable programs in keeping an index, each as a test under its case's name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import rag
from fakes import TOPICS, HandEmbedder
from library import BY_MEANING, Library, abstract, sentences

from rag.errors import InputError, ModelError
from rag.index.built import BuiltWith
from rag.index.sync import Options
from rag.schema import Paper


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


def write_json(library: Library, name: str, *records: tuple[str, str]) -> Path:
    lines = [json.dumps({"title": title, "abstract": text}) for title, text in records]
    path = library.papers / name
    path.write_text("\n".join(lines))
    return path


def found(library: Library, question: str) -> list[str]:
    return [hit.paper.text for hit in library.search(question).hits]


def stored_anywhere(library: Library, words: str) -> list[str]:
    """The files of the index that hold these words, whatever stands around them."""
    wanted = words.encode()
    return [
        path.name
        for path in library.data.rglob("*")
        if path.is_file() and wanted in path.read_bytes()
    ]


# --- I02: an input that shrank


def shrink(library: Library, before: int, after: int) -> None:
    texts = [abstract(TOPICS[n % 30], about=f"case {n}") for n in range(before)]
    library.write("a.txt", *texts)
    library.index()
    library.write("a.txt", *texts[:after])


@pytest.mark.parametrize(("before", "after"), [(20, 9), (21, 10), (60, 1)])
def test_I02_losing_more_than_half_of_20_papers_has_to_be_meant(
    library: Library, before: int, after: int
) -> None:
    shrink(library, before, after)
    texts = library.texts()
    with pytest.raises(InputError, match="--allow-shrink") as caught:
        library.index()
    assert (caught.value.exit_code, str(before - after) in str(caught.value)) == (2, True)
    assert library.texts() == texts
    assert library.index(options=Options(allow_shrink=True)).removed == before - after
    assert len(library.texts()) == after


@pytest.mark.parametrize(("before", "after"), [(19, 1), (20, 10), (60, 30)])
def test_I02_fewer_papers_or_a_smaller_loss_need_no_flag(
    library: Library, before: int, after: int
) -> None:
    shrink(library, before, after)
    assert library.index().removed == before - after


def test_I02_a_removed_file_counts_as_well_and_a_new_one_makes_up_for_it(library: Library) -> None:
    library.write("a.txt", *[abstract(topic) for topic in TOPICS])
    library.index()
    (library.papers / "a.txt").unlink()
    library.write("b.txt", abstract("apples", "bridges"))
    with pytest.raises(InputError, match="30 of 30 papers would leave"):
        library.index()
    library.write("b.txt", *[abstract(topic) for topic in TOPICS[:20]])
    assert library.index().removed == 10


# --- life


@pytest.mark.parametrize("others", [0, 30])
def test_life_002_of_an_updated_paper_nothing_old_is_left(library: Library, others: int) -> None:
    library.write("others.txt", *[abstract(topic) for topic in TOPICS[:others]]) if others else None
    write_json(library, "owl.jsonl", ("TinyOwl", "TinyOwl is evaluated on 12 tasks."))
    library.index()
    assert stored_anywhere(library, "12 tasks") == ["catalog.sqlite3"]
    write_json(library, "owl.jsonl", ("TinyOwl", "TinyOwl is evaluated on 15 tasks."))
    report = library.index()
    assert (report.updated, report.added, report.removed) == (1, 0, 0)
    assert stored_anywhere(library, "12 tasks") == []
    question = "On how many tasks is TinyOwl evaluated?"
    (hit,) = library.search(question, 1).hits
    assert [item.text for item in hit.evidence] == ["TinyOwl is evaluated on 15 tasks."]
    wider = library.like(HandEmbedder(), BuiltWith("by hand", 3, 254))
    wider.rebuild()
    assert [item.text for item in wider.search(question, 1).hits[0].evidence] == [
        "TinyOwl is evaluated on 15 tasks."
    ]
    assert stored_anywhere(wider, "12 tasks") == []


def test_life_003_a_file_that_left_the_folder_leaves_the_index(library: Library) -> None:
    library.write("a.txt", abstract("apples"))
    library.write("b.txt", abstract("bridges", about="a place called Heronsgate"))
    library.index()
    (library.papers / "b.txt").unlink()
    report = library.index()
    assert (report.removed, report.total.papers, report.total.sentences) == (1, 1, 2)
    assert library.labels() == ["papers/a.txt"]
    assert found(library, "Heronsgate bridges") == [abstract("apples")]  # all that there is
    assert library.search("Heronsgate bridges").coverage == 0.0
    assert library.nearest("bridges") == [(sentences(abstract("apples"))[0], 0.0)]
    assert stored_anywhere(library, "Heronsgate") == []


def test_I15_life_005_a_failed_update_keeps_the_old_version_and_the_next_run_makes_it(
    library: Library,
) -> None:
    one, two = abstract("apples", about="version one"), abstract("apples", about="version two")
    library.write("a.txt", one)
    library.index()
    library.write("a.txt", two)
    with pytest.raises(ModelError):
        library.like(HandEmbedder(fails_at=2)).index()  # after the probe
    assert found(library, "version one of apples") == [one]
    library.index()
    assert found(library, "version two of apples") == [two]
    assert [p.version for p in state_papers(library)] == [2]


def state_papers(library: Library) -> list[Paper]:
    with library.state() as state:
        return list(state.snapshot.all_papers())


def test_life_008_a_removed_paper_comes_back_when_its_file_is_indexed_again(
    library: Library,
) -> None:
    library.write("a.txt", abstract("apples"))
    library.write("b.txt", abstract("bridges"))
    library.index()
    assert found(library, "apples")[0] == abstract("apples")
    assert rag("papers", "remove", "a.txt:1", data=library.data).code == 0
    assert found(library, "apples") == [abstract("bridges")]
    assert stored_anywhere(library, "study apples") == []
    assert library.index().added == 1
    assert found(library, "apples")[0] == abstract("apples")


def test_life_009_files_are_told_apart_by_folder_and_a_renamed_one_is_the_same(
    library: Library,
) -> None:
    owls = "Owl Nests\n\nOwls nest in trees, high above the ground."
    for folder, text in {
        "x": owls,
        "y": "Heron Nests\n\nHerons nest in reeds by the water.",
    }.items():
        (library.papers / folder).mkdir()
        (library.papers / folder / "abstract.txt").write_text(text)
    assert library.index().total.papers == 2
    before = {paper.id for paper in state_papers(library)}
    (library.papers / "x" / "abstract.txt").rename(library.papers / "x" / "owl.txt")
    report = library.index()
    assert (report.total.papers, report.embedded, report.removed) == (2, 0, 0)
    assert {paper.id for paper in state_papers(library)} == before
    assert {paper.source.rsplit("/", 1)[-1] for paper in state_papers(library)} == {
        "abstract.txt",
        "owl.txt",
    }


def test_life_010_a_dry_run_changes_nothing_that_comes_after_it(library: Library) -> None:
    library.write("a.txt", abstract("apples", about="the old way"))
    report = library.index(options=Options(dry_run=True))
    assert (report.added, report.total.papers) == (1, 1)
    assert library.newly_embedded() == []
    library.index()
    library.write("a.txt", abstract("apples", about="the new way"))
    assert library.index(options=Options(dry_run=True)).updated == 1
    assert library.texts() == {abstract("apples", about="the old way")}
    assert library.index().updated == 1
    assert library.texts() == {abstract("apples", about="the new way")}
    assert stored_anywhere(library, "the old way") == []


def test_life_011_6000_papers_go_in_in_batches_and_a_failure_keeps_those_before(
    library: Library,
) -> None:
    texts = [f"This is the short abstract with the number {i}." for i in range(6000)]
    library.write("many.txt", *texts)
    failing = library.like(HandEmbedder(fails_at=5))
    with pytest.raises(ModelError):
        failing.index()
    done = len(failing.newly_embedded())
    assert 0 < done < 6000
    report = library.index()
    assert (report.total.papers, report.embedded) == (6000, 6000 - done)
    assert library.generation == "gen-000001"
    assert found(library, "the number 5999")[0] == texts[5999]


def test_life_014_an_open_reader_and_a_writer_do_not_disturb_each_other(library: Library) -> None:
    library.write("a.txt", *[abstract(topic) for topic in TOPICS[:20]])
    library.index()
    with library.reader() as reader:
        vector = library.embedder.embed(["eagles"])[0]
        with reader.state() as state:
            assert max(state.nearest(vector, 5).values()) == 0.0
            library.write("b.txt", abstract("eagles"))
            library.index()
            library.compact()
            assert state.snapshot.counts().papers == 20  # still the state that it began with
            assert max(state.nearest(vector, 5).values()) < 0.01
        with reader.state() as state:
            assert round(max(state.nearest(vector, 5).values()), 3) == 1.0
    assert library.notices == []


def test_life_015_asking_for_more_neighbours_than_are_left_gives_those_that_are(
    library: Library,
) -> None:
    texts = [abstract(TOPICS[n % 30], about=f"case {n}") for n in range(200)]
    for kept in (5, 1, 40):
        library.write("a.txt", *texts)
        library.index()
        library.compact()
        assert len(library.nearest("apples", 300)) == 200
        library.write("a.txt", *texts[:kept])
        library.index(options=Options(allow_shrink=True))
        for k in (1, 10, 199, 200, 500):
            assert len(library.nearest("apples", k)) == min(k, kept)
        hits = library.search("apples", 10, BY_MEANING).hits
        assert len(hits) == min(10, kept)
    assert library.notices == []
