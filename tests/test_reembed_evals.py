"""`python -m evals bench reembed` tells what a change of the embedding model does."""

from __future__ import annotations

import json

from evals import reembedding
from evals.collection import load as load_collection
from rag.config import load


def test_the_three_ways_of_asking_are_measured_on_the_seeds(second_model: str) -> None:
    collection = load_collection("seeds", "test").first(8)
    outcome = reembedding.run(collection, load().config, second_model, 40, lambda *_: None)
    rows = {(row.ranking, row.way): row for row in outcome.rows}
    assert set(rows) == {(r, w) for r in ("vectors", "search") for w in reembedding.WAYS}
    assert all(row.ndcg.n == 8 and 0 < row.ndcg.value <= 1 for row in outcome.rows)
    assert rows["vectors", "new model"].overlap.value == 1
    assert 0.2 < rows["vectors", "old model"].overlap.value < 1
    bridge, new = rows["vectors", "bridge"].recall, rows["vectors", "new model"].recall
    assert outcome.recovered.value == bridge.value / new.value
    assert (outcome.papers, outcome.tried.sample) == (57, 40)
    assert (outcome.meanwhile.failed, outcome.meanwhile.searches > 0) == (0, True)
    assert json.loads(json.dumps(reembedding.as_json(outcome)))["papers"] == 57
    assert len(reembedding.table(outcome.rows).splitlines()) == 2 + 6
    assert any("recovers" in sentence for sentence in reembedding.told(outcome))
