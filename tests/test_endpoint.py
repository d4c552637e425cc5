"""Embedding behind a server: what it is sent, what it may send back, and what a user is told.

Codes such as I13 name the test plan's cases. Every test speaks over real loopback sockets.
"""

from __future__ import annotations

import base64
import json
import pickle
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import rag
from fakes import TOPICS, HandEmbedder, Received, Reply, Script, ScriptedServer, body, refusal
from hypothesis import given, settings
from hypothesis import strategies as st
from library import abstract

from rag.answering.endpoint import KNOBS, Endpoint, EndpointEmbedder
from rag.answering.faults import ContextTooSmall
from rag.answering.parts import endpoint_of, recipe_of
from rag.answering.retry import Patience
from rag.answering.vectorreply import matrix
from rag.answering.wire import ErrorReply, NotAnAnswer
from rag.config import load
from rag.errors import ConfigError, ModelError, ServerError

KEY = "sk-canary-0123456789abcdef"
TOO_LARGE = "input is too large to process. increase the physical batch size"


def listed(rows: Sequence[Sequence[object]] | np.ndarray[Any, Any]) -> dict[str, Any]:
    """A reply in OpenAI's form."""
    data = [
        {"object": "embedding", "index": number, "embedding": list(map(_plain, row))}
        for number, row in enumerate(rows)
    ]
    return {"object": "list", "model": "served", "data": data}


def _plain(value: object) -> object:
    return float(value) if isinstance(value, np.floating) else value


def by_hand(received: Received) -> Script:
    """Vectors whose similarities are known, three times as long as they should be."""
    return body(listed(3 * HandEmbedder().embed(received.body["input"])))


def at(server: ScriptedServer, **changes: Any) -> Endpoint:
    endpoint = Endpoint(
        name="openai:served",
        model="served",
        url=server.url,
        key=KEY,
        knobs=KNOBS,
        chars=2_000,
        connect_timeout=2.0,
        idle_timeout=2.0,
        request_timeout=5.0,
        max_retries=2,
        max_retry_wait=60.0,
    )
    return replace(endpoint, **changes)


Asked = tuple[EndpointEmbedder, ScriptedServer]
Ask = Callable[..., Asked]


@pytest.fixture
def asked() -> Iterator[Ask]:
    """An embedder of a scripted server; its waits take no time."""
    servers: list[ScriptedServer] = []
    embedders: list[EndpointEmbedder] = []

    def ask(*replies: Reply, notes: list[str] | None = None, **changes: Any) -> Asked:
        server = ScriptedServer(*replies)
        server.__enter__()
        servers.append(server)
        endpoint = at(server, **changes)
        patience = Patience(
            endpoint.request_timeout,
            endpoint.max_retries,
            endpoint.max_retry_wait,
            sleep=lambda _: None,
        )
        heard = notes if notes is not None else []
        embedder = EndpointEmbedder(endpoint, heard.append, patience)
        embedders.append(embedder)
        return embedder, server

    yield ask
    for embedder in embedders:
        embedder.close()
    for server in servers:
        server.__exit__(None, None, None)


def test_texts_come_back_as_unit_vectors_in_their_order(asked: Ask) -> None:
    embedder, server = asked(by_hand)
    texts = [abstract("apples"), abstract("bridges"), "apples bridges"]
    vectors = embedder.embed(texts)
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, HandEmbedder().embed(texts), atol=1e-6)
    assert embedder.dimension == len(TOPICS) + 1
    (sent,) = server.posts
    assert sent.path == "/v1/embeddings"
    assert sent.body == {"model": "served", "input": texts, "encoding_format": "float"}
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert not [name for name in sent.headers if name.startswith("x-stainless")]


def test_the_dimension_is_asked_for_once(asked: Ask) -> None:
    embedder, server = asked(by_hand)
    assert [embedder.dimension, embedder.dimension] == [31, 31]
    assert embedder.embed([]).shape == (0, 31)
    assert len(server.posts) == 1


