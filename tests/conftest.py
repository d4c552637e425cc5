"""What several test modules need."""

from pathlib import Path

import pytest

from rag.answering.parts import built_with, embedder_of
from rag.config import Config, load
from rag.index.sync import Indexer
from rag.models import WeightStore

SEEDS = Path(__file__).parents[1] / "seeds"


@pytest.fixture(scope="session")
def weights() -> WeightStore:
    """The real weights of the default embedder and language model, fetched if they are missing."""
    store = WeightStore(load().config.weights_dir)
    defaults = Config.model_validate({})
    for name in (defaults.embedding_model, defaults.local_model):
        if not store.present(name):
            store.pull(name)
    return store


@pytest.fixture(scope="session")
def seeds_config(weights: WeightStore, tmp_path_factory: pytest.TempPathFactory) -> Config:
    """Settings that quote, over an index of the seeds made once for the whole run."""
    config = Config(data_dir=tmp_path_factory.mktemp("seeds"), weights_dir=weights.root, llm="none")
    indexer = Indexer(config.data_dir, embedder_of(config), built_with(config), lambda *_: None)
    indexer.sync([SEEDS])
    return config
