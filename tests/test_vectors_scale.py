"""Sizes and times for many papers, worked out by hand from round figures."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from command import ROOT, environment

from evals.scale import Measured, lasting, measure, need, row_memory, sized, table
from rag.config import Config

ROUND = Measured(
    papers=1_000,
    dimension=384,
    catalog_bytes=20_000,
    row_bytes=5_000,
    papers_per_second=50,
    rows_per_second=1_000,
    exact_seconds=1e-5,
)


def test_a_million_papers_by_hand() -> None:
    found = need(ROUND, 1_000_000, workers=4)
    assert found.catalog_gb == pytest.approx(20)
    assert found.vectors_gb == pytest.approx(5)
    assert found.memory_gb == pytest.approx(1.676)  # 1,536 + 128 + 12 bytes a row
    assert found.index_seconds == pytest.approx(5_000)
    assert found.build_seconds == pytest.approx(2_000)  # log 10^6 is twice log 10^3
    assert found.exact_seconds == pytest.approx(10)
    assert found.delta_seconds == pytest.approx(1)


def test_a_row_in_memory() -> None:
    assert row_memory(384) == 1_676


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.012, "0.012 s"), (59, "59 s"), (150, "2 min"), (9_000, "2 h"), (864_000, "10 d")],
)
def test_times_are_told_in_a_fitting_unit(seconds: float, text: str) -> None:
    assert lasting(seconds) == text


@pytest.mark.parametrize(
    ("gigabytes", "text"), [(0.51, "0.51 GB"), (20.4, "20 GB"), (2_040, "2 TB"), (168, "0.17 TB")]
)
def test_sizes_have_two_figures(gigabytes: float, text: str) -> None:
    assert sized(gigabytes) == text


def test_the_table_has_a_column_for_each_number_of_papers() -> None:
    lines = table([need(ROUND, 100_000), need(ROUND, 1_000_000, 4)]).splitlines()
    assert lines[0] == "| papers | 100,000 | 1,000,000 |"
    assert lines[1] == "|---|---|---|"
    assert "| catalog on disk | 2 GB | 20 GB |" in lines


def test_the_document_shows_what_its_command_prints() -> None:
    document = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^\$ python -m (evals scale .*)$", document, re.MULTILINE)
    done = subprocess.run(
        [sys.executable, "-m", *command.split()],
        capture_output=True,
        text=True,
        env=environment(),
        cwd=ROOT,
        check=True,
    )
    printed = [line for line in done.stdout.splitlines() if line.startswith("|")]
    assert len(printed) == 10
    assert "\n".join(printed) in document


def test_an_index_is_measured(seeds_config: Config) -> None:
    found = measure(seeds_config, papers_per_second=40)
    assert (found.papers, found.dimension, found.papers_per_second) == (57, 384, 40)
    assert found.catalog_bytes > 768 * 435 / 57  # its sentences' vectors
    assert found.row_bytes > 4 * 384
    assert found.exact_seconds > 0
