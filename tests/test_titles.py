"""A paper's own title is embedded beside its sentences."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from library import BY_MEANING, Library, abstract, paper, sentences

from rag.answering.parts import indexer_of
from rag.answering.served import as_indexed, as_wanted
from rag.config import load
from rag.index.built import BuiltWith
from rag.index.chunking import chunk, spread
from rag.index.reader import IndexState

TEXT = abstract("bridges")


@pytest.fixture
def library(tmp_path: Path) -> Library:
    made = Library(tmp_path)
    made.built_with = replace(made.built_with, embed_titles=True)
    return made


def titled(library: Library, *titles: str, about: str = "one case") -> None:
    records = [{"title": title, "abstract": abstract("bridges", about=about)} for title in titles]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (library.papers / "a.jsonl").write_text(lines, encoding="utf-8")


def found_by(state: IndexState, library: Library, topic: str) -> float:
    """The cosine of the nearest paper to a question about a topic."""
    return max(state.nearest(library.embedder.embed([topic])[0], 5).values())


def test_a_paper_is_found_by_what_its_title_alone_says(library: Library) -> None:
    titled(library, "On apples")
    library.index()
    assert library.newly_embedded() == [*sentences(TEXT), "On apples"]
    hit = library.search("apples", 1, BY_MEANING).hits[0]
    assert hit.paper.title == "On apples"
    assert [one.text for one in hit.evidence] == sentences(TEXT)  # a title is no evidence
    with library.state() as state:
        assert found_by(state, library, "apples") == pytest.approx(1 / 5**0.5)  # one row of three


def test_a_title_that_was_made_from_the_abstract_is_not_embedded(library: Library) -> None:
    library.write("a.txt", TEXT)
    library.index()
    assert library.newly_embedded() == sentences(TEXT)


def test_another_title_is_another_vector(library: Library) -> None:
    titled(library, "On apples")
    library.index()
    titled(library, "On clouds")
    assert library.index().updated == 1
    with library.state() as state:
        assert found_by(state, library, "clouds") == pytest.approx(1 / 5**0.5)
        assert found_by(state, library, "apples") == pytest.approx(0)


def test_the_title_lends_its_score_to_no_sentence() -> None:
    made = replace(paper("p", *sentences(TEXT)), title="On apples", title_derived=False)
    pieces = chunk(made, sentences=1, word_pieces=254, count_pieces=len, title=True)
    assert [piece.text for piece in pieces] == [*sentences(TEXT), "On apples"]
    assert spread(made, pieces, [0.1, 0.2, 0.9]) == [0.1, 0.2]
    blank = replace(made, title=" ")
    assert len(chunk(blank, sentences=1, word_pieces=254, count_pieces=len, title=True)) == 2


def test_an_index_without_titles_serves_as_it_is_until_it_is_rebuilt(library: Library) -> None:
    titled(library, "On apples")
    library.built_with = replace(library.built_with, embed_titles=False)
    library.index()
    library.built_with = replace(library.built_with, embed_titles=True)
    with library.state() as state:
        assert found_by(state, library, "apples") == pytest.approx(0)
        assert found_by(state, library, "bridges") == pytest.approx(1)
    library.rebuild()
    with library.state() as state:
        assert found_by(state, library, "apples") == pytest.approx(1 / 5**0.5)


def test_what_is_added_to_an_index_is_embedded_as_the_rest_of_it(tmp_path: Path) -> None:
    papers = tmp_path / "papers.jsonl"
    papers.write_text(json.dumps({"title": "On apples", "abstract": TEXT}) + "\n")
    before = load({"data_dir": tmp_path / "data", "embed_titles": False}).config
    indexer_of(before, lambda *_: None).sync([papers])
    config = load({"data_dir": tmp_path / "data"}).config
    assert as_indexed(config).embed_titles is False
    assert as_wanted(config).embed_titles is True  # what a rebuild makes of it
    assert BuiltWith("m", 1, 254).key == "m/1/254"  # where indexes of before have their vectors
