"""The bench of indexing: its collections, its arithmetic, and a run of the smallest size."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command import ROOT, environment

from evals.figures import curves
from evals.ingest import Row, Sentences, as_json, exponents
from evals.stats import growth
from rag.models import WeightStore

TENFOLD = {"s": [(10.0, 1.0), (100.0, 10.0), (1_000.0, 100.0)]}
SOURCE = Sentences((("A1.",), ("B1.", "B2."), ("C1.", "C2.", "C3.")))


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_a_power_law_is_found_exactly(power: float) -> None:
    sizes = [10.0, 100.0, 1_000.0]
    found = growth(sizes, [3.0 * size**power for size in sizes])
    assert found.exponent == pytest.approx(power)
    assert found.error == pytest.approx(0.0, abs=1e-9)
    assert found.n == 3


def test_the_error_of_an_exponent_is_that_of_a_slope() -> None:
    # over x = 0, 1, 2 the values 0, 2, 1 have the slope 1/2; what is left is -1/2, 1, -1/2, whose
    # squares sum to 3/2; one degree of freedom and sum (x - 1)^2 = 2: error √(3/2 / 2) = √3/2
    found = growth([1.0, math.e, math.e**2], [1.0, math.e**2, math.e])
    assert found.exponent == pytest.approx(0.5)
    assert found.error == pytest.approx(math.sqrt(3) / 2)


def test_two_sizes_give_an_exponent_without_an_error_and_one_gives_none() -> None:
    assert math.isnan(growth([1.0, 10.0], [2.0, 20.0]).error)
    with pytest.raises(ValueError, match="two sizes"):
        growth([5.0, 5.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="above 0"):
        growth([1.0, 2.0], [0.0, 2.0])


def test_a_collection_is_made_of_half_the_sentences_of_two_papers_and_the_same_for_a_seed() -> None:
    made = list(SOURCE.abstracts(50, seed=3))
    assert made == list(SOURCE.abstracts(50, seed=3))
    assert made != list(SOURCE.abstracts(50, seed=4))
    assert len({one["title"] for one in made}) == 50
    drawn = {tuple(sorted(one["abstract"].split())) for one in made}
    lone, of_two, of_three = ["A1."], ["B1.", "B2."], ["C1.", "C2.", "C3."]
    assert all(len(set(words)) == len(words) for words in drawn)
    for words in drawn:
        counts = [len(set(words) & set(paper)) for paper in (lone, of_two, of_three)]
        assert counts in ([1, 1, 0], [1, 0, 2], [0, 1, 2])
    assert len(drawn) > 6


def test_sentences_are_those_that_the_product_finds(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        '{"title": "One", "abstract": "It is so, e.g. here. It is not there."}\n{"title": "None"}\n'
    )
    assert Sentences.of(tmp_path) == Sentences((("It is so, e.g. here.", "It is not there."),))


def test_what_was_measured_is_written_as_json() -> None:
    rows = [Row(n, n / 50, n / 30, 300.0, 9_000.0, n / 5_000, 2.0) for n in (100, 1_000)]
    written = json.loads(json.dumps(as_json(rows), allow_nan=False))
    assert written["rows"][1]["rate"] == pytest.approx(50)
    assert written["rows"][1]["unchanged_rate"] == pytest.approx(5_000)
    fitted = written["growth"]
    assert fitted["time"] == {"exponent": pytest.approx(1.0), "error": None, "n": 2}
    assert fitted["processor time"]["exponent"] == pytest.approx(1.0)
    assert fitted["memory"]["exponent"] == pytest.approx(0.0)
    assert exponents(rows[:1]) == {}


def test_a_figure_has_logarithmic_axes_and_nothing_from_elsewhere() -> None:
    svg = curves("Cost", "papers", TENFOLD)
    text = svg.decode()
    assert "<script" not in text
    assert not re.search(r"""(?:href|src)=["'](?!#)""", text)
    assert svg == curves("Cost", "papers", TENFOLD)
    line = re.search(r'<g id="line2d_\d+">\s*<path d="M ([^"]*)"[^>]*stroke: #1f77b4', text)
    assert line
    numbers = [float(n) for n in re.findall(r"[\d.]+", line[1])]
    xs, ys = numbers[0::2], numbers[1::2]
    steps = [(x2 - x1, y2 - y1) for x1, x2, y1, y2 in zip(xs, xs[1:], ys, ys[1:], strict=False)]
    assert all(step == pytest.approx(steps[0], rel=1e-3) for step in steps)


def test_the_command_measures_collections_of_each_size(
    tmp_path: Path, weights: WeightStore
) -> None:
    saved = ["--save", str(tmp_path / "a.json"), "--plot", str(tmp_path / "a.svg")]
    done = subprocess.run(
        [sys.executable, "-m", "evals", "bench", "ingest", "--sizes", "5,20", *saved],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "papers/s" in done.stdout
    assert "time grows" in done.stdout
    rows = json.loads((tmp_path / "a.json").read_text())["rows"]
    assert [row["papers"] for row in rows] == [5, 20]
    for row in rows:
        assert row["seconds"] > row["unchanged_seconds"] > 0
        assert 50 < row["megabytes"] < 2_000
        assert row["bytes_per_paper"] > 1_000
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<?xml")
