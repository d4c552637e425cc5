"""What went wrong, as HTTP tells it: a status, and a body in OpenAI's form for every route."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from typing import Any

from rag.answering.budget import BudgetSpent
from rag.errors import AskPapersError, IndexUnusable, ModelError, PaperNotFound, UsageError
from rag.serving.access import LockedOut
from rag.serving.limits import LimitReached
from rag.serving.line import LineFull
from rag.serving.running import ShuttingDown

log = logging.getLogger("askpapers.serving")

_STATUS: tuple[tuple[type[AskPapersError], int], ...] = (
    (LimitReached, 429),
    (LockedOut, 429),
    (BudgetSpent, 429),
    (LineFull, 503),
    (ShuttingDown, 503),
    (PaperNotFound, 404),
    (UsageError, 400),
    (IndexUnusable, 503),
    (ModelError, 502),
    (AskPapersError, 500),
)
_KINDS = {
    400: ("invalid_request_error", "invalid_request"),
    401: ("authentication_error", "not_logged_in"),
    403: ("permission_error", "forbidden"),
    404: ("invalid_request_error", "not_found"),
    405: ("invalid_request_error", "method_not_allowed"),
    413: ("invalid_request_error", "too_large"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
    502: ("server_error", "model_unusable"),
    503: ("server_error", "unavailable"),
}


class NotServed(UsageError):
    """A parameter that cannot be done without, and that is not served; `parameter` names it."""

    def __init__(self, what: str, parameter: str, remedy: str = "") -> None:
        super().__init__(what, remedy=remedy)
        self.parameter = parameter


class NoSuchModel(UsageError):
    """A model that is not offered."""


def status_of(error: AskPapersError) -> int:
    """The status that tells an error."""
    if isinstance(error, NoSuchModel):
        return 404
    return next(status for kind, status in _STATUS if isinstance(error, kind))


def body_of(error: AskPapersError) -> dict[str, Any]:
    """An error in OpenAI's form."""
    code = "model_not_found" if isinstance(error, NoSuchModel) else None
    return fault(status_of(error), str(error), getattr(error, "parameter", None), code)


def headers_of(error: AskPapersError) -> Mapping[str, str]:
    """When to come again, where that is known."""
    seconds = getattr(error, "seconds", None)
    return {} if seconds is None else {"retry-after": str(max(1, round(seconds)))}


def fault(
    status: int, message: str, parameter: str | None = None, code: str | None = None
) -> dict[str, Any]:
    """A message in OpenAI's form."""
    kind, usual = _KINDS.get(status, ("server_error", "internal_error"))
    told = {"message": message, "type": kind, "param": parameter, "code": code or usual}
    return {"error": told}


def unforeseen(error: Exception) -> AskPapersError:
    """What nobody foresaw: the number joins what is told and the log, which alone has the rest."""
    number = secrets.token_hex(4)
    log.error("error %s", number, exc_info=error)
    return AskPapersError(
        "Something went wrong here",
        cause=f"error {number}",
        remedy="The log of the server says more.",
    )
