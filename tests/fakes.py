"""Stand-ins that behave: a faulty model server, a scripted generator, an embedder by hand."""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, cast

import numpy as np

from rag.answering.generation import Completion, Finish, Request
from rag.corpus import Limits
from rag.errors import AskPapersError, ModelError
from rag.index.built import BuiltWith
from rag.index.embedding import Vectors
from rag.index.engine import Embedded, LocalEngine
from rag.index.manifest import Unsearchable
from rag.index.reading import Job, Part
from rag.index.vectors.seam import Facts, Generation
from rag.schema import Paper

PATIENCE = 30.0  # seconds: what a busy machine may need; what hangs here does so for longer
Ending = Literal["close", "reset", "short", "unfinished chunk", "hang"]


def chunk(text: str | None = None, finish: str | None = None, **delta: object) -> dict[str, object]:
    """One event of a streamed chat completion."""
    content: dict[str, object] = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": content | delta, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion.chunk", "model": "served", "choices": [choice]}


def usage(prompt: int, completion: int) -> dict[str, object]:
    """The last event of a stream with `include_usage`: counts, and no choices."""
    counts = {"prompt_tokens": prompt, "completion_tokens": completion}
    return {"id": "x", "object": "chat.completion.chunk", "choices": [], "usage": counts}


def event(body: object) -> bytes:
    """A server-sent event."""
    return b"data: " + (body if isinstance(body, bytes) else json.dumps(body).encode()) + b"\n\n"


DONE = event(b"[DONE]")


