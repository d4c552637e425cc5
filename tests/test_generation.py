"""The model client against a server that misbehaves. Codes such as G05 name the test plan's cases.

Every test speaks over real loopback sockets: the faults live below what a mock would replace.
"""

from __future__ import annotations

import email.utils
import itertools
import json
import random
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
from fakes import (
    DONE,
    PATIENCE,
    Script,
    ScriptedGenerator,
    ScriptedServer,
    body,
    chunk,
    event,
    refusal,
    streamed,
    usage,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.answering import faults, wire
from rag.answering.connection import is_loopback
from rag.answering.generation import (
    Completion,
    ContextTooSmall,
    Generator,
    OpenAIGenerator,
    Request,
    SchemaUnsupported,
)
from rag.errors import AnswerIncomplete, AskPapersError, ConfigError, ServerError

T = TypeVar("T")
KEY = "sk-canary-0123456789abcdef"
SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"support": {"type": "string", "enum": ["s1", "é2"]}},
    "required": ["support"],
    "additionalProperties": False,
}
PLAIN = Request("Be brief.", "Why?", None, 50)
STRUCTURED = Request("Be brief.", "Why?", SCHEMA, 50)
OK = streamed(["All ", "good."])


@pytest.fixture(autouse=True)
def no_thread_is_left_over() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    ends = time.monotonic() + PATIENCE
    while set(threading.enumerate()) - before and time.monotonic() < ends:
        time.sleep(0.01)
    assert set(threading.enumerate()) <= before


@dataclass
class Outcome:
    """What the caller of `stream` saw."""

    text: str = ""
    completion: Completion | None = None
    error: AskPapersError | None = None
    notes: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def message(self) -> str:
        assert self.error is not None, f"no error, but {self.text!r}"
        return str(self.error)


def generator(url: str, **options: Any) -> OpenAIGenerator:
    defaults: dict[str, Any] = {
        "base_url": url,
        "api_key": KEY,
        "model": "m",
        "connect_timeout": 1.0,
        "idle_timeout": 0.4,
        "answer_timeout": 100.0,
        "sleep": lambda _: None,
        "jitter": lambda: 0.0,
    }
    return OpenAIGenerator(**(defaults | options))


def text_of(asked: Generator, request: Request) -> str:
    return "".join(piece for piece in asked.stream(request) if isinstance(piece, str))


def ask(url: str, request: Request = PLAIN, **options: Any) -> Outcome:
    outcome = Outcome()
    started = time.monotonic()
    with closing(generator(url, sleep=outcome.waits.append, **options)) as asked:
        try:
            for item in asked.stream(request, outcome.notes.append):
                if isinstance(item, str):
                    assert item
                    assert outcome.completion is None
                    outcome.text += item
                else:
                    assert outcome.completion is None
                    outcome.completion = item
        except AskPapersError as error:
            outcome.error = error
    outcome.seconds = time.monotonic() - started
    return outcome


def tell(*scripts: Script, request: Request = PLAIN, **options: Any) -> tuple[Outcome, int]:
    """Ask a scripted server; also the number of requests for an answer that reached it."""
    with ScriptedServer(*scripts) as server:
        outcome = ask(server.url, request, **options)
        if outcome.error is not None:
            assert server.host in outcome.message
            assert KEY not in outcome.message
            assert "\n" not in outcome.message
            assert outcome.error.exit_code == 4
        assert server.wait_until(lambda s: s.open == 0), "a connection stayed open"
        return outcome, len(server.posts)


# ---------------------------------------------------------------- what is sent, what comes back


def test_a_reply_is_streamed_and_ends_with_its_completion() -> None:
    script = Script(
        [
            event(chunk("All ")),
            event(chunk("good.")),
            event(chunk(finish="stop")),
            event(usage(9, 2)),
            DONE,
        ]
    )
    outcome, posts = tell(script)
    assert (outcome.text, posts, outcome.waits, outcome.notes) == ("All good.", 1, [], [])
    assert outcome.completion is not None
    assert outcome.completion.finish == "stop"
    assert outcome.completion.prompt_tokens == 9
    assert outcome.completion.completion_tokens == 2
    assert outcome.completion.model == "served"
    assert 0 <= outcome.completion.seconds <= outcome.seconds


def test_the_request_holds_the_schema_verbatim_and_nothing_that_was_not_meant() -> None:
    with ScriptedServer(OK) as server:
        outcome = ask(server.url, STRUCTURED, extra={"cache_prompt": True})
        sent = server.posts[0]
    assert outcome.text == "All good."
    assert sent.path == "/v1/chat/completions"
    assert sent.body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Why?"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.0,
        "max_tokens": 50,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA},
        },
        "cache_prompt": True,
    }
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    allowed = {"host", "accept", "accept-encoding", "connection", "user-agent", "authorization"}
    assert set(sent.headers) == allowed | {"content-length", "content-type"}


