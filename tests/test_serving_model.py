"""The API while a model writes: readers who leave or wait, a server that dies, the end."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from fakes import Received, Script, ScriptedServer, refusal, streamed
from served import QUESTION, Served, asked, events_of, served

CLAIM = (
    "We propose Region-Normalized DPO (RN-DPO), which normalizes the likelihood ratio over the "
    "disagreement region between candidate masks, removing this coupling."
)
SETTINGS = {
    "OPENAI_API_KEY": "a-secret-key",
    "OPENAI_MODEL": "m",
    "RAG_MAX_RETRIES": "0",
    "RAG_ANSWERS_AT_ONCE": "1",
    "RAG_MOST_WAITING": "2",
    "RAG_SHUTDOWN_SECONDS": "1",
}


def reply(*, whole: bool = True) -> list[str]:
    """A claim on every sentence that was sent, in pieces; not `whole`: the end is missing."""
    text = json.dumps({"claims": [{"text": CLAIM, "support": [f"S{n}" for n in range(1, 10)]}]})
    cut = text if whole else text.removesuffix("]}") + ', {"text": "And'
    return [cut[i : i + 40] for i in range(0, len(cut), 40)]


WRITES = streamed(reply())
HANGS = streamed([], finish=None, done=False, ending="hang")
HANGS_LATER = streamed(reply(whole=False), finish=None, done=False, ending="hang")
DIES = streamed(reply(whole=False), finish=None, done=False, ending="reset")


@dataclass
class Scene:
    """A server and the model that it asks; `plays` is what the model does next."""

    api: Served
    model: ScriptedServer
    plays: list[Script]

    def play(self, script: Script) -> None:
        self.plays[:] = [script]
        self.before, self.aborted = len(self.model.posts), self.model.aborted

    @property
    def is_asked(self) -> bool:
        """Whether the model is asked something new within ten seconds."""
        return self.model.wait_until(lambda s: s.open > 0 and len(s.posts) > self.before)

    @property
    def is_left(self) -> bool:
        """Whether whoever asked the model leaves within five seconds."""
        return self.model.wait_until(lambda s: s.aborted > self.aborted, 5)


@pytest.fixture(scope="module")
def stage(seeds_index: Path) -> Iterator[Scene]:
    plays = [WRITES]

    def next_script(_received: Received) -> Script:
        return plays[0]

    with (
        ScriptedServer(next_script, models=["m"]) as model,
        served(seeds_index, OPENAI_BASE_URL=model.url, **SETTINGS) as api,
    ):
        yield Scene(api, model, plays)


@pytest.fixture
def scene(stage: Scene) -> Iterator[Scene]:
    """Nothing is left of the test before, and nothing stays for the next."""
    stage.play(WRITES)
    assert stage.model.wait_until(lambda s: s.open == 0, 10)
    yield stage
    assert stage.model.wait_until(lambda s: s.open == 0, 10)


@pytest.fixture
def http(scene: Scene) -> Iterator[httpx.Client]:
    with scene.api.http() as client:
        yield client


@pytest.fixture
def reading(http: httpx.Client) -> Iterator[ExitStack]:
    """Streams that are read until the test ends."""
    with ExitStack() as stack:
        yield stack


BODY: dict[str, Any] = {"question": QUESTION, "stream": True}


def test_what_a_model_writes_is_checked_and_counted(scene: Scene) -> None:
    with scene.api.openai() as client:
        found = client.chat.completions.create(**asked())
    assert (found.choices[0].message.content or "").startswith(CLAIM.removesuffix("."))
    assert found.choices[0].finish_reason == "stop"
    assert found.model_extra and found.model_extra["askpapers"]["manifest"]["model"] == "served"


@pytest.mark.parametrize("script", [HANGS, HANGS_LATER])
def test_a_reader_who_leaves_ends_the_writing(
    scene: Scene, http: httpx.Client, script: Script
) -> None:
    scene.play(script)
    with http.stream("POST", "/api/ask", json=BODY):
        assert scene.is_asked
    assert scene.is_left


def test_a_reader_who_waits_for_the_whole_may_leave_too(scene: Scene) -> None:
    scene.play(HANGS)
    with scene.api.http() as client, pytest.raises(httpx.ReadTimeout):
        client.post("/v1/chat/completions", json=asked(), timeout=2)
    assert scene.is_left


def test_a_model_server_that_dies_leaves_what_was_written(scene: Scene) -> None:
    scene.play(DIES)
    with scene.api.openai() as client:
        *_, last = client.chat.completions.create(**asked(stream=True))
        whole = client.chat.completions.create(**asked())
    assert last.choices[0].finish_reason == whole.choices[0].finish_reason == "length"
    text = whole.choices[0].message.content or ""
    assert text.startswith(CLAIM.removesuffix("."))
    assert "\n\nThe answer is incomplete: " in text
    assert last.model_extra and last.model_extra["askpapers"]["complete"] is False


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_server_that_refuses_is_an_error_without_its_key(
    scene: Scene, stream: bool
) -> None:
    scene.play(refusal(401, "Incorrect API key provided: a-secret-key"))
    with scene.api.openai() as client, pytest.raises(openai.APIError) as failed:
        list(client.chat.completions.create(**asked(stream=stream)))
    assert "OPENAI_API_KEY" in str(failed.value)
    assert "a-secret-key" not in str(failed.value)


def test_who_waits_hears_the_place_and_searches_do_not_wait(
    scene: Scene, http: httpx.Client, reading: ExitStack
) -> None:
    scene.play(HANGS)
    first = reading.enter_context(http.stream("POST", "/api/ask", json=BODY))
    assert scene.is_asked
    waiting = [
        events_of(reading.enter_context(http.stream("POST", "/api/ask", json=BODY)))
        for _ in range(2)
    ]
    assert [json.loads(next(events)[1])["text"] for events in waiting] == [
        "in line, you are next",
        "in line, 1 before you",
    ]
    full = http.post("/api/ask", json=BODY)
    assert full.status_code == 503
    assert int(full.headers["retry-after"]) > 0
    assert "2 in line" in full.json()["error"]["message"]
    assert http.get("/api/search", params={"q": QUESTION}).json()["hits"]
    scene.play(WRITES)
    first.close()
    for events in waiting:
        *_, (name, data) = events
        assert name == "answer"
        assert CLAIM.removesuffix(".") in json.loads(data)["text"]


# --- The end -------------------------------------------------------------------------------


def test_answers_in_work_end_in_time_or_are_told_of_the_end(seeds_index: Path) -> None:
    scripts = [streamed(reply(), pause=0.1), HANGS_LATER]
    settings = {**SETTINGS, "RAG_ANSWERS_AT_ONCE": "2", "RAG_SHUTDOWN_SECONDS": "4"}
    with (
        ScriptedServer(*scripts, models=["m"]) as model,
        served(seeds_index, OPENAI_BASE_URL=model.url, **settings) as api,
        api.http() as http,
        api.openai() as client,
        ThreadPoolExecutor(1) as pool,
    ):
        in_time = pool.submit(http.post, "/api/ask", json={"question": QUESTION})
        assert model.wait_until(lambda s: len(s.posts) == 1, 20)
        chunks = client.chat.completions.create(**asked(stream=True))
        next(chunk for chunk in chunks if chunk.choices[0].delta.content)
        api.process.send_signal(signal.SIGTERM)
        assert in_time.result().json()["complete"] is True
        *_, last = chunks
        assert last.model_extra
        told = last.model_extra["askpapers"]
        assert told["complete"] is False
        assert told["note"] == "the server is being ended"
        assert last.choices[0].finish_reason == "length"
        assert api.process.wait(10) == 143
        assert model.wait_until(lambda s: s.open == 0)
    assert "".join(api.errors) == ""
