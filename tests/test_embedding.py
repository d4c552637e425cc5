"""The embedded embedding models: real weights, similarities that a reader would expect."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from command import environment

from rag.answering.parts import embedder_of
from rag.config import load
from rag.errors import ModelError
from rag.index.embedding import Embedder, unit
from rag.models import WeightStore

CAT, KITTEN, STOCKS = "A cat sits on the mat.", "A kitten lies on a rug.", "Stocks fell on Monday."


@pytest.mark.parametrize("name", ["all-minilm-l6-v2", "paraphrase-minilm-l3-v2"])
def test_texts_that_mean_the_same_are_near_and_others_far(weights: WeightStore, name: str) -> None:
    if not weights.present(name):
        weights.pull(name)
    embedder = embedder_of(load({"embedding_model": name}, environ={}).config)
    vectors = embedder.embed([CAT, KITTEN, STOCKS])
    assert vectors.shape == (3, embedder.dimension)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)
    assert vectors[0] @ vectors[1] > 0.5
    assert vectors[0] @ vectors[2] < 0.3


def test_a_text_has_one_vector_whatever_it_is_embedded_with(embedder: Embedder) -> None:
    alone = embedder.embed([CAT])[0]
    among = embedder.embed([STOCKS, "long " * 300, CAT, KITTEN])[2]
    assert np.array_equal(alone, among)
    assert embedder.embed([]).shape == (0, embedder.dimension)


def test_a_vector_without_direction_is_refused() -> None:
    for bad in (0.0, float("nan"), float("inf")):
        with pytest.raises(ModelError, match="without direction"):
            unit(np.full((2, 3), bad, dtype=np.float32), "m")


def test_a_model_can_be_let_go_right_after_its_last_text(weights: WeightStore) -> None:
    code = (
        "from rag.answering.parts import embedder_of\n"
        "from rag.config import load\n"
        "for _ in range(6):\n"
        "    embedder = embedder_of(load().config)\n"
        "    embedder.embed(['apples'] * 3)\n"
        "    del embedder\n"
    )
    subprocess.run([sys.executable, "-c", code], env=environment(), timeout=120, check=True)


def test_nothing_of_the_embedding_runtime_speaks_to_its_maker(weights: WeightStore) -> None:
    """OpenVINO's package reports every import, unless its sender cannot be loaded."""
    script = (
        "import sys\n"
        "from rag.config import load\n"
        "from rag.answering.parts import embedder_of\n"
        "embedder_of(load().config).embed(['apples'])\n"
        "assert 'openvino' in sys.modules\n"
        "print([name for name in sys.modules if 'openvino_telemetry' in name"
        " and sys.modules[name] is not None])\n"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=120)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
