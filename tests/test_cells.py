"""How well cells are found without a model, on cells of the seeds that were labelled by hand.

`cells.jsonl` names for each paper and column the sentences that say it, counted from 0; none where
the abstract does not. The cue words of the columns were tuned on the papers that are `tuned`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag.answering.assistant import Assistant, last_answer

CELLS = Path(__file__).parent / "cells.jsonl"
LABELS = [json.loads(line) for line in CELLS.read_text("utf-8").splitlines()]


@pytest.mark.parametrize(("tuned", "precision", "recall"), [(True, 0.97, 0.90), (False, 0.9, 0.75)])
def test_cells_are_right_and_found(
    assistant: Assistant, tuned: bool, precision: float, recall: float
) -> None:
    filled = right = stated = 0
    labels = [label for label in LABELS if label["tuned"] is tuned]
    for start in range(0, len(labels), 4):
        part = labels[start : start + 4]
        columns = list(part[0]["sentences"])
        names = [label["paper"] for label in part]
        table = last_answer(assistant.tables.compare(names, ",".join(columns))).table
        assert table is not None
        for label, row in zip(part, table.rows, strict=True):
            for name, cell in zip(columns, row.cells, strict=True):
                wanted = label["sentences"][name]
                stated += bool(wanted)
                filled += cell is not None
                right += cell is not None and cell.support[0].index in wanted
    assert right / filled >= precision
    assert right / stated >= recall
