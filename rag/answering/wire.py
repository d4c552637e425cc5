"""What a chat server sends back, read by hand: bytes -> events -> deltas. Pure.

The openai client's own reader cannot tell a stream that ended with `[DONE]` from one whose
connection closed early, shows HTML and plain text as an empty answer, and buffers a line without
limit. So the client sends the request and this module reads the body.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

Finish = Literal["stop", "length", "content_filter", "unknown"]

MAX_EVENT_BYTES = 4 * 1024 * 1024
_HEAD_BYTES = 200
_LINE_END = re.compile(rb"\r\n|\r|\n")
_DOCUMENT_STARTS = (b"{", b"[", b"<", b'"')
_FINISHES: Mapping[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
}


class NotAnAnswer(Exception):
    """The body is not what a chat server sends; the text says what it is instead."""


class ErrorReply(Exception):
    """The body, or an event in it, reports an error although the status was 200."""

    def __init__(self, body: object) -> None:
        super().__init__("error in the reply")
        self.body = body


@dataclass(frozen=True, slots=True)
class Delta:
    """One event's news: text, the reason for the end, the token counts, or `[DONE]`.

    `alternatives` are the tokens that could have stood where its first one does, with their
    natural logarithms of probability; empty where the server does not tell.
    """

    text: str = ""
    finish: Finish | None = None
    done: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model: str = ""
    alternatives: Mapping[str, float] = field(default_factory=dict)


class Collected:
    """What came of one reply so far. `text` is what was handed out.

    `alternatives` are those of the first token that had any.
    """

    def __init__(self, max_chars: int) -> None:
        self.text = ""
        self.finish: Finish | None = None
        self.done = False
        self.prompt_tokens: int | None = None
        self.completion_tokens: int | None = None
        self.model = ""
        self.alternatives: Mapping[str, float] = {}
        self._max_chars = max_chars
        self._characters = Characters()

    def take(self, delta: Delta) -> str:
        """Note one event and return its text, whole characters only and cut at the cap."""
        self.finish = delta.finish or self.finish
        self.done = self.done or delta.done
        self.model = delta.model or self.model
        self.alternatives = self.alternatives or delta.alternatives
        if delta.prompt_tokens is not None:
            self.prompt_tokens = delta.prompt_tokens
        if delta.completion_tokens is not None:
            self.completion_tokens = delta.completion_tokens
        return self._kept(self._characters.feed(delta.text))

    def rest(self) -> str:
        """What was held back for a second half that did not come."""
        return self._kept(self._characters.flush())

    def _kept(self, text: str) -> str:
        room = self._max_chars - len(self.text)
        if len(text) > room:
            text, self.finish, self.done = text[:room], "length", True
        self.text += text
        return text


def deltas(chunks: Iterable[bytes]) -> Iterator[Delta]:
    """Read a reply that is an event stream or, where a server ignores `stream`, one JSON document.

    The first byte decides which, not the content type: proxies and small servers send that wrong.

    Raises:
        NotAnAnswer: HTML, plain text, broken JSON, no choices, an event over `MAX_EVENT_BYTES`.
        ErrorReply: the server reports an error in place of an answer.
    """
    head, rest = _peek(iter(chunks))
    if head.startswith(_DOCUMENT_STARTS):
        yield from _document(head, rest)
        return
    seen = False
    start = bytearray(head[:_HEAD_BYTES])
    for kind, data in events(_recorded(head, rest, start)):
        seen = True
        yield _delta(kind, data)
    if not seen and start.strip() and not start.startswith(b":"):
        raise NotAnAnswer(starts_with(bytes(start)))


def events(chunks: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Split server-sent events into (type, data); comments and unknown fields are skipped.

    A last event without its blank line counts if it is whole, because some servers omit the line.
    """
    kind, data, size = "", list[str](), 0
    for raw in _lines(chunks):
        field, _, value = raw.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        size += len(raw)
        if size > MAX_EVENT_BYTES:
            raise NotAnAnswer(f"one event is larger than {MAX_EVENT_BYTES} bytes")
        if not raw:
            if data:
                yield kind, "\n".join(data)
            kind, data, size = "", [], 0
        elif field == "data":
            data.append(value)
        elif field in {"event", "error"}:  # `error: {…}` is how older llama.cpp servers report
            kind = value if field == "event" else "error"
            data += [value] if field == "error" else []
    if data and _is_whole("\n".join(data)):
        yield kind, "\n".join(data)


