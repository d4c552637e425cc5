"""What several test modules need."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import SEEDS
from hypothesis import HealthCheck, settings
from plan import Noting

from rag.answering.assistant import Assistant
from rag.answering.parts import built_with, embedder_of
from rag.config import Config, load
from rag.index.embedding import Embedder
from rag.index.sync import Indexer
from rag.models import WeightStore
from rag.starting import spare_grammars

pytest_plugins = ["evals.pytest_plugin"]

# Started in the background, as some servers start tests, this process and its children would
# ignore Ctrl-C; the tests that send it need a child that does not.
signal.signal(signal.SIGINT, signal.default_int_handler)

spare_grammars()  # as the programs do

# The terminal's width is taken when `rag.terminal` is loaded; the commands of tests give their own.
os.environ.pop("COLUMNS", None)

# How fast a machine makes examples says nothing of the product.
settings.register_profile("any", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any")


def pytest_configure(config: pytest.Config) -> None:
    """Note what the tests of each case give."""
    config.pluginmanager.register(Noting())


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
def second_model(weights: WeightStore) -> str:
    """The name of another embedder whose weights are here, fetched if they are missing."""
    name = "paraphrase-minilm-l3-v2"
    if not weights.present(name):
        weights.pull(name)
    return name


@pytest.fixture(scope="session")
def seeds_config(tmp_path_factory: pytest.TempPathFactory, weights: WeightStore) -> Config:
    """Settings of an index of its own with the seeds in it, embedded by the real model."""
    folder = tmp_path_factory.mktemp("seeds") / "data"
    config = Config.model_validate(
        {"data_dir": folder, "weights_dir": load().config.weights_dir, "llm": "none"}
    )
    Indexer(folder, embedder_of(config), built_with(config), lambda *_: None).sync([SEEDS])
    return config


@pytest.fixture(scope="session")
def seeds_index(seeds_config: Config) -> Path:
    """The data folder with the seeds; tests only read it."""
    return seeds_config.data_dir


@pytest.fixture(scope="session")
def embedder(seeds_config: Config) -> Embedder:
    """The real embedding model."""
    return embedder_of(seeds_config)


@pytest.fixture(scope="session")
def assistant(seeds_config: Config) -> Iterator[Assistant]:
    """An assistant over the seeds that quotes."""
    with Assistant.from_config(seeds_config) as assistant:
        yield assistant
