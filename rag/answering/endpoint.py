"""An embedding model behind a server that speaks OpenAI's /embeddings.

Texts, cut to so many characters, go in bounded batches, one after the other, by the rules of every
other request: bounded waits, repeats only of what may pass, and one line for what went wrong. What
a server cannot take at once is asked for in halves; a text that it cannot take by itself is named.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rag.answering.client import Client, failures
from rag.answering.exchange import silent
from rag.answering.faults import ContextTooSmall, Fault, Knobs
from rag.answering.retry import Patience
from rag.answering.vectorreply import matrix
from rag.errors import ModelError
from rag.index.embedding import PROBE, Vectors, unit

KNOBS = Knobs(
    url="embedding_base_url",
    key="embedding_api_key",
    model="embedding_model",
    too_long="Serve the model with larger batches (llama.cpp: -ub), or lower embedding_chars.",
)
_BATCH_TEXTS = 64
_BATCH_CHARS = 64_000
_BYTES_PER_TEXT = 1_000_000  # 16,384 numbers of 25 digits come to less than half
_QUOTED = 60  # characters of a text that is named


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an embedding model is served, and how long it may take, in seconds.

    `request_timeout` bounds one batch, waits included. `chars` is what is sent of one text, at
    most; `knobs` name the settings that lead there. All of it can be pickled, so that other
    machines can ask too.
    """

    name: str
    model: str
    url: str
    key: str = field(repr=False)
    knobs: Knobs
    chars: int
    connect_timeout: float
    idle_timeout: float
    request_timeout: float
    max_retries: int
    max_retry_wait: float

    def patience(self) -> Patience:
        """The bounds on waiting for one batch."""
        return Patience(self.request_timeout, self.max_retries, self.max_retry_wait)


class EndpointEmbedder:
    """An `Embedder` that asks a server; nothing is connected before its first use.

    `notify` hears of every wait before it begins. Safe for use by several threads.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        notify: Callable[[str], None] = silent,
        patience: Patience | None = None,
    ) -> None:
        self.name = endpoint.name
        self._endpoint = endpoint
        self._notify = notify
        self._patience = patience or endpoint.patience()
        self._client = Client(
            endpoint.url,
            endpoint.key,
            endpoint.connect_timeout,
            endpoint.idle_timeout,
            endpoint.knobs,
        )
        self._most = _BATCH_TEXTS
        self._dimension = 0
        self._lock = threading.Lock()

    @property
    def host(self) -> str:
        """Whom texts are sent to."""
        return self._client.peer.host

    @property
    def dimension(self) -> int:
        """The length of a vector; the server is asked once, unless it has given one before."""
        if not self._dimension:
            self.embed([PROBE])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`.

        Raises:
            ServerError: the server cannot be reached, refuses, or does not send vectors.
            ModelError: it sends vectors of another length than before.
        """
        sent = [text[: self._endpoint.chars] for text in texts]
        found = [self._whole(batch) for batch in _batches(sent, lambda: self._most)]
        if not found:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.concatenate(found)

    def count_pieces(self, text: str) -> int:
        """An estimate: a word piece for every four bytes of UTF-8.

        The server's tokenizer is not known here. Of abstracts in English that is 1.1 to 1.2 times
        what all-MiniLM-L6-v2 makes (SciFact, seeds), so that chunks come out rather too short.
        """
        return -(-len(text.encode("utf-8", "replace")) // 4)

    def close(self) -> None:
        """Cut what runs and free the connections."""
        self._client.close()

    def _whole(self, texts: Sequence[str]) -> Vectors:
        """The vectors of one batch, asked for in halves where it is too much at once."""
        try:
            return self._known(self._patient(texts))
        except ContextTooSmall as error:
            if len(texts) == 1:
                raise _named(texts[0], error) from None
        half = len(texts) // 2
        vectors = np.concatenate([self._whole(texts[:half]), self._whole(texts[half:])])
        self._most = min(self._most, max(half, 1))
        return vectors

    def _patient(self, texts: Sequence[str]) -> Vectors:
        """One batch, attempt after attempt."""
        patience, failed = self._patience, 0
        started = patience.monotonic()
        while True:
            try:
                return self._attempt(texts, patience.left(started))
            except Fault as fault:
                failed += 1
                patience.wait(fault, failed, started, self._notify)

    def _attempt(self, texts: Sequence[str], seconds: float) -> Vectors:
        cause = f"no vectors within {self._patience.answer_timeout:g} s"
        most = _BYTES_PER_TEXT * len(texts)
        with self._client.line(seconds, cause) as line:
            try:
                return matrix(
                    self._client.embedded(self._endpoint.model, texts, line, most), len(texts)
                )
            except failures() as error:
                raise self._client.fault(error, line, ()) from None

    def _known(self, vectors: Vectors) -> Vectors:
        """Vectors of length 1, if they have as many numbers as those before."""
        dimension = vectors.shape[1]
        with self._lock:
            self._dimension = self._dimension or dimension
        if dimension != self._dimension:
            raise ModelError(
                f"The embedding model {self.name} changed while it was used",
                cause=f"vectors of {dimension} numbers after some of {self._dimension}",
                remedy=f"Check what {self.host} serves.",
            )
        return unit(vectors, self.name)


def endpoint_embedder(
    endpoint: Endpoint, files: Sequence[Path], threads: int = 0
) -> EndpointEmbedder:
    """An embedder as `Recipe` asks for it; a server needs no files and no threads from here."""
    del files, threads
    return EndpointEmbedder(endpoint)


def _batches(texts: Sequence[str], most: Callable[[], int]) -> Iterator[list[str]]:
    """Texts in their order, so many at a time as a server is asked for at once.

    `most` is how many texts, asked anew for each batch.
    """
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) >= most() or size + len(text) > _BATCH_CHARS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _named(text: str, error: ContextTooSmall) -> ContextTooSmall:
    """The refusal of one text, with what it begins with and how long it is."""
    beginning = " ".join(text.split())[:_QUOTED]
    return ContextTooSmall(
        f"A text of {len(text):,} characters is too long for the embedding model, “{beginning}…”",
        cause=error.cause,
        remedy=error.remedy,
        prompt_tokens=error.prompt_tokens,
        window=error.window,
    )
