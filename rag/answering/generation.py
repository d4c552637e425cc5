"""Ask a model server for text. The only module that imports the openai client.

One protocol serves API servers, Ollama, vLLM and the embedded model. The client's own retries,
timeouts and environment variables are not used (it would wait in silence for half an hour, and
take a stream that broke off for a complete answer): this module bounds every wait, retries only
what may pass and never after text was handed out, and says what went wrong in one line.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol
from urllib.parse import urlsplit

from rag.answering import faults, wire
from rag.answering.connection import Line, Network, explain_connection
from rag.answering.faults import ContextTooSmall, Fault, Peer, SchemaUnsupported
from rag.answering.retry import Patience, retry_after
from rag.answering.stop import Stop
from rag.answering.wire import Finish
from rag.errors import AnswerIncomplete, ServerError

if TYPE_CHECKING:
    import httpx2
    import openai

__all__ = [
    "Completion",
    "ContextTooSmall",
    "Finish",
    "Generator",
    "OpenAIGenerator",
    "Request",
    "SchemaUnsupported",
]

OFFICIAL_URL = "https://api.openai.com/v1"
OFFICIAL_MODEL = "gpt-4.1-mini"
MODELS_SHOWN = 10
GRACE_SECONDS = 2.0  # for the token counts, once the text is complete


@dataclass(frozen=True)
class Request:
    """What is asked. `schema` is the JSON schema that the reply must satisfy; None: free text.

    `stop`, once given, cuts the connection that the reply comes through.
    """

    system: str
    user: str
    schema: Mapping[str, object] | None
    max_tokens: int
    temperature: float = 0.0
    stop: Stop = field(default_factory=Stop, compare=False)


@dataclass(frozen=True)
class Completion:
    """How a reply ended: complete only if `finish` is "stop".

    "length": cut at the token limit or at our own cap; "content_filter": refused by the provider;
    "unknown": the server gave no reason, so the answer may be incomplete. Token counts are None
    where the server does not tell; `seconds` runs from the call, waits included.
    """

    finish: Finish
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    model: str


def silent(_message: str) -> None:
    """The default listener of `stream`: nobody."""


class Generator(Protocol):
    """Whoever writes text: a model server, or a script in a test."""

    @property
    def name(self) -> str:
        """What to show, such as `gpt-4.1-mini at api.openai.com`."""

    @property
    def structured(self) -> bool:
        """Whether a request may hold a schema; a refusal by the server turns this off."""

    def stream(
        self, request: Request, notify: Callable[[str], None] = silent
    ) -> Iterator[str | Completion]:
        """Yield pieces of text and, last and once, the Completion.

        Closing the iterator ends the request. `notify` hears of every wait before it begins.

        Raises:
            SchemaUnsupported: before any text; ask again with `schema=None`.
            ContextTooSmall: before any text; ask again with less.
            ServerError: nothing came.
            AnswerIncomplete: it broke off; `partial` is the text that had come.
        """

    def close(self) -> None:
        """End what is running and free the connections."""


class OpenAIGenerator:
    """A server that speaks OpenAI's chat completions. Many threads may stream at once."""

    def __init__(
        self,
        *,
        base_url: str | None,
        api_key: str,
        model: str | None,
        output: Literal["auto", "schema", "text"] = "auto",
        connect_timeout: float = 5.0,
        idle_timeout: float = 120.0,
        answer_timeout: float = 300.0,
        max_retries: int = 2,
        max_retry_wait: float = 60.0,
        extra: Mapping[str, object] | None = None,
        max_chars: int = 65_536,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Times are in seconds; `answer_timeout` bounds one `stream`, retries and waits included.

        `model` None means the default at OpenAI and, elsewhere, the only one the server offers.
        `extra` goes into every request as it is. Nothing is sent before the first `stream`.
        """
        self._url = base_url or OFFICIAL_URL
        self._peer = Peer(urlsplit(self._url).netloc.rpartition("@")[2], api_key)
        self._network = Network(self._peer, self._url)
        self._model = model or (OFFICIAL_MODEL if base_url is None else "")
        self._output = output
        self._connect_timeout = connect_timeout
        self._idle_timeout = idle_timeout
        self._patience = Patience(
            answer_timeout, max_retries, max_retry_wait, sleep, monotonic, jitter
        )
        self._extra = dict(extra or {})
        self._max_chars = max_chars
        self._schema_taken = self._schema_refused = False
        self._refused_parameters: frozenset[str] = frozenset()
        self._lock = threading.Lock()
        self._client: openai.OpenAI | None = None
        self._lines: set[Line] = set()
        self._closed = False

    @property
    def name(self) -> str:
        """The model, once it is known, and the server."""
        return f"{self._model or 'model'} at {self._peer.host}"

    @property
    def structured(self) -> bool:
        """Whether schemas are sent: not with output "text", nor after the server refused one."""
        return self._output != "text" and not self._schema_refused

    def stream(
        self, request: Request, notify: Callable[[str], None] = silent
    ) -> Iterator[str | Completion]:
        """Yield pieces of text and, last, the Completion; see `Generator.stream`."""
        if request.schema is not None and not self.structured:
            raise SchemaUnsupported(f"No JSON schema is used with {self.name}")
        return self._stream(request, notify)

    def models(self) -> tuple[str, ...]:
        """The names of the models that the server offers, as it orders them.

        Raises:
            ServerError: it cannot be reached, or has no such list.
        """
        try:
            return self._offered(self._connect_timeout + self._idle_timeout)
        except Fault as fault:
            raise fault.error from None

    def close(self) -> None:
        """End running streams (their readers get AnswerIncomplete) and free the connections."""
        with self._lock:
            self._closed = True
            client, lines = self._client, list(self._lines)
        for line in lines:
            line.cut(faults.CLOSED)
        if client is not None:
            client.close()

    def _stream(
        self, request: Request, notify: Callable[[str], None]
    ) -> Iterator[str | Completion]:
        """Attempt after attempt; only an attempt that gave no text ends in a Fault."""
        started = self._patience.monotonic()
        failures = 0
        while True:
            try:
                yield from self._attempt(request, started)
                return
            except Fault as fault:
                if self._adapted(fault):
                    continue
                failures += 1
                if fault.about_model:
                    raise self._with_offer(fault.error) from None
                self._patience.wait(fault, failures, started, notify)

    def _attempt(self, request: Request, started: float) -> Iterator[str | Completion]:
        """One request. Raises Fault before any text, AnswerIncomplete after it."""
        import httpx2
        import openai

        reply = wire.Collected(self._max_chars)
        body: dict[str, object] = {}
        failed: Exception | None = None
        with self._line(started) as line, request.stop.cutting(partial(line.cut, faults.CLOSED)):
            try:
                body.update(self._body(request, line))
                with closing(self._send(body, line)) as response:
                    yield from _pieces(response, reply, line)
            except (
                *(openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, RuntimeError),
                *(wire.NotAnAnswer, wire.ErrorReply, Fault),
            ) as error:
                failed = error
            fault = self._verdict(failed, reply, line, body)
        if fault is not None:
            raise self._raised(fault, reply.text)
        self._schema_taken = self._schema_taken or "response_format" in body
        yield Completion(
            reply.finish or "unknown",
            reply.prompt_tokens,
            reply.completion_tokens,
            self._patience.monotonic() - started,
            reply.model or self._model,
        )

    def _body(self, request: Request, line: Line) -> dict[str, object]:
        """The request as JSON, without the parameters that this server refused before."""
        if not self._model:
            self._model = self._only_model(line)
        body: dict[str, object] = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.user},
            ],
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
        }
        if "max_tokens" in self._refused_parameters:  # the newer name of the same limit
            body["max_completion_tokens"] = request.max_tokens
        if request.schema is not None:
            named = {"name": "reply", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        kept = {k: v for k, v in body.items() if k not in self._refused_parameters}
        return {**kept, **self._extra}

    def _send(self, body: dict[str, object], line: Line) -> httpx2.Response:
        """Send and return the response, its body unread."""
        rest = {k: v for k, v in body.items() if k not in {"model", "messages", "stream"}}
        messages: Any = body["messages"]
        with self._bound(line) as client:
            return client.chat.completions.create(
                model=str(body["model"]),
                messages=messages,
                stream=True,
                extra_body=rest,
                timeout=self._timeout(line),
            ).response

    def _verdict(
        self, failed: Exception | None, reply: wire.Collected, line: Line, sent: Collection[str]
    ) -> Fault | None:
        """What is wrong with a reply that ended; None if nothing is.

        What breaks after the reason for the end was told broke nothing.
        """
        ended = reply.done or reply.finish is not None
        if reply.text and ended:
            return None
        if failed is not None or (line.cause and not ended):
            return self._fault(failed, line, sent)
        if reply.finish == "content_filter":
            return None
        return (
            faults.ended_early(self._peer) if reply.text else faults.empty(self._peer, reply.finish)
        )

    def _raised(self, fault: Fault, partial: str) -> Exception:
        """The fault itself while nothing was handed out, else the error that keeps what was."""
        if not partial:
            return fault
        told = fault.error
        return AnswerIncomplete(
            f"The answer of {self.name} broke off",
            partial=partial,
            cause=f"{told.what}: {told.cause}" if told.cause else told.what,
            remedy="Ask again.",
        )

    def _fault(self, error: Exception | None, line: Line, sent: Collection[str]) -> Fault:
        """Translate whatever ended an attempt."""
        if line.cause or error is None:
            return faults.stopped(self._peer, line.cause)
        if isinstance(error, Fault):
            return error
        if isinstance(error, wire.NotAnAnswer):
            return faults.not_an_answer(self._peer, str(error))
        if isinstance(error, wire.ErrorReply):
            return faults.explain_error_event(self._peer, error.body, sent)
        response = getattr(error, "response", None)
        if response is None:
            return explain_connection(
                self._peer, error, connect=self._connect_timeout, idle=self._idle_timeout
            )
        wait = retry_after(response.headers, time.time())
        body = getattr(error, "body", None) or response.headers.get("location", "")
        return faults.explain(faults.Reply(self._peer, response.status_code, body, sent, wait))

    def _adapted(self, fault: Fault) -> bool:
        """Remember what this server does not take; True if another attempt can go without it."""
        if isinstance(fault.error, SchemaUnsupported):
            if self._output == "auto":  # a server that took another schema dislikes this one only
                self._schema_refused = not self._schema_taken
                raise fault.error from None
            raise ServerError(
                fault.error.what, cause=fault.error.cause, remedy=fault.error.remedy
            ) from None
        if fault.parameter:
            with self._lock:
                self._refused_parameters |= {fault.parameter}
        return bool(fault.parameter)

    def _with_offer(self, error: ServerError) -> ServerError:
        """A 404 explained by what the server does offer, if it tells."""
        try:
            offered = self._offered(self._connect_timeout)
        except Fault:
            return error
        if not offered or self._model in offered:
            return error
        return ServerError(
            f"{self._peer.host} has no model {self._model}",
            cause=error.cause,
            remedy=f"Set OPENAI_MODEL to one of: {_listed(offered)}.",
        )

    def _only_model(self, line: Line) -> str:
        try:
            names = self._offered(line.remaining)
        except Fault as fault:
            if not fault.about_model:
                raise
            names = ()
        if len(names) == 1:
            return names[0]
        what = f"{self._peer.host} offers {len(names) or 'no'} models"
        cause = f"among them {_listed(names)}" if names else "no model is set and it lists none"
        raise Fault(ServerError(what, cause=cause, remedy="Set OPENAI_MODEL."))

    def _offered(self, seconds: float) -> tuple[str, ...]:
        """Ask `/models`, for at most that long."""
        import httpx2
        import openai

        with Line(seconds, f"no list of models within {seconds:g} s") as line:
            try:
                with self._bound(line) as client:
                    options: Any = {"timeout": self._timeout(line)}
                    response = client.get("/models", cast_to=httpx2.Response, options=options)
                return tuple(str(model["id"]) for model in response.json()["data"])
            except (KeyError, TypeError, ValueError):
                raise faults.not_an_answer(self._peer, "no list at /models") from None
            except (openai.OpenAIError, httpx2.HTTPError, RuntimeError) as error:
                raise self._fault(error, line, ()) from None

    @contextmanager
    def _line(self, started: float) -> Iterator[Line]:
        """The connection of one attempt, cut at the deadline of the answer."""
        cause = f"no complete answer within {self._patience.answer_timeout:g} s"
        with Line(self._patience.left(started), cause) as line:
            self._lines.add(line)
            try:
                yield line
            finally:
                self._lines.discard(line)

    @contextmanager
    def _bound(self, line: Line) -> Iterator[openai.OpenAI]:
        """The client, whose connections made meanwhile in this thread belong to `line`."""
        with self._lock:
            if self._closed:
                raise faults.stopped(self._peer, faults.CLOSED)
            if self._client is None:
                self._client = self._connected()
        with self._network.on(line):
            yield self._client

    def _timeout(self, line: Line) -> httpx2.Timeout:
        import httpx2

        connect = min(self._connect_timeout, line.remaining)
        return httpx2.Timeout(
            connect=connect, read=self._idle_timeout, write=self._idle_timeout, pool=connect
        )

    def _connected(self) -> openai.OpenAI:
        """Everything is passed, so that no OPENAI_* variable decides; see also `Network`."""
        import openai

        http = self._network.client()
        return openai.OpenAI(
            api_key=self._peer.key or "none", base_url=self._url, max_retries=0, http_client=http
        )


def _pieces(response: httpx2.Response, reply: wire.Collected, line: Line) -> Iterator[str]:
    for delta in wire.deltas(response.iter_bytes()):
        if delta.finish is not None:
            line.hurry(GRACE_SECONDS)
        if piece := reply.take(delta):
            yield piece
        if reply.done:
            break
    if piece := reply.rest():
        yield piece


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - MODELS_SHOWN
    return ", ".join(names[:MODELS_SHOWN]) + (f" and {more} more" if more > 0 else "")