class Characters:
    """Joins surrogate pairs that a server cut between two events; a lone half becomes U+FFFD."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """Return what is whole by now of all that was fed; half a pair is held back."""
        text = self._held + text
        self._held = text[-1] if text and "\ud800" <= text[-1] <= "\udbff" else ""
        return _scalar(text.removesuffix(self._held) if self._held else text)

    def flush(self) -> str:
        """Return what was held back, at the end."""
        held, self._held = self._held, ""
        return _scalar(held)


def _scalar(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _peek(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    for chunk in chunks:
        head = chunk.removeprefix(codecs.BOM_UTF8).lstrip()
        if head:
            return head, chunks
    return b"", chunks


def _recorded(head: bytes, rest: Iterable[bytes], start: bytearray) -> Iterator[bytes]:
    yield head
    for chunk in rest:
        start += chunk[: _HEAD_BYTES - len(start)] if len(start) < _HEAD_BYTES else b""
        yield chunk


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """CR, LF or CRLF ends a line; a CRLF may be cut between two chunks."""
    rest = bytearray()
    after_cr = False
    for chunk in chunks:
        if not chunk:
            continue
        body = chunk[1:] if after_cr and chunk.startswith(b"\n") else chunk
        after_cr = chunk.endswith(b"\r")
        *lines, tail = _LINE_END.split(body)
        for line in lines:
            rest += line
            yield bytes(rest)
            rest.clear()
        rest += tail
        if len(rest) > MAX_EVENT_BYTES:
            raise NotAnAnswer(f"one event is larger than {MAX_EVENT_BYTES} bytes")
    if rest:
        yield bytes(rest)


def _is_whole(data: str) -> bool:
    if data.startswith("[DONE]"):
        return True
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def _delta(kind: str, data: str) -> Delta:
    if data.startswith("[DONE]"):
        return Delta(done=True)
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        if kind == "error":
            raise ErrorReply(data) from None
        raise NotAnAnswer(f"a malformed event: {data[:_HEAD_BYTES]}") from None
    if kind == "error" or (isinstance(body, dict) and body.get("error")):
        raise ErrorReply(body)
    if not isinstance(body, dict):
        raise NotAnAnswer(f"a malformed event: {data[:_HEAD_BYTES]}")
    return _from_body(body, _first_choice(body) or {})


def _document(head: bytes, rest: Iterable[bytes]) -> Iterator[Delta]:
    parts, size = [head], len(head)
    for chunk in rest:
        parts.append(chunk)
        size += len(chunk)
        if size > MAX_EVENT_BYTES:
            raise NotAnAnswer(f"one document larger than {MAX_EVENT_BYTES} bytes")
    raw = b"".join(parts)
    try:
        body = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        if head.startswith(b"<"):
            raise NotAnAnswer(starts_with(raw)) from None
        raise NotAnAnswer(f"broken JSON, {starts_with(raw)}") from None
    if not isinstance(body, dict):
        raise NotAnAnswer(starts_with(raw))
    if body.get("error"):
        raise ErrorReply(body)
    choice = _first_choice(body)
    if choice is None:
        raise NotAnAnswer(f"no choices, {starts_with(raw)}")
    yield _from_body(body, choice)
    yield Delta(done=True)


def _first_choice(body: Mapping[str, object]) -> Mapping[str, object] | None:
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    return choices[0]


def _from_body(body: Mapping[str, object], choice: Mapping[str, object]) -> Delta:
    message = choice.get("delta") or choice.get("message")
    fields = message if isinstance(message, dict) else {}
    content, finish, model = fields.get("content"), choice.get("finish_reason"), body.get("model")
    usage = body.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return Delta(
        text=content if isinstance(content, str) else "",
        finish="content_filter" if fields.get("refusal") else _finish(finish),
        prompt_tokens=_count(counts.get("prompt_tokens")),
        completion_tokens=_count(counts.get("completion_tokens")),
        model=model if isinstance(model, str) else "",
        alternatives=_alternatives(choice.get("logprobs")),
    )


def _alternatives(logprobs: object) -> Mapping[str, float]:
    """The first token of an event and what it was chosen from, as OpenAI writes them."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    first = content[0] if isinstance(content, list) and content else None
    if not isinstance(first, dict):
        return {}
    top = first.get("top_logprobs")
    listed = [first, *(top if isinstance(top, list) else [])]
    return {
        token: float(value)
        for one in listed
        if isinstance(one, dict)
        and isinstance(token := one.get("token"), str)
        and isinstance(value := one.get("logprob"), int | float)
        and not isinstance(value, bool)
        and value <= 0
    }


def _finish(reason: object) -> Finish | None:
    return _FINISHES.get(reason.lower(), "unknown") if isinstance(reason, str) and reason else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def starts_with(raw: bytes) -> str:
    """What a body is that is no answer, by its beginning."""
    return f"starts with {raw[:60].decode('utf-8', 'replace')}"
