"""The API over a quoting assistant: OpenAI's client, our own routes, and who is kept out."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from command import ROOT, environment, rag
from served import QUESTION, Served, asked, events_of, schemathesis, served


@pytest.fixture(scope="module")
def api(seeds_index: Path) -> Iterator[Served]:
    with served(seeds_index, "--llm", "none") as running:
        yield running


@pytest.fixture(scope="module")
def http(api: Served) -> Iterator[httpx.Client]:
    with api.http() as client:
        yield client


@pytest.fixture(scope="module")
def client(api: Served) -> Iterator[openai.OpenAI]:
    with api.openai() as client:
        yield client


@pytest.fixture(scope="module")
def answer(seeds_index: Path) -> dict[str, Any]:
    """What the command line answers."""
    found: dict[str, Any] = rag("ask", QUESTION, "--llm", "none", "--json", data=seeds_index).json()
    return found


def said(text: str) -> str:
    """An answer's text without what stands below it."""
    return text.partition("\n\n**References**")[0]


# --- As a model ----------------------------------------------------------------------------


def test_the_one_model_is_listed(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["askpapers"]
    assert client.models.retrieve("askpapers").id == "askpapers"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-4")


def test_a_completion_is_the_answer_with_its_references(
    client: openai.OpenAI, answer: dict[str, Any]
) -> None:
    found = client.chat.completions.create(**asked())
    text = found.choices[0].message.content or ""
    assert said(text) == answer["text"]
    assert re.search(r"\n\n\*\*References\*\*\n\n- \[1\] RN-DPO\. ", text)
    assert found.choices[0].finish_reason == "stop"
    assert found.usage and found.usage.total_tokens == 0
    assert found.model_extra and found.model_extra["askpapers"] == answer


def test_annotations_point_at_the_numbers_in_the_text(
    client: openai.OpenAI, answer: dict[str, Any]
) -> None:
    message = client.chat.completions.create(**asked()).choices[0].message
    assert message.content and message.annotations
    cited = [one.url_citation for one in message.annotations]
    assert [message.content[one.start_index : one.end_index] for one in cited] == ["[1]"] * len(
        answer["claims"]
    )
    assert {one.title for one in cited} == {"RN-DPO"}
    with httpx.Client(trust_env=False) as anywhere:  # a paper without an address of its own
        assert anywhere.get(cited[0].url).json()["title"] == "RN-DPO"
    quotes = (cited[0].model_extra or {})["quotes"]
    assert quotes == [sentence["text"] for sentence in answer["citations"][0]["sentences"]]


def test_a_stream_is_the_same_text_piece_by_piece(
    client: openai.OpenAI, answer: dict[str, Any]
) -> None:
    whole = client.chat.completions.create(**asked()).choices[0].message
    counted = asked(stream=True, stream_options={"include_usage": True})
    *chunks, last, usage = list(client.chat.completions.create(**counted))
    pieces = [chunk.choices[0].delta.content for chunk in (*chunks, last)]
    assert "".join(filter(None, pieces)) == whole.content
    assert len([piece for piece in pieces if piece]) > len(answer["claims"])
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [None] * len(chunks)
    assert last.choices[0].finish_reason == "stop"
    assert last.model_extra and last.model_extra["askpapers"] == answer
    noted = (last.choices[0].delta.model_extra or {})["annotations"]
    assert noted == [one.model_dump() for one in whole.annotations or ()]
    assert usage.usage and not usage.choices


def test_messages_before_the_last_one_are_the_conversation(client: openai.OpenAI) -> None:
    before = client.chat.completions.create(**asked("What does RepoScope model?"))
    messages = [
        {"role": "system", "content": "Ignore the papers."},
        {"role": "user", "content": "What does RepoScope model?"},
        {"role": "assistant", "content": before.choices[0].message.content},
        {"role": "user", "content": [{"type": "text", "text": "Which benchmark does it use?"}]},
    ]
    made: Any = {"model": "askpapers", "messages": messages}
    found = client.chat.completions.create(**made)
    assert found.model_extra
    told = found.model_extra["askpapers"]
    assert told["question"] == "Which benchmark does it use?"
    assert told["manifest"]["follow_up"]["text"] == "Which benchmark does RepoScope use?"


def test_what_no_abstract_says_is_refused_with_the_nearest(client: openai.OpenAI) -> None:
    found = client.chat.completions.create(**asked("Which olive oil suits a tomato salad?"))
    text = found.choices[0].message.content or ""
    assert text.startswith("The collection does not say.")
    assert "**Nearest papers**" in text
    assert not found.choices[0].message.annotations


@pytest.mark.parametrize(
    ("more", "parameter"),
    [
        ({"n": 2}, "n"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools"),
        ({"logprobs": True}, "logprobs"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "system", "content": "hello"}]}, None),
        ({"messages": [{"role": "user", "content": " "}]}, None),
        ({"messages": [{"role": "user", "content": "why " * 3_000}]}, None),
        ({"messages": [{"role": "robot", "content": "why"}]}, "messages.0.role"),
    ],
)
def test_what_is_not_served_is_a_bad_request_that_names_it(
    client: openai.OpenAI, more: dict[str, Any], parameter: str | None
) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(**asked(**more))
    assert refused.value.type == "invalid_request_error"
    assert refused.value.param == parameter


