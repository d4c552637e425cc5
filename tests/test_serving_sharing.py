"""A server for several people: who may come in, what each may ask, and where it listens."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import openai
import pytest
from command import COMMAND, environment, rag
from served import QUESTION, Served, asked, served

PASSWORD, TOKEN = "open sesame", "t" * 24
BODY = {"question": QUESTION}


@pytest.fixture(scope="module")
def data(seeds_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of its own, where users can be added."""
    return Path(shutil.copytree(seeds_index, tmp_path_factory.mktemp("shared") / "data"))


@pytest.fixture(scope="module")
def api(data: Path) -> Iterator[Served]:
    """Served to all the world; the name of the tests' own machine is one of its names."""
    settings = {
        "RAG_PASSWORD": PASSWORD,
        "RAG_TOKENS": f'{{"bot": "{TOKEN}", "busy": "{TOKEN}busy"}}',
        "RAG_HOST_NAMES": "papers.example",
        "RAG_QUESTIONS_PER_MINUTE": "2",
    }
    with served(data, "--llm", "none", "--host", "0.0.0.0", **settings) as running:
        yield running


@pytest.fixture
def http(api: Served) -> Iterator[httpx.Client]:
    """Somebody new."""
    with api.http() as client:
        yield client


@pytest.mark.parametrize("path", ["/v1/models", "/api/papers", "/openapi.json", "/", "/nowhere"])
def test_nothing_is_told_to_who_is_not_logged_in(http: httpx.Client, path: str) -> None:
    refused = http.get(path)
    assert refused.status_code == 401
    assert refused.json()["error"]["code"] == "not_logged_in"
    assert refused.headers["www-authenticate"] == "Bearer"
    assert http.get(path, headers={"authorization": f"Bearer {TOKEN}x"}).status_code == 401
    assert http.get(path, headers={"cookie": "askpapers_session=x"}).status_code == 401
    shown = http.get(path, headers={"accept": "text/html"})
    assert (shown.status_code, shown.headers["location"]) == (303, "/login")


@pytest.mark.parametrize("path", ["/health", "/ready", "/login"])
def test_whoever_watches_over_it_needs_no_login(http: httpx.Client, path: str) -> None:
    assert http.get(path).status_code == 200


def test_a_person_logs_in_and_out_by_a_form(http: httpx.Client) -> None:
    form = http.get("/login").text
    assert re.search(r'<form method="post" action="/login">', form)
    assert 'type="password"' in form
    wrong = http.post("/login", data={"name": "<b>", "password": "nothing"})
    assert wrong.status_code == 401
    assert "Name or password is wrong." in wrong.text
    assert "<b>" not in wrong.text
    let_in = http.post("/login", data={"password": PASSWORD})
    assert (let_in.status_code, let_in.headers["location"]) == (303, "/")
    cookie = let_in.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "secure" not in cookie  # it is not served over https
    assert http.get("/api/papers").status_code == 200
    http.post("/logout")
    assert http.get("/api/papers").status_code == 401


def test_behind_a_proxy_with_https_the_cookie_is_for_https(http: httpx.Client) -> None:
    forwarded = {"x-forwarded-proto": "https"}
    let_in = http.post("/login", data={"password": PASSWORD}, headers=forwarded)
    assert "secure" in let_in.headers["set-cookie"].lower()


def test_another_sites_form_cannot_log_in(http: httpx.Client) -> None:
    foreign = {"origin": "https://evil.example"}
    assert http.post("/login", data={"password": PASSWORD}, headers=foreign).status_code == 403


def test_who_guesses_is_locked_out_and_told_for_how_long(http: httpx.Client) -> None:
    guess = {"name": "eve", "password": "a guess"}
    seen = [http.post("/login", data=guess) for _ in range(7)]
    last = seen[-1]
    assert [one.status_code for one in seen[:5]] == [401] * 5
    assert last.status_code == 429
    assert int(last.headers["retry-after"]) >= 1
    assert "Try again in" in last.text


def test_a_user_is_added_while_it_runs_and_removed(
    http: httpx.Client, api: Served, data: Path
) -> None:

    added = subprocess.run(
        [*COMMAND, "users", "add", "ada", "--data-dir", str(data)],
        input="a long password\n",
        text=True,
        capture_output=True,
        env=environment(),
        check=True,
    )
    assert added.stdout == "ada may log in.\n"
    token = rag("users", "token", "ada", data=data).out.strip()
    assert rag("users", "list", "--json", data=data).json() == {
        "users": [{"name": "ada", "tokens": 1}]
    }
    with api.http(token) as program:
        assert program.get("/api/papers").status_code == 200
        assert rag("users", "remove", "ada", data=data).out == "ada is removed.\n"
        assert program.get("/api/papers").status_code == 401
    assert "no user" in rag("users", "remove", "ada", data=data).error_line


def test_a_program_logs_in_by_its_token(api: Served) -> None:
    with api.openai(TOKEN) as client:
        assert [model.id for model in client.models.list()] == ["askpapers"]
    with api.openai("wrong") as client, pytest.raises(openai.AuthenticationError, match="Bearer"):
        client.models.list()


def test_a_limit_is_of_each_user_and_says_when_it_ends(api: Served) -> None:
    with api.openai(f"{TOKEN}busy") as busy, api.openai(TOKEN) as bot:
        for _ in range(2):
            busy.chat.completions.create(**asked())
        with pytest.raises(openai.RateLimitError, match="questions_per_minute") as refused:
            busy.chat.completions.create(**asked(stream=True))
        assert 1 <= int(refused.value.response.headers["retry-after"]) <= 60
        assert bot.chat.completions.create(**asked()).choices
    with api.http(f"{TOKEN}busy") as busy_too:
        assert busy_too.get("/api/search", params={"q": QUESTION}).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("papers.example", 200),
        ("papers.example:8000", 200),
        (socket.gethostname(), 200),
        ("evil.example", 400),
        ("papers.example.evil.example", 400),
    ],
)
def test_only_its_own_names_are_answered(http: httpx.Client, host: str, status: int) -> None:
    assert http.get("/health", headers={"host": host}).status_code == status


def test_secrets_are_nowhere(api: Served) -> None:
    assert api.errors == []


# --- Where it may listen -------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1"])
def test_without_a_login_other_machines_are_not_served(seeds_index: Path, host: str) -> None:
    line = rag("serve", "--host", host, "--port", "0", data=seeds_index).error_line
    assert "RAG_PASSWORD" in line
    assert "rag users add" in line


def test_a_short_password_is_refused_without_being_shown(seeds_index: Path) -> None:
    ran = rag("serve", "--port", "0", env={"RAG_PASSWORD": "hunter2"}, data=seeds_index)
    assert ran.code == 2
    assert "8 characters" in ran.error_line
    assert "hunter2" not in ran.error_line


def test_without_an_index_there_is_nothing_to_serve(tmp_path: Path) -> None:
    ran = rag("serve", "--port", "0", "--llm", "none", data=tmp_path)
    assert ran.code == 3
    assert "rag index" in ran.error_line
