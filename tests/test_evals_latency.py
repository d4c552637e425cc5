"""The bench of search: its collections, its arithmetic, and a run over two small sizes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command import evals
from fakes import TOPICS, HandEmbedder

from evals.collection import Document
from evals.enlarged import Recalling, Remembered, enlarged
from evals.latency import Spread, spread, stages
from rag.index.embedding import PROBE
from rag.models import WeightStore
from rag.retrieval.query import Query, Question
from rag.retrieval.search import Found

PAPERS = [
    Document("a", "A", "The first cat sat. The second cat ran."),
    Document("b", "", "One dog barked. Two dogs ran. Three dogs slept."),
    Document("c", "C", "It rained."),
]


def timed(**seconds: float) -> Found:
    return Found(Query.of(Question("why?")), (), "revision 1, exact", 1.0, "m", seconds)


def test_an_enlarged_collection_begins_with_the_papers_and_goes_on_with_mixtures_of_two() -> None:
    assert list(enlarged(PAPERS, 2, seed=1)) == PAPERS[:2]
    made = list(enlarged(PAPERS, 50, seed=1))
    assert made[:3] == PAPERS
    assert len({one.id for one in made}) == len({one.title for one in made}) == 50
    sentences = {s for one in PAPERS for s in one.text.replace(". ", ".|").split("|")}
    for one in made[3:]:
        parts = one.text.replace(". ", ".|").split("|")
        assert set(parts) <= sentences
        assert len({paper.id for paper in PAPERS for part in parts if part in paper.text}) == 2
    assert made == list(enlarged(PAPERS, 50, seed=1))
    assert made != list(enlarged(PAPERS, 50, seed=2))


def test_a_text_has_the_models_vector_once_and_then_others_near_to_it() -> None:
    model = HandEmbedder()
    first, second = list(TOPICS)[:2]
    remembered: Remembered = {}
    embedder = Recalling(model, remembered, seed=1)
    vectors = embedder.embed([first, second, first, first])
    assert vectors[:2] == pytest.approx(model.embed([first, second]))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(4))
    for one in vectors[2:]:
        assert 0.8 < float(one @ vectors[0]) < 0.9999
    assert float(vectors[2] @ vectors[3]) < 0.9999
    calls = model.calls
    other = Recalling(model, remembered, seed=1)  # for another index: remembered, not given yet
    assert other.embed([first]) == pytest.approx(vectors[:1])
    assert model.calls == calls
    assert other.embed([PROBE, PROBE]) == pytest.approx(model.embed([PROBE, PROBE]))


def test_times_are_told_in_milliseconds_and_by_stage() -> None:
    assert spread([0.002, 0.001, 0.1]) == Spread(2.0, 100.0, 3)
    found = [timed(embed=0.001, dense=0.002), timed(embed=0.003, dense=0.002)]
    assert stages([*found, timed(embed=0.005, dense=0.008)]) == {
        "embed": Spread(3.0, 5.0, 3),
        "dense": Spread(2.0, 8.0, 3),
    }


def test_the_command_measures_searches_in_collections_of_each_size(
    tmp_path: Path, weights: WeightStore
) -> None:
    saved = ("--save", tmp_path / "a.json", "--plot", tmp_path / "a.svg")
    small = ("--sizes", "20,70", "--queries", "9", "--readers", "3", "--data", "seeds")
    done = evals("bench", "search", *small, "--split", "test", "--starts", "1", *saved)
    assert (done.code, done.err) == (0, "")
    assert "3 at once" in done.out
    rows = json.loads((tmp_path / "a.json").read_text())["rows"]
    assert [row["papers"] for row in rows] == [20, 70]
    for row in rows:
        assert (row["single"]["n"], row["together"]["n"], row["lost"]) == (5, 4, 0)
        for one in (row["single"], row["together"], *row["stages"].values()):
            assert 0 < one["median"] <= one["p95"]
        assert {"embed", "dense", "lexical", "sentences", "fuse", "evidence"} <= set(row["stages"])
        assert row["index"].startswith("revision 1, ")
        assert 0 < row["first"]["search"] < row["first"]["whole"]
        assert 0 < row["first"]["imports"] < row["first"]["whole"]
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize("sizes", ["", "0", "5,-1", "many", "1e3"])
def test_sizes_that_are_none_are_told_in_one_line(sizes: str) -> None:
    done = evals("bench", "search", "--data", "seeds", "--sizes", sizes)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"error: {sizes!r} is no list of sizes. Write whole numbers by commas, as 1000,5000.\n"
    )
