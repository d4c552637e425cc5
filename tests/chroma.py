"""The real Chroma server, started, killed and started again, and a gate before it."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import chromadb
from chromadb.config import Settings

# The program `chroma`, without all that it loads before and does not use.
CHROMA = "import sys, chromadb_rust_bindings as chroma; chroma.cli(['chroma', *sys.argv[1:]])"


class Server:
    """`chroma run` on a free port of the loopback interface, with its data in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        where = ["--path", str(self.folder), "--host", "127.0.0.1", "--port", str(self.port)]
        self._process = subprocess.Popen(
            [sys.executable, "-c", CHROMA, "run", *where],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        ends = time.monotonic() + 120
        while time.monotonic() < ends:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        """As `kill -9`."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._process = None

    def restart(self, down: float = 0.0) -> None:
        """Kill the server and start it again after so many seconds."""
        self.kill()
        time.sleep(down)
        self.start()

    @contextmanager
    def client(self) -> Iterator[Any]:
        """What somebody else uses."""
        settings = Settings(_env_file=None, anonymized_telemetry=False)
        client: Any = chromadb.HttpClient("127.0.0.1", self.port, settings=settings)
        try:
            yield client
        finally:
            for one in (client, client._admin_client):
                one._server._session.close()
            client.close()

    def names(self) -> list[str]:
        """The collections that there are."""
        with self.client() as client:
            return sorted(collection.name for collection in client.list_collections())

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


class Gate:
    """Stands before a server as a proxy does.

    `token` must be in a request's Authorization. `before` is called with the path of each request
    and may end it with a status and a body. `hanging` requests are not answered.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self.token = ""
        self.hanging = False
        self.before: Callable[[str], tuple[int, bytes] | None] = lambda _: None
        self.paths: list[str] = []
        self.closing = threading.Event()
        self._http = _Http(("127.0.0.1", 0), _Forward)
        self._http.gate = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    gate: Gate


class _Forward(BaseHTTPRequestHandler):
    server: _Http

    def log_message(self, format: str, *args: Any) -> None:  # the name is the base class's
        pass

    def do_GET(self) -> None:
        gate = self.server.gate
        gate.paths.append(self.path)
        sent = self.rfile.read(int(self.headers.get("content-length", 0)))
        if gate.hanging:
            gate.closing.wait(60)
            return
        if gate.token and self.headers.get("authorization") != gate.token:
            self._answer(401, b'{"detail": "no"}')
            return
        self._answer(*(gate.before(self.path) or self._forward(sent)))

    do_POST = do_DELETE = do_PUT = do_GET

    def _forward(self, sent: bytes) -> tuple[int, bytes]:
        onward = http.client.HTTPConnection("127.0.0.1", self.server.gate.server.port, timeout=60)
        try:
            onward.request(self.command, self.path, sent, {"content-type": "application/json"})
            answer = onward.getresponse()
            return answer.status, answer.read()
        except OSError:
            return 502, b"bad gateway"
        finally:
            onward.close()

    def _answer(self, status: int, said: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)
        except OSError:
            return  # the client has gone
