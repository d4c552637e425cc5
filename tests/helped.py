"""An assistant whose model server follows scripts, also where it helps to search."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from fakes import Received, Reply, Script, ScriptedServer, streamed
from library import WEIGHTS, Library

from rag.answering.assistant import Assistant
from rag.answering.helping import finder_of
from rag.answering.parts import generator_of, writing
from rag.config import Config
from rag.retrieval.search import Searcher

STEPS = "translate,hypothesis"


@dataclass(frozen=True)
class Helped:
    """`asked` names the steps that the server was asked for, in order."""

    assistant: Assistant
    server: ScriptedServer

    @property
    def asked(self) -> list[str]:
        return [step_of(received) for received in self.server.posts]


def step_of(received: Received) -> str:
    """Which step a request is about, by the key of the object that it asks for."""
    system = received.body["messages"][0]["content"]
    keys = ("english", "query", "sentence", "questions", "order")
    return next((key for key in keys if f'{{"{key}"' in system), "answer")


def by_step(replies: Mapping[str, object]) -> Reply:
    """A server that answers each step with its value, and any other with no claims.

    A value may be a whole script or the text of a reply.
    """

    def reply(received: Received) -> Script:
        step = step_of(received)
        value = replies.get(step, {"claims": []})
        if isinstance(value, Script):
            return value
        return streamed([value if isinstance(value, str) else json.dumps(value)])

    return reply


@contextmanager
def helped(
    library: Library, replies: Mapping[str, object] | Reply, **settings: object
) -> Iterator[Helped]:
    script = by_step(replies) if isinstance(replies, Mapping) else replies
    with ScriptedServer(script) as server, library.reader() as reader:
        given = {"llm": "openai", "openai_base_url": server.url, "openai_model": "m"}
        config = Config.model_validate(
            {
                "embedding_model": "by hand",
                "quotes_beside": 0,
                "max_retries": 0,
                "expand": STEPS,
                **given,
                **settings,
            }
        )
        generator = generator_of(config)
        finder = finder_of(config, Searcher(reader, WEIGHTS), generator)
        with Assistant(config, reader, finder, writing(generator, config)) as assistant:
            yield Helped(assistant, server)
