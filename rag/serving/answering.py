"""A response that a thread makes while the reader may leave at any moment.

The one place where things are awaited: only there is it seen that a reader has left, and a
thousand readers who wait cost no thread each. What makes the answer is a thread as elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from rag.answering.events import Done, Event, Notice
from rag.answering.stop import Stop
from rag.errors import AskPapersError
from rag.serving.faults import body_of, headers_of, status_of, unforeseen
from rag.serving.running import Running, ShuttingDown
from rag.serving.telling import KEEP_ALIVE, Form, as_bytes

SILENCE = 10.0  # seconds after which a stream shows that it lives: proxies cut what does not
JSON, EVENTS = "application/json", "text/event-stream; charset=utf-8"

Make = Callable[[Callable[[str], None], Stop], Iterator[Event]]


class _Word(Enum):
    """What is heard beside events and errors."""

    OVER = "nothing more comes"
    QUIET = "nothing came for a while"


_Heard = Event | AskPapersError | _Word
_Headers = Mapping[str, str]


class Answering(Response):
    """Sends the events that `make` yields, in a form; ends the writing when the reader leaves."""

    def __init__(self, make: Make, form: Form, running: Running) -> None:
        super().__init__()
        self._make = make
        self._form = form
        self._running = running

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """See ASGI."""
        stop = Stop()
        heard: asyncio.Queue[_Heard] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def tell(item: _Heard) -> None:
            with contextlib.suppress(RuntimeError):  # the server has ended meanwhile
                loop.call_soon_threadsafe(heard.put_nowait, item)

        threading.Thread(target=self._run, args=(tell, stop), name="answer", daemon=True).start()
        left = asyncio.ensure_future(_left(receive))
        try:
            sent = self._stream if self._form.streams else self._whole
            await sent(_until(left, heard), send)
        finally:
            left.cancel()
            stop.give()

    def _run(self, tell: Callable[[_Heard], None], stop: Stop) -> None:
        """Make the answer, telling of all that happens and, last, of the end."""
        try:
            with self._running.counted(stop):
                for event in self._make(lambda text: tell(Notice(text)), stop):
                    tell(self._explained(event))
        except AskPapersError as error:
            tell(ShuttingDown() if self._running.ended else error)
        except Exception as error:
            tell(unforeseen(error))
        tell(_Word.OVER)

    def _explained(self, event: Event) -> Event:
        """Where the server's end broke an answer off, that is the reason and not the cut."""
        if not (self._running.ended and isinstance(event, Done)) or event.answer.complete:
            return event
        return Done(replace(event.answer, note=ShuttingDown().what.lower()))

    async def _whole(self, heard: AsyncIterator[_Heard], send: Send) -> None:
        status, body = 200, b""
        headers: _Headers = {}
        async for item in heard:
            if isinstance(item, AskPapersError):
                status, headers, body = status_of(item), headers_of(item), self._form.fail(item)
            elif not isinstance(item, _Word):
                body = self._form.tell(item) or body
        await _begin(send, status, {**headers, "content-length": str(len(body))}, JSON)
        await _part(send, body, more=False)

    async def _stream(self, heard: AsyncIterator[_Heard], send: Send) -> None:
        """The status waits for the first event: what went wrong before it has one of its own."""
        begun = False
        async for item in heard:
            if not begun:
                if item is _Word.QUIET:
                    continue
                if isinstance(item, AskPapersError):
                    body = as_bytes(body_of(item))
                    await _begin(send, status_of(item), headers_of(item), JSON)
                    await _part(send, body, more=False)
                    return
                await _begin(send, 200, {"cache-control": "no-store"}, EVENTS)
                await _part(send, self._form.begin())
                begun = True
            await _part(send, self._said(item))
        await _part(send, self._form.end(), more=False)

    def _said(self, item: _Heard) -> bytes:
        if isinstance(item, _Word):
            return KEEP_ALIVE
        if isinstance(item, AskPapersError):
            return self._form.fail(item)
        return self._form.tell(item)


async def _until(left: asyncio.Future[None], heard: asyncio.Queue[_Heard]) -> AsyncIterator[_Heard]:
    """What is heard, until it is over or the reader has left."""
    while not left.done():
        following = asyncio.ensure_future(heard.get())
        either: set[asyncio.Future[Any]] = {left, following}
        await asyncio.wait(either, timeout=SILENCE, return_when=asyncio.FIRST_COMPLETED)
        if not following.done():
            following.cancel()
            if left.done():
                return
            yield _Word.QUIET
        elif (item := following.result()) is _Word.OVER:
            return
        else:
            yield item


async def _left(receive: Receive) -> None:
    """Returns when the reader has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _begin(send: Send, status: int, headers: _Headers, kind: str) -> None:
    named = {"content-type": kind, **headers}
    raw = [(name.encode(), value.encode()) for name, value in named.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})


async def _part(send: Send, body: bytes, *, more: bool = True) -> None:
    if body or not more:
        await send({"type": "http.response.body", "body": body, "more_body": more})
