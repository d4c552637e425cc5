"""Papers that an approximate index cannot tell apart, in the real child process that finds it out.

Thirty rows of each of 240 directions at right angles: the graph of the index falls into islands,
of which a search that begins in one does not see the others.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from command import ROOT, environment

from rag.index.child import build_in_child, verify_in_child
from rag.index.chroma import Order
from rag.index.embedding import Vectors
from rag.index.manifest import Unsearchable

DIRECTIONS, COPIES = 240, 30
ROWS = DIRECTIONS * COPIES
NOT_FOUND = r"\d+ of 20 rows are not found"


def rows() -> Iterator[tuple[str, Vectors]]:
    axes = np.eye(DIRECTIONS, dtype=np.float32)
    return ((f"row {number}", axes[number // COPIES]) for number in range(ROWS))


def test_the_child_that_tries_one_out_says_so_by_its_exit_status(tmp_path: Path) -> None:
    folder = tmp_path / "gen"
    folder.mkdir()
    with pytest.raises(Unsearchable, match=NOT_FOUND):
        build_in_child(folder, rows(), Order(ROWS, DIRECTIONS, "model/1/254", 1), 60.0)
    with pytest.raises(Unsearchable, match=NOT_FOUND):
        verify_in_child(folder, 60.0)
    done = subprocess.run(
        [sys.executable, "-m", "rag.index.chroma", "verify", str(folder)],
        env=environment(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 6
    assert done.stderr.strip().endswith("rows are not found")
