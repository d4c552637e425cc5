"""The form by which a person logs in."""

from __future__ import annotations

from html import escape
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from rag.serving.access import Access, LockedOut
from rag.serving.gate import COOKIE, session_in
from rag.serving.sessions import LASTS

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>askpapers</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; display: grid; min-height: 90vh; margin: 0;
  place-items: center; }}
form {{ display: grid; gap: 8px; width: min(320px, 86vw); }}
h1 {{ font-size: 22px; margin: 0 0 8px; }}
input, button {{ font: inherit; padding: 9px 12px; border: 1px solid #8a94a6;
  border-radius: 8px; }}
button {{ margin-top: 8px; border: 0; color: #fff; background: #4338ca; cursor: pointer; }}
[role=alert] {{ margin: 0; padding-left: 12px; border-left: 3px solid #dc2626; }}
</style>
<main>{body}</main>
</html>
"""
_FORM = """<form method="post" action="/login">
<h1>askpapers</h1>{told}
<label for="name">Name</label>
<input id="name" name="name" value="{name}" autocomplete="username" autocapitalize="none"
  maxlength="64">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password"
  maxlength="1000" required autofocus>
<button>Log in</button>
</form>"""
_TELL = '<p role="alert">{}</p>'
_WRONG = "Name or password is wrong."

Field = Annotated[str, Form(max_length=1_000)]


def routes(access: Access) -> APIRouter:
    """Log in, log out."""
    router = APIRouter(include_in_schema=False)

    @router.get("/login")
    def form() -> Response:
        return _form()

    @router.post("/login")
    def log_in(request: Request, password: Field, name: Field = "") -> Response:
        address = request.client.host if request.client else ""
        try:
            session = access.log_in(name.strip(), password, address)
        except LockedOut as error:
            wait = {"retry-after": str(max(1, round(error.seconds)))}
            return _form(name, f"{error}", 429, wait)
        if session is None:
            return _form(name, _WRONG, 401)
        found = RedirectResponse("/", 303)
        found.set_cookie(
            COOKIE,
            session,
            max_age=int(LASTS),
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return found

    @router.post("/logout")
    def log_out(request: Request) -> Response:
        access.sessions.end(session_in(request.headers.get("cookie", "")))
        found = RedirectResponse("/login", 303)
        found.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return found

    return router


def _form(
    name: str = "", told: str = "", status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    shown = _TELL.format(escape(told)) if told else ""
    body = _FORM.format(name=escape(name), told=shown)
    kept = {"cache-control": "no-store", **(headers or {})}
    return HTMLResponse(_PAGE.format(body=body), status, kept)
