"""The papers that a generation has not, compared exactly.

Reading their vectors costs far more than comparing them, so they are kept for as long as the
catalog stays as it is: 1.5 kB a paper, and few papers where there is a generation.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from rag.index.embedding import Vectors, unit
from rag.index.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Delta:
    """Papers and their vectors, shape (papers, dimension)."""

    paper_ids: tuple[str, ...]
    vectors: Vectors

    def compare(self, vector: Vectors) -> dict[str, float]:
        """The cosine of every paper to a unit vector."""
        return dict(zip(self.paper_ids, (self.vectors @ vector).tolist(), strict=True))


class Deltas:
    """Reads the papers newer than a revision, and keeps the last that were asked for."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._state: tuple[object, ...] = ()
        self._last = Delta((), np.empty((0, 0), dtype=np.float32))

    def since(self, snapshot: Snapshot, revision: int, model: str, dimension: int) -> Delta:
        """The papers of `snapshot` whose version is newer than `revision`.

        Vectors of one revision change only with the weights, which the probe tells.
        """
        state = (snapshot.revision, snapshot.setting("probe"), revision, model)
        with self._guard:
            if self._state != state:
                self._last = _read(snapshot, revision, model, dimension)
                self._state = state
            return self._last


def _read(snapshot: Snapshot, revision: int, model: str, dimension: int) -> Delta:
    paper_ids: list[str] = []
    means: list[Vectors] = []
    for paper_id, _, matrix in snapshot.matrices_since(model, revision, dimension):
        paper_ids.append(paper_id)
        means.append(matrix.mean(axis=0))
    if not means:
        return Delta((), np.empty((0, dimension), dtype=np.float32))
    return Delta(tuple(paper_ids), unit(np.stack(means), "in the catalog"))
