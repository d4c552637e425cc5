"""Secrets stay secret: planted in keys, headers and addresses they are in nothing that is left."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from command import ROOT, WEIGHTS, Ran, environment, rag_apart
from fakes import Received, Script, ScriptedServer, body, refusal, streamed

from rag.config import Config

KEY = "sk-canary-key-0123456789abcdef"
HEADER = "canary-header-0123456789"
QUERY = "canary-query-0123456789"
EMBEDDING = "sk-canary-embedding-0123456789"
QUESTION = "What does RepoScope model jointly?"
ANSWER = json.dumps({"claims": [{"support": ["S1"], "text": "It models structures and graphs."}]})


def reply(received: Received) -> Script:
    """What a careless server says: the key comes back in errors, and sometimes in an answer."""
    told = f"Incorrect API key provided: {received.headers.get('authorization', '')}."
    asked = str(received.body)
    if "refuse" in asked:
        return refusal(401, told)
    if "break" in asked:
        return body({"error": {"message": told}}, 500)
    return streamed([ANSWER])


@dataclass
class Place:
    """A user's folders and a server; `ran` are the commands so far."""

    root: Path
    server: ScriptedServer
    ran: list[Ran] = field(default_factory=list)

    def run(self, *arguments: str | Path, **variables: str) -> Ran:
        env = {
            WEIGHTS: str(Config().weights_dir),
            "HOME": str(self.root / "home"),
            "TMPDIR": str(self.root / "tmp"),
            "PYTHONFAULTHANDLER": "1",
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": f"{self.server.url}?token={QUERY}",
            "OPENAI_MODEL": "m",
            "RAG_EMBEDDING_API_KEY": EMBEDDING,
            "RAG_MAX_RETRIES": "0",
            **variables,
        }
        data, cwd = self.root / "data", self.root / "cwd"
        self.ran.append(rag_apart(*arguments, env=env, cwd=cwd, data=data))
        return self.ran[-1]

    def files(self) -> list[Path]:
        return [path for path in self.root.rglob("*") if path.is_file()]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Everything that a user may do with a key, done once."""
    root = tmp_path_factory.mktemp("secrets")
    for name in ("home", "tmp", "cwd"):
        (root / name).mkdir()
    batch, papers = root / "cwd" / "questions.jsonl", root / "cwd" / "papers.txt"
    batch.write_text(json.dumps({"id": "1", "question": QUESTION}) + "\n")
    papers.write_text("RepoScope models directory structures and call graphs jointly. It is fast.")
    with ScriptedServer(reply, models=["m"]) as server:
        here = Place(root, server)
        headers = json.dumps({"headers": {"X-Token": HEADER}})
        away = {"RAG_VECTORS": "http://127.0.0.1:9", "RAG_VECTORS_OPTIONS": headers}
        here.run("index", papers)
        here.run("ask", QUESTION, "--json")
        here.run("ask", f"{QUESTION} Does it refuse?", "--json")
        here.run("ask", f"{QUESTION} Does it break?")
        here.run("ask", "--batch", batch, "--out", root / "cwd" / "answers.jsonl")
        here.run("config", "--json", **away)
        here.run("search", QUESTION, RAG_VECTORS_TIMEOUT="0.2", RAG_CONNECT_TIMEOUT="0.2", **away)
        here.run("search", "x", OPENAI_API_KEY=f"{KEY} with a space")
        yield here


SECRETS = (KEY, HEADER, QUERY, EMBEDDING, KEY[3:], QUERY[7:])


def test_the_commands_did_what_they_were_to_do(place: Place) -> None:
    assert [one.code for one in place.ran] == [0, 0, 4, 4, 0, 0, 0, 2]
    assert any(KEY in post.headers["authorization"] for post in place.server.posts)


@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_is_printed(place: Place, secret: str) -> None:
    said = [(one.out, one.err) for one in place.ran if secret in one.out or secret in one.err]
    assert said == []


@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_is_in_a_file(place: Place, secret: str) -> None:
    held = [path for path in place.files() if secret.encode() in path.read_bytes()]
    assert held == []


def test_what_is_kept_is_for_its_owner_alone(place: Place) -> None:
    data = place.root / "data"
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    private = [path for path in data.rglob("*.sqlite3") if "histor" in path.name]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in private)


def test_a_traceback_of_a_crash_holds_no_secret() -> None:
    """The settings are in many frames: shown whole, with their values, they tell nothing."""
    code = (
        "import sys, traceback\n"
        "from rag.config import load\n"
        "from rag.answering.parts import generator_of\n"
        "config = load({}).config\n"
        "generator = generator_of(config)\n"
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n"
        "    told = traceback.TracebackException.from_exception(error, capture_locals=True)\n"
        "    sys.stdout.write(''.join(told.format()))\n"
        "sys.stdout.write(repr(config) + str(config) + repr(generator) + repr(vars(config)))\n"
    )
    options = json.dumps({"headers": {"X-Token": HEADER}})
    env = environment(
        OPENAI_API_KEY=KEY,
        OPENAI_BASE_URL="http://127.0.0.1:9/v1",
        RAG_EMBEDDING_API_KEY=EMBEDDING,
        RAG_VECTORS="http://127.0.0.1:9",
    )
    env["RAG_VECTORS_OPTIONS"] = options
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=ROOT, check=True
    )
    assert "ZeroDivisionError" in done.stdout
    assert [one for one in (KEY, EMBEDDING) if one in done.stdout + done.stderr] == []
