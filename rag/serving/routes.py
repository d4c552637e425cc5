"""What can be asked over HTTP: routes of our own, and OpenAI's for programs that know those."""

from __future__ import annotations

import secrets
import time
from functools import partial
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, Response

from rag import jsonform
from rag.answering.conversation import Conversation
from rag.errors import AskPapersError, UsageError
from rag.index.browse import Filter, filters_of, years_of
from rag.serving import completions
from rag.serving.answering import Answering, Make
from rag.serving.completions import Head
from rag.serving.counter import Counter
from rag.serving.faults import NoSuchModel, body_of
from rag.serving.forms import MODEL, AskRequest, ChatRequest, Message
from rag.serving.remembered import Remembered
from rag.serving.running import Running, ShuttingDown
from rag.serving.shelf import Shelf
from rag.serving.telling import AnswerEvents, CompletionChunks, WholeAnswer, WholeCompletion

Json = dict[str, Any]
Short = Annotated[str, Query(max_length=200)]


class Fault(BaseModel):
    """What went wrong."""

    message: str
    type: str
    param: str | None
    code: str | None


class Faulty(BaseModel):
    """The body of every answer that is none."""

    error: Fault


class Health(BaseModel):
    """That the server lives, or that it can answer."""

    status: str = Field(examples=["ok"])


FAULTS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Faulty, "description": "The request cannot be answered; `message` says why."},
    "5XX": {"model": Faulty, "description": "Index or model cannot be used now."},
}
MOST_IN_ADDRESS = 3_000  # characters: the address of a request has 64 kB, escaped
_EVENTS: Json = {"text/event-stream": {"schema": {}}}
ANSWERS: dict[int | str, dict[str, Any]] = {
    **FAULTS,
    200: {"description": "The answer, or its events with `stream`", "content": _EVENTS},
}


def health(counter: Counter, running: Running) -> APIRouter:
    """Whether the server lives, and whether it can answer; open to whoever watches over it."""
    router = APIRouter(tags=["health"])

    @router.get("/health", operation_id="health", response_model=Health, responses=FAULTS)
    def alive() -> Json:
        """Whether the server lives."""
        return {"status": "ok"}

    @router.get("/ready", operation_id="ready", response_model=Health, responses=FAULTS)
    def ready() -> Response | Json:
        """Whether the index is open and readable, and new questions are taken."""
        if running.closing:
            return JSONResponse(body_of(ShuttingDown()), 503)
        try:
            counter.assistant.counts()
        except AskPapersError as error:  # whatever it is, the server is of no use now
            return JSONResponse(body_of(error), 503)
        return {"status": "ready"}

    return router


def own(counter: Counter, running: Running, shelf: Shelf, remembered: Remembered) -> APIRouter:
    """Ask, search and papers, with the JSON of the commands."""
    router = APIRouter(prefix="/api", tags=["papers"])

    @router.post("/ask", operation_id="ask", responses=ANSWERS, response_model=Json)
    def ask(asked: AskRequest, request: Request) -> Response:
        """Answer a question, every sentence cited and checked; as `rag ask --json`."""
        user = str(request.state.user)
        spoken = [one.model_dump() for one in asked.conversation]
        before = remembered.conversation(user, spoken)
        keep = partial(remembered.keep, user)
        form = AnswerEvents(keep) if asked.stream else WholeAnswer(keep)
        return Answering(_make(counter, user, asked.question, before), form, running)

    @router.get("/search", operation_id="search", responses=FAULTS)
    def search(
        q: Annotated[
            str, Query(min_length=1, max_length=MOST_IN_ADDRESS, description="what to look for")
        ],
        limit: Annotated[int, Query(ge=1, le=100)] = 10,
        year: Short = "",
        since: Short = "",
        until: Short = "",
        venue: Short = "",
        author: Short = "",
        source: Short = "",
    ) -> Json:
        """The papers nearest to a question, as `rag search --json`; no model is asked."""
        named = {"venue": venue, "author": author, "source": source}
        filters = filters_of(year=year, since=since, until=until, **named)
        return jsonform.found(counter.assistant.look_up(q, limit, filters=filters))

    @router.get("/papers", operation_id="papers", responses=FAULTS)
    def papers(
        year: Short = "",
        venue: Short = "",
        author: Short = "",
        source: Short = "",
        text: Annotated[Short, Query(description="words of title or abstract")] = "",
        offset: Annotated[int, Query(ge=0, le=100_000_000)] = 0,
        limit: Annotated[int, Query(ge=0, le=200)] = 50,
    ) -> Json:
        """A page of the papers that pass the filters, as `rag papers list --json`."""
        wanted = Filter(years_of(year) if year else None, venue, author, source, text)
        return jsonform.listing(*shelf.listing(wanted, offset, limit))

    @router.get("/papers/{ref:path}", operation_id="paper", responses=FAULTS)
    def paper(
        ref: Annotated[
            str, Path(max_length=500, description="an id, source:ordinal, DOI, arXiv id or name")
        ],
    ) -> Json:
        """One paper with its abstract and sources, as `rag papers show --json`."""
        return jsonform.paper(*shelf.show(ref))

    return router


