"""Who may send files, and how much: told before a byte of them is stored.

gradio takes files from whoever knows its route. Here a browser that has opened the page may send
some, which a cookie shows that no other site's page can use, and no more than the limit at once.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "askpapers_page"
_ROUTES = ("/gradio_api/upload", "/upload", "/gradio_api/process_recording", "/process_recording")


class UploadGate:
    """`app`, with uploads of at most `most` bytes from browsers that opened the page; 0: none."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most
        self._secret = secrets.token_urlsafe(24)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"].rstrip("/") in _ROUTES and (refusal := self._refusal(scope)):
            await refusal(scope, receive, send)
            return

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start" and scope["path"] == "/":
                value = f"{COOKIE}={self._secret}; Path=/; HttpOnly; SameSite=Strict"
                MutableHeaders(scope=message).append("set-cookie", value)
            await send(message)

        await self._app(scope, receive, send_with_cookie)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        if not self._most or "recording" in scope["path"]:
            return PlainTextResponse("Files are not taken here", status_code=404)
        headers = Headers(scope=scope)
        given = _cookie(headers.get("cookie", ""))
        if not secrets.compare_digest(given.encode(), self._secret.encode()):
            return PlainTextResponse("Open the page first", status_code=403)
        length = headers.get("content-length", "")
        if not length.isdecimal():
            return PlainTextResponse("The length is not told", status_code=411)
        if int(length) > self._most:
            told = f"Files of more than {self._most // 1_000_000:,} MB are not taken at once"
            return PlainTextResponse(told, status_code=413)
        return None


def _cookie(header: str) -> str:
    try:
        cookies = SimpleCookie(header)
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""