def test_many_texts_go_in_batches_of_bounded_size(asked: Ask) -> None:
    embedder, server = asked(by_hand)
    texts = [f"{TOPICS[n % 30]} {n}" for n in range(150)]
    assert np.allclose(embedder.embed(texts), HandEmbedder().embed(texts), atol=1e-6)
    sent = [post.body["input"] for post in server.posts]
    assert [len(batch) for batch in sent] == [64, 64, 22]
    assert [text for batch in sent for text in batch] == texts
    server.history.clear()
    embedder.embed(["apples " * 2_000] * 64)
    assert max(sum(map(len, post.body["input"])) for post in server.posts) <= 64_000


def test_no_more_of_a_text_is_sent_than_the_settings_say(asked: Ask) -> None:
    embedder, server = asked(by_hand, chars=120)
    embedder.embed(["apples " * 100])
    assert server.posts[0].body["input"] == [("apples " * 100)[:120]]


@given(st.permutations(range(7)))
def test_vectors_are_put_in_order_by_their_index(order: list[int]) -> None:
    reply = listed([[float(n), 1.0] for n in range(7)])
    reply["data"] = [reply["data"][n] for n in order]
    assert matrix(json.dumps(reply).encode(), 7)[:, 0].tolist() == list(range(7))


def test_vectors_without_an_index_are_taken_as_they_come() -> None:
    raw = json.dumps({"data": [{"embedding": [1, 0]}, {"embedding": [0, 2]}]}).encode()
    assert matrix(raw, 2).tolist() == [[1, 0], [0, 2]]


def with_items(change: Callable[[list[dict[str, Any]]], object]) -> dict[str, Any]:
    """A reply for two texts, changed."""
    reply = listed([[1.0, 0.0], [0.0, 1.0]])
    change(reply["data"])
    return reply


def encoded(item: dict[str, Any]) -> None:
    item["embedding"] = base64.b64encode(struct.pack("<2f", 1.0, 0.0)).decode()


WRONG: Mapping[str, tuple[object, str]] = {
    "fewer": (with_items(list.pop), "1 vectors for 2 texts"),
    "more": (with_items(lambda d: d.append(d[0] | {"index": 2})), "3 vectors for 2 texts"),
    "one twice": (with_items(lambda d: d[1].update(index=0)), "not 0 to 1"),
    "from one": (with_items(lambda d: [i.update(index=i["index"] + 1) for i in d]), "not 0 to 1"),
    "index as text": (with_items(lambda d: d[1].update(index="1")), "not 0 to 1"),
    "another length": (with_items(lambda d: d[1]["embedding"].append(1.0)), "2 and 3 numbers"),
    "empty": (with_items(lambda d: [i["embedding"].clear() for i in d]), "vectors of 0 numbers"),
    "base64": (with_items(lambda d: encoded(d[0])), "base64"),
    "null": (with_items(lambda d: d[1].update(embedding=None)), "no lists of numbers"),
    "a hole": (with_items(lambda d: d[1].update(embedding=[0.0, None])), "no lists of numbers"),
    "nested": (with_items(lambda d: d[1].update(embedding=[[0.0, 1.0]])), "no lists of numbers"),
    "truth": (with_items(lambda d: d[1].update(embedding=[True, 1.0])), "no lists of numbers"),
    "nan": (with_items(lambda d: d[1].update(embedding=[0.0, float("nan")])), "not finite"),
    "infinite": (with_items(lambda d: d[1].update(embedding=[0.0, 1e300])), "not finite"),
    "zeros": (with_items(lambda d: d[1].update(embedding=[0.0, 0])), "all zeros"),
    "no list": ({"object": "list"}, "no vectors"),
    "a list": ([[1.0, 0.0], [0.0, 1.0]], "no vectors"),
    "a page": (b"<!DOCTYPE html><title>Welcome</title>", "starts with <!DOCTYPE html>"),
    "half": (b'{"data": [{"embedding": [0.1, 0.2', "starts with"),
    "nothing": (b"", "starts with"),
    "error in 200": ({"error": {"message": "model is loading"}}, "model is loading"),
}


@pytest.mark.parametrize(("reply", "told"), WRONG.values(), ids=WRONG)
def test_I12_what_are_no_vectors_of_these_texts_is_named_and_not_taken(
    asked: Ask, reply: object, told: str
) -> None:
    embedder, server = asked(body(reply))
    with pytest.raises(ServerError) as caught:
        embedder.embed(["one", "two"])
    assert told in str(caught.value)
    assert caught.value.exit_code == 4
    assert len(server.posts) == 1


