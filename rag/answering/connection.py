"""The HTTP beneath a model client: what is sent, what is capped, how it is cut and how it fails.

No timeout of an HTTP client ends a server that sends a byte now and then: each byte starts the
wait anew. Closing a socket does not wake a thread that waits on it, shutting it down does; so a
timer holds a second handle on the socket and shuts that down when the time is over.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from rag.answering.faults import Fault, Peer
from rag.errors import ConfigError, ServerError

if TYPE_CHECKING:
    import httpx2

WHOLE_BODY_BYTES = 256 * 1024
_HEADERS = frozenset(
    {"host", "accept", "connection", "content-type", "content-length", "user-agent"}
)


class Line:
    """The connection of one request, cut when its `seconds` are over or `cut` is called.

    `cause` is empty until then. Used as a context manager: on leaving, the timer's thread has
    ended and the handle is closed.
    """

    def __init__(self, seconds: float, cause: str) -> None:
        self.cause = ""
        self._ends = time.monotonic() + seconds
        self._handle: socket.socket | None = None
        self._lock = threading.Lock()
        self._timer = self._cutting_in(seconds, cause)

    @property
    def remaining(self) -> float:
        """Seconds left, and never so few that a timeout of that length would be refused."""
        return max(self._ends - time.monotonic(), 0.001)

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Listen to the HTTP client (its `trace` extension) for the socket it connects."""
        if event.endswith("connect_tcp.complete"):
            with self._lock:
                self._drop()
                self._handle = info["return_value"].get_extra_info("socket").dup()
                self._shut()

    def cut(self, cause: str) -> None:
        """End the connection now; whoever reads from it sees the end. The first cause stays."""
        with self._lock:
            self.cause = self.cause or cause
            self._shut()

    def hurry(self, seconds: float) -> None:
        """Leave only so much time from now on, if there was more."""
        if seconds < self.remaining:
            self._stop()
            self._timer = self._cutting_in(seconds, f"cut {seconds:g} s after the end")
            self._timer.start()

    def _cutting_in(self, seconds: float, cause: str) -> threading.Timer:
        timer = threading.Timer(max(seconds, 0.0), self.cut, [cause])
        timer.daemon = True
        return timer

    def _stop(self) -> None:
        self._timer.cancel()
        self._timer.join()

    def _shut(self) -> None:
        if self.cause and self._handle is not None:
            with suppress(OSError):  # the other side was faster
                self._handle.shutdown(socket.SHUT_RDWR)

    def _drop(self) -> None:
        if self._handle is not None:
            self._handle.close()
            self._handle = None

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()
        with self._lock:
            self._drop()


class Network:
    """Makes the HTTP client for one server and ties its connections to lines."""

    def __init__(self, peer: Peer, url: str) -> None:
        parts = urlsplit(url)
        self._peer = peer
        self._tls = parts.scheme == "https"
        self._loopback = is_loopback(parts.hostname or "")
        self._here = threading.local()

    @contextmanager
    def on(self, line: Line) -> Iterator[None]:
        """Whatever this thread connects meanwhile belongs to `line`."""
        self._here.line = line
        try:
            yield
        finally:
            del self._here.line

    def client(self) -> httpx2.Client:
        """An HTTP client that takes nothing from the environment but, for other hosts, the proxy.

        No redirects: they would carry the question to another host. No kept connections: a
        handshake is cheap beside an answer, and a stale connection is one more way to fail.

        Raises:
            ConfigError: a proxy or certificate variable of the environment is unusable.
        """
        import httpx2

        try:
            return httpx2.Client(
                verify=httpx2.create_ssl_context() if self._tls else True,
                trust_env=not self._loopback,  # proxies; the certificates are read above
                follow_redirects=False,
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
                event_hooks={"request": [self._prepare], "response": [_cap]},
            )
        except (ValueError, ImportError, OSError) as error:
            raise ConfigError(
                "The proxy or certificate settings of the environment cannot be used",
                cause=self._peer.quote(str(error)),
                remedy="Check HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE.",
            ) from None

    def _prepare(self, request: httpx2.Request) -> None:
        """Send our own headers only.

        The openai client adds what OPENAI_CUSTOM_HEADERS, OPENAI_ORG_ID and the like hold, and a
        description of this machine.
        """
        for name in set(request.headers) - _HEADERS:
            del request.headers[name]
        request.headers["accept-encoding"] = "identity"  # nothing held back, nothing to inflate
        if self._peer.key:
            request.headers["authorization"] = f"Bearer {self._peer.key}"
        line: Line = self._here.line
        request.extensions = {**request.extensions, "trace": line.trace}


def is_loopback(host: str) -> bool:
    """Whether the host is this machine, which no proxy reaches."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _cap(response: httpx2.Response) -> None:
    """Cap what is read whole: the body of an error, and the list of models."""
    import httpx2

    class Capped(httpx2.SyncByteStream):
        def __init__(self, inner: httpx2.SyncByteStream) -> None:
            self.inner = inner

        def __iter__(self) -> Iterator[bytes]:
            left = WHOLE_BODY_BYTES
            for chunk in self.inner:
                yield chunk[:left]
                left -= len(chunk)
                if left <= 0:
                    return

        def close(self) -> None:
            self.inner.close()

    whole = response.status_code != 200 or response.request.method == "GET"
    if whole and isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = Capped(response.stream)


def explain_connection(peer: Peer, error: BaseException, *, connect: float, idle: float) -> Fault:
    """The fault behind an exception of the connection, told by what lies at its root.

    `connect` and `idle` are the timeouts in seconds that were in force. A timeout is not passing:
    three times the wait is what makes a client seem to hang.
    """
    import ssl  # takes as long as all of this package that a search needs

    chain = list(_chain(error))
    names = {type(e).__name__ for e in chain}
    if "ConnectTimeout" in names:
        return _unreachable(peer, f"no connection within {connect:g} s")
    if names & {"ReadTimeout", "WriteTimeout", "PoolTimeout", "APITimeoutError"}:
        return Fault(
            ServerError(
                f"{peer.host} sent nothing for {idle:g} s",
                cause="idle timeout",
                remedy="Raise idle_timeout if the model is that slow.",
            )
        )
    for cause in chain:
        if isinstance(cause, socket.gaierror):
            return _unreachable(peer, f"host name not found: {cause.strerror}")
        if isinstance(cause, ssl.SSLError):
            return _unreachable(peer, f"TLS: {peer.quote(cause.reason or str(cause))}")
        if isinstance(cause, ConnectionRefusedError):
            return _unreachable(peer, "connection refused", passing=True)
    text = peer.quote(_root_text(chain))
    if names & {"ConnectError", "ProxyError", "UnsupportedProtocol", "LocalProtocolError"}:
        return _unreachable(peer, text, passing="ConnectError" in names)
    what = f"The connection to {peer.host} broke"
    lost = ServerError(what, cause=text, remedy="Is the server still running?")
    return Fault(lost, passing=True, reason="connection lost")


def _root_text(chain: list[BaseException]) -> str:
    """The words of the innermost exception that has any."""
    told = (getattr(e, "strerror", None) or str(e) for e in reversed(chain))
    return next((text for text in told if text), type(chain[-1]).__name__)


def _unreachable(peer: Peer, cause: str, *, passing: bool = False) -> Fault:
    error = ServerError(
        f"The model server at {peer.host} cannot be reached",
        cause=cause,
        remedy=f"Is the server running? Check {peer.knobs.url}.",
    )
    return Fault(error, passing=passing, reason=cause)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__