def openai(counter: Counter, running: Running, remembered: Remembered) -> APIRouter:
    """The routes by which programs that speak OpenAI's protocol use the collection as a model."""
    router = APIRouter(prefix="/v1", tags=["openai"])
    started = int(time.time())

    @router.get("/models", operation_id="models", responses=FAULTS)
    def models() -> Json:
        """The one model there is."""
        return completions.models(started, MODEL)

    @router.get("/models/{name}", operation_id="model", responses=FAULTS)
    def model(name: Annotated[str, Path(max_length=200)]) -> Json:
        """The one model there is."""
        _check(name)
        return completions.model(started, name)

    @router.post("/chat/completions", operation_id="chat", responses=ANSWERS, response_model=Json)
    def chat(asked: ChatRequest, request: Request) -> Response:
        """Answer the last message of the user; the messages before it are the conversation."""
        _check(asked.model)
        asked.refuse_what_is_not_served()
        user = str(request.state.user)
        question, spoken = _understood(asked.messages)
        before, keep = remembered.conversation(user, spoken), partial(remembered.keep, user)
        head = Head(f"chatcmpl-{secrets.token_hex(12)}", int(time.time()), asked.model)
        link = partial("{}api/papers/{}".format, request.base_url)
        counts = bool(asked.stream_options and asked.stream_options.include_usage)
        form = (
            CompletionChunks(head, link, keep, counts=counts)
            if asked.stream
            else WholeCompletion(head, link, keep)
        )
        return Answering(_make(counter, user, question, before), form, running)

    return router


def index() -> APIRouter:
    """What stands at the root where there is no page."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    def root() -> Json:
        return {"askpapers": version("askpapers"), "openapi": "/openapi.json"}

    return router


def _make(counter: Counter, user: str, question: str, before: Conversation) -> Make:
    return lambda notify, stop: counter.ask(
        question, user=user, conversation=before, notify=notify, stop=stop
    )


def _check(name: str) -> None:
    if name != MODEL:
        raise NoSuchModel(f"There is no model {name!r}", remedy=f"Ask for {MODEL}.")


def _understood(messages: list[Message]) -> tuple[str, list[Json]]:
    """The question, which is the last message of the user, and what was said before it."""
    told = [{"role": one.role, "content": _text(one)} for one in messages]
    place = max((i for i, one in enumerate(told) if one["role"] == "user"), default=None)
    if place is None:
        raise UsageError("No message is of the user", remedy="The last one is the question.")
    return told[place]["content"], told[:place]


def _text(message: Message) -> str:
    """The text of a message; parts without any, such as pictures, are passed over."""
    content = message.content
    if isinstance(content, list):
        return " ".join(part.text for part in content if part.text)
    return content or ""
