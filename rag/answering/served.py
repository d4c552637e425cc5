"""The settings beside the index that is there: which embedding model serves, and which is wanted.

An index goes on with the model that it was built with, until `rag reembed`. The setting
`embedding_model` is for an index that is to be made, and a wish for one that is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rag.answering.parts import built_with, embedder_of, engine_of, vectors_of
from rag.config import Config
from rag.errors import IndexUnusable, ResourceError
from rag.index.built import BuiltWith, OtherModel
from rag.index.catalog import Catalog
from rag.index.reembedding import Reembedder
from rag.index.report import Progress, Report
from rag.index.serving import differing
from rag.index.sync import Indexer


def with_model(config: Config, embedding_model: str) -> Config:
    """The same settings with another embedding model."""
    return config.model_copy(update={"embedding_model": embedding_model})


def served(config: Config) -> BuiltWith | None:
    """What the index is built with; None where there is none, or none that can be opened.

    What is wrong with it is told by whoever uses it.
    """
    catalog = _catalog(config)
    if not catalog.exists():
        return None
    try:
        with catalog.reading() as snapshot:
            return BuiltWith.recorded(snapshot)
    except (IndexUnusable, ResourceError):
        return None
    finally:
        catalog.close()


def as_indexed(config: Config) -> Config:
    """The settings with the model of the index that is there, and titles as they are there."""
    there = served(config)
    if there is None:
        return config
    titles = {"embed_titles": there.embed_titles}
    return with_model(config, there.embedding_model).model_copy(update=titles)


def as_wanted(config: Config) -> Config:
    """The settings; where they leave the model at its default, that of the index serves."""
    there = None if "embedding_model" in config.model_fields_set else served(config)
    return config if there is None else with_model(config, there.embedding_model)


def difference(config: Config) -> str:
    """What to say where the settings name another model than the index has; else nothing."""
    there, wish = as_indexed(config).embedding_model, as_wanted(config).embedding_model
    return "" if there == wish else differing(there, wish)


def index_with(
    config: Config,
    progress: Progress,
    notify: Callable[[str], None],
    work: Callable[[Indexer], Report],
) -> Report:
    """Do what is to be done with the index, with the engine and the embedding model of `config`.

    `notify` hears of waits for a server.

    Raises:
        WeightsError, ConfigError: as `embedder_of`, `engine_of` and `vectors_of`.
    """
    embedder = embedder_of(config, notify)
    with engine_of(config, embedder) as engine:
        vectors = vectors_of(config)
        return work(
            Indexer(config.data_dir, embedder, built_with(config), progress, vectors, engine)
        )


def add_with(
    config: Config,
    progress: Progress,
    notify: Callable[[str], None],
    work: Callable[[Indexer], Report],
) -> Report:
    """As `index_with`, with the model that the index is served with.

    Where it is switched to another while this process waits for its turn, the work begins again
    with that one.
    """
    while True:
        chosen = as_indexed(config)
        try:
            return index_with(chosen, progress, notify, work)
        except OtherModel:
            if as_indexed(config).embedding_model == chosen.embedding_model:
                raise


@contextmanager
def reembedding(
    config: Config, model: str, progress: Progress, notify: Callable[[str], None] = lambda _: None
) -> Iterator[Reembedder]:
    """What takes the index over to the embedding model of that name, for as long as it is used.

    `notify` hears of waits for a server.

    Raises:
        UsageError, WeightsError, ConfigError: as `embedder_of` and `engine_of`.
    """
    there = served(config) or built_with(config)
    chosen = config.model_copy(
        update={
            "embedding_model": model,
            "chunk_sentences": there.chunk_sentences,
            "chunk_word_pieces": there.chunk_word_pieces,
            "embed_titles": there.embed_titles,
        }
    )
    embedder = embedder_of(chosen, notify)
    catalog, vectors = _catalog(config), vectors_of(config)
    with engine_of(chosen, embedder) as engine:
        try:
            yield Reembedder(catalog, vectors, embedder, built_with(chosen), engine, progress)
        finally:
            vectors.close()
            catalog.close()


def _catalog(config: Config) -> Catalog:
    return Catalog(config.data_dir / "catalog.sqlite3")
