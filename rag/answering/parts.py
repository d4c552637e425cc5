"""The parts that the settings ask for; nothing is loaded or connected before its first use."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from rag.answering.budget import Budget, BudgetedGenerator
from rag.answering.endpoint import KNOBS, Endpoint, EndpointEmbedder, endpoint_embedder
from rag.answering.exchange import silent
from rag.answering.faults import CHAT
from rag.answering.generation import OFFICIAL_URL, Generator, OpenAIGenerator
from rag.answering.local import LocalGenerator
from rag.answering.smoothing import Smoothing
from rag.answering.writing import ModelWriter, QuotingWriter, Writer
from rag.config import Config
from rag.corpus import Limits
from rag.errors import ConfigError, WeightsError
from rag.index.built import BuiltWith
from rag.index.embedding import Embedder, Recipe, open_vino
from rag.index.engine import Engine, LocalEngine
from rag.index.ray_engine import RayEngine
from rag.index.report import Progress
from rag.index.sync import Indexer
from rag.index.vectors import VectorIndex, vector_index
from rag.index.vectors.wire import Patience
from rag.models.catalogue import find_model
from rag.models.llama import LlamaServer
from rag.models.store import WeightStore


def built_with(config: Config) -> BuiltWith:
    """The settings that the index depends on."""
    return BuiltWith(
        config.embedding_model,
        config.chunk_sentences,
        config.chunk_word_pieces,
        config.embed_titles,
    )


def vectors_of(config: Config) -> VectorIndex:
    """The vector index of the settings; nothing is connected.

    Raises:
        ConfigError: the settings name a store that is not there.
    """
    patience = Patience(config.connect_timeout, config.vectors_timeout, config.idle_timeout)
    return vector_index(config.data_dir, config.vectors, config.vectors_options, patience)


def indexer_of(config: Config, progress: Progress) -> Indexer:
    """The indexer of the settings, which reads and embeds in this process.

    Raises:
        WeightsError, ConfigError: as `embedder_of` and `vectors_of`.
    """
    vectors = vectors_of(config)
    return Indexer(config.data_dir, embedder_of(config), built_with(config), progress, vectors)


def limits_of(config: Config) -> Limits:
    """How much of a file is taken before it is refused."""
    return Limits(
        file_mb=config.max_file_mb,
        record_chars=config.max_record_chars,
        records=config.max_records,
        pages=config.max_pages,
        expansion=config.max_expansion,
        seconds=config.max_pdf_seconds,
    )


def embedder_of(config: Config, notify: Callable[[str], None] = silent) -> Embedder:
    """The embedding model of the settings; it is loaded, or connected, at its first use.

    `notify` hears of every wait for a server before it begins.

    Raises:
        WeightsError: its weights are not there.
        ConfigError: its server is not named.
    """
    if config.served_embedding:
        return EndpointEmbedder(endpoint_of(config), notify)
    recipe = recipe_of(config)
    return recipe.make(recipe.files, 0)


def endpoint_of(config: Config) -> Endpoint:
    """The embedding server of the settings; a key goes only where it was given for.

    Raises:
        ConfigError: no server is named.
    """
    own = config.embedding_base_url
    secret = config.embedding_api_key or (None if own else config.openai_api_key)
    if not (own or config.openai_base_url or secret):
        raise ConfigError(
            f"No server is configured for embedding_model = {config.embedding_model}",
            remedy="Set embedding_base_url, or OPENAI_API_KEY for OpenAI itself.",
        )
    of_llm = own is None
    knobs = replace(
        KNOBS,
        url=CHAT.url if of_llm else KNOBS.url,
        key=CHAT.key if of_llm and not config.embedding_api_key else KNOBS.key,
    )
    return Endpoint(
        name=config.embedding_model,
        model=config.served_embedding,
        url=own or config.openai_base_url or OFFICIAL_URL,
        key=secret.get_secret_value() if secret else "",
        knobs=knobs,
        chars=config.embedding_chars,
        connect_timeout=config.connect_timeout,
        idle_timeout=config.idle_timeout,
        request_timeout=config.answer_timeout,
        max_retries=config.max_retries,
        max_retry_wait=config.max_retry_wait,
    )


def recipe_of(config: Config) -> Recipe:
    """How the embedding model of the settings is made.

    Raises:
        WeightsError: its weights are not there.
        ConfigError: its server is not named.
    """
    if config.served_embedding:
        return Recipe(partial(endpoint_embedder, endpoint_of(config)))
    store = WeightStore(config.weights_dir)
    model = find_model(config.embedding_model)
    if model.kind != "embedder" or model.dimension is None:
        raise ConfigError(f"{model.name} is not an embedding model")
    onnx, tokenizer = (
        next(f.name for f in model.files if f.name.endswith(end)) for end in (".onnx", ".json")
    )
    files = (store.path(model.name, onnx), store.path(model.name, tokenizer))
    return Recipe(partial(open_vino, model.name, model.dimension), files)


def engine_of(config: Config, embedder: Embedder) -> AbstractContextManager[Engine]:
    """Who reads and embeds when papers are indexed: this process, or a Ray cluster.

    Raises:
        ConfigError: Ray is not installed.
        WeightsError: the weights of the embedding model are not there.
    """
    if config.engine == "ray":
        return RayEngine(recipe_of(config), built_with(config), config.ray_address)
    return nullcontext(LocalEngine(embedder, built_with(config)))


def writer_of(config: Config) -> Writer:
    """Who writes answers: a configured server, else local weights, else nobody."""
    return writing(generator_of(config), config)


def writing(generator: Generator | None, config: Config) -> Writer:
    """Who writes answers with a model, or without one."""
    if generator is None:
        return QuotingWriter()
    return ModelWriter(generator, config.max_answer_tokens, config.prompts)


def choice_of(config: Config) -> Literal["openai", "local", "none"]:
    """Where the model of the settings runs: on a server, on this machine, or nowhere.

    Raises:
        ConfigError: a server is asked for and none is configured.
    """
    server = bool(config.openai_base_url or config.openai_api_key)
    if config.llm == "openai" and not server:
        raise ConfigError(
            "No model server is configured",
            remedy="Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own.",
        )
    if config.llm != "auto":
        return config.llm
    return "openai" if server else ("local" if _local_path(config) else "none")


def generator_of(config: Config) -> Generator | None:
    """The model of the settings, asked only while its budget lasts; None where there is none.

    Raises:
        ConfigError, WeightsError: the settings ask for a model that is not there.
    """
    choice = choice_of(config)
    if choice == "none":
        return None
    generator: Generator = openai_of(config) if choice == "openai" else _local_of(config)
    if config.smoothing:
        generator = Smoothing(generator, config.smoothing)
    if config.token_budget:
        return BudgetedGenerator(generator, Budget(config.token_budget))
    return generator


def _local_of(config: Config) -> LocalGenerator:
    path = WeightStore(config.weights_dir).llm_path(config.local_model)
    server = LlamaServer(path, config.local_context, config.local_threads)
    name = path.stem if config.local_model.endswith(".gguf") else config.local_model
    return LocalGenerator(server, name, config)


def _local_path(config: Config) -> Path | None:
    try:
        return WeightStore(config.weights_dir).llm_path(config.local_model)
    except WeightsError:
        return None


def openai_of(config: Config) -> OpenAIGenerator:
    """A client of the configured server."""
    key = config.openai_api_key.get_secret_value() if config.openai_api_key else "none"
    return OpenAIGenerator(
        base_url=config.openai_base_url,
        api_key=key,
        model=config.openai_model,
        output=config.openai_output,
        connect_timeout=config.connect_timeout,
        idle_timeout=config.idle_timeout,
        answer_timeout=config.answer_timeout,
        max_retries=config.max_retries,
        max_retry_wait=config.max_retry_wait,
    )
