"""The application: routes, the gate before them, and how failures are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

from rag import server
from rag.answering.assistant import Assistant
from rag.config import Config
from rag.errors import AskPapersError
from rag.serving import login, routes
from rag.serving.access import Access
from rag.serving.counter import Counter
from rag.serving.faults import body_of, fault, headers_of, status_of, unforeseen
from rag.serving.gate import Bounded, Gate
from rag.serving.remembered import Remembered
from rag.serving.running import Running
from rag.serving.shelf import Shelf


@dataclass(frozen=True)
class Service:
    """All that is served from one process: the API, and what a page is mounted in.

    `counter` is where a page asks too, so that it stands in the same line.
    """

    app: FastAPI
    counter: Counter
    access: Access
    running: Running
    config: Config

    @classmethod
    def of(cls, assistant: Assistant, config: Config, shelf: Shelf, access: Access) -> Service:
        """The service of the settings; a page may still be mounted in `app`."""
        running = Running()
        counter = Counter.of(assistant, config)
        app = server.create(openapi_url="/openapi.json")
        app.include_router(routes.health(counter, running))
        remembered = Remembered()
        app.include_router(routes.own(counter, running, shelf, remembered))
        app.include_router(routes.openai(counter, running, remembered))
        app.include_router(login.routes(access))
        _tell_faults(app)
        return cls(app, counter, access, running, config)

    def without_page(self) -> Service:
        """The same with something at its root, for whoever looks there."""
        self.app.include_router(routes.index())
        return self

    def guarded(self, within: Callable[[ASGIApp], ASGIApp] = lambda app: app) -> ASGIApp:
        """The application behind its gate; nothing is reached but through it.

        `within` puts a further one behind that, for whoever came in.
        """
        gated = Gate(within(self.app), self.access)
        bounded = Bounded(gated, self.config.max_upload_mb * 1_000_000)
        return server.guarded(bounded, server.names_of(self.config.host, self.config.host_names))


def _tell_faults(app: FastAPI) -> None:
    """Every failure in one form, whoever raised it."""

    @app.exception_handler(AskPapersError)
    def ours(_request: Request, error: AskPapersError) -> Response:
        return JSONResponse(body_of(error), status_of(error), headers_of(error))

    @app.exception_handler(RequestValidationError)
    def invalid(_request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
        return JSONResponse(fault(400, f"{place}: {first['msg']}.", place), 400)

    @app.exception_handler(HTTPException)
    def refused(_request: Request, error: HTTPException) -> Response:
        told = fault(error.status_code, str(error.detail))
        return JSONResponse(told, error.status_code, dict(error.headers or {}))

    @app.exception_handler(Exception)
    def broken(_request: Request, error: Exception) -> Response:
        told = unforeseen(error)
        return JSONResponse(body_of(told), status_of(told))
