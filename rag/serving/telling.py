"""The forms in which an answer is sent: whole or as server-sent events, as ours or as OpenAI's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from rag import jsonform
from rag.answering.events import Done, Event, Notice
from rag.errors import AskPapersError
from rag.schema import Answer, Citation
from rag.serving.completions import Composer, Head, finish_of, noted, usage
from rag.serving.faults import body_of

KEEP_ALIVE = b": still working\n\n"  # a comment, which readers of events pass over


Keep = Callable[[Answer, str], None]
"""Hears of an answer and of its text as it was sent."""


class Form(Protocol):
    """How one answer is sent. `streams`: as it comes; else all at its end."""

    @property
    def streams(self) -> bool:
        """Whether it is sent as it comes."""

    def begin(self) -> bytes:
        """What a stream begins with."""

    def tell(self, event: Event) -> bytes:
        """What is sent for an event."""

    def fail(self, error: AskPapersError) -> bytes:
        """What a stream ends with after a failure."""

    def end(self) -> bytes:
        """What a stream ends with."""


class WholeAnswer:
    """The JSON of `rag ask --json`."""

    streams = False

    def __init__(self, keep: Keep) -> None:
        self._keep = keep

    def begin(self) -> bytes:
        """Nothing comes before the whole."""
        return b""

    def tell(self, event: Event) -> bytes:
        """The answer; nothing before it is there."""
        if not isinstance(event, Done):
            return b""
        self._keep(event.answer, event.answer.text)
        return as_bytes(jsonform.answer(event.answer))

    def fail(self, error: AskPapersError) -> bytes:
        """The error alone."""
        return as_bytes(body_of(error))

    def end(self) -> bytes:
        """Nothing comes after the whole."""
        return b""


class AnswerEvents:
    """Named events with the JSON of each; `answer` is the last, or `error`."""

    streams = True

    def __init__(self, keep: Keep) -> None:
        self._keep = keep
        self._citations: dict[int, Citation] = {}

    def begin(self) -> bytes:
        """A comment, so that the reader knows that the question was taken."""
        return KEEP_ALIVE

    def tell(self, event: Event) -> bytes:
        """An event as docs/serving.md has it."""
        name, value = jsonform.event(event, self._citations)
        if isinstance(event, Done):
            self._keep(event.answer, event.answer.text)
        return _named(name, value)

    def fail(self, error: AskPapersError) -> bytes:
        """The error as an event."""
        return _named("error", body_of(error))

    def end(self) -> bytes:
        """The answer was the end."""
        return b""


class WholeCompletion(WholeAnswer):
    """A chat completion."""

    def __init__(self, head: Head, link: Callable[[str], str], keep: Keep) -> None:
        super().__init__(keep)
        self._head = head
        self._link = link
        self._composer = Composer()

    def tell(self, event: Event) -> bytes:
        """The completion, once the answer is there."""
        self._composer.add(event)
        if not isinstance(event, Done):
            return b""
        self._keep(event.answer, self._composer.text)
        notes = noted(event.answer, self._composer.marks, self._link)
        return as_bytes(self._head.whole(event.answer, self._composer.text, notes))


class CompletionChunks:
    """The chunks of a chat completion."""

    streams = True

    def __init__(self, head: Head, link: Callable[[str], str], keep: Keep, *, counts: bool) -> None:
        """`counts`: a last chunk tells the tokens."""
        self._keep = keep
        self._head = head
        self._link = link
        self._counts = counts
        self._composer = Composer()

    def begin(self) -> bytes:
        """Who speaks."""
        return _event(self._head.chunk({"role": "assistant", "content": ""}))

    def tell(self, event: Event) -> bytes:
        """What the event adds to the text; waits beside it."""
        if isinstance(event, Notice):
            return _event(self._head.chunk({}, askpapers={"notice": event.text}))
        more = self._composer.add(event)
        sent = _event(self._head.chunk({"content": more})) if more else b""
        return sent + b"".join(self._last(event.answer)) if isinstance(event, Done) else sent

    def fail(self, error: AskPapersError) -> bytes:
        """The error in place of what would have come."""
        return _event(body_of(error))

    def end(self) -> bytes:
        """The mark by which readers know that nothing is missing."""
        return b"data: [DONE]\n\n"

    def _last(self, answer: Answer) -> Iterator[bytes]:
        self._keep(answer, self._composer.text)
        notes = noted(answer, self._composer.marks, self._link)
        told = jsonform.answer(answer)
        yield _event(self._head.chunk({"annotations": notes}, finish_of(answer), askpapers=told))
        if self._counts:
            yield _event(self._head.last(usage(answer)))


def as_bytes(value: dict[str, Any]) -> bytes:
    """A value as JSON; half a pair of surrogates, which UTF-8 has not, becomes `?`."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + as_bytes(value) + b"\n\n"


def _named(name: str, value: dict[str, Any]) -> bytes:
    return f"event: {name}\n".encode() + _event(value)