@settings(max_examples=200)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["data", "embedding", "index", "error"]), inner)
        ),
        max_leaves=12,
    ),
    st.integers(1, 3),
)
def test_no_reply_breaks_the_reading_of_it(reply: Any, count: int) -> None:
    try:
        found = matrix(json.dumps(reply).encode(), count)
    except (NotAnAnswer, ErrorReply):
        return
    assert found.shape[0] == count
    assert np.isfinite(found).all()


def test_a_model_that_changes_under_way_is_told(asked: Ask) -> None:
    embedder, _ = asked(body(listed([[1.0, 0.0]])), body(listed([[1.0, 0.0, 0.0]])))
    embedder.embed(["one"])
    with pytest.raises(ModelError, match=r"changed while it was used \(vectors of 3 numbers"):
        embedder.embed(["two"])


def test_a_reply_without_end_is_cut(asked: Ask) -> None:
    endless = Script((b"[" * 100_000 for _ in range(10**6)), content_type="application/json")
    with pytest.raises(ServerError, match="more than 1,000,000 bytes"):
        asked(endless)[0].embed(["one"])


def limited(most: int) -> Callable[[Received], Script]:
    """A server that takes so many characters at once."""

    def reply(received: Received) -> Script:
        size = sum(map(len, received.body["input"]))
        return refusal(500, f"{TOO_LARGE} ({size})") if size > most else by_hand(received)

    return reply


def test_I13_a_batch_that_is_too_long_is_asked_for_in_halves(asked: Ask) -> None:
    notes: list[str] = []
    embedder, server = asked(limited(400), notes=notes)
    texts = [f"{TOPICS[n % 30]} {n:04}" for n in range(100)]
    assert np.allclose(embedder.embed(texts), HandEmbedder().embed(texts), atol=1e-6)
    server.history.clear()
    embedder.embed(texts)  # now it is known how many go at once
    assert max(len(post.body["input"]) for post in server.posts) <= 33
    assert notes == []


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (500, TOO_LARGE),
        (500, "input (812 tokens) is too large to process. increase the physical batch size"),
        (400, "This model's maximum context length is 512 tokens, however you requested 812"),
        (400, "the input length exceeds the context length"),
        (413, "Input validation error: `inputs` must have less than 512 tokens. Given: 812"),
        (413, "Request Entity Too Large"),
    ],
)
def test_I13_a_text_that_is_too_long_by_itself_is_named_at_once(
    asked: Ask, status: int, said: str
) -> None:
    def reply(received: Received) -> Script:
        long = any(len(text) > 1_000 for text in received.body["input"])
        return refusal(status, said) if long else by_hand(received)

    embedder, server = asked(reply)
    texts = ["apples", "bridges", "Owls of the " + "far north " * 150, "clouds"]
    with pytest.raises(ContextTooSmall) as caught:
        embedder.embed(texts)
    told = str(caught.value)
    assert "A text of 1,512 characters is too long" in told
    assert "“Owls of the far north far north" in told
    assert told.endswith("(llama.cpp: -ub), or lower embedding_chars.")
    assert str(status) in told
    asked_for = [tuple(post.body["input"]) for post in server.posts]
    assert len(set(asked_for)) == len(asked_for)  # nothing was asked for twice


def test_I14_a_limit_of_the_rate_is_waited_for_and_said(asked: Ask) -> None:
    notes: list[str] = []
    busy = body({"error": {"message": "slow down"}}, 429, retry_after="7")
    embedder, _ = asked(busy, by_hand, notes=notes, request_timeout=60.0)
    assert embedder.embed(["apples"]).shape == (1, 31)
    assert notes == ["waiting 7 s (rate limit, try 2 of 3), Ctrl-C to stop"]


REFUSALS: Mapping[str, tuple[Script, str, int]] = {
    "longer wait than there is time": (
        body({"error": {"message": "slow down"}}, 429, retry_after="3600"),
        r"asks to wait 3600 s, more than the 5 s allowed",
        1,
    ),
    "quota": (refusal(429, "You exceeded your current quota"), "quota .* is used up", 1),
    "key": (refusal(401, f"Incorrect API key: {KEY}"), r"key was refused.*embedding_api_key", 1),
    "model": (refusal(404, "no such model"), r"not found.*embedding_model, and embedding_base", 1),
    "request": (refusal(400, "bad request"), "refused the request .400: bad request", 1),
    "moved": (Script(status=302, headers={"location": "http://x/"}), "Set embedding_base_url", 1),
    "down": (refusal(503, "starting"), "failed .503: starting; tried 3 times", 3),
    "reset": (Script(ending="reset", answers=False), "broke .*tried 3 times", 3),
    "short": (Script([b"{"], ending="short"), "broke", 3),
}


