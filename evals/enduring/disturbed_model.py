"""A model server that is disturbed: a seeded share of its replies is late, breaks off or lies."""

from __future__ import annotations

import json
import random
import re
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self

from evals.slow_model import events

Fault = Literal["slow", "dying", "lying"]
FAULTS: tuple[Fault, ...] = ("slow", "dying", "lying")

_SENTENCE = re.compile(r"^\[(S\d+)\] (.+)$", re.MULTILINE)
_NUMBER = re.compile(r"\d")


class DisturbedModel:
    """Listens on a loopback port while its block lasts.

    Undisturbed it quotes the first sentence that it is given. Each request is disturbed with the
    probability `strength`, drawn from `seed`: answered after `late` seconds, cut off in the
    middle, or with numbers changed and another sentence cited.
    """

    def __init__(self, fault: Fault, strength: float, seed: int, late: float) -> None:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.fault, self._server.strength, self._server.late = fault, strength, late
        self._server.drawn, self._server.left = random.Random(f"{seed}{fault}"), threading.Event()
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        """Where it is, as OPENAI_BASE_URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def requests(self) -> int:
        """How many it has had."""
        return self._server.requests

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.left.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    fault: Fault
    strength: float
    late: float
    drawn: random.Random
    left: threading.Event
    requests: int = 0

    def handle_error(self, request: Any, client_address: Any) -> None:  # the base class prints
        """A client that leaves is no fault of the server's."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # the name is the base class's
        """Nothing is logged."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests += 1
        fault = self.server.fault if self.server.drawn.random() < self.server.strength else None
        if fault == "slow":
            self.server.left.wait(self.server.late)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        sent = list(events(reply(asked["messages"][-1]["content"], lies=fault == "lying")))
        for event in sent[: 0 if fault == "dying" else None]:
            self.wfile.write(b"data: " + event + b"\n\n")
        if fault == "dying":
            self.connection.shutdown(socket.SHUT_RDWR)


def reply(prompt: str, *, lies: bool) -> str:
    """The first sentence as a claim of its own; a lie has other numbers, and cites the last one."""
    found = _SENTENCE.findall(prompt)
    if not found:
        return json.dumps({"claims": []})
    label, text = found[0]
    if lies:
        label, text = found[-1][0], f"{_NUMBER.sub(_next, text)} It wins by 97.3% on Zyzzyva."
    return json.dumps({"claims": [{"support": [label], "text": text}]})


def _next(digit: re.Match[str]) -> str:
    return str((int(digit.group()) + 1) % 10)
