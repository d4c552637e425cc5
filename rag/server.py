"""The web server: who may speak to it, what a browser may do with its pages, where it listens.

The page's program mounts its interface in the application that `create` makes and hands that to
`serve`.
"""

from __future__ import annotations

import errno
import logging
import os
import socket
from collections.abc import Callable
from types import FrameType
from typing import Any
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
GRACE_SECONDS = 0  # for requests when the server is told to end: pages hold theirs open
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
    "referrer-policy": "no-referrer",
}


def create() -> FastAPI:
    """An application without pages of documentation."""
    return FastAPI(title="askpapers", docs_url=None, redoc_url=None, openapi_url=None)


def guarded(app: ASGIApp) -> ASGIApp:
    """`app` behind the checks; the headers are outermost, so that refusals bear them too.

    The check of the host's name stops pages whose domain was made to point at this machine, the
    check of the origin those that post to it from elsewhere.
    """
    return _WithHeaders(TrustedHostMiddleware(_SameOrigin(app), allowed_hosts=list(OUR_NAMES)))


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


def bind(host: str, port: int) -> socket.socket:
    """A socket that is bound, but does not listen yet; port 0 takes any free one.

    Raises:
        UsageError: another program has the port, or the address is not for us.
        ResourceError: the system does not allow it.
    """
    family, address = _address(host, port)
    if not is_loopback(str(address[0])):
        raise UsageError(
            f"The page is not served on {host}",
            cause="whoever reaches this machine could read and ask, there is no password",
            remedy="Use --host 127.0.0.1, and a tunnel such as ssh -L to come from elsewhere.",
        )
    bound = socket.socket(family)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise _bind_fault(host, port, error) from error
    return bound


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


class _Server(uvicorn.Server):
    """Tells when it really serves, and ends without a word about what it cut."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._when_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._when_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL + 1)
        super().handle_exit(sig, frame)


def serve(app: ASGIApp, bound: socket.socket, started: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or SIGTERM, which are raised again; `started` hears of the address."""
    host, port = bound.getsockname()[:2]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    _Server(config, lambda: started(url)).run(sockets=[bound])
