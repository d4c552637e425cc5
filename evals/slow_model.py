"""A model server that takes its time: it quotes the first sentence that it is given.

It stands in for a model where it is measured how many people can be served at once: what it says
follows from what it is asked, so that an answer to another's question is seen.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

NAME = "slow-model"
_FIRST = re.compile(r"^\[(S\d+)\] (.+)$", re.MULTILINE)


class SlowModel:
    """Listens on a loopback port while its block lasts; `seconds` is what each reply takes."""

    def __init__(self, seconds: float) -> None:
        self._left = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.seconds, self._server.left = seconds, self._left
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        """Where it is, as OPENAI_BASE_URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._left.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    seconds: float
    left: threading.Event


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # the name is the base class's
        """Nothing is logged."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.left.wait(self.server.seconds)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for sent in events(_reply(asked["messages"][-1]["content"])):
            self.wfile.write(b"data: " + sent + b"\n\n")


def _reply(prompt: str) -> str:
    """The first sentence as a claim of its own; nothing where the prompt has none."""
    found = _FIRST.search(prompt)
    claims = [{"support": [found[1]], "text": found[2]}] if found else []
    return json.dumps({"claims": claims})


def events(text: str) -> Iterator[bytes]:
    """A reply as the events of a stream, each without what surrounds it."""
    for delta, finish in (({"content": text}, None), ({}, "stop")):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        told = {"object": "chat.completion.chunk", "model": NAME, "choices": [choice]}
        yield json.dumps(told).encode()
    yield b"[DONE]"
