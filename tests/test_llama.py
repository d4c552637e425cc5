"""The embedded model's server, with real weights and real processes."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rag.config import Config
from rag.errors import ModelError, ResourceError, WeightsError
from rag.models import WeightStore
from rag.models.llama import LlamaServer

CONTEXT = 1024

PARENT = """
import sys, time
from pathlib import Path
from rag.models.llama import LlamaServer
server = LlamaServer(Path(sys.argv[1]), {context})
if sys.argv[2] == "wait":
    server.start()
    print(server.pid, flush=True)
    time.sleep(300)
else:
    import threading
    threading.Thread(target=server.start, daemon=True).start()
    time.sleep(300)
"""


@pytest.fixture(scope="module")
def gguf(weights: WeightStore) -> Path:
    return weights.llm_path(Config.model_validate({}).local_model)


@pytest.fixture(scope="module")
def server(gguf: Path) -> Iterator[LlamaServer]:
    with LlamaServer(gguf, CONTEXT) as running:
        yield running


def call(server: LlamaServer, path: str, body: object = None, key: str = "") -> Any:
    request = urllib.request.Request(
        server.base_url + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {key}"},
    )
    with urllib.request.urlopen(request, timeout=120) as response:
        return json.load(response)


def answer(server: LlamaServer, question: str, tokens: int = 8) -> str:
    body = {
        "messages": [{"role": "user", "content": question}],
        "max_tokens": tokens,
        "temperature": 0,
    }
    reply = call(server, "/chat/completions", body, server.api_key)
    return str(reply["choices"][0]["message"]["content"])


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for counts as ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state == "Z" and len(list(Path(f"/proc/{pid}/task").iterdir())) == 1
    except OSError:
        return True


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def wait_for(condition: Callable[[], bool], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def killed(server: LlamaServer, number: signal.Signals = signal.SIGKILL) -> None:
    pid = server.pid
    assert pid is not None
    os.kill(pid, number)
    wait_for(lambda: gone(pid), 60)


def test_it_answers_over_http(server: LlamaServer) -> None:
    assert server.base_url.startswith("http://127.0.0.1:")
    assert "4" in answer(server, "What is two plus two? Answer with a number.")


def test_it_names_the_model_without_its_place(server: LlamaServer, gguf: Path) -> None:
    models = call(server, "/models", key=server.api_key)
    assert [model["id"] for model in models["data"]] == [gguf.stem]


@pytest.mark.parametrize("path", ["/models", "/chat/completions"])
def test_it_refuses_whoever_has_no_key(server: LlamaServer, path: str) -> None:
    body: object = None if path == "/models" else {"messages": []}
    for key in ("", "wrong"):
        with pytest.raises(urllib.error.HTTPError) as caught:
            call(server, path, body, key)
        caught.value.close()
        assert caught.value.code == 401


def test_the_key_is_in_no_argument_list_or_environment(server: LlamaServer) -> None:
    for file in ("cmdline", "environ"):
        assert server.api_key.encode() not in Path(f"/proc/{server.pid}/{file}").read_bytes()


def test_more_questions_than_slots_are_all_answered(server: LlamaServer) -> None:
    asked = [f"Repeat exactly this word and nothing else: {word}" for word in ("red", "sun", "sea")]
    with ThreadPoolExecutor(3) as pool:
        said = list(pool.map(lambda question: answer(server, question, 6), asked))
    assert all(word in text.lower() for word, text in zip(("red", "sun", "sea"), said, strict=True))


def test_starting_twice_keeps_the_child(server: LlamaServer) -> None:
    before = server.pid
    threads = [threading.Thread(target=server.start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.pid == before
    assert server.ensure_running() is False


def test_a_dead_child_is_replaced_once_and_that_is_told(gguf: Path) -> None:
    with LlamaServer(gguf, CONTEXT) as server:
        key, first = server.api_key, server.pid
        killed(server)
        assert server.ensure_running() is True
        assert server.pid != first
        assert server.api_key == key
        assert answer(server, "Say hi.")
        assert server.ensure_running() is False
        killed(server, signal.SIGSEGV)
        with pytest.raises(ModelError, match=r"again after a restart \(SIGSEGV.*RAG_LOCAL_MODEL"):
            server.ensure_running()


def test_closing_ends_the_child_and_it_can_be_started_again(gguf: Path) -> None:
    server = LlamaServer(gguf, CONTEXT)
    with pytest.raises(ModelError, match="not running"):
        _ = server.base_url
    assert server.ensure_running() is False
    first = server.pid
    assert first is not None
    server.close()
    server.close()
    assert gone(first)
    with server:
        assert call(server, "/models", key=server.api_key)


@pytest.mark.parametrize("moment", ["wait", "loading"])
def test_the_child_dies_with_a_killed_parent(gguf: Path, moment: str) -> None:
    code = PARENT.format(context=CONTEXT)
    with subprocess.Popen(
        [sys.executable, "-c", code, str(gguf), moment], stdout=subprocess.PIPE, text=True
    ) as parent:
        if moment == "wait":
            assert parent.stdout is not None
            child = int(parent.stdout.readline())
        else:
            wait_for(lambda: bool(children(parent.pid)), 60)
            child = children(parent.pid)[0]
            time.sleep(0.5)
        assert not gone(child)
        parent.kill()
    wait_for(lambda: gone(child), 60)


def test_an_interrupt_of_the_terminal_leaves_the_child_alone(server: LlamaServer) -> None:
    pid = server.pid
    assert pid is not None
    assert os.getpgid(pid) != os.getpgid(0)
    os.kill(pid, signal.SIGINT)
    assert call(server, "/models", key=server.api_key)


def damaged(path: Path, content: bytes | None) -> Path:
    if content is not None:
        path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("cut", "said"),
    [(None, "No such file"), (0, "not a GGUF file"), (-1, "not a GGUF file")],
    ids=["missing", "empty", "text"],
)
def test_a_file_that_is_no_model_is_told_at_once(
    tmp_path: Path, cut: int | None, said: str
) -> None:
    content = None if cut is None else (b"" if cut == 0 else b"hello, I am not a model")
    begun = time.monotonic()
    with pytest.raises(WeightsError, match=said) as caught:
        LlamaServer(damaged(tmp_path / "model.gguf", content), CONTEXT).start()
    assert time.monotonic() - begun < 10
    assert str(tmp_path / "model.gguf") in str(caught.value)


@pytest.mark.parametrize("size", [4, 5_000, 50_000_000])
def test_a_truncated_model_is_one_clear_line(gguf: Path, tmp_path: Path, size: int) -> None:
    with gguf.open("rb") as whole:
        path = damaged(tmp_path / "model.gguf", whole.read(size))
    server = LlamaServer(path, CONTEXT)
    begun = time.monotonic()
    with pytest.raises(WeightsError, match=r"cannot be loaded \(\w.+\)\. Run") as caught:
        server.start()
    assert time.monotonic() - begun < 30
    assert "\n" not in str(caught.value)
    assert server.pid is None


def test_too_little_memory_is_told(gguf: Path) -> None:
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from rag.models.llama import LlamaServer; from rag.errors import ResourceError\n"
        "resource.setrlimit(resource.RLIMIT_AS, (900_000_000, 900_000_000))\n"
        "try: LlamaServer(Path(sys.argv[1]), 1024).start()\n"
        "except ResourceError as error: sys.exit(f'{error.exit_code} {error}')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(gguf)], capture_output=True, text=True, check=False
    )
    assert done.stderr.startswith(f"{ResourceError.exit_code} There is not enough memory")
    assert len(done.stderr.splitlines()) == 1


def test_a_model_that_takes_too_long_is_given_up(gguf: Path) -> None:
    server, before = LlamaServer(gguf, CONTEXT, start_timeout=0.05), children(os.getpid())
    with pytest.raises(ModelError, match=r"not loaded within 0\.05 s"):
        server.start()
    assert server.pid is None
    assert children(os.getpid()) == before
