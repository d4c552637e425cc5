"""Kept conversations, and single answers of them, as files: BibTeX, RIS, Markdown and others."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from rag.errors import AskPapersError, UsageError
from rag.exporting import FORMATS, Format, export_of, rendered
from rag.history import History
from rag.page.asking import Asking
from rag.page.readers import owner_of

_FILES: dict[Format, tuple[str, str]] = {
    "markdown": ("md", "text/markdown"),
    "html": ("html", "text/html"),
    "json": ("json", "application/json"),
    "bibtex": ("bib", "application/x-bibtex"),
    "ris": ("ris", "application/x-research-info-systems"),
    "csl": ("csl.json", "application/vnd.citationstyles.csl+json"),
}


def router(asking: Asking) -> APIRouter:
    """Where the page's links to files lead."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/conversations/{conversation}/export")
    def export(request: Request, conversation: int, format: str, turn: int = 0) -> Response:
        """A conversation, or one turn of it, in a format."""
        form = next((one for one in FORMATS if one == format), None)
        if form is None:
            return _refusal(f"There is no format {format!r}", HTTPStatus.BAD_REQUEST)
        try:
            text = exported(asking.history(owner_of(request.scope)), conversation, turn, form)
        except UsageError as error:
            return _refusal(str(error), HTTPStatus.NOT_FOUND)
        except AskPapersError as error:
            return _refusal(str(error), HTTPStatus.INTERNAL_SERVER_ERROR)
        return _file(text, f"conversation-{conversation}", form, turn)

    return routes


def exported(history: History, conversation: int, turn: int, form: Format) -> str:
    """A conversation as the text of a file; of one turn alone, if `turn` is not 0.

    Raises:
        UsageError: there is no such conversation or turn.
    """
    name = history.conversation(conversation).name
    turns = [one for one in history.turns(conversation) if turn in (0, one.number)]
    if not turns:
        raise UsageError(f"Conversation {conversation} has no such turn")
    return rendered(export_of([one.form() for one in turns], {}, "" if turn else name), form)


def _file(text: str, name: str, form: Format, turn: int) -> Response:
    ending, kind = _FILES[form]
    which = f"-{turn}" if turn else ""
    header = {"content-disposition": f'attachment; filename="{name}{which}.{ending}"'}
    return Response(text, media_type=f"{kind}; charset=utf-8", headers=header)


def _refusal(text: str, status: HTTPStatus) -> Response:
    return PlainTextResponse(text, status)
