"""The command line in processes of its own: exit codes, messages, and what must not be printed."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest
from command import ROOT, SEEDS, WEIGHTS, Ran, environment, rag, rag_apart, start
from fakes import TOPICS, Script, ScriptedServer, body, refusal, streamed
from library import abstract

CANARY = "sk-canary-0123456789abcdef"
QUESTION = "What does RepoScope model jointly?"
COMMANDS = ["index", "search", "ask", "summarize", "doctor", "config", "models"]


@pytest.mark.parametrize("command", [[], *[[name] for name in COMMANDS]])
def test_help(command: list[str]) -> None:
    ran = rag(*command, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert "Usage:" in ran.out
    if not command:
        assert all(name in ran.out for name in COMMANDS)
        assert "RN-DPO" in ran.out


def test_the_release_is_told() -> None:
    ran = rag("--version")
    assert (ran.code, ran.out, ran.err) == (0, f"askpapers {version('askpapers')}\n", "")


def test_no_command_shows_the_help() -> None:
    ran = rag()
    assert ran.code == 2
    assert "Commands:\n" in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["serach", "x"], "Did you mean 'search'"),
        (["search", "--jsn", "x"], "--json"),
        (["search"], "rag search needs a question"),
        (["ask"], "Example: rag ask"),
        (["summarize"], "Missing argument"),
        (["search", "x", "-k", "0"], "top_k = 0"),
        (["search", "x", "-k", "-1"], "greater than or equal to 1"),
        (["search", "x", "-k", "many"], "'-k'"),
        (["search", ""], "The question is empty"),
        (["ask", "--llm", "none", "  "], "The question is empty"),
        (["ask", "--llm", "none", "😀"], "The question has no word in it"),
        (["ask", "--llm", "none", "x" * 100_000], "100,000 characters"),
        (["ask", "--llm", "both", "x"], "llm = 'both'"),
        (["ask", "--llm", "openai", "x"], "OPENAI_API_KEY"),
        (["config", "--config", "nowhere.toml"], "nowhere.toml cannot be read"),
        (["ask", "x", "--batch", "nowhere.jsonl"], "both given"),
        (["ask", "--llm", "none", "--batch", "nowhere.jsonl"], "nowhere.jsonl cannot be read"),
        (["models", "pull", "no-such-model"], "no-such-model"),
    ],
)
@pytest.mark.case("C01", "C02", "C05", "C06", "R01", "R02")
def test_a_request_that_cannot_be_carried_out_is_2(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    data = [] if arguments[0] in {"models", "serach"} else ["--data-dir", str(tmp_path / "data")]
    ran = rag(*arguments, *data)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.error_line
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"RAG_NONSENSE": "1"}, "RAG_NONSENSE"),
        ({"RAG_TOPK": "1"}, "Did you mean top_k?"),
        ({"RAG_TOP_K": "hot"}, "RAG_TOP_K"),
        ({"OPENAI_API_KEY": "sk-canary-01234\n56789abcdef"}, "openai_api_key"),
        ({"OPENAI_BASE_URL": "http://me:sk-canary-0123456789abcdef@host/v1"}, "user or password"),
        ({"OPENAI_BASE_URL": "localhost:80/v1"}, "http://"),
        ({"RAG_CONFIG": "TOML"}, "line 2"),
        ({"RAG_EMBEDDING_MODEL": "none-such"}, "none-such"),
    ],
)
@pytest.mark.case("C03", "C04", "C05", "C07", "C08")
def test_a_setting_that_cannot_be_is_2(tmp_path: Path, env: dict[str, str], words: str) -> None:
    if env.get("RAG_CONFIG"):
        env = {"RAG_CONFIG": str(tmp_path / "c.toml")}
        (tmp_path / "c.toml").write_text("top_k = 3\nhost = \n")
    ran = rag("search", "x", env=env, data=tmp_path / "data")
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.error_line
    assert "canary" not in ran.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read"),
        (b"", "is empty"),
        (bytes(range(256)) * 20, "not readable as text"),
        ("folder", "holds no papers"),
    ],
    ids=["I03 missing", "I01 empty", "I01 binary", "I01 folder"],
)
def test_an_input_without_papers_is_2(
    tmp_path: Path, content: bytes | str | None, words: str
) -> None:
    path = tmp_path / "in.txt"
    if content == "folder":
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    ran = rag("index", path, "--quiet", data=tmp_path / "data")
    assert (ran.code, ran.out) == (2, "")
    assert "in.txt" in ran.error_line
    assert words in ran.error_line


@pytest.mark.parametrize("command", [["search"], ["ask", "--llm", "none"], ["summarize"]])
def test_X01_without_an_index_it_is_3(tmp_path: Path, command: list[str]) -> None:
    ran = rag(*command, "apples", data=tmp_path / "data")
    assert (ran.code, ran.out) == (3, "")
    assert "Run `rag index` first" in ran.error_line


def test_an_index_of_other_chunks_is_3(seeds_index: Path) -> None:
    ran = rag("search", "apples", env={"RAG_CHUNK_SENTENCES": "3"}, data=seeds_index)
    assert (ran.code, ran.out) == (3, "")
    assert "rag index --rebuild" in ran.error_line


def test_missing_weights_are_4(seeds_index: Path, tmp_path: Path) -> None:
    ran = rag("ask", "--llm", "local", "x", env={WEIGHTS: str(tmp_path)}, data=seeds_index)
    assert (ran.code, ran.out) == (4, "")
    assert "rag models pull" in ran.error_line


def ask_server(url: str, data: Path, *arguments: str) -> Ran:
    env = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": CANARY, "OPENAI_MODEL": "m"}
    return rag("ask", QUESTION, *arguments, env=env | {"RAG_MAX_RETRIES": "1"}, data=data)


SERVERS = {
    "down": (None, "cannot be reached"),
    "401": (refusal(401, f"Incorrect API key {CANARY}"), "key"),
    "429": (body({"error": {"message": "slow"}}, 429, retry_after="3600"), "3600"),
    "500": (refusal(500, f"Internal {CANARY}"), "500"),
    "HTML": (body(b"<html><h1>Login</h1></html>"), "<html>"),
}


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.case("C20")
def test_a_server_that_cannot_be_used_is_4(seeds_index: Path, name: str) -> None:
    script, words = SERVERS[name]
    with ScriptedServer(script or Script(), models=["m"]) as server:
        url = server.url if script else "http://127.0.0.1:9/v1"
        ran = ask_server(url, seeds_index)
    assert (ran.code, ran.out) == (4, "")
    assert words in ran.error_line
    assert CANARY not in ran.out + ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.case("G12")
def test_half_a_stream_is_4_with_the_part_that_came(seeds_index: Path, as_json: bool) -> None:
    claim = "RepoScope models directory structures and call graphs."
    text = json.dumps({"claims": [{"support": ["S3"], "text": claim}, {"support": ["S1"]}]})
    with ScriptedServer(streamed([text[:90], text[90:-12]], finish=None, done=False)) as server:
        ran = ask_server(server.url, seeds_index, *(["--json"] if as_json else []))
    assert ran.code == 4
    assert "incomplete" in ran.error_line
    assert claim.rstrip(".") in ran.out
    assert CANARY not in ran.out + ran.err
    if as_json:
        assert ran.json()["complete"] is False


@pytest.mark.parametrize("command", [["index", str(SEEDS), "--quiet"], ["doctor"]])
@pytest.mark.case("C09")
def test_no_place_to_write_is_5(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "file").write_text("")
    ran = rag(*command, env={"RAG_LLM": "none"}, data=tmp_path / "file/data")
    assert ran.code == 5
    assert "cannot be written" in ran.out + ran.err
    assert "--data-dir" in ran.out + ran.err


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, weights: object) -> Path:
    """An index of one paper that holds what a terminal would obey."""
    folder = tmp_path_factory.mktemp("hostile")
    text = "We \x1b[31mpresent\x1b[0m \u202eevil\u2066 [bold]apples[/bold] \x07\x9b2J\u200b. "
    (folder / "a.txt").write_text(text + "The apples are \x1b]0;title\x07 measured twice.")
    assert rag("index", folder / "a.txt", data=folder / "data").code == 0
    return folder / "data"


@pytest.mark.parametrize("command", [["search"], ["ask", "--llm", "none"]])
@pytest.mark.case("C17")
def test_what_a_terminal_would_obey_is_not_printed(hostile: Path, command: list[str]) -> None:
    ran = rag(*command, "evil apples", data=hostile)
    assert ran.code == 0
    assert "apples" in ran.out
    assert "[bold]apples[/bold]" in ran.out
    for mark in "\x1b\x07\x9b\u202e\u2066\u200b":
        assert mark not in ran.out + ran.err


@pytest.mark.case("C16", "S06")
def test_a_terminal_that_is_not_utf_8_is_no_fault(seeds_index: Path) -> None:
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for arguments in (["--json"], []):
        asked = ("ask", "--llm", "none", "论文 RepoScope é?", *arguments)
        ran = rag_apart(*asked, env=env, data=seeds_index)
        assert ran.code == 0, ran.err
        assert "RepoScope" in ran.out
        assert ran.out.isascii()
        if arguments:
            assert ran.json()["question"] == "论文 RepoScope é?"
    assert rag_apart("index", "/论文", env=env, data=seeds_index).code == 2


@pytest.mark.case("C15")
def test_nobody_reads_on_is_no_fault(seeds_index: Path) -> None:
    for arguments in (["search", "agents", "-k", "57"], ["config"]):
        command = [*arguments, "--data-dir", str(seeds_index)]
        with start(command) as process:
            assert process.stdout
            assert process.stderr
            process.stdout.read(1)
            process.stdout.close()
            error = process.stderr.read()
            assert process.wait(60) in {0, 141}
        assert error == b""


@pytest.mark.parametrize(
    ("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "TERM"]
)
@pytest.mark.case("C12", "C14")
def test_indexing_stops_at_once_and_the_next_run_goes_on(
    tmp_path: Path, weights: object, stop: signal.Signals, code: int
) -> None:
    texts = [abstract(t, about=f"case {n}") for n in range(100) for t in TOPICS]
    (tmp_path / "a.txt").write_text("\n\n".join(texts))
    with start(["index", tmp_path / "a.txt", "--data-dir", tmp_path / "data"]) as process:
        ends = time.monotonic() + 60
        while not (tmp_path / "data/catalog.sqlite3").exists():
            assert time.monotonic() < ends
            time.sleep(0.02)
        time.sleep(1.5)
        process.send_signal(stop)
        sent = time.monotonic()
        _, error = process.communicate(timeout=60)
        assert time.monotonic() - sent < 20.0
    assert process.returncode == code
    assert b"Traceback" not in error
    (tmp_path / "a.txt").write_text(texts[0])
    assert rag("index", tmp_path / "a.txt", "--json", data=tmp_path / "data").json()["papers"] == 1


@pytest.mark.case("C19")
def test_a_hostile_env_file_in_the_working_folder_has_no_effect(
    seeds_index: Path, tmp_path: Path
) -> None:
    evil = "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\nclass Evil: pass\n"
    (tmp_path / "evilmod.py").write_text(evil)
    settings = ["product_telemetry", "segment_manager", "sysdb", "producer", "consumer", "api"]
    lines = [f"chroma_{name}_impl=evilmod.Evil" for name in settings]
    lines += ["ALLOW_RESET=TRUE", "RAG_TOP_K=3", "OPENAI_API_KEY=x", "persist_directory=/nowhere"]
    (tmp_path / ".env").write_text("\n".join(lines))
    data = shutil.copytree(seeds_index, tmp_path / "data")
    compacted = rag_apart("index", SEEDS, "--compact", "--quiet", cwd=tmp_path, data=data)
    assert compacted.code == 0, compacted.err
    ran = rag_apart("search", "repository documentation", "--json", cwd=tmp_path, data=data)
    assert len(ran.json()["hits"]) == 10
    assert ran.json()["hits"][0]["title"] == "RepoScope"
    assert not (tmp_path / "ran").exists()


@pytest.mark.case("S04")
def test_importing_writes_nothing_and_reaches_no_network(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "def hook(name, args):\n"
        "    if name == 'socket.connect' or (name == 'open' and args[1] and 'w' in str(args[1])):\n"
        "        print(name, args)\n"
        "sys.dont_write_bytecode = True\n"
        "sys.addaudithook(hook)\n"
        "import rag.cli, rag.answering.assistant, rag.index.sync, rag.doctor\n"
    )
    env = environment(HOME=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=ROOT, check=True
    )
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []
