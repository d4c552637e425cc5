"""The web server: who may speak to it, what a browser may do with its pages, where it listens.

`rag.serving` adds the API to the application that `create` makes, the page's program its
interface, and `serve` gets the whole.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from types import FrameType
from typing import Any, Protocol
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag.answering.connection import is_loopback
from rag.errors import ResourceError, UsageError

OUR_NAMES = ("localhost", "127.0.0.1", "[::1]")
EVERYWHERE = ("0.0.0.0", "::", "")
GRACE_SECONDS = 0  # for requests when the server is told to end: pages hold theirs open
_TICK, _LAST_WORDS = 0.05, 2.0  # seconds between two looks; for answers that were broken off
_HEADERS = {
    "content-security-policy": "; ".join(
        (
            "default-src 'self'",
            "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "media-src 'self' data: blob:",
            "connect-src 'self'",
            "font-src 'self' data:",
            "worker-src 'self' blob:",
            "form-action 'self'",
            "base-uri 'self'",
            "frame-ancestors 'none'",
            "object-src 'none'",
        )
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
}


def create(openapi_url: str | None = None) -> FastAPI:
    """An application without pages of documentation; those of FastAPI load scripts from afar."""
    return FastAPI(
        title="askpapers",
        version=version("askpapers"),
        docs_url=None,
        redoc_url=None,
        openapi_url=openapi_url,
    )


def names_of(host: str, others: str = "") -> tuple[str, ...]:
    """The names by which a browser may call a server that listens on `host`.

    `others` are more of them, separated by commas. A server that listens on every address has
    the names and addresses that this machine knows of itself.
    """
    names = [*OUR_NAMES, *(name.strip() for name in others.split(",") if name.strip())]
    if host in EVERYWHERE:
        own = {socket.gethostname(), socket.getfqdn()}
        return (*names, *own, *(_bracketed(one) for name in own for one in _addresses(name)))
    return (*names, _bracketed(host))


def guarded(app: ASGIApp, names: Sequence[str] = OUR_NAMES) -> ASGIApp:
    """`app` behind the checks; the headers are outermost, so that refusals bear them too.

    The check of the host's name stops pages whose domain was made to point at this machine, the
    check of the origin those that post to it from elsewhere.
    """
    return _WithHeaders(TrustedHostMiddleware(_SameOrigin(app), allowed_hosts=list(names)))


class _WithHeaders:
    """Adds the headers as the response begins; the body passes untouched, streams included."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await self._app(scope, receive, send_with_headers)


class _SameOrigin:
    """Refuses what a browser sends on behalf of another site's page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in {"http", "websocket"}:
            headers = Headers(scope=scope)
            origin = headers.get("origin")
            if origin is not None and urlsplit(origin).netloc != headers.get("host"):
                await PlainTextResponse("Foreign origin", status_code=403)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def bind(host: str, port: int, *, with_login: bool = False) -> socket.socket:
    """A socket that is bound, but does not listen yet; port 0 takes any free one.

    `with_login`: whoever comes has to log in, so that other machines may come too.

    Raises:
        UsageError: another program has the port, or the address is not for us.
        ResourceError: the system does not allow it.
    """
    family, address = _address(host, port)
    if not (with_login or is_loopback(str(address[0]))):
        raise UsageError(
            f"Nothing is served on {host}",
            cause="whoever reaches this machine could read and ask, there is no password",
            remedy="Set RAG_PASSWORD, or run `rag users add NAME`; or use --host 127.0.0.1, and a"
            " tunnel such as ssh -L to come from elsewhere.",
        )
    bound = socket.socket(family)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise _bind_fault(host, port, error) from error
    return bound


def _addresses(name: str) -> set[str]:
    try:
        return {str(found[4][0]) for found in socket.getaddrinfo(name, None)}
    except OSError:
        return set()


def _bracketed(host: str) -> str:
    """A host as it stands in an address of the web."""
    return f"[{host}]" if ":" in host else host


def _address(host: str, port: int) -> tuple[int, Any]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise UsageError(
            f"There is no address {host}", cause=str(error), remedy="Use --host 127.0.0.1."
        ) from error
    family, _, _, _, address = found[0]
    return family, address


def _bind_fault(host: str, port: int, error: OSError) -> UsageError | ResourceError:
    cause = os.strerror(error.errno) if error.errno else str(error)
    if error.errno == errno.EADDRINUSE:
        return UsageError(
            f"Port {port} on {host} is in use",
            cause="another program listens there",
            remedy="Use --port to name another, or --port 0 for any free one.",
        )
    if error.errno == errno.EACCES:
        return ResourceError(f"Port {port} may not be used", cause=cause, remedy="Use --port.")
    return UsageError(f"{host} cannot be listened on", cause=cause, remedy="Use --host 127.0.0.1.")


class Ending(Protocol):
    """What is still to be done when the server is told to end."""

    def close(self) -> None:
        """Take no more work."""

    def wait(self, seconds: float) -> bool:
        """Whether all work ended within that time."""

    def end(self) -> None:
        """Break off what is left, which tells its readers."""


class _Server(uvicorn.Server):
    """Tells when it really serves, and ends without a word about what it cut."""

    def __init__(
        self,
        config: uvicorn.Config,
        started: Callable[[str], None],
        ending: Ending | None,
        grace: float,
    ) -> None:
        super().__init__(config)
        self._when_started = started
        self._ending = ending
        self._grace = grace

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            host, port = sockets[0].getsockname()[:2]
            self._when_started(f"http://{_bracketed(host)}:{port}")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answers in work get their time before the connections are closed."""
        if self._ending is not None:
            await self._end(self._ending)
        await super().shutdown(sockets)

    async def _end(self, ending: Ending) -> None:
        ending.close()
        until = time.monotonic() + self._grace
        while not (self.force_exit or ending.wait(0) or time.monotonic() > until):
            await asyncio.sleep(_TICK)
        ending.end()
        until = time.monotonic() + _LAST_WORDS
        while not (self.force_exit or ending.wait(0) or time.monotonic() > until):
            await asyncio.sleep(_TICK)
        await asyncio.sleep(_TICK)  # for the last words to be sent

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL + 1)
        super().handle_exit(sig, frame)


def serve(
    app: ASGIApp,
    bound: socket.socket,
    started: Callable[[str], None],
    ending: Ending | None = None,
    grace: float = 0.0,
) -> None:
    """Serve until Ctrl-C or SIGTERM, which are raised again; `started` hears of the address.

    Then what `ending` knows of has `grace` seconds; a second Ctrl-C ends the server at once.
    """
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    _Server(config, started, ending, grace).run(sockets=[bound])