def test_a_hostile_environment_has_no_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    nonsense = {
        "OPENAI_BASE_URL": "http://192.0.2.1:9/v1",
        "OPENAI_API_KEY": "sk-from-the-environment",
        "OPENAI_ADMIN_KEY": "sk-admin",
        "OPENAI_ORG_ID": "org-evil",
        "OPENAI_PROJECT_ID": "proj-evil",
        "OPENAI_CUSTOM_HEADERS": "X-Evil: yes\nAuthorization: Bearer evil",
        "HTTP_PROXY": "http://192.0.2.1:9",
        "ALL_PROXY": "nonsense://x",
        "SSL_CERT_FILE": "/nowhere",
    }
    for name, value in nonsense.items():
        monkeypatch.setenv(name, value)
    with ScriptedServer(OK) as server:
        assert ask(server.url).text == "All good."
        assert ask(server.url, api_key="").text == "All good."
        with_key, without = server.posts
    assert with_key.headers["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in without.headers
    assert not [v for v in (*with_key.headers.values(), *without.headers.values()) if "evil" in v]


def test_other_hosts_go_through_the_users_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(OK) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.host}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        outcome = ask("http://models.example/v1")
        assert outcome.text == "All good."
        assert proxy.posts[0].path == "http://models.example/v1/chat/completions"


