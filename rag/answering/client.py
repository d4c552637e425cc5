"""One model server, reached through the openai client. The only module that imports it.

The client's own retries, timeouts and environment variables are not used: it would wait in silence
for half an hour. It sends; what comes back is read as bytes, and whatever it raises is translated
here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rag.answering import faults, wire
from rag.answering.connection import Line, Network, explain_connection
from rag.answering.faults import CHAT, Fault, Knobs, Peer
from rag.answering.retry import retry_after

if TYPE_CHECKING:
    import httpx2
    import openai


class Client:
    """Sends requests to one server. Many threads may do so at once.

    Nothing is connected before the first request. Times are in seconds: to reach the server, and
    without a byte from it.
    """

    def __init__(
        self,
        url: str,
        key: str,
        connect_timeout: float,
        idle_timeout: float,
        knobs: Knobs = CHAT,
    ) -> None:
        self.peer = Peer(urlsplit(url).netloc.rpartition("@")[2], key, knobs)
        self.connect_timeout = connect_timeout
        self.idle_timeout = idle_timeout
        self._url = url
        self._network = Network(self.peer, url)
        self._lock = threading.Lock()
        self._client: openai.OpenAI | None = None
        self._lines: set[Line] = set()
        self._closed = False

    def close(self) -> None:
        """Cut what runs and free the connections."""
        with self._lock:
            self._closed = True
            client, lines = self._client, list(self._lines)
        for line in lines:
            line.cut(faults.CLOSED)
        if client is not None:
            client.close()

    @contextmanager
    def line(self, seconds: float, cause: str) -> Iterator[Line]:
        """The connection of one attempt, cut for `cause` when its time is over, or by `close`."""
        with Line(seconds, cause) as line:
            self._lines.add(line)
            try:
                yield line
            finally:
                self._lines.discard(line)

    @contextmanager
    def sent(self, body: Mapping[str, object], line: Line) -> Iterator[Iterator[bytes]]:
        """Send a request for a completion; the bytes of the reply as they come.

        Raises:
            Fault: the client is closed; and one of `failures`, here or from the bytes.
        """
        rest = {k: v for k, v in body.items() if k not in {"model", "messages", "stream"}}
        messages: Any = body["messages"]
        with self._bound(line) as client:
            response = client.chat.completions.create(
                model=str(body["model"]),
                messages=messages,
                stream=True,
                extra_body=rest,
                timeout=self._timeout(line),
            ).response
        with closing(response):
            yield response.iter_bytes()

    def embedded(self, model: str, texts: Sequence[str], line: Line, most: int) -> bytes:
        """Ask for the vectors of texts; the reply, of which no more than `most` bytes are read.

        Raises:
            Fault: as `sent`; or the reply is longer.
        """
        import openai

        body = {"model": model, "input": list(texts), "encoding_format": "float"}
        with self._bound(line) as client:
            response = client.post(
                "/embeddings",
                cast_to=object,
                body=body,
                options={"timeout": self._timeout(line)},
                stream=True,
                stream_cls=openai.Stream[object],
            ).response
        with closing(response):
            received = bytearray()
            for piece in response.iter_bytes():
                received += piece
                if len(received) > most:
                    raise faults.not_an_answer(self.peer, f"more than {most:,} bytes")
            return bytes(received)

    def models(self, seconds: float) -> tuple[str, ...]:
        """The names of the models that the server offers, asked for at most that long.

        Raises:
            Fault: it cannot be reached, or has no such list.
        """
        import httpx2

        with Line(seconds, f"no list of models within {seconds:g} s") as line:
            try:
                with self._bound(line) as client:
                    options: Any = {"timeout": self._timeout(line)}
                    response = client.get("/models", cast_to=httpx2.Response, options=options)
                return tuple(str(model["id"]) for model in response.json()["data"])
            except (KeyError, TypeError, ValueError):
                raise faults.not_an_answer(self.peer, "no list at /models") from None
            except failures() as error:
                raise self.fault(error, line, ()) from None

    def fault(self, error: Exception | None, line: Line, sent: Collection[str]) -> Fault:
        """Translate whatever ended an attempt on `line`; `sent` names the parameters of it."""
        if line.cause or error is None:
            return faults.stopped(self.peer, line.cause)
        if isinstance(error, Fault):
            return error
        if isinstance(error, wire.NotAnAnswer):
            return faults.not_an_answer(self.peer, str(error))
        if isinstance(error, wire.ErrorReply):
            return faults.explain_error_event(self.peer, error.body, sent)
        response = getattr(error, "response", None)
        if response is None:
            return explain_connection(
                self.peer, error, connect=self.connect_timeout, idle=self.idle_timeout
            )
        wait = retry_after(response.headers, time.time())
        body = getattr(error, "body", None) or response.headers.get("location", "")
        return faults.explain(faults.Reply(self.peer, response.status_code, body, sent, wait))

    @contextmanager
    def _bound(self, line: Line) -> Iterator[openai.OpenAI]:
        """The client, whose connections made meanwhile in this thread belong to `line`."""
        with self._lock:
            if self._closed:
                raise faults.stopped(self.peer, faults.CLOSED)
            if self._client is None:
                self._client = self._connected()
        with self._network.on(line):
            yield self._client

    def _timeout(self, line: Line) -> httpx2.Timeout:
        import httpx2

        connect = min(self.connect_timeout, line.remaining)
        return httpx2.Timeout(
            connect=connect, read=self.idle_timeout, write=self.idle_timeout, pool=connect
        )

    def _connected(self) -> openai.OpenAI:
        """Everything is passed, so that no OPENAI_* variable decides; see also `Network`."""
        import openai

        http = self._network.client()
        return openai.OpenAI(
            api_key=self.peer.key or "none", base_url=self._url, max_retries=0, http_client=http
        )


def failures() -> tuple[type[Exception], ...]:
    """What ends an attempt and `Client.fault` translates; the packages take long to import."""
    import httpx2
    import openai

    vendors = (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, RuntimeError)
    return (*vendors, wire.NotAnAnswer, wire.ErrorReply, Fault)
