"""The connection to a Chroma server: every request ends in time, every fault is told as ours.

Chroma's own client waits for ever and asks the server who we are before it can be told not to;
so its inner client is used, which speaks only when a request is made.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rag.errors import AskPapersError
from rag.index.manifest import Damaged
from rag.index.vectors.seam import Refused, Unreachable

if TYPE_CHECKING:
    from chromadb.api.fastapi import FastAPI

_PAUSES = (0.5, 8.0)  # seconds before the first repeat, and at most; doubled in between
_ATTEMPTS = 6  # together more than a server takes to start again
_OLDEST = 1  # the major version that speaks our protocol


@dataclass(frozen=True, slots=True)
class Account:
    """What a server is told besides the request. `headers` may hold a token."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    tenant: str = "default_tenant"
    database: str = "default_database"


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds to connect, to wait for one answer to a search, and for one while building."""

    connecting: float = 5.0
    searching: float = 10.0
    building: float = 120.0


class Wire:
    """A connection to one server, made at the first request. Safe for use by several threads."""

    def __init__(self, url: str, account: Account, connecting: float, answering: float) -> None:
        self.url = url
        self.account = account
        self._seconds = (answering, answering, answering, connecting)
        self._connecting = connecting
        self._opening = threading.Lock()
        self._api: FastAPI | None = None

    def call(self, request: Callable[[FastAPI], Any]) -> Any:
        """Make a request.

        Raises:
            Unreachable: no answer, or a fault of the server.
            Refused: the server will not have us, or is none that we can use.
            Damaged: there is no such collection, or it is not what was built.
        """
        with _told(self.url):
            return request(self._opened())

    def insist(self, request: Callable[[FastAPI], Any]) -> Any:
        """Make a request that may be made twice; again after a fault that may pass.

        Raises:
            As `call`.
        """
        from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential

        first, longest = _PAUSES
        attempts = Retrying(
            retry=retry_if_exception(_may_pass),
            stop=stop_after_attempt(_ATTEMPTS),
            wait=wait_exponential(multiplier=first, max=longest),
            reraise=True,
        )
        return attempts(self.call, request)

    def greet(self) -> str:
        """The server's version.

        Raises:
            Unreachable: it does not answer.
            Refused: it is not a server that we can use.
        """
        version = str(self.call(lambda api: api.get_version()))
        major = version.split(".")[0]
        if not major.isdigit() or int(major) < _OLDEST:
            raise Refused(
                f"{self.url} is no Chroma server that can be used",
                cause=f"it has version {version[:40]}, {_OLDEST}.0 or newer is needed",
                remedy="Start one with `chroma run`, or change the setting vectors.",
            )
        return version

    def close(self) -> None:
        """Close the connection; a later request opens it again."""
        with self._opening:
            if self._api is not None:
                self._api._session.close()  # which its own stop leaves open
                self._api.stop()
            self._api = None

    def _opened(self) -> FastAPI:
        with self._opening:
            if self._api is None:
                self._api = self._open()
            return self._api

    def _open(self) -> FastAPI:
        import httpx
        from chromadb.api.fastapi import FastAPI
        from chromadb.config import Settings, System

        settings = Settings(
            _env_file=None,
            anonymized_telemetry=False,
            chroma_api_impl="chromadb.api.fastapi.FastAPI",
            chroma_server_host=self.url,
            chroma_server_http_port=0,  # must be given, and is not used where a URL is
            chroma_server_ssl_enabled=self.url.startswith("https:"),
            chroma_server_headers=dict(self.account.headers),
        )
        system = System(settings)
        api = system.instance(FastAPI)
        system.start()
        read, write, pool, connect = self._seconds
        api._session.timeout = httpx.Timeout(connect=connect, read=read, write=write, pool=pool)
        return api


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, Unreachable) and not isinstance(error, Refused)


@contextmanager
def _told(url: str) -> Iterator[None]:
    """Tell the vendor's faults, which have no common base, as ours."""
    try:
        yield
    except AskPapersError:
        raise
    except Exception as error:
        raise _translated(url, error) from error


def _translated(url: str, error: Exception) -> Damaged:
    import httpx
    from chromadb.errors import ChromaError, NotFoundError, RateLimitError

    if isinstance(error, httpx.TimeoutException):
        return Unreachable(f"The vector server {url} did not answer in time")
    if isinstance(error, httpx.TransportError):
        return Unreachable(
            f"The vector server {url} cannot be reached",
            cause=str(error) or type(error).__name__,
            remedy="Start it, or change the setting vectors.",
        )
    status = _status(error)
    if status in {401, 403}:
        return Refused(
            f"The vector server {url} refuses us",
            cause=f"HTTP {status}",
            remedy="Put its token into vectors_options, under headers.",
        )
    if isinstance(error, NotFoundError):
        return Damaged(f"The vectors are gone from {url}", cause=str(error))
    if isinstance(error, ChromaError) and not isinstance(error, RateLimitError):
        return Damaged(f"The vectors at {url} are damaged", cause=str(error))
    if status is not None and (status == 429 or status >= 500):
        return Unreachable(f"The vector server {url} is busy or at fault", cause=f"HTTP {status}")
    return Refused(
        f"{url} does not answer as a Chroma server does",
        cause=f"HTTP {status}" if status else type(error).__name__,
        remedy="Start one with `chroma run`, or change the setting vectors.",
    )


def _status(error: BaseException | None) -> int | None:
    """The HTTP status behind an error; the client buries it."""
    import httpx

    while error is not None:
        if isinstance(error, httpx.HTTPStatusError):
            return error.response.status_code
        error = error.__cause__ or error.__context__
    return None