def test_an_unusable_proxy_variable_is_a_configuration_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALL_PROXY", "nonsense://user:secret@proxy.example")
    outcome = ask("http://models.example/v1")
    assert isinstance(outcome.error, ConfigError)
    assert "ALL_PROXY" in outcome.message
    assert "secret" not in outcome.message


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("model.localhost", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("192.168.0.1", False),
        ("localhost.example", False),
        ("", False),
    ],
)
def test_loopback_is_told_by_the_host(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_the_name_shows_model_and_host_but_no_password() -> None:
    assert generator("http://u:p@h.example:8/v1").name == "m at h.example:8"
    official = OpenAIGenerator(base_url=None, api_key=KEY, model=None)
    assert official.name == "gpt-4.1-mini at api.openai.com"


# ---------------------------------------------------------------- models


def test_the_only_model_of_a_server_is_used() -> None:
    with ScriptedServer(OK, models=["only"]) as server:
        with closing(generator(server.url, model=None)) as asked:
            assert list(asked.stream(PLAIN))[:2] == ["All ", "good."]
            assert asked.name == f"only at {server.host}"
            assert asked.models() == ("only",)
        assert server.posts[0].body["model"] == "only"


@pytest.mark.parametrize(
    ("models", "words"),
    [
        ([f"model-{i}" for i in range(12)], ["12 models", "model-9 and 2 more", "OPENAI_MODEL"]),
        ([], ["no models", "OPENAI_MODEL"]),
        (None, ["no models", "OPENAI_MODEL"]),
    ],
)
def test_an_open_choice_of_model_is_an_error(models: list[str] | None, words: list[str]) -> None:
    with ScriptedServer(OK, models=models) as server:
        outcome = ask(server.url, model=None)
        assert not server.posts
    assert isinstance(outcome.error, ServerError)
    assert all(word in outcome.message for word in words)


def test_models_of_something_else_is_told() -> None:
    with closing(generator("http://127.0.0.1:1/v1")) as asked, pytest.raises(ServerError) as told:
        asked.models()
    assert "connection refused" in str(told.value)


@pytest.mark.parametrize("offered", [["a", "b"], ["m"], None], ids=["others", "same", "no list"])
def test_G08_unknown_model_lists_the_offer(offered: list[str] | None) -> None:
    with ScriptedServer(refusal(404, "model not found"), models=offered) as server:
        outcome = ask(server.url)
        assert len(server.posts) == 1
    assert isinstance(outcome.error, ServerError)
    assert "OPENAI_MODEL" in outcome.message
    others = offered == ["a", "b"]
    assert ("has no model m" in outcome.message) is others
    assert ("one of: a, b" in outcome.message) is others


# ---------------------------------------------------------------- no answer at all


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def test_G01_refused() -> None:
    port = closed_port()
    outcome = ask(f"http://u:secret@127.0.0.1:{port}/v1")
    assert isinstance(outcome.error, ServerError)
    for word in (f"127.0.0.1:{port}", "connection refused", "Is the server running?", "3 times"):
        assert word in outcome.message
    assert "secret" not in outcome.message
    assert outcome.waits == [0.5, 1.0]
    assert "connection refused, try 2 of 3" in outcome.notes[0]


def test_G01_no_connection_in_time() -> None:
    """A full queue of connections: the kernel leaves the next one without an answer."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as busy:
        address = busy.getsockname()
        with socket.create_connection(address):
            outcome = ask(f"http://127.0.0.1:{address[1]}/v1", connect_timeout=0.3)
    assert isinstance(outcome.error, ServerError)
    assert "no connection within 0.3 s" in outcome.message
    assert outcome.waits == []
    assert outcome.seconds < PATIENCE


def test_G01_host_name_not_found() -> None:
    outcome = ask("http://no-such-host.invalid/v1")
    assert isinstance(outcome.error, ServerError)
    assert "host name not found" in outcome.message
    assert outcome.waits == []


def test_G01_tls_against_a_plain_server() -> None:
    with ScriptedServer(OK) as server:
        outcome = ask(server.url.replace("http:", "https:"))
        assert not server.posts
    assert isinstance(outcome.error, ServerError)
    assert "TLS: " in outcome.message
    assert outcome.waits == []


def test_G02_accepts_and_never_answers_idle() -> None:
    outcome, posts = tell(Script(answers=False, ending="hang"))
    assert isinstance(outcome.error, ServerError)
    assert "sent nothing for 0.4 s" in outcome.message
    assert posts == 1
    assert outcome.seconds < PATIENCE


def test_G02_accepts_and_never_answers_deadline() -> None:
    hang = Script(answers=False, ending="hang")
    outcome, posts = tell(hang, idle_timeout=60.0, answer_timeout=0.4)
    assert isinstance(outcome.error, ServerError)
    assert "no complete answer within 0.4 s" in outcome.message
    assert posts == 1
    assert outcome.seconds < PATIENCE


def test_G02_headers_that_trickle_meet_the_deadline() -> None:
    trickle = Script(
        itertools.repeat(b"x"), headers={}, answers=False, pause=0.1, content_type="text/plain"
    )
    outcome, _ = tell(trickle, answer_timeout=0.5)
    assert "no complete answer within 0.5 s" in outcome.message
    assert outcome.seconds < PATIENCE


@pytest.mark.parametrize(
    "script",
    [
        *(pytest.param(refusal(s, "boom"), id=f"G03-{s}") for s in (408, 409, 500, 502, 503, 529)),
        pytest.param(Script(answers=False, ending="reset"), id="G03-reset-at-accept"),
        pytest.param(Script(answers=False), id="G03-closed-at-accept"),
        pytest.param(Script(ending="reset"), id="G03-reset-before-text"),
    ],
)
def test_G03_passing_faults_are_retried_within_bounds(script: Script) -> None:
    outcome, posts = tell(script)
    assert isinstance(outcome.error, ServerError)
    assert "tried 3 times" in outcome.message
    assert posts == 3
    assert outcome.waits == [0.5, 1.0]
    assert [note.endswith("Ctrl-C to stop") for note in outcome.notes] == [True, True]
    assert "try 3 of 3" in outcome.notes[1]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(refusal(500, "boom"), id="G04-500"),
        pytest.param(Script(answers=False, ending="reset"), id="G04-reset"),
        pytest.param(streamed([]), id="G11-empty-once"),
        pytest.param(
            Script([event({"error": {"message": "overloaded", "code": 503}})]), id="G16-503-event"
        ),
    ],
)
def test_G04_one_fault_then_an_answer(script: Script) -> None:
    outcome, posts = tell(script, OK)
    assert (outcome.text, posts, outcome.waits) == ("All good.", 2, [0.5])


def limited(retry_after: str) -> Script:
    return body({"error": {"message": "slow down"}}, 429, retry_after=retry_after)


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        pytest.param("1", 1.0, id="G05-retry-after-1"),
        pytest.param("7", 7.0, id="G05-retry-after-7"),
        pytest.param("0", 0.5, id="G05-retry-after-0"),
        pytest.param("soon", 0.5, id="G05-retry-after-garbage"),
        pytest.param("-3", 0.5, id="G05-retry-after-negative"),
        pytest.param("nan", 0.5, id="G05-retry-after-nan"),
        pytest.param("inf", 0.5, id="G05-retry-after-inf"),
    ],
)
def test_G05_the_wait_that_the_server_asks_for(header: str, wait: float) -> None:
    outcome, posts = tell(limited(header), OK)
    assert (outcome.text, posts, outcome.waits) == ("All good.", 2, [wait])
    assert outcome.notes == [f"waiting {wait:g} s (rate limit, try 2 of 3), Ctrl-C to stop"]


def test_G05_a_date_is_a_wait_until_then() -> None:
    outcome, _ = tell(limited(email.utils.formatdate(time.time() + 30, usegmt=True)), OK)
    assert outcome.text == "All good."
    assert 20 < outcome.waits[0] <= 30


@pytest.mark.parametrize(
    ("header", "options", "words"),
    [
        pytest.param("3600", {}, "3600 s, more than the 60 s", id="G05-retry-after-3600"),
        pytest.param("30", {"max_retry_wait": 20}, "more than the 20 s", id="G05-own-limit"),
        pytest.param("30", {"answer_timeout": 10.0}, "asks to wait 30 s", id="G05-deadline"),
    ],
)
def test_G05_too_long_a_wait_ends_at_once(header: str, options: dict[str, Any], words: str) -> None:
    outcome, posts = tell(limited(header), **options)
    assert isinstance(outcome.error, ServerError)
    assert words in outcome.message
    assert re.search(r"after \d\d:\d\d UTC", outcome.message)
    assert (posts, outcome.waits) == (1, [])


def test_G05_waits_count_towards_the_deadline() -> None:
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    options: dict[str, Any] = {"sleep": sleep, "monotonic": lambda: now[0]}
    options |= {"answer_timeout": 10.0, "max_retries": 9}
    with ScriptedServer(limited("4")) as server, closing(generator(server.url, **options)) as asked:
        with pytest.raises(ServerError, match="asks to wait 4 s"):
            list(asked.stream(PLAIN))
        assert len(server.posts) == 3
    assert now == [8.0]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        pytest.param(
            refusal(429, "You exceeded your current quota", code="insufficient_quota"),
            ["quota", "used up"],
            id="G06-quota",
        ),
        pytest.param(refusal(402, "pay first"), ["used up", "pay first"], id="G06-402"),
        pytest.param(
            refusal(401, f"Incorrect API key provided: {KEY}"), ["key was refused"], id="G07-401"
        ),
        pytest.param(
            refusal(401, "Incorrect API key provided: sk-can***cdef."),
            ["key was refused", "OPENAI_API_KEY", "[key]"],
            id="G07-401-masked",
        ),
        pytest.param(refusal(403, "no"), ["key was refused", "403: no"], id="G07-403"),
        pytest.param(refusal(400, "no such thing"), ["400: no such thing"], id="400"),
        pytest.param(
            Script(status=307, headers={"location": "http://elsewhere.example/"}),
            ["redirects", "elsewhere.example", "OPENAI_BASE_URL"],
            id="redirect",
        ),
        pytest.param(
            body(b"<html><body>hello"), ["not an OpenAI-compatible", "<html>"], id="G09-html"
        ),
        pytest.param(
            Script([b"<html>"]), ["not an OpenAI-compatible", "<html>"], id="G09-html-as-events"
        ),
        pytest.param(
            Script([b"Not ", b"found"], content_type="text/plain"),
            ["not an OpenAI-compatible", "starts with Not found"],
            id="G09-text",
        ),
        pytest.param(body(b'{"choices": ['), ["broken JSON"], id="G10-broken"),
        pytest.param(body(b"[" * 100_000), ["broken JSON"], id="G10-deep"),
        pytest.param(body({"error": {"message": "crashed"}}), ["crashed"], id="G10-error"),
        pytest.param(body({"error": "crashed"}), ["crashed"], id="G10-error-text"),
        pytest.param(body({"choices": None}), ["no choices"], id="G10-null"),
        pytest.param(body({"choices": []}), ["no choices"], id="G10-empty"),
        pytest.param(body([1]), ["not an OpenAI-compatible"], id="G10-list"),
        pytest.param(
            Script([event(b'{"broken": ')]), ["malformed event", "broken"], id="G15-malformed"
        ),
        pytest.param(
            Script([b'event: error\ndata: {"message": "no memory"}\n\n']),
            ["no memory"],
            id="G16-error-event-first",
        ),
        pytest.param(
            Script([b'error: {"message": "no memory"}\n\n']), ["no memory"], id="G16-error-line"
        ),
        pytest.param(
            streamed([], finish="length"),
            ["token limit before it wrote", "max_answer_tokens"],
            id="G14-length-without-text",
        ),
    ],
)
def test_hopeless_faults_are_told_after_one_request(script: Script, words: list[str]) -> None:
    outcome, posts = tell(script)
    assert isinstance(outcome.error, ServerError)
    assert [word for word in words if word not in outcome.message] == []
    assert "sk-can" not in outcome.message
    assert (posts, outcome.text, outcome.waits) == (1, "", [])


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(streamed([]), id="G11-empty-stream"),
        pytest.param(streamed([""], done=False, finish=None), id="G11-nothing-at-all"),
        pytest.param(Script(), id="G11-no-body"),
        pytest.param(body({"choices": [{"message": {"content": None}}]}), id="G11-null"),
        pytest.param(body({"choices": [{"message": {"content": ""}}]}), id="G11-empty"),
    ],
)
def test_G11_an_empty_reply_is_retried_once(script: Script) -> None:
    outcome, posts = tell(script)
    assert isinstance(outcome.error, ServerError)
    assert "The model returned nothing" in outcome.message
    assert posts == 2
    assert outcome.waits == [0.5]


# ---------------------------------------------------------------- part of an answer


@pytest.mark.parametrize(
    ("script", "cause"),
    [
        pytest.param(
            streamed(["par", "tial"], finish=None, done=False), "ended early", id="G12-clean"
        ),
        pytest.param(
            streamed(["par", "tial"], finish=None, done=False, ending="reset", pause=0.02),
            "reset",
            id="G12-reset",
        ),
        pytest.param(
            streamed(["par", "tial"], finish=None, done=False, ending="short"),
            "without sending complete",
            id="G12-short",
        ),
        pytest.param(
            streamed(["par", "tial"], finish=None, done=False, ending="unfinished chunk"),
            "incomplete chunked",
            id="G12-unfinished-chunk",
        ),
        pytest.param(
            Script([event(chunk("partial")), event(chunk("more"))[:60]]),
            "ended early",
            id="G12-inside-an-event",
        ),
        pytest.param(
            Script([event(chunk("partial")), event(b"{broken")]), "malformed event", id="G15-broken"
        ),
        pytest.param(
            Script([event(chunk("partial")), event({"error": {"message": f"CUDA, {KEY}"}})]),
            "CUDA, [key]",
            id="G16-error-event",
        ),
        pytest.param(
            streamed(["partial"], finish=None, done=False, ending="hang"),
            "sent nothing for 0.4 s",
            id="G17-stall",
        ),
        pytest.param(
            Script([event(chunk("partial")), b"data: " + b"x" * (wire.MAX_EVENT_BYTES + 1)]),
            "one event is larger",
            id="G18-one-huge-event",
        ),
    ],
)
def test_a_broken_answer_keeps_its_text_and_is_not_retried(script: Script, cause: str) -> None:
    outcome, posts = tell(script)
    assert isinstance(outcome.error, AnswerIncomplete)
    assert outcome.error.partial == outcome.text == "partial"
    assert cause in outcome.message
    assert outcome.completion is None
    assert (posts, outcome.waits) == (1, [])
    assert outcome.seconds < PATIENCE


@pytest.mark.parametrize(
    ("script", "finish"),
    [
        pytest.param(streamed(["text"], finish=None), "unknown", id="G13-done-without-finish"),
        pytest.param(streamed(["text"], finish="tool_calls"), "unknown", id="G13-other-finish"),
        pytest.param(streamed(["text"], finish="length"), "length", id="G14-length"),
        pytest.param(
            streamed(["text"], finish="content_filter"), "content_filter", id="G14-filter"
        ),
        pytest.param(streamed(["text"], done=False), "stop", id="finish-without-done"),
        pytest.param(
            streamed(["text"], done=False, ending="reset", pause=0.02),
            "stop",
            id="reset-after-finish",
        ),
        pytest.param(
            body({"choices": [{"message": {"content": "text"}, "finish_reason": "stop"}]}),
            "stop",
            id="no-stream-but-a-document",
        ),
        pytest.param(
            body({"choices": [{"message": {"content": "text"}, "finish_reason": None}]}),
            "unknown",
            id="document-without-finish",
        ),
    ],
)
def test_the_finish_is_told(script: Script, finish: str) -> None:
    outcome, posts = tell(script)
    assert outcome.error is None
    assert (outcome.text, posts) == ("text", 1)
    assert outcome.completion is not None
    assert outcome.completion.finish == finish


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(streamed([], finish="content_filter"), id="G14-filter-without-text"),
        pytest.param(
            Script([event(chunk(refusal="I cannot.")), event(chunk()), DONE]), id="G14-refusal"
        ),
    ],
)
def test_G14_a_refusal_without_text_is_no_fault(script: Script) -> None:
    outcome, posts = tell(script)
    assert (outcome.error, outcome.text, posts) == (None, "", 1)
    assert outcome.completion is not None
    assert outcome.completion.finish == "content_filter"


def test_a_server_that_stays_after_the_end_delays_little() -> None:
    outcome, _ = tell(streamed(["text"], done=False, ending="hang"), idle_timeout=4 * PATIENCE)
    assert outcome.text == "text"
    assert outcome.completion is not None
    assert outcome.completion.finish == "stop"
    assert outcome.seconds < PATIENCE


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        pytest.param(itertools.repeat(b": keep-alive\n\n"), "", id="G17-comments-only"),
        pytest.param(
            itertools.chain([event(chunk("some"))], itertools.repeat(b":\n\n")),
            "some",
            id="G17-comments-after-text",
        ),
        pytest.param(map(event, itertools.repeat(chunk("t"))), "t", id="G18-trickle"),
    ],
)
def test_G17_the_deadline_ends_what_never_falls_silent(pieces: Iterator[bytes], text: str) -> None:
    outcome, posts = tell(Script(pieces, pause=0.1), answer_timeout=0.6)
    assert "no complete answer within 0.6 s" in outcome.message
    assert outcome.text.startswith(text)
    assert getattr(outcome.error, "partial", "") == outcome.text
    assert posts == 1
    assert outcome.seconds < PATIENCE


def test_G18_an_endless_answer_is_cut_and_the_connection_closed() -> None:
    with ScriptedServer(Script(itertools.repeat(event(chunk("lorem "))))) as server:
        outcome = ask(server.url, max_chars=1000)
        assert server.wait_until(lambda s: s.open == 0 and s.aborted == 1)
    assert len(outcome.text) == 1000
    assert outcome.completion is not None
    assert outcome.completion.finish == "length"


@pytest.mark.parametrize("size", [3_000_000, 50_000_000])
def test_G18_a_huge_document_is_cut_or_refused(size: int) -> None:
    outcome, _ = tell(body({"choices": [{"message": {"content": "x" * size}}]}))
    if size < wire.MAX_EVENT_BYTES:
        assert outcome.text == "x" * 65_536
        assert outcome.completion is not None
        assert outcome.completion.finish == "length"
    else:
        assert "one document larger" in outcome.message


def test_G18_an_endless_error_is_read_no_further_than_needed() -> None:
    with ScriptedServer(Script(itertools.repeat(b"no " * 1000), status=400)) as server:
        outcome = ask(server.url)
        assert server.wait_until(lambda s: s.open == 0)
    assert "400: no no" in outcome.message
    assert len(outcome.message) < 400
    assert outcome.seconds < PATIENCE


# ---------------------------------------------------------------- prompts that do not fit


@pytest.mark.parametrize(
    ("script", "prompt", "window"),
    [
        pytest.param(
            refusal(
                400,
                "This model's maximum context length is 4096 tokens. However, you requested 9000 "
                "tokens (8950 in the messages, 50 in the completion).",
                code="context_length_exceeded",
                param="messages",
            ),
            9000,
            4096,
            id="G19-openai",
        ),
        pytest.param(
            refusal(
                400,
                "request (1234 tokens) exceeds the available context size (512 tokens)",
                type="exceed_context_size_error",
                n_prompt_tokens=1234,
                n_ctx=512,
            ),
            1234,
            512,
            id="G20-llama.cpp",
        ),
        pytest.param(
            body(
                {
                    "object": "error",
                    "message": "'max_tokens' or 'max_completion_tokens' is too large: 50. This "
                    "model's maximum context length is 4096 tokens and your request has 4090 "
                    "input tokens (50 > 4096 - 4090). This is not supported.",
                    "code": 400,
                },
                400,
            ),
            4090,
            4096,
            id="G19-vllm",
        ),
        pytest.param(
            refusal(500, "input is too large to process. increase the physical batch size"),
            None,
            None,
            id="G20-llama.cpp-batch",
        ),
        pytest.param(refusal(413, "Request too large"), None, None, id="G19-413"),
        pytest.param(
            Script([event({"error": {"message": "prompt is too long", "code": 400}})]),
            None,
            None,
            id="G19-as-an-event",
        ),
    ],
)
def test_G19_a_prompt_that_does_not_fit_is_told_apart(
    script: Script, prompt: int | None, window: int | None
) -> None:
    outcome, posts = tell(script, request=STRUCTURED)
    assert isinstance(outcome.error, ContextTooSmall)
    assert (outcome.error.prompt_tokens, outcome.error.window) == (prompt, window)
    assert "context window" in outcome.message
    assert posts == 1


# ---------------------------------------------------------------- servers that take less


@pytest.mark.parametrize(
    "script",
    [
        refusal(400, "response_format of type json_schema is unavailable"),
        refusal(400, "Unsupported request"),
        refusal(500, "Failed to parse grammar"),
        refusal(501, "no"),
        body({"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs"}]}, 422),
    ],
)
def test_a_server_without_schemas_is_remembered(script: Script) -> None:
    with ScriptedServer(script, OK) as server, closing(generator(server.url)) as asked:
        before = asked.structured
        with pytest.raises(SchemaUnsupported, match="takes no JSON schema"):
            list(asked.stream(STRUCTURED))
        assert (before, asked.structured) == (True, False)
        with pytest.raises(SchemaUnsupported):
            asked.stream(STRUCTURED)
        assert len(server.posts) == 1
        assert text_of(asked, PLAIN) == "All good."
        assert "response_format" not in server.posts[1].body


def test_a_server_that_took_a_schema_is_asked_with_the_next_one_again() -> None:
    scripts = (OK, refusal(400, "json_schema: cannot resolve $ref"), OK)
    with ScriptedServer(*scripts) as server, closing(generator(server.url)) as asked:
        assert text_of(asked, STRUCTURED) == "All good."
        with pytest.raises(SchemaUnsupported):
            text_of(asked, STRUCTURED)
        assert asked.structured


def test_output_schema_insists_and_output_text_sends_none() -> None:
    outcome, _ = tell(refusal(501, "no"), request=STRUCTURED, output="schema")
    assert type(outcome.error) is ServerError
    assert 'openai_output to "text"' in outcome.message
    with closing(generator("http://127.0.0.1:1/v1", output="text")) as asked:
        assert not asked.structured


PARAMETER_REFUSALS = [
    refusal(
        400,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
        "'max_completion_tokens' instead.",
        param="max_tokens",
        code="unsupported_parameter",
    ),
    refusal(
        400,
        "Unsupported value: 'temperature' does not support 0 with this model.",
        param="temperature",
    ),
    body(
        {
            "detail": [
                {"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra"}
            ]
        },
        422,
    ),
]


def test_refused_parameters_are_left_out_from_then_on() -> None:
    with ScriptedServer(*PARAMETER_REFUSALS, OK) as server, closing(generator(server.url)) as asked:
        assert text_of(asked, STRUCTURED) == "All good."
        assert text_of(asked, STRUCTURED) == "All good."
        bodies = [post.body for post in server.posts]
    assert len(bodies) == 5
    assert bodies[0]["max_tokens"] == 50
    for sent in bodies[3:]:
        assert sent["max_completion_tokens"] == 50
        assert not {"max_tokens", "temperature", "stream_options"} & set(sent)
        assert "response_format" in sent


def test_a_server_that_refuses_everything_is_not_asked_for_ever() -> None:
    outcome, posts = tell(refusal(400, "unknown: max_tokens max_completion_tokens temperature"))
    assert isinstance(outcome.error, ServerError)
    assert posts == 4


# ---------------------------------------------------------------- leaving early, many at once


def test_the_connection_ends_when_the_caller_stops_reading() -> None:
    endless = Script(map(event, itertools.repeat(chunk("t"))), pause=0.02)
    with ScriptedServer(endless) as server, closing(generator(server.url)) as asked:
        stream = asked.stream(PLAIN)
        assert next(stream) == "t"
        assert server.open == 1
        assert isinstance(stream, Iterator)
        stream.close()  # type: ignore[attr-defined]  # a generator behind the Iterator
        assert server.wait_until(lambda s: s.open == 0 and s.aborted == 1)


def test_closing_ends_a_stream_that_another_thread_reads() -> None:
    silent = streamed(["some"], finish=None, done=False, ending="hang")
    caught: list[AskPapersError] = []
    started = threading.Event()

    def read(asked: OpenAIGenerator) -> None:
        try:
            for _ in asked.stream(PLAIN):
                started.set()
        except AskPapersError as error:
            caught.append(error)

    with ScriptedServer(silent) as server:
        asked = generator(server.url, idle_timeout=4 * PATIENCE)
        reader = threading.Thread(target=read, args=[asked])
        reader.start()
        assert started.wait(PATIENCE)
        asked.close()
        reader.join(PATIENCE)
        assert not reader.is_alive()
        with pytest.raises(ServerError, match="closed by this program"):
            list(asked.stream(PLAIN))
        assert len(server.posts) == 1
    assert isinstance(caught[0], AnswerIncomplete)
    assert caught[0].partial == "some"
    assert "closed by this program" in str(caught[0])


def test_many_streams_at_once_do_not_mix() -> None:
    slow = Script(
        [event(chunk(f"{i} ")) for i in range(5)] + [event(chunk(finish="stop")), DONE], pause=0.01
    )
    texts: list[str] = []

    def read(asked: OpenAIGenerator) -> None:
        texts.append(text_of(asked, PLAIN))

    with ScriptedServer(slow) as server, closing(generator(server.url)) as asked:
        readers = [threading.Thread(target=read, args=[asked]) for _ in range(8)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
    assert texts == ["0 1 2 3 4 "] * 8


@pytest.mark.case("C12")
def test_ctrl_c_during_a_wait_ends_it() -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with (
        ScriptedServer(refusal(500, "boom")) as server,
        closing(generator(server.url, sleep=interrupt)) as asked,
        pytest.raises(KeyboardInterrupt),
    ):
        list(asked.stream(PLAIN))


# ---------------------------------------------------------------- reading the wire

TEXT = "Größe μ≈3 \u2028 日本 😀 e\u0301"


def slices(raw: bytes, size: int) -> list[bytes]:
    return [raw[i : i + size] for i in range(0, len(raw), size)]


def read_text(chunks: list[bytes]) -> str:
    reply = wire.Collected(10_000)
    taken = [reply.take(delta) for delta in wire.deltas(chunks)]
    assert reply.done
    return "".join([*taken, reply.rest()])


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("size", [1, 2, 3, 1000], ids=lambda n: f"slices-{n}")
def test_G15_slices_line_ends_comments_and_unknown_fields(newline: bytes, size: int) -> None:
    raw = json.dumps(chunk(TEXT), ensure_ascii=False).encode()
    lines = [b": comment", b"", b"id: 7", b"retry: 10", b"data:" + raw, b"", b""]
    lines += [b"event: message", b"data: " + json.dumps(usage(1, 1)).encode(), b"other: x", b""]
    lines += [b"data:" + line for line in json.dumps(chunk("!"), indent=1).encode().split(b"\n")]
    lines += [b"", b"data: " + json.dumps(chunk(finish="stop")).encode(), b""]
    lines += [b"data: [DONE]", b"", b""]
    assert read_text(slices(newline.join(lines), size)) == TEXT + "!"


@pytest.mark.parametrize("piece", [b"x" * 65_536, b"data: " + b"x" * 65_530 + b"\n"])
def test_G18_an_event_without_end_is_not_collected_for_ever(piece: bytes) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        yield b"data: "
        while sent < 4 * wire.MAX_EVENT_BYTES:
            sent += len(piece)
            yield piece

    with pytest.raises(wire.NotAnAnswer, match="larger than"):
        list(wire.deltas(endless()))
    assert sent < 2 * wire.MAX_EVENT_BYTES


def test_G15_line_ends_may_be_mixed() -> None:
    whole = event(chunk("a")).replace(b"\n\n", b"\r\n\n") + event(chunk("b")) + DONE
    assert read_text(slices(whole, 1)) == "ab"


def test_G15_one_byte_slices_over_a_socket() -> None:
    whole = event(json.dumps(chunk(TEXT), ensure_ascii=False).encode()) + DONE
    outcome, _ = tell(Script(slices(whole, 1)))
    assert outcome.text == TEXT


def test_G15_an_event_over_several_lines_and_a_last_one_without_blank_line() -> None:
    first, second = json.dumps(chunk("text"), indent=1).split("\n", 1)
    lines = [f"data: {line}" for line in (first, *second.split("\n"))]
    assert read_text(["\n".join([*lines, "", "data: [DONE]"]).encode()]) == "text"


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=40), st.integers(0, 2**32))
def test_any_split_of_a_reply_gives_the_same_text(text: str, seed: int) -> None:
    """Into events (also inside a surrogate pair), and of the bytes into pieces."""
    chance = random.Random(seed)
    units = text.encode("utf-16-le")
    halves = [
        units[i : i + 2].decode("utf-16-le", "surrogatepass") for i in range(0, len(units), 2)
    ]
    events = [event(chunk(part)) for part in _parts("".join, halves, chance)]
    pieces = _parts(b"".join, [bytes([b]) for b in b"".join(events) + DONE], chance)
    assert read_text(pieces) == text


def _parts(join: Callable[[list[T]], T], items: list[T], chance: random.Random) -> list[T]:
    parts: list[list[T]] = [[]]
    for item in items:
        if chance.random() < 0.3:
            parts.append([])
        parts[-1].append(item)
    return [join(part) for part in parts]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.binary(max_size=60), max_size=6))
@pytest.mark.case("G10", "G15")
def test_whatever_comes_is_text_or_a_named_fault(chunks: list[bytes]) -> None:
    reply = wire.Collected(100)
    try:
        for delta in wire.deltas(chunks):
            reply.take(delta)
    except (wire.NotAnAnswer, wire.ErrorReply):
        pass


@settings(max_examples=100, deadline=None)
@given(
    st.integers(100, 599),
    st.recursive(
        st.none() | st.integers() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["error", "message", "detail", "code", "param"]), inner
            )
        ),
        max_leaves=6,
    ),
)
def test_any_refusal_can_be_told_in_one_line(status: int, said: object) -> None:
    peer = faults.Peer("h.example", KEY)
    for fault in (
        faults.explain(faults.Reply(peer, status, said, ("max_tokens", "response_format"))),
        faults.explain_error_event(peer, said, ()),
    ):
        message = str(fault.error)
        assert "h.example" in message
        assert message.isprintable()


def test_a_lone_half_of_a_pair_is_replaced() -> None:
    assert read_text([event(chunk("a\ud83d")), event(chunk("b")), DONE]) == "a\ufffdb"
    assert read_text([event(chunk("a\ud83d")), DONE]) == "a\ufffd"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (f"wrong key {KEY}!", "wrong key [key]!"),
        ("wrong key sk-can***, try again", "wrong key [key], try again"),
        ("Bearer abcdef", "Bearer [key]"),
        ("at http://user:pass@h/x", "at http://[key]@h/x"),
        ("red \x1b[31m\u202e text\n\nmore", "red [31m text more"),
        ("a risk-free task", "a risk-free task"),
    ],
)
def test_what_a_server_says_is_quoted_safely(said: str, kept: str) -> None:
    assert faults.Peer("h", KEY).quote(said) == kept


def test_the_beginning_of_a_key_is_not_shown_either() -> None:
    peer = faults.Peer("h", "abcdef0123456789")
    assert peer.quote("wrong: abcdef01..., try again") == "wrong: [key], try again"


def test_the_scripted_generator_is_a_generator_too() -> None:
    scripted = ScriptedGenerator("one two three", ServerError("no"))
    fake: Generator = scripted
    real: Generator = generator("http://127.0.0.1:1/v1")
    *pieces, last = fake.stream(PLAIN)
    assert "".join(p for p in pieces if isinstance(p, str)) == "one two three"
    assert isinstance(last, Completion)
    with pytest.raises(ServerError):
        list(fake.stream(STRUCTURED))
    assert scripted.history == [PLAIN, STRUCTURED]
    fake.close()
    real.close()