def test_an_error_has_its_status_in_a_stream_too(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="empty"):
        client.chat.completions.create(**asked(" ", stream=True))
    with pytest.raises(openai.NotFoundError, match="no model 'other'"):
        client.chat.completions.create(**asked() | {"model": "other"})


def test_what_steers_a_model_is_passed_over(client: openai.OpenAI) -> None:
    steered = asked(temperature=1.5, top_p=0.1, max_tokens=5, seed=1, user="me", stop=["a"], n=1)
    found = client.chat.completions.create(**steered)
    assert found.choices[0].finish_reason == "stop"


# --- Our own routes ------------------------------------------------------------------------


def test_ask_is_the_json_of_the_command(http: httpx.Client, answer: dict[str, Any]) -> None:
    assert http.post("/api/ask", json={"question": QUESTION}).json() == answer


def test_ask_streams_what_happens_and_last_the_answer(
    http: httpx.Client, answer: dict[str, Any]
) -> None:
    body = {"question": QUESTION, "stream": True}
    with http.stream("POST", "/api/ask", json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        events = [(name, json.loads(data)) for name, data in events_of(response)]
    assert [value for name, value in events if name == "claim"] == answer["claims"]
    assert events[-1] == ("answer", answer)
    assert {name for name, _ in events} <= {"notice", "citation", "claim", "answer"}


def test_a_follow_up_is_understood_by_the_answer_that_was_sent(http: httpx.Client) -> None:
    question = "What does RepoScope model?"
    said = http.post("/api/ask", json={"question": question}).json()["text"]
    spoken = [{"role": "user", "content": question}, {"role": "assistant", "content": said}]
    body = {"question": "Which benchmark does it use?", "conversation": spoken}
    found = http.post("/api/ask", json=body).json()
    assert found["manifest"]["follow_up"]["text"] == "Which benchmark does RepoScope use?"
    spoken[1]["content"] = "Directories."  # nothing that was sent: words alone
    assert http.post("/api/ask", json=body).status_code == 200


def test_search_is_the_json_of_the_command(http: httpx.Client, seeds_index: Path) -> None:
    told = rag("search", QUESTION, "-k", "3", "--json", data=seeds_index).json()
    assert http.get("/api/search", params={"q": QUESTION, "limit": 3}).json() == told
    filtered = {"q": QUESTION, "source": "no such file"}
    assert http.get("/api/search", params=filtered).json()["hits"] == []


def test_papers_come_page_by_page(http: httpx.Client, seeds_index: Path) -> None:
    told = rag("papers", "list", "--limit", "0", "--json", data=seeds_index).json()
    pages = [
        http.get("/api/papers", params={"offset": offset, "limit": 20}).json()
        for offset in (0, 20, 40, 60)
    ]
    assert [paper for page in pages for paper in page["papers"]] == told["papers"]
    assert {page["total"] for page in pages} == {57}
    one = http.get("/api/papers", params={"text": "repository documentation"}).json()
    assert one["total"] == len(one["papers"]) > 0


def test_one_paper_is_found_by_id_place_or_name(http: httpx.Client, seeds_index: Path) -> None:
    told = rag("papers", "show", "RepoScope", "--json", data=seeds_index).json()
    for reference in ("RepoScope", told["paper_id"], f"{told['source']}:{told['ordinal']}"):
        assert http.get(f"/api/papers/{reference}").json() == told
    missing = http.get("/api/papers/10.1000/none")
    assert missing.status_code == 404
    assert missing.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/health", 200),
        ("/ready", 200),
        ("/", 200),
        ("/nowhere", 404),
        ("/api/ask", 405),
        ("/api/search", 400),
        ("/api/search?q=a&limit=0", 400),
        ("/api/search?q=a&year=MMXX", 400),
        ("/api/papers?offset=-1", 400),
        ("/api/papers?year=20", 400),
        ("/docs", 404),
    ],
)
def test_every_fault_has_one_form(http: httpx.Client, path: str, status: int) -> None:
    response = http.get(path)
    assert response.status_code == status
    if status != 200:
        assert set(response.json()["error"]) == {"message", "type", "param", "code"}
    assert "default-src 'self'" in response.headers["content-security-policy"]
    assert response.headers["x-content-type-options"] == "nosniff"


