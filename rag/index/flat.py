"""Vectors in one plain file, compared one by one: exact, and slower the more there are.

It serves collections whose papers are so nearly alike that an approximate index does not find
them. 1.5 kB a row, mapped into memory: 200,000 rows take about 30 ms.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from rag.index.embedding import Vectors

IDS = "ids.json"
VECTORS = "vectors.f32"

Rows = Iterable[tuple[str, Vectors]]


def copied(rows: Rows, folder: Path, ids: list[str]) -> Iterator[tuple[str, Vectors]]:
    """The same rows, each also written to `folder`, and its content added to `ids`.

    Rows come from a query that is read once, and only when an index of them is complete does it
    show whether the copy is needed.
    """
    with (folder / VECTORS).open("wb") as file:
        for content, vector in rows:
            file.write(np.asarray(vector, dtype=np.float32).tobytes())
            ids.append(content)
            yield content, vector
    (folder / IDS).write_text(json.dumps(ids), encoding="utf-8")


class FlatRows:
    """The rows of a folder, open for queries."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self._ids: list[str] = json.loads((folder / IDS).read_text(encoding="utf-8"))
        shape = (len(self._ids), dimension)
        self._vectors = np.memmap(folder / VECTORS, dtype=np.float32, mode="r", shape=shape)

    def query(self, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        """Ids and cosine similarities of the nearest rows, nearest first."""
        cosines = self._vectors @ vector
        best = np.argpartition(-cosines, limit - 1)[:limit]
        ordered = best[np.argsort(-cosines[best], kind="stable")]
        return [(self._ids[row], float(cosines[row])) for row in ordered]

    def close(self) -> None:
        """Nothing is held but a map of a file, which goes with this object."""