@pytest.mark.parametrize(("reply", "told", "tries"), REFUSALS.values(), ids=REFUSALS)
def test_a_server_that_refuses_or_breaks_is_told_in_one_line(
    asked: Ask, reply: Script, told: str, tries: int
) -> None:
    embedder, server = asked(reply)
    with pytest.raises(ServerError, match=told) as caught:
        embedder.embed(["one"])
    assert len(server.posts) == tries
    assert KEY not in str(caught.value)
    assert "OPENAI" not in str(caught.value)


def test_a_server_that_says_nothing_is_given_up(asked: Ask) -> None:
    embedder, _ = asked(Script(answers=False, ending="hang"), request_timeout=0.3)
    with pytest.raises(ServerError, match=r"did not finish \(no vectors within 0\.3 s"):
        embedder.embed(["one"])


def test_a_server_that_drips_is_given_up_too(asked: Ask) -> None:
    drip = Script((b" " for _ in range(10_000)), content_type="application/json", pause=0.02)
    with pytest.raises(ServerError, match=r"no vectors within 0\.3 s"):
        asked(drip, request_timeout=0.3)[0].embed(["one"])


# --- settings


def settings_of(**values: object) -> Any:
    return load({"embedding_model": "openai:served", **values}, environ={}).config


@pytest.mark.parametrize(
    ("values", "url", "key"),
    [
        ({"openai_api_key": KEY}, "https://api.openai.com/v1", KEY),
        ({"openai_base_url": "http://a/v1"}, "http://a/v1", ""),
        ({"openai_base_url": "http://a/v1", "openai_api_key": KEY}, "http://a/v1", KEY),
        ({"embedding_base_url": "http://b/v1", "openai_api_key": KEY}, "http://b/v1", ""),
        (
            {
                "embedding_base_url": "http://b/v1",
                "embedding_api_key": "other",
                "openai_base_url": "http://a/v1",
                "openai_api_key": KEY,
            },
            "http://b/v1",
            "other",
        ),
    ],
)
def test_a_key_goes_only_to_the_server_that_it_was_given_for(
    values: Mapping[str, object], url: str, key: str
) -> None:
    endpoint = endpoint_of(settings_of(**values))
    assert (endpoint.url, endpoint.key, endpoint.model) == (url, key, "served")
    assert KEY not in repr(endpoint)


def test_without_a_server_it_is_said_what_to_set() -> None:
    with pytest.raises(ConfigError, match="Set embedding_base_url, or OPENAI_API_KEY"):
        endpoint_of(settings_of())
    with pytest.raises(ConfigError, match="names no model"):
        load({"embedding_model": "openai: "}, environ={})


def test_other_machines_can_make_the_same_embedder() -> None:
    with ScriptedServer(by_hand) as server:
        recipe = recipe_of(settings_of(embedding_base_url=server.url))
        copied = pickle.loads(pickle.dumps(recipe))
        assert copied.files == ()
        embedder = copied.make([], 1)
        assert embedder.embed(["apples"]).shape == (1, 31)
        embedder.close()


def test_word_pieces_are_estimated_from_the_bytes(asked: Ask) -> None:
    embedder, _ = asked(by_hand)
    assert [embedder.count_pieces(text) for text in ("", "owls", "owls!", "Müller", "鳥の巣")] == [
        *(0, 1, 2, 2, 3)
    ]


# --- the whole way


def command(server: ScriptedServer, tmp_path: Path, **more: str) -> dict[str, Any]:
    env = {
        "RAG_EMBEDDING_MODEL": "openai:served",
        "RAG_EMBEDDING_BASE_URL": server.url,
        "RAG_EMBEDDING_API_KEY": KEY,
        "RAG_LLM": "none",
        "RAG_WEIGHTS_DIR": str(tmp_path / "no weights"),
        **more,
    }
    return {"env": env, "data": tmp_path / "data"}


