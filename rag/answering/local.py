"""The embedded model as a generator: the same protocol, a server in a child process behind it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Protocol

from rag.answering.generation import Completion, OpenAIGenerator, Request, silent
from rag.config import Config
from rag.errors import ServerError


class ModelServer(Protocol):
    """A model in a child process that can be replaced; see `rag.models.llama.LlamaServer`."""

    @property
    def api_key(self) -> str:
        """The key that it asks for."""

    @property
    def base_url(self) -> str:
        """Where it listens; another place after a restart."""

    @property
    def pid(self) -> int | None:
        """The child's process id; None if it was not started, or closed."""

    def ensure_running(self) -> bool:
        """Start it, or replace a child that has died; whether one was replaced.

        Raises:
            ModelError: it cannot be started, or died again soon.
        """

    def close(self) -> None:
        """End the child."""


class LocalGenerator:
    """Starts the embedded model at the first question and replaces it once if it dies."""

    def __init__(self, server: ModelServer, model: str, config: Config) -> None:
        self._server = server
        self._model = model
        self._config = config
        self._guard = threading.Lock()
        self._client: OpenAIGenerator | None = None
        self._client_pid: int | None = None

    @property
    def name(self) -> str:
        """The model's name in the settings."""
        return f"{self._model} on this machine"

    @property
    def structured(self) -> bool:
        """llama.cpp holds a reply to its schema."""
        return True

    def stream(
        self, request: Request, notify: Callable[[str], None] = silent
    ) -> Iterator[str | Completion]:
        """See `Generator.stream`. A model that dies before any text is started once more.

        Every answer that was being written fails with it, but only the first to notice starts it
        again; so whether there is another child since decides, not who started it.
        """
        client = self._connected(notify)
        shown = False
        try:
            for piece in client.stream(request, notify):
                shown = True
                yield piece
        except ServerError:
            again = None if shown else self._connected(silent)
            if again is None or again is client:
                raise
            notify("the local model ended and was started again")
            yield from again.stream(request, notify)

    def close(self) -> None:
        """End the child process."""
        with self._guard:
            if self._client is not None:
                self._client.close()
            self._client = None
            self._server.close()

    def _connected(self, notify: Callable[[str], None]) -> OpenAIGenerator:
        """A client of the running server, which listens elsewhere after a restart."""
        loading = self._server.pid is None
        if loading:
            notify("loading the local model")
        if self._server.ensure_running():
            notify("the local model had ended and was started again")
        if loading:
            notify("the local model is loaded and reads")
        with self._guard:
            if self._client is None or self._client_pid != self._server.pid:
                self._client_pid = self._server.pid
                self._client = self._new_client(self._server.base_url)
            return self._client

    def _new_client(self, url: str) -> OpenAIGenerator:
        config = self._config
        return OpenAIGenerator(
            base_url=url,
            api_key=self._server.api_key,
            model=self._model,
            output="schema",
            connect_timeout=config.connect_timeout,
            idle_timeout=config.idle_timeout,
            answer_timeout=config.answer_timeout,
            max_retries=0,
            extra={"cache_prompt": True},
        )
