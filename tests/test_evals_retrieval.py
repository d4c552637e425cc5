"""The benchmark of retrieval: its arithmetic by hand, and the real systems over the seeds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import ir_measures
import pytest
from command import ROOT, Ran, environment, evals

from evals.collection import Document
from evals.comparison import compare, means, score, unscored
from evals.figures import dots
from evals.retrieval import saved
from evals.systems import NAMES, best_chunks, make
from evals.trec import read_qrels, read_run
from rag.config import Config
from rag.errors import InputError, UsageError
from rag.models import WeightStore

PURR = Document("cats", "Cats", "A cat purrs when it is content. It sleeps for most of the day.")
BARK = Document("dogs", "Dogs", "A dog barks at strangers. It likes to run in the park.")
RATE = Document("rates", "Rates", "The central bank raised interest rates by two points.")
ANIMALS = [PURR, BARK, RATE]


# --- arithmetic


def test_a_query_that_a_run_lacks_counts_0_and_one_without_relevant_documents_not_at_all() -> None:
    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 0}}
    run = {"q1": {"d1": 2.0, "d9": 1.0}, "q3": {"d3": 1.0}, "q4": {"d1": 1.0}}
    assert score(run, qrels)["MRR@10"] == {"q1": 1.0, "q2": 0.0}
    assert unscored(qrels, ["q1", "q2", "q3", "q4"]) == 2


def test_means_are_told_for_each_kind_and_over_all() -> None:
    scores = {"MRR@10": {"q1": 1.0, "q2": 0.0, "q3": 0.5}}
    found = means(scores, {"q1": "named", "q2": "named"}, seed=1)
    assert {kind: (row["MRR@10"].value, row["MRR@10"].n) for kind, row in found.items()} == {
        "all": (0.5, 3),
        "named": (0.5, 2),
    }


def test_differences_are_paired_by_query_and_corrected_over_all_comparisons() -> None:
    names = [f"q{number}" for number in range(5)]
    qrels = {name: {"d": 1} for name in names}
    first = {name: {"d": 1.0} for name in names}
    never = {name: {"e": 1.0} for name in names}
    scores = {
        "askpapers": score(first, qrels),
        "peer": score(never, qrels),
        "same": score(first, qrels),
    }
    found = compare("askpapers", scores, seed=1)
    assert [(one.peer, one.measure) for one in found] == [
        (peer, measure)
        for peer in ("peer", "same")
        for measure in ("nDCG@10", "recall@10", "recall@100", "MRR@10")
    ]
    for one in found[:4]:  # five differences of 1: two of 2^5 assignments reach their sum
        assert (one.mean.value, one.p, one.corrected) == (1.0, 2 / 32, min(1.0, 8 * 2 / 32))
    for one in found[4:]:
        assert (one.mean.value, one.p, one.corrected, one.detectable) == (0.0, 1.0, 1.0, 0.0)
    assert compare("askpapers", {"peer": scores["peer"]}, seed=1) == []


def test_a_document_counts_by_its_best_chunk() -> None:
    found = [("b", 0.9), ("a", 0.8), ("b", 0.7), ("c", 0.6), ("a", 0.85)]
    assert best_chunks(found, 2) == [("b", 0.9), ("a", 0.85)]
    assert best_chunks([("a", -0.5), ("a", -0.1)], 5) == [("a", -0.1)]


def test_a_figure_has_a_panel_for_each_measure_and_the_same_bytes_for_the_same_figures() -> None:
    panels = {"nDCG@10": {"ours": (0.7, 0.6, 0.8), "theirs": (0.5, 0.4, 0.6)}, "MRR@10": {}}
    drawn = dots("Pets", panels)
    assert drawn == dots("Pets", panels)
    for text in ("Pets", "nDCG@10", "MRR@10", "ours", "theirs"):
        assert f">{text}</text>" in drawn.decode()


# --- systems


@pytest.mark.parametrize("name", NAMES)
def test_every_system_ranks_the_document_first_that_is_asked_for(
    name: str, seeds_config: Config
) -> None:
    with closing(make(name, seeds_config)) as system:
        system.index(ANIMALS)
        for query, expected in [("why does a cat purr?", "cats"), ("barking dogs", "dogs")]:
            found = system.search(query, 2)
            assert found[0][0] == expected
            assert len(found) <= 2
        ids = [document for document, _ in system.search("interest rates of a cat", 100)]
        assert len(ids) == len(set(ids)) <= 3
        scores = [value for _, value in system.search("interest rates of a cat", 100)]
        assert scores == sorted(scores, reverse=True)
        system.search("???", 3)  # no word at all: whatever is found, nothing fails


@pytest.mark.parametrize("name", ["llamaindex-dense", "llamaindex-fusion"])
def test_a_document_of_several_chunks_stands_once(name: str, seeds_config: Config) -> None:
    long = Document(
        "long", "", " ".join(f"Sentence {n} is about cats that purr." for n in range(400))
    )
    with closing(make(name, seeds_config)) as system:
        system.index([long, BARK, RATE])
        found = [document for document, _ in system.search("cats that purr", 3)]
    assert found[0] == "long"
    assert sorted(found) == ["dogs", "long", "rates"]


def test_documents_that_the_product_takes_for_one_paper_are_all_found(seeds_config: Config) -> None:
    twin = Document("twin", PURR.title, PURR.text)
    with closing(make("askpapers", seeds_config)) as system:
        system.index([PURR, BARK, twin])
        found = system.search("why does a cat purr?", 3)
        assert {document for document, _ in found[:2]} == {"cats", "twin"}
        assert found[0][1] == found[1][1]
        assert len(system.search("why does a cat purr?", 1)) == 1


def test_bm25_finds_nothing_where_no_word_is_shared(seeds_config: Config) -> None:
    with closing(make("bm25", seeds_config)) as system:
        system.index(ANIMALS)
        assert system.search("zebra", 3) == []
        assert system.search("the of and", 3) == []


def test_an_unknown_system_is_told_with_those_that_there_are(seeds_config: Config) -> None:
    with pytest.raises(UsageError, match="Choose from askpapers, llamaindex-dense"):
        make("elastic", seeds_config)


def test_a_missing_peer_is_one_line_with_the_command_that_installs_it() -> None:
    code = "import sys; sys.modules['bm25s'] = None\nfrom evals.__main__ import main; main()"
    command = [sys.executable, "-c", code, "bench", "retrieval", "--data", "seeds"]
    done = subprocess.run(
        [*command, "--systems", "dense,bm25"],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: The system bm25 cannot be measured (")
    assert done.stderr.endswith("Install its packages with `uv pip install --group bench`.\n")


# --- the whole


@pytest.fixture(scope="module")
def benchmark(
    tmp_path_factory: pytest.TempPathFactory, weights: WeightStore
) -> Iterator[tuple[Path, Ran]]:
    """All systems over the seeds, once for this module."""
    folder = tmp_path_factory.mktemp("benchmark")
    where = ("--save", folder / "saved", "--plot", folder / "dots.svg")
    yield folder, evals("bench", "retrieval", "--data", "seeds", "--limit", "24", *where)


def rows(out: str, *columns: int) -> list[tuple[str, ...]]:
    """Cells of all tables, of the columns that are named."""
    lines = [line.strip("│").split("│") for line in out.splitlines() if line.startswith("│")]
    return [tuple(cells[column].strip() for column in columns) for cells in lines]


def test_the_command_compares_all_systems(benchmark: tuple[Path, Ran]) -> None:
    folder, ran = benchmark
    assert (ran.code, ran.err) == (0, "")
    assert "seeds: 57 documents, 24 queries" in ran.out
    names = [name for (name,) in rows(ran.out, 0)]
    assert names[: len(NAMES)] == list(NAMES)
    assert "p (Holm over 16)" in ran.out
    assert (folder / "dots.svg").read_bytes().startswith(b"<?xml")


def test_the_product_finds_what_is_named_at_least_as_well_as_bm25(
    benchmark: tuple[Path, Ran],
) -> None:
    folder, _ = benchmark
    quality = json.loads((folder / "saved" / "report.json").read_text())["quality"]
    named = {name: kinds["named"]["nDCG@10"]["value"] for name, kinds in quality.items()}
    assert named["askpapers"] >= named["bm25"] >= 0.95
    assert named["askpapers"] > named["dense"]


def test_what_is_saved_gives_trec_eval_the_same_figures(benchmark: tuple[Path, Ran]) -> None:
    folder, _ = benchmark
    report = json.loads((folder / "saved" / "report.json").read_text())
    qrels = read_qrels(folder / "saved" / "qrels.txt")
    assert len(qrels) == 24
    for name in NAMES:
        run = read_run(folder / "saved" / f"{name}.run")
        found = ir_measures.calc_aggregate([ir_measures.nDCG @ 10, ir_measures.R @ 100], qrels, run)
        mine = report["quality"][name]["all"]
        assert mine["nDCG@10"]["value"] == pytest.approx(found[ir_measures.nDCG @ 10], abs=1e-9)
        assert mine["recall@100"]["value"] == pytest.approx(found[ir_measures.R @ 100], abs=1e-9)


def test_the_report_says_what_was_run(benchmark: tuple[Path, Ran]) -> None:
    folder, _ = benchmark
    report = json.loads((folder / "saved" / "report.json").read_text())
    facts = report["facts"]
    assert (facts["collection"], facts["documents"], facts["queries"]) == ("seeds", 57, 24)
    assert {"askpapers", "bm25s", "llama-index-core", "chromadb"} <= set(facts["versions"])
    assert len(facts["settings"]) == 12
    assert set(facts["kinds"].values()) >= {"named"}
    for name in NAMES:
        assert len(facts["costs"][name]["search_seconds"]) == 24
        speed = report["speed"][name]
        assert 0 < speed["search_median_ms"] <= speed["search_p95_ms"]
        assert speed["documents_per_second"] == pytest.approx(57 / speed["index_seconds"])


def test_a_saved_benchmark_is_reported_again_without_running_it(
    benchmark: tuple[Path, Ran],
) -> None:
    folder, first = benchmark
    again = evals("bench", "retrieval", "--from", folder / "saved")
    assert (again.code, again.err) == (0, "")
    assert again.out == first.out


def test_a_run_of_another_program_is_reported_with_the_others(
    benchmark: tuple[Path, Ran], tmp_path: Path
) -> None:
    folder, _ = benchmark
    shutil.copytree(folder / "saved", tmp_path / "more")
    shutil.copy(folder / "saved" / "bm25.run", tmp_path / "more" / "mine.run")
    ran = evals("bench", "retrieval", "--from", tmp_path / "more")
    assert (ran.code, ran.err) == (0, "")
    table = {cells[0]: cells[1:] for cells in rows(ran.out, 0, 1, 2, 3, 4)[: len(NAMES) + 1]}
    assert table["mine"] == table["bm25"]


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["--systems", "bm25,elastic"], "No system is called 'elastic'", 2),
        (["--systems", ","], "No system is named", 2),
        (["--data", "nowhere"], "nowhere is no collection in BEIR's form", 2),
        (["--from", "nowhere"], "nowhere holds no benchmark of retrieval", 2),
    ],
)
def test_what_cannot_be_run_is_told_in_one_line(
    arguments: Sequence[str], said: str, code: int
) -> None:
    given = ["--data", "seeds", *arguments]
    ran = evals("bench", "retrieval", *given)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith(f"error: {said}")
    assert len(ran.err.splitlines()) == 1


def without_seed(folder: Path) -> None:
    path = folder / "report.json"
    report = json.loads(path.read_text())
    del report["facts"]["seed"]
    path.write_text(json.dumps(report))


def without_runs(folder: Path) -> None:
    for path in folder.glob("*.run"):
        path.unlink()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (without_seed, "report.json: seed: "),
        (lambda folder: (folder / "report.json").write_text("[]"), "is not what was saved"),
        (without_runs, "no run files"),
        (lambda folder: (folder / "qrels.txt").write_text("q 0 d 0\n"), "no relevant document"),
        (lambda folder: (folder / "qrels.txt").unlink(), "qrels.txt cannot be read"),
        (lambda folder: (folder / "bm25.run").write_text("q Q0\n"), "bm25.run:1 cannot be read"),
    ],
)
def test_a_saved_benchmark_that_was_altered_is_told(
    change: Callable[[Path], object], said: str, benchmark: tuple[Path, Ran], tmp_path: Path
) -> None:
    altered = shutil.copytree(benchmark[0] / "saved", tmp_path / "altered")
    change(altered)
    with pytest.raises(InputError) as caught:
        saved(altered)
    assert said in str(caught.value)
    assert str(altered) in str(caught.value)