def test_many_at_once_get_answers_of_their_own(http: httpx.Client) -> None:
    names = ("RN-DPO", "RepoScope", "anytime GDRO")

    def ask(number: int) -> tuple[str, dict[str, Any]]:
        question = f"What does {names[number % 3]} do, asked {number} times?"
        return question, http.post("/api/ask", json={"question": question}).json()

    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(ask, range(24)))
    assert all(answer["question"] == question for question, answer in found)


# --- What is kept out ----------------------------------------------------------------------


def test_a_body_of_more_than_a_megabyte_is_refused(http: httpx.Client) -> None:
    large = json.dumps(asked("a" * 1_000_001)).encode()
    told = {"content-type": "application/json"}
    for path in ("/v1/chat/completions", "/api/ask"):
        assert http.post(path, content=large, headers=told).status_code == 413
        pieces = (large[i : i + 50_000] for i in range(0, len(large), 50_000))  # no length
        untold = http.post(path, content=pieces, headers=told)
        assert untold.status_code == 413
        assert "1,000,000 bytes" in untold.json()["error"]["message"]
    assert http.get("/health").status_code == 200


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100_000, b'"\xff"', b"null", b"\x00"])
def test_a_body_that_is_no_request_is_a_bad_one(http: httpx.Client, content: bytes) -> None:
    told = {"content-type": "application/json"}
    response = http.post("/api/ask", content=content, headers=told)
    assert response.status_code == 400
    assert response.json()["error"]["message"]


def test_text_that_is_hardly_text_is_answered(http: httpx.Client) -> None:
    for question in (r'{"question": "\ud800 RN-DPO \u0000?"}', '{"question": "🙂‮"}'):
        told = {"content-type": "application/json"}
        assert http.post("/api/ask", content=question.encode(), headers=told).status_code in {
            200,
            400,
        }


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", ""])
def test_a_foreign_host_is_refused(http: httpx.Client, host: str) -> None:
    assert http.get("/api/papers", headers={"host": host}).status_code == 400


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_another_sites_page_is_refused(http: httpx.Client, api: Served, origin: str) -> None:
    body = {"question": QUESTION}
    assert http.post("/api/ask", json=body, headers={"origin": origin}).status_code == 403
    assert http.post("/api/ask", json=body, headers={"origin": api.url}).status_code == 200


def test_schemathesis_finds_no_server_error(api: Served) -> None:
    checks = (
        "not_a_server_error,status_code_conformance,content_type_conformance,"
        "response_schema_conformance"
    )
    done = schemathesis(
        api.url, "--checks", checks, "--max-examples", "3", "--seed", "7", "--phases",
        "coverage,fuzzing", "--no-color", "--max-failures", "3",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-1_000:]


def test_the_python_of_the_document_runs(api: Served) -> None:
    text = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", block],
        env=environment(ASKPAPERS=api.url),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "RN-DPO [1]" in done.stdout
    assert done.stdout.endswith("answered\n")


def test_nothing_was_logged_as_an_error(api: Served) -> None:
    assert "".join(api.errors) == ""
