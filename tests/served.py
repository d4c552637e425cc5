"""The API as programs meet it: the real server in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import openai
from command import COMMAND, ROOT, environment

QUESTION = "What does RN-DPO normalize?"


@dataclass(frozen=True)
class Served:
    """A running server. `errors` is what it wrote to standard error."""

    process: subprocess.Popen[str]
    url: str
    errors: list[str]

    def http(self, token: str = "") -> httpx.Client:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False)

    def openai(self, token: str = "any") -> openai.OpenAI:
        return openai.OpenAI(base_url=f"{self.url}/v1", api_key=token, max_retries=0)


@contextmanager
def served(data: Path, *arguments: str, **variables: str) -> Iterator[Served]:
    """`rag serve` over a data folder, once it says where it is; ended with the block."""
    command = [*COMMAND, "serve", "--port", "0", "--data-dir", str(data), *arguments]
    env = environment(PYTHONUNBUFFERED="1", **variables)
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=env, cwd=ROOT, stdout=pipe, stderr=pipe, text=True
    ) as process:
        errors: list[str] = []
        assert process.stdout and process.stderr
        listener = threading.Thread(target=errors.extend, args=(process.stderr,))
        listener.start()
        try:
            found = re.search(r"http://[^/\s]+", process.stdout.readline())
            assert found, "".join(errors)
            yield Served(process, found.group().replace("0.0.0.0", "127.0.0.1"), errors)
        finally:
            process.terminate()
            try:
                process.wait(60)
            finally:
                process.kill()
                listener.join()


def events_of(response: httpx.Response) -> Iterator[tuple[str, str]]:
    """Server-sent events as (name, data), read as they come."""
    name = ""
    for line in response.iter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, line.removeprefix("data: ")
            name = ""


def asked(text: str = QUESTION, **more: Any) -> dict[str, Any]:
    """A chat request of one message."""
    return {"model": "askpapers", "messages": [{"role": "user", "content": text}], **more}


def schemathesis(url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Schemathesis over a server's own description, as its users run it."""
    command = [str(Path(sys.executable).parent / "schemathesis"), "run", f"{url}/openapi.json"]
    return subprocess.run(
        [*command, *arguments], capture_output=True, text=True, check=False, timeout=120
    )
