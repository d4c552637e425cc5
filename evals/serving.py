"""How a served collection bears many people at once, over HTTP as they come to it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx
from rich.table import Table

from evals.golden import ROOT
from evals.latency import Spread, spread
from evals.slow_model import SlowModel
from rag.answering.parts import indexer_of
from rag.config import load

_RUN = [sys.executable, "-c", "from rag.cli import main; main()"]
_PATIENCE = 600.0  # seconds for one answer: the line is long

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """`users` people ask `questions` at the same time, each so many of them, one after another.

    `seconds` is what a reply of the slow model takes; None: nobody writes, sentences are quoted.
    Each person has a token, and one more searches all the while.
    """

    questions: Sequence[str]
    users: int
    each: int
    seconds: float | None

    def asked_by(self, user: int) -> list[str]:
        """The questions of one user: neighbours ask different ones."""
        return [self.questions[(user + n * 7) % len(self.questions)] for n in range(self.each)]


@dataclass(frozen=True, slots=True)
class Row:
    """What came of a plan. `mixed` counts answers that are not those that one person alone gets."""

    writer: str
    users: int
    asks: Spread
    searches: Spread
    per_second: float
    errors: int
    mixed: int


def run(plan: Plan, progress: Progress) -> Row:
    """Serve the seeds in a process of its own, ask alone, then all at once."""
    slow = nullcontext() if plan.seconds is None else SlowModel(plan.seconds)
    with slow as model, tempfile.TemporaryDirectory() as folder:
        data = _indexed(Path(folder))
        with _served(data, plan.users, model.url if model else "") as url:
            wanted = sorted({q for user in range(plan.users) for q in plan.asked_by(user)})
            alone = {}
            for count, question in enumerate(wanted, start=1):
                alone[question] = _asked(url, 0, question)[1]
                progress("asking alone", count, len(wanted))
            return _measured(plan, url, alone)


def table(rows: Sequence[Row]) -> Table:
    """A row for each plan."""
    head = ("who writes", "people", "answers", "median, p95 s", "answers/s", "searches")
    found = Table(*head, "median, p95 ms", "errors", "mixed up")
    for row in rows:
        asks = f"{row.asks.median / 1e3:.2f}, {row.asks.p95 / 1e3:.2f}"
        told = (str(row.asks.n), asks, f"{row.per_second:.1f}", str(row.searches.n))
        counted = (str(row.searches), str(row.errors), str(row.mixed))
        found.add_row(row.writer, str(row.users), *told, *counted)
    return found


def as_json(rows: Sequence[Row]) -> dict[str, Any]:
    """Everything that was measured."""
    return {"rows": [asdict(row) for row in rows]}


def _measured(plan: Plan, url: str, alone: Mapping[str, str]) -> Row:
    over = threading.Event()
    with ThreadPoolExecutor(plan.users + 1) as pool:
        searching = pool.submit(lambda: list(_searching(url, plan, over)))
        started = time.perf_counter()
        people = [pool.submit(_person, url, user, plan) for user in range(plan.users)]
        found = [one for person in people for one in person.result()]
        elapsed = time.perf_counter() - started
        over.set()
        searches = searching.result()
    return Row(
        writer="quoting" if plan.seconds is None else f"{plan.seconds:g} s a reply",
        users=plan.users,
        asks=spread([seconds for seconds, _, _ in found]),
        searches=spread([seconds for seconds, _ in searches]),
        per_second=len(found) / elapsed,
        errors=sum(not text for _, text, _ in found) + sum(not text for _, text in searches),
        mixed=sum(bool(text) and text != alone[asked] for _, text, asked in found),
    )


def _person(url: str, user: int, plan: Plan) -> list[tuple[float, str, str]]:
    return [(*_asked(url, user, question), question) for question in plan.asked_by(user)]


def _searching(url: str, plan: Plan, over: threading.Event) -> Iterator[tuple[float, str]]:
    """One search after another, with a pause in which a person reads, until all is over."""
    number = 0
    while not over.wait(0.1):
        number += 1
        yield _searched(url, plan.questions[number % len(plan.questions)])


def _searched(url: str, question: str) -> tuple[float, str]:
    return _timed(lambda client: client.get("/api/search", params={"q": question}), url, 0)


def _asked(url: str, user: int, question: str) -> tuple[float, str]:
    body = {"question": question}
    return _timed(lambda client: client.post("/api/ask", json=body), url, user)


def _timed(ask: Callable[[httpx.Client], httpx.Response], url: str, user: int) -> tuple[float, str]:
    """Seconds, and what was answered, times left out; nothing where that is an error."""
    headers = {"authorization": f"Bearer {_token(user)}"}
    started = time.perf_counter()
    try:
        with httpx.Client(
            base_url=url, headers=headers, timeout=_PATIENCE, trust_env=False
        ) as client:
            response = ask(client)
    except httpx.HTTPError:
        return time.perf_counter() - started, ""
    seconds = time.perf_counter() - started
    if response.status_code != 200:
        return seconds, ""
    told = response.json()
    kept = ("question", "text", "claims", "citations", "query", "hits")
    return seconds, json.dumps({name: told.get(name) for name in kept})


def _token(user: int) -> str:
    return f"a-token-of-the-benchmark-{user}"


def _indexed(folder: Path) -> Path:
    indexer = indexer_of(load({"data_dir": folder / "data"}).config, lambda *_: None)
    try:
        indexer.sync([ROOT / "seeds"])
    finally:
        indexer.close()
    return folder / "data"


@contextmanager
def _served(data: Path, users: int, model: str) -> Iterator[str]:
    """`rag serve` in a process of its own; its address."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RAG_", "OPENAI_"))}
    weights = {k: v for k, v in os.environ.items() if k == "RAG_WEIGHTS_DIR"}
    tokens = json.dumps({f"user{number}": _token(number) for number in range(users)})
    settings = {"RAG_TOKENS": tokens, "RAG_QUESTIONS_PER_MINUTE": "0", "RAG_EXPAND": "off"}
    server = {"OPENAI_BASE_URL": model, "OPENAI_MODEL": "slow", "RAG_RERANK": "off"}
    flags = ["--port", "0", "--data-dir", str(data), "--llm", "openai" if model else "none"]
    env = {**kept, **weights, **settings, **(server if model else {}), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*_RUN, "serve", *flags], env=env, cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            found = re.search(r"http://[^/\s]+", line)
            if not found:
                raise RuntimeError("the server did not start; its reason stands above")
            yield found.group()
        finally:
            process.terminate()
            process.wait(30)
