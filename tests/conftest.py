"""What several test modules need."""

import pytest

from rag.config import Config, load
from rag.models import WeightStore


@pytest.fixture(scope="session")
def weights() -> WeightStore:
    """The real weights of the default embedder and language model, fetched if they are missing."""
    store = WeightStore(load().config.weights_dir)
    defaults = Config.model_validate({})
    for name in (defaults.embedding_model, defaults.local_model):
        if not store.present(name):
            store.pull(name)
    return store
