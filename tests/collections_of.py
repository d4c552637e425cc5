"""A collection of records with the real embedding model, asked without or with a model server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from fakes import HandEmbedder, Received, Reply, Script, ScriptedServer, streamed
from library import Library

from rag.answering.assistant import Assistant
from rag.answering.helping import asker_of, finder_of
from rag.answering.parts import built_with, generator_of, writing
from rag.config import Config
from rag.index.embedding import Embedder
from rag.retrieval.fusion import Weights
from rag.retrieval.search import Searcher

OWLS: tuple[Mapping[str, object], ...] = (
    {
        "id": "p-owl",
        "title": "TinyOwl: Sparse Retrieval on a Budget",
        "authors": ["Mira Castellan", "Jonas Ekwall"],
        "year": 2024,
        "abstract": "TinyOwl is a 40 M parameter sparse retriever. It is evaluated on 12 tasks and "
        "raises mean recall by 3.7 points over the dense baseline. It does not improve latency on "
        "CPU.",
    },
    {
        "id": "p-heron",
        "title": "Heron: Dense Retrieval with Late Pooling",
        "authors": ["Priya Nandakumar"],
        "year": 2023,
        "abstract": "Heron is a dense retriever that pools token vectors late. On 9 tasks it "
        "reaches 61.2 recall, but it needs 1.3 B parameters and a GPU.",
    },
    {
        "id": "p-sail",
        "title": "Recovering Design Decisions from Repositories",
        "authors": ["Lena Voss"],
        "year": 2025,
        "abstract": "We present Seeded Architectural Intent Lift (SAIL), which infers design "
        "intent from commit history. SAIL finds 81% of recorded decisions in six projects.",
    },
)


@contextmanager
def asking(
    folder: Path, embedder: Embedder, records: Sequence[Mapping[str, object]], **settings: object
) -> Iterator[Assistant]:
    """An assistant over the records; it quotes unless the settings name a model."""
    given = {"llm": "none", "expand": "off", "max_retries": 0, **settings}
    config = Config.model_validate(given)
    library = Library(folder, cast("HandEmbedder", embedder))
    library.built_with = built_with(config)
    file = library.papers / "records.jsonl"
    file.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    library.index()
    generator = generator_of(config)
    with library.reader() as reader:
        finder = finder_of(config, Searcher(reader, _weights(config)), generator)
        writer, asker = writing(generator, config), asker_of(config, generator)
        with Assistant(config, reader, finder, writer, asker) as assistant:
            yield assistant


def _weights(config: Config) -> Weights:
    return Weights(
        config.weight_dense,
        config.weight_lexical,
        config.weight_sentence,
        config.lexical_coverage,
        config.weight_aspect,
    )


@contextmanager
def with_model(
    folder: Path,
    embedder: Embedder,
    records: Sequence[Mapping[str, object]],
    reply: Reply,
    **settings: object,
) -> Iterator[tuple[Assistant, ScriptedServer]]:
    """The same with a model server that follows a script."""
    with ScriptedServer(reply) as server:
        named = {"llm": "openai", "openai_base_url": server.url, "openai_model": "m"}
        with asking(folder, embedder, records, **named, rerank="off", **settings) as assistant:
            yield assistant, server


def by_key(replies: Mapping[str, object]) -> Reply:
    """A server that answers what asks for an object with that key, and others with no claims."""

    def reply(received: Received) -> Script:
        system = received.body["messages"][0]["content"]
        key = next((key for key in replies if f'{{"{key}"' in system), "claims")
        return streamed([json.dumps(replies.get(key, {"claims": []}))])

    return reply
