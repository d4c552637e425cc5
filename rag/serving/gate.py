"""The gate before every route: who comes in, and how large a request may be."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag.errors import AskPapersError
from rag.serving.access import LOCAL, Access
from rag.serving.faults import body_of, fault, status_of

COOKIE = "askpapers_session"
OPEN = frozenset({"/health", "/ready", "/login", "/logout"})
MOST_BYTES = 1_000_000
UPLOADS = "/gradio_api/upload"


class Gate:
    """Lets in whom `access` knows, and tells the routes who it is as `request.state.user`."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        try:
            user = self._user(Headers(scope=scope))
        except AskPapersError as error:  # the file of users is damaged: nobody comes in
            await JSONResponse(body_of(error), status_of(error))(scope, receive, send)
            return
        if user is None and scope["path"] not in OPEN:
            await _to_the_door(scope, by_form=self._access.by_password)(scope, receive, send)
            return
        scope.setdefault("state", {})["user"] = user or LOCAL
        await self._app(scope, receive, send)

    def _user(self, headers: Headers) -> str | None:
        """Who asks; LOCAL where nobody has to say, None where it is not known."""
        if not self._access.demanded:
            return LOCAL
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self._access.by_token(token.strip())
        name = session_in(headers.get("cookie", ""))
        return self._access.by_session(name) if name else None


def session_in(cookies: str) -> str:
    """The name of the session among the cookies; empty where there is none."""
    try:
        found = SimpleCookie(cookies).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


def _to_the_door(scope: Scope, *, by_form: bool) -> ASGIApp:
    """The form for a person who comes with a browser, a refusal for everything else."""
    wants_page = "text/html" in Headers(scope=scope).get("accept", "")
    if scope["type"] == "http" and scope["method"] == "GET" and wants_page and by_form:
        return RedirectResponse("/login", 303)
    told = fault(401, "You are not logged in. Send a token: `Authorization: Bearer TOKEN`.")
    return JSONResponse(told, 401, headers={"www-authenticate": "Bearer"})


class Bounded:
    """Refuses bodies that are too large, whether their length is told or not."""

    def __init__(self, app: ASGIApp, most_uploaded: int) -> None:
        """`most_uploaded` is the bytes of a file; everything else has `MOST_BYTES`."""
        self._app = app
        self._most_uploaded = most_uploaded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._most_uploaded if scope["path"] == UPLOADS else MOST_BYTES
        told = Headers(scope=scope).get("content-length", "0")
        if not told.isdecimal() or int(told) > most:
            await _too_large(most)(scope, receive, send)
            return
        await self._app(scope, _counted(receive, most), send)


def _counted(receive: Receive, most: int) -> Receive:
    """`receive`, which fails once more has come than is allowed."""
    came = 0

    async def bounded() -> Message:
        nonlocal came
        message = await receive()
        came += len(message.get("body", b""))
        if came > most:
            raise HTTPException(413, f"The request is larger than {most:,} bytes.")
        return message

    return bounded


def _too_large(most: int) -> Response:
    return JSONResponse(fault(413, f"The request is larger than {most:,} bytes."), 413)
