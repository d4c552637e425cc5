"""Ask a model server for text, again where that may help.

One protocol serves API servers, Ollama, vLLM and the embedded model. A stream that broke off is
never taken for a complete answer, every wait is bounded, only what may pass is tried again and
never after text was handed out, and what went wrong is said in one line.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Literal

from rag.answering import faults, wire
from rag.answering.client import Client, failures
from rag.answering.connection import Line
from rag.answering.exchange import Completion, Generator, Request, silent
from rag.answering.faults import ContextTooSmall, Fault, SchemaUnsupported
from rag.answering.retry import Patience
from rag.answering.wire import Finish
from rag.errors import AnswerIncomplete, ServerError

__all__ = [
    "Completion",
    "ContextTooSmall",
    "Finish",
    "Generator",
    "OpenAIGenerator",
    "Request",
    "SchemaUnsupported",
    "silent",
]

OFFICIAL_URL = "https://api.openai.com/v1"
OFFICIAL_MODEL = "gpt-4.1-mini"
MODELS_SHOWN = 10
GRACE_SECONDS = 2.0  # for the token counts, once the text is complete


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
        self._client = Client(base_url or OFFICIAL_URL, api_key, connect_timeout, idle_timeout)
        self._peer = self._client.peer
        self._model = model or (OFFICIAL_MODEL if base_url is None else "")
        self._output = output
        self._patience = Patience(
            answer_timeout, max_retries, max_retry_wait, sleep, monotonic, jitter
        )
        self._extra = dict(extra or {})
        self._max_chars = max_chars
        self._schema_taken = self._schema_refused = False
        self._refused_parameters: frozenset[str] = frozenset()
        self._lock = threading.Lock()

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
            return self._client.models(self._client.connect_timeout + self._client.idle_timeout)
        except Fault as fault:
            raise fault.error from None

    def close(self) -> None:
        """End running streams (their readers get AnswerIncomplete) and free the connections."""
        self._client.close()

    def _stream(
        self, request: Request, notify: Callable[[str], None]
    ) -> Iterator[str | Completion]:
        """Attempt after attempt; only an attempt that gave no text ends in a Fault."""
        patience = self._patience.within(request.seconds)
        started = patience.monotonic()
        failed = 0
        while True:
            try:
                yield from self._attempt(request, patience, started)
                return
            except Fault as fault:
                if self._adapted(fault):
                    continue
                failed += 1
                if fault.limits:
                    request.limited(fault.wait)
                if fault.about_model:
                    raise self._with_offer(fault.error) from None
                patience.wait(fault, failed, started, notify)

    def _attempt(
        self, request: Request, patience: Patience, started: float
    ) -> Iterator[str | Completion]:
        """One request. Raises Fault before any text, AnswerIncomplete after it."""
        reply = wire.Collected(self._max_chars)
        body: dict[str, object] = {}
        failed: Exception | None = None
        left = patience.left(started)
        cause = f"no complete answer within {patience.answer_timeout:g} s"
        with (
            self._client.line(left, cause) as line,
            request.stop.cutting(partial(line.cut, faults.CLOSED)),
        ):
            try:
                body.update(self._body(request, line))
                with self._client.sent(body, line) as received:
                    yield from _pieces(received, reply, line)
            except failures() as error:
                failed = error
            fault = self._verdict(failed, reply, line, body)
        if fault is not None:
            raise self._raised(fault, reply.text)
        self._schema_taken = self._schema_taken or "response_format" in body
        yield Completion(
            reply.finish or "unknown",
            reply.prompt_tokens,
            reply.completion_tokens,
            patience.monotonic() - started,
            reply.model or self._model,
            reply.alternatives,
        )

    def _body(self, request: Request, line: Line) -> dict[str, object]:
        """The request as JSON, without the parameters that this server refused before."""
        if not self._model:
            self._model = self._only_model(line)
        body: dict[str, object] = {
            "model": self._model,
            "messages": self._messages(request),
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
        if request.alternatives:
            body |= {"logprobs": True, "top_logprobs": request.alternatives}
        kept = {k: v for k, v in body.items() if k not in self._refused_parameters}
        return {**kept, **self._extra}

    def _messages(self, request: Request) -> list[dict[str, str]]:
        """Two messages, or one where the model's template knows no system message."""
        if faults.SYSTEM in self._refused_parameters:
            return [{"role": "user", "content": f"{request.system}\n\n{request.user}"}]
        return [
            {"role": "system", "content": request.system},
            {"role": "user", "content": request.user},
        ]

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
            return self._client.fault(failed, line, sent)
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
            offered = self._client.models(self._client.connect_timeout)
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
            names = self._client.models(line.remaining)
        except Fault as fault:
            if not fault.about_model:
                raise
            names = ()
        if len(names) == 1:
            return names[0]
        what = f"{self._peer.host} offers {len(names) or 'no'} models"
        cause = f"among them {_listed(names)}" if names else "no model is set and it lists none"
        raise Fault(ServerError(what, cause=cause, remedy="Set OPENAI_MODEL."))


def _pieces(received: Iterator[bytes], reply: wire.Collected, line: Line) -> Iterator[str]:
    for delta in wire.deltas(received):
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
