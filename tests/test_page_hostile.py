"""Payloads from everywhere on one page, with someone listening for what it would fetch."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import rag
from fakes import Received, Script, ScriptedServer, body, refusal, streamed
from playwright.sync_api import Browser, expect
from test_page import ROOT, Program, Visit, browser, environment, serving, visiting

from rag.models import WeightStore

__all__ = ["browser"]

QUESTION = "What does the quokka zebra benchmark measure?"
HOOK = """
import os, sys
def hook(name, arguments):
    if name in ("socket.connect", "socket.getaddrinfo"):
        with open(os.environ["REACHED"], "a") as file:
            file.write(repr(arguments[1:] if name == "socket.connect" else arguments) + "\\n")
sys.addaudithook(hook)
"""


def payloads(host: str) -> dict[str, str]:
    """What, where it is not text, would fetch from `host`, run, or cover the page."""
    evil = f"http://{host}/leak"
    return {
        "image": f"![quokka]({evil}?1)",
        "image by reference": f"![quokka][x]\n\n[x]: {evil}?2",
        "script": f"<script>window.broken=1;fetch('{evil}?3')</script>",
        "onerror": f'<img src="{evil}?4" onerror="window.broken=1">',
        "srcset": f'<img srcset="{evil}?5 2x">',
        "video": f'<video autoplay src="{evil}?6" poster="{evil}?7"></video>',
        "overlay": f'<div style="position:fixed;inset:0;background:url({evil}?8)">quokka</div>',
        "frame": f'<iframe src="{evil}?9"></iframe><object data="{evil}?10"></object>',
        "form": f'<form action="{evil}?11"><button autofocus onfocus="alert(1)">go</button></form>',
        "mermaid": f'```mermaid\ngraph TD; A["<img src={evil}?12>"]\n```',
        "link": "[quokka](javascript:window.broken=1)",
        "maths": rf"$\href{{javascript:window.broken=1}}{{x}} \includegraphics{{{evil}?13}}$",
        "nested maths": "$" + r"\frac{" * 300 + "x" + "}{y}" * 300 + "$",
        "head": f'<base href="{evil}?14"><meta http-equiv="refresh" content="0;url={evil}?15">',
    }


def paper(name: str, payload: str) -> dict[str, object]:
    return {
        "title": f"{payload} Quokka {name}",
        "authors": [f"{payload} Zebra"],
        "venue": payload,
        "abstract": f"The quokka zebra benchmark measures {name} with {payload} in every case. "
        f"Its zebra is a {name} of a quokka that was measured twice.",
    }


LABELLED = re.compile(r"^\[(S\d+)\] (.*)$", re.MULTILINE)


def said(received: Received) -> Script:
    """Repeats every sentence that was sent as a claim."""
    found = LABELLED.findall(received.body["messages"][-1]["content"])
    claims = [{"text": text, "support": [label]} for label, text in found]
    return streamed([json.dumps({"claims": claims})])


@pytest.fixture(scope="module")
def leak() -> Iterator[ScriptedServer]:
    with ScriptedServer(body({})) as listener:
        yield listener


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedServer]:
    with ScriptedServer(said, models=["scripted"]) as server:
        yield server


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "sitecustomize.py").write_text(HOOK)
    return folder


@pytest.fixture(scope="module")
def program(
    place: Path, leak: ScriptedServer, model: ScriptedServer, weights: WeightStore
) -> Iterator[Program]:
    lines = [json.dumps(paper(name, text)) for name, text in payloads(leak.host).items()]
    (place / "papers.jsonl").write_text("\n".join(lines))
    assert rag("index", place / "papers.jsonl", "-q", data=place / "data").code == 0
    env = environment(
        RAG_DATA_DIR=str(place / "data"),
        OPENAI_BASE_URL=model.url,
        OPENAI_API_KEY="k",
        RAG_MAX_RETRIES="0",
        RAG_EVIDENCE_PAPERS="14",
        PYTHONPATH=f"{place}:{ROOT}",
        REACHED=str(place / "reached"),
    )
    with serving(env=env) as running:
        yield running


@pytest.fixture
def visit(browser: Browser, program: Program, leak: ScriptedServer) -> Iterator[Visit]:
    """A reader to whom nothing must have happened."""
    with visiting(browser, program.url) as made:
        yield made
        assert leak.history == []
        assert made.page.evaluate("window.broken") is None
        on_top = (
            "document.elementFromPoint(innerWidth/2, innerHeight/2).closest('.gradio-container')"
        )
        assert made.page.evaluate(f"{on_top} !== null")
        assert (
            made.page.evaluate(
                "[...document.querySelectorAll('#chat *, #sources *')].filter("
                "e => ['fixed', 'sticky'].includes(getComputedStyle(e).position)).length"
            )
            == 0
        )
        assert {host for host in made.hosts if host} == {program.url.removeprefix("http://")}
        assert made.complaints == []


def test_U01_payloads_in_papers_and_replies_fetch_run_and_cover_nothing(
    visit: Visit, leak: ScriptedServer, model: ScriptedServer
) -> None:
    visit.ask(QUESTION)
    visit.wait_until_answered()
    assert model.posts
    shown = visit.page.locator("#page").inner_text()
    assert visit.page.locator("#chat p.claim").count() >= 1
    assert leak.host in shown  # as text
    for name in ("img", "iframe", "video", "form", "object", "script", "base", "meta"):
        assert visit.page.locator(f"#chat {name}, #sources {name}").count() == 0, name
    visit.ask("And of the quokka?")
    visit.wait_until_answered()
    expect(visit.page.locator("#chat .turn")).to_have_count(2)


def test_U01_payloads_in_questions_and_errors_do_nothing_either(
    visit: Visit, leak: ScriptedServer, model: ScriptedServer
) -> None:
    everything = "\n\n".join(payloads(leak.host).values())
    model.queue[:] = [refusal(401, everything)]
    visit.ask(f"quokka {everything}"[:3_000])
    visit.wait_until_answered()
    expect(visit.page.locator("#chat .failure")).to_contain_text(leak.host)
    model.queue[:] = [said]
    visit.page.fill("#question textarea", "")
    visit.ask(QUESTION)
    visit.wait_until_answered()


def test_U09_a_page_that_is_loaded_again_asks_no_model_twice(
    browser: Browser, program: Program, model: ScriptedServer
) -> None:
    model.queue[:] = [streamed([], finish=None, done=False, ending="hang"), said]
    with visiting(browser, program.url) as reader:
        before, left = len(model.posts), model.aborted
        reader.ask(QUESTION)
        assert model.wait_until(lambda s: len(s.posts) == before + 1)
        reader.page.reload()
        expect(reader.page.locator("#question textarea")).to_be_visible()
        assert model.wait_until(lambda s: s.aborted == left + 1)
        assert len(model.posts) == before + 1


HEAD = {"content-type": "application/json"}
FOREIGN = json.dumps(
    {
        "data": [{"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}],
        "fn_index": 1,
        "session_hash": "another",
    }
).encode()


@pytest.mark.case("U14")
@pytest.mark.parametrize("content", [b"{broken", b"[" * 100_000, b"x" * 20_000_000, FOREIGN, b""])
@pytest.mark.parametrize("path", ["gradio_api/run/predict", "gradio_api/queue/join"])
def test_direct_calls_are_refused_and_the_page_lives(
    program: Program, path: str, content: bytes
) -> None:
    request = urllib.request.Request(f"{program.url}/{path}", content, HEAD)
    try:
        with urllib.request.urlopen(request, timeout=60) as answered:
            assert content == FOREIGN
            assert b"root:" not in answered.read()
    except urllib.error.HTTPError as refused:
        with refused:
            assert 400 <= refused.code < 500, refused.read()[:300]
    except (BrokenPipeError, ConnectionResetError, urllib.error.URLError):
        pass  # it did not listen to the end
    with urllib.request.urlopen(program.url, timeout=60) as home:
        assert home.status == 200


@pytest.mark.case("C21")
def test_the_page_reaches_for_nothing_but_the_configured_server(
    program: Program, place: Path, model: ScriptedServer
) -> None:
    port = model.host.partition(":")[2]
    reached = (place / "reached").read_text().splitlines()
    its_own = "('127.0.0.1', 0, "  # where it listens, looked up before it does
    assert [line for line in reached if port not in line and not line.startswith(its_own)] == []
    assert any(port in line for line in reached)