@dataclass(frozen=True)
class Script:
    """One reply: the bytes in the pieces in which they are sent, and how the connection ends.

    `pause` is the time in seconds before each piece. `ending`: "close" is clean; "reset" drops the
    connection; "short" promises more bytes than come; "unfinished chunk" stops inside a chunked
    body; "hang" stays silent until the client leaves or the server is closed.
    """

    pieces: Iterable[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "text/event-stream"
    ending: Ending = "close"
    pause: float = 0.0
    answers: bool = True  # False: no status line either, only the ending


def body(content: object, status: int = 200, **headers: str) -> Script:
    """A JSON document, or other content as it is; `retry_after="7"` becomes a header."""
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    kind = "text/html" if raw.startswith(b"<") else "application/json"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Script([raw], status, named, kind)


def refusal(status: int, message: str, **fields: object) -> Script:
    """An error in OpenAI's form."""
    return body({"error": {"message": message, **fields}}, status)


def streamed(
    pieces: Iterable[str],
    *,
    finish: str | None = "stop",
    done: bool = True,
    ending: Ending = "close",
    pause: float = 0.0,
) -> Script:
    """Text in pieces, then the reason for the end and `[DONE]`, unless told otherwise."""
    sent = [event(chunk(piece)) for piece in pieces]
    sent += [event(chunk(finish=finish))] if finish else []
    sent += [DONE] if done else []
    return Script(sent, ending=ending, pause=pause)


@dataclass(frozen=True)
class Received:
    """A request as it reached the server."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


Reply = Script | Callable[[Received], Script]


class ScriptedServer:
    """A model server on a loopback port that follows a queue of scripts, one for each POST.

    The last script answers every further request; it may be a function of the request. `models`
    is what `/models` offers; None: 404.
    """

    def __init__(self, *scripts: Reply, models: Sequence[str] | None = None) -> None:
        self.queue = list(scripts)
        self.models = models
        self.history: list[Received] = []
        self.open = 0
        self.aborted = 0
        self.closing = threading.Event()
        self._changed = threading.Condition()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.host}/v1"

    @property
    def posts(self) -> list[Received]:
        return [received for received in self.history if received.method == "POST"]

    def next_script(self, received: Received) -> Script:
        with self._changed:
            reply = self.queue.pop(0) if len(self.queue) > 1 else self.queue[0]
        return reply if isinstance(reply, Script) else reply(received)

    def count(self, *, opened: int = 0, aborted: int = 0) -> None:
        with self._changed:
            self.open += opened
            self.aborted += aborted
            self._changed.notify_all()

    def wait_until(self, reached: Callable[[Self], bool], seconds: float = PATIENCE) -> bool:
        """Whether the counters reach a state in that time."""
        with self._changed:
            return self._changed.wait_for(lambda: reached(self), seconds)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()  # joins the threads of the requests


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    request_queue_size = 64
    owner: ScriptedServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left in the middle of its request is no fault of the server's."""
        if not isinstance(sys.exception(), OSError | json.JSONDecodeError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # the name is the base class's
        pass

    def handle(self) -> None:
        owner = self.server.owner
        owner.count(opened=1)
        try:
            super().handle()
        except (BrokenPipeError, ConnectionResetError):
            owner.count(aborted=1)
        finally:
            owner.count(opened=-1)

    def do_GET(self) -> None:
        self._note({})
        models = self.server.owner.models
        if models is None:
            self._play(refusal(404, "no such address"))
        else:
            self._play(body({"object": "list", "data": [{"id": name} for name in models]}))

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        received = self._note(json.loads(self.rfile.read(length)))
        self._play(self.server.owner.next_script(received))

    def _note(self, sent: dict[str, Any]) -> Received:
        headers = {name.lower(): value for name, value in self.headers.items()}
        received = Received(self.command, self.path, headers, sent)
        self.server.owner.history.append(received)
        self.server.owner.count()  # whoever waits for a request looks again
        return received

    def _play(self, script: Script) -> None:
        self.close_connection = True
        chunked = script.ending == "unfinished chunk"
        if script.answers:
            self._head(script, chunked)
        for piece in script.pieces:
            if script.pause and self._left(script.pause):
                raise BrokenPipeError
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            self.wfile.flush()
        if script.ending == "reset":
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()
        elif script.ending == "hang" and self._left(4 * PATIENCE):
            raise BrokenPipeError

    def _head(self, script: Script, chunked: bool) -> None:
        self.send_response(script.status)
        self.send_header("content-type", script.content_type)
        self.send_header("connection", "close")
        if chunked:
            self.send_header("transfer-encoding", "chunked")
        if script.ending == "short":
            self.send_header("content-length", "1000000")
        for name, value in script.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.flush()

    def _left(self, seconds: float) -> bool:
        """Wait that long; True as soon as the client has gone. The server's end ends the wait."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and not self.server.owner.closing.is_set():
            self.connection.settimeout(min(0.02, max(ends - time.monotonic(), 0.001)))
            try:
                if not self.connection.recv(1024):
                    return True
            except TimeoutError:
                continue
            except ConnectionResetError:
                return True
            finally:
                self.connection.settimeout(None)
        return False


class FakeModelServer:
    """The server of a local model, with a ScriptedServer in place of each child process.

    `lives` are what each child says, one after the other. `die` ends the present one in the middle
    of whatever it says. When the lives are used up none can be started.
    """

    api_key = "the key of this run"

    def __init__(self, *lives: Reply | Sequence[Reply]) -> None:
        self._lives = [life if isinstance(life, Sequence) else [life] for life in lives]
        self._lock = threading.Lock()
        self.children: list[ScriptedServer] = []

    @property
    def base_url(self) -> str:
        return self.children[-1].url

    @property
    def pid(self) -> int | None:
        return len(self.children) or None

    def ensure_running(self) -> bool:
        with self._lock:
            died = bool(self.children)
            if died and not self.children[-1].closing.is_set():
                return False
            if not self._lives:
                raise ModelError("The local model stopped again after a restart")
            child = ScriptedServer(*self._lives.pop(0))
            child.__enter__()
            self.children.append(child)
            return died

    def die(self) -> None:
        """Callable from within a reply: what hangs ends, and `close` does the rest."""
        self.children[-1].closing.set()

    def close(self) -> None:
        for child in self.children:
            child.__exit__(None, None, None)


Answer = str | AskPapersError | Sequence[str | AskPapersError]


class ScriptedGenerator:
    """A Generator that takes its replies from a queue; the last one answers every further request.

    A reply is text (cut into pieces of `piece` characters), the pieces themselves, or an error to
    raise; an error among pieces is raised in its turn. `history` holds the requests, `closed`
    counts iterators that were closed before the end.
    """

    def __init__(
        self,
        *replies: Answer,
        name: str = "scripted model",
        structured: bool = True,
        finish: Finish = "stop",
        piece: int = 7,
    ) -> None:
        self.queue: list[Answer] = list(replies)
        self.name = name
        self.structured = structured
        self.finish: Finish = finish
        self.piece = piece
        self.history: list[Request] = []
        self.closed = 0
        self.is_closed = False

    def stream(
        self, request: Request, notify: Callable[[str], None] = lambda _: None
    ) -> Iterator[str | Completion]:
        self.history.append(request)
        return self._play(self.queue.pop(0) if len(self.queue) > 1 else self.queue[0])

    def _play(self, reply: Answer) -> Iterator[str | Completion]:
        if isinstance(reply, AskPapersError):
            raise reply
        step = self.piece
        pieces: Sequence[str | AskPapersError] = reply
        if isinstance(reply, str):
            pieces = [reply[i : i + step] for i in range(0, len(reply), step)]
        try:
            for piece in pieces:
                if isinstance(piece, AskPapersError):
                    raise piece
                yield piece
        except GeneratorExit:
            self.closed += 1
            raise
        yield Completion(self.finish, 10, len(pieces), 0.0, self.name)

    def close(self) -> None:
        self.is_closed = True


TOPICS = (
    "apples bridges clouds deserts engines forests glaciers harbours islands jungles kettles "
    "ladders mirrors needles oceans planets quarries rivers spiders tunnels umbrellas valleys "
    "windows yachts zebras anchors bottles candles drums eagles"
).split()


class HandEmbedder:
    """Counts the words of TOPICS in a text: a unit vector with an axis for each, one for none.

    Two texts of one topic have the cosine 1, of different topics 0, and "apples bridges" has
    0.7071 to either. `embedded` holds every text in order. `turned` moves each axis on by so many
    places: other weights of the same name and dimension. `fails_at`: the call, counted from 1,
    that raises.
    """

    def __init__(self, name: str = "by hand", *, turned: int = 0, fails_at: int = 0) -> None:
        self.name = name
        self.dimension = len(TOPICS) + 1
        self.turned = turned
        self.fails_at = fails_at
        self.calls = 0
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.calls == self.fails_at:
            raise ModelError("The embedding server is gone")
        self.embedded += texts
        counts = np.array([self._counts(text) for text in texts], dtype=np.float32)
        counts = np.roll(counts.reshape(-1, self.dimension), self.turned, axis=1)
        return np.asarray(counts / np.linalg.norm(counts, axis=1, keepdims=True), dtype=np.float32)

    def count_pieces(self, text: str) -> int:
        return len(text.split())

    def _counts(self, text: str) -> list[int]:
        words = [word.strip(".,?!").casefold() for word in text.split()]
        counts = [words.count(topic) for topic in TOPICS]
        return [*counts, 0 if any(counts) else 1]


class FaultyEmbedder(HandEmbedder):
    """One whose answer is spoiled from the call `since` on, counted from 1."""

    def __init__(self, spoil: Callable[[Vectors], Any], since: int = 1) -> None:
        super().__init__()
        self.spoil = spoil
        self.since = since

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = super().embed(texts)
        return vectors if self.calls < self.since else cast("Vectors", self.spoil(vectors))


class MeddledEngine(LocalEngine):
    """Calls `meddle` once, after the first part of a file was read."""

    def __init__(
        self, embedder: HandEmbedder, cut: BuiltWith, meddle: Callable[[], object]
    ) -> None:
        super().__init__(embedder, cut)
        self.meddle = meddle

    def read(self, jobs: Iterable[Job], limits: Limits) -> Iterator[tuple[Job, Part]]:
        for number, found in enumerate(super().read(jobs, limits)):
            yield found
            if number == 0:
                self.meddle()


class WatchedEngine(LocalEngine):
    """Calls `meddle` with the number of each batch, from 0, once its vectors were taken."""

    def __init__(
        self, embedder: HandEmbedder, cut: BuiltWith, meddle: Callable[[int], object]
    ) -> None:
        super().__init__(embedder, cut)
        self.meddle = meddle

    def embed(self, batches: Iterable[Sequence[Paper]]) -> Iterator[Embedded]:
        for number, matrices in enumerate(super().embed(batches)):
            yield matrices
            self.meddle(number)


def by_hand(files: Sequence[Path], threads: int) -> HandEmbedder:
    """Makes one as `rag.index.embedding.Recipe` asks for it."""
    return HandEmbedder()


class AlikeVectors:
    """A vector index whose rows cannot be told apart: every build finds that out."""

    place = "nowhere"

    def __init__(self) -> None:
        self.builds = 0

    def current(self) -> Generation | None:
        return None

    def build(self, rows: Iterable[tuple[str, Vectors]], facts: Facts) -> Generation:
        self.builds += 1
        assert len(list(rows)) == facts.rows
        raise Unsearchable("8 of 20 rows are not found")

    def discard(self) -> None:
        pass

    def clean(self) -> None:
        pass

    def ping(self) -> None:
        pass

    def close(self) -> None:
        pass