def written(tmp_path: Path, count: int) -> Path:
    path = tmp_path / "papers.txt"
    path.write_text("\n\n".join(abstract(TOPICS[n % 30], about=f"case {n}") for n in range(count)))
    return path


def test_an_index_is_built_and_searched_by_a_served_model(tmp_path: Path) -> None:
    with ScriptedServer(by_hand) as server:
        given = command(server, tmp_path)
        ran = rag("index", written(tmp_path, 30), "--json", **given)
        assert (ran.code, ran.json()["added"], ran.json()["embedded"]) == (0, 30, 30), ran.err
        found = rag("search", "bridges", "-k", "1", "--json", **given)
        assert "bridges" in found.json()["hits"][0]["evidence"][0]["text"]
        doctor = rag("doctor", **given)
        assert doctor.code == 0
        assert (
            f"ok    embedding server: served at {server.host}, vectors of 31 numbers; every text"
            " that is indexed and every question is sent there"
        ) in doctor.out
        assert "weights" not in doctor.out
        shown = rag("config", **given).out
        assert "or openai:NAME: a server, which is sent every text (RAG_EMBEDDING_MODEL)" in shown
        assert KEY not in doctor.out + shown + ran.out
        server.history.clear()
        again = rag("index", tmp_path / "papers.txt", **given)
        assert again.code == 0
        assert server.posts == []
        server.queue[:] = [refusal(401, "no")]
        assert "The key was refused" in rag("search", "bridges", **given).error_line


def test_I11_what_was_embedded_is_kept_when_the_server_fails(tmp_path: Path) -> None:
    """5,000 sentences go in parts of at least 1,024; the server is lost after the first."""
    served: list[str] = []

    def until_lost(received: Received) -> Script:
        if len(served) >= 2_100:
            return refusal(400, "out of memory")
        served.extend(received.body["input"])
        return by_hand(received)

    path = written(tmp_path, 2_500)
    with ScriptedServer(until_lost) as server:
        given = command(server, tmp_path)
        ran = rag("index", path, **given)
        assert ran.code == 4
        assert "refused the request (400: out of memory)" in ran.error_line
        before = set(served)
        served.clear()
        server.queue[:] = [by_hand]
        server.history.clear()
        ran = rag("index", path, "--json", **given)
        assert (ran.code, ran.json()["added"]) == (0, 2_500)
        asked_again = {t for post in server.posts for t in post.body["input"]} & before
        assert len(asked_again) < 2_100 - 2_000


def test_I13_the_command_names_the_text_and_ends_with_4(tmp_path: Path) -> None:
    with ScriptedServer(limited(300)) as server:
        given = command(server, tmp_path)
        path = tmp_path / "long.txt"
        path.write_text(abstract("apples") + "\n\n" + "Owls " + "very " * 80 + "seldom nest here.")
        ran = rag("index", path, **given)
        assert ran.code == 4
        assert "“Owls very very" in ran.error_line
        given["env"]["RAG_EMBEDDING_CHARS"] = "200"
        assert rag("index", path, **given).code == 0


def test_I15_a_changed_paper_stays_as_it_was_while_the_server_fails(tmp_path: Path) -> None:
    path = tmp_path / "papers.txt"
    with ScriptedServer(by_hand) as server:
        given = command(server, tmp_path)
        path.write_text(abstract("apples"))
        assert rag("index", path, **given).code == 0
        path.write_text(abstract("bridges"))
        server.queue[:] = [refusal(503, "gone")]
        given["env"]["RAG_MAX_RETRIES"] = "0"
        assert rag("index", path, **given).code == 4
        server.queue[:] = [by_hand]
        found = rag("search", "apples", "--json", **given).json()
        assert "apples" in found["hits"][0]["evidence"][0]["text"]


def test_another_model_behind_the_same_name_is_refused(tmp_path: Path) -> None:
    def turned(received: Received) -> Script:
        return body(listed(HandEmbedder(turned=1).embed(received.body["input"])))

    with ScriptedServer(by_hand) as server:
        given = command(server, tmp_path)
        assert rag("index", written(tmp_path, 3), **given).code == 0
        server.queue[:] = [turned]
        ran = rag("search", "apples", **given)
        assert ran.code == 3
        assert "not the ones that the index was built with" in ran.error_line
