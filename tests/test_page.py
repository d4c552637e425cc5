"""The page as a reader meets it: the real program, and a real browser."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any, cast

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import CHROMIUM, CHROMIUM_OPTIONS
from command import rag
from fakes import PATIENCE, Script, ScriptedServer, refusal, streamed
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from rag.answering.events import Event
from rag.answering.stop import Stop
from rag.models import WeightStore
from rag.page.desk import Answers, Desk
from rag.page.turns import Turn

ROOT = Path(__file__).parents[1]
SCREENSHOTS = ROOT / "tests" / "screenshots"
QUESTION = "What does RN-DPO normalize?"
CLAIM = (
    "We propose Region-Normalized DPO (RN-DPO), which normalizes the likelihood ratio over the "
    "disagreement region between candidate masks, removing this coupling."
)
DOORS = {  # what gradio would take from the environment
    "GRADIO_ALLOWED_PATHS": "/",
    "GRADIO_SHARE": "True",
    "GRADIO_MCP_SERVER": "True",
    "GRADIO_VIBE_MODE": "1",
    "GRADIO_SERVER_NAME": "0.0.0.0",
    "GRADIO_ROOT_PATH": "/elsewhere",
    "GRADIO_ANALYTICS_ENABLED": "True",
}
HOSTILE = (
    "The quokka benchmark <script>window.broken=1</script> measures zebra patience. "
    '<img src="http://evil.example/a" onerror="window.broken=1"> quokka scores follow. '
    "![quokka](http://evil.example/b) and [zebra](javascript:window.broken=1). "
    '<div style="position:fixed;inset:0;background:url(http://evil.example/c)">quokka zebra</div>'
)

# --- The program and the browser -----------------------------------------------------------


def environment(**changes: str) -> dict[str, str]:
    """This process's, without settings of its own, with this tree and `changes`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RAG_", "OPENAI_", "GRADIO_"))}
    weights = {k: v for k, v in os.environ.items() if k == "RAG_WEIGHTS_DIR"}
    return {**kept, **weights, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", **changes}


@dataclass(frozen=True)
class Program:
    """A running page."""

    process: subprocess.Popen[str]
    url: str
    errors: list[str]


@contextmanager
def serving(*arguments: str, env: Mapping[str, str]) -> Iterator[Program]:
    """The page, once it says where it is; ended with the block."""
    command = [sys.executable, str(ROOT / "app.py"), "--port", "0", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=dict(env), stdout=pipe, stderr=pipe, text=True) as process:
        errors: list[str] = []
        assert process.stdout and process.stderr
        listener = threading.Thread(target=errors.extend, args=(process.stderr,))
        listener.start()
        try:
            line = process.stdout.readline()
            found = re.search(r"http://\S+", line)
            assert found, "".join(errors)
            yield Program(process, found.group(), errors)
        finally:
            process.terminate()
            try:
                process.wait(60)
            finally:
                process.kill()
                listener.join()


def ended(*arguments: str, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """The page where it cannot be served."""
    command = [sys.executable, str(ROOT / "app.py"), *arguments]
    return subprocess.run(
        command, env=dict(env), capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture(scope="session")
def index(seeds_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the seeds and of a paper that means harm."""
    folder = tmp_path_factory.mktemp("page")
    hostile = folder / "hostile.jsonl"
    hostile.write_text(json.dumps({"abstract": HOSTILE, "title": "<b onclick=x>Quokka"}))
    shutil.copytree(seeds_index, folder / "data")
    assert rag("index", "-q", hostile, data=folder / "data").code == 0
    return folder / "data"


@pytest.fixture(scope="session")
def program(index: Path) -> Iterator[Program]:
    """A page that quotes, started in an environment that would open every door."""
    with serving("--llm", "none", env=environment(RAG_DATA_DIR=str(index), **DOORS)) as running:
        yield running


@pytest.fixture(scope="module")  # there can be no two at a time
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_OPTIONS)
        yield chromium
        chromium.close()


@dataclass
class Visit:
    """A reader at the page, and what the browser noticed meanwhile."""

    page: Page
    hosts: set[str]
    complaints: list[str]

    def ask(self, question: str) -> None:
        asked = self.page.locator("#chat .asked").count()
        self.page.fill("#question textarea", question)
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#chat .asked")).to_have_count(asked + 1)

    def click_until(self, button: str, shown: Locator, text: str) -> None:
        """Click until it counts: while the last click is still worked on, another one does not."""
        for _ in range(12):
            self.page.locator(button).click()
            with suppress(AssertionError):
                expect(shown).to_contain_text(text, timeout=5_000)
                return
        expect(shown).to_contain_text(text)

    def wait_until_answered(self) -> None:
        expect(self.page.locator("#question .submit-button")).to_be_visible()
        expect(self.page.locator("#status p")).to_have_count(0)


@contextmanager
def visiting(browser: Browser, url: str) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    visit = Visit(page, set(), [])
    page.on("request", lambda request: visit.hosts.add(request.url.split("/")[2]))
    page.on("pageerror", lambda error: _unless_left(visit.complaints, str(error)))
    page.on("dialog", lambda dialog: visit.complaints.append(dialog.message))
    page.on(
        "console",
        lambda line: visit.complaints.append(line.text) if line.type == "error" else None,
    )
    page.goto(url)
    expect(page.locator("#question textarea")).to_be_visible()
    try:
        yield visit
    finally:
        context.close()


def _unless_left(complaints: list[str], text: str) -> None:
    """A request that is cut because the reader leaves the page is no fault."""
    if not text.startswith("AbortError: signal is aborted"):
        complaints.append(text)


@pytest.fixture
def visit(browser: Browser, program: Program) -> Iterator[Visit]:
    """A reader who must leave without a complaint of the browser's and without a foreign host."""
    with visiting(browser, program.url) as made:
        yield made
        assert made.complaints == []
        assert {host for host in made.hosts if host} == {program.url.removeprefix("http://")}


# --- Asking --------------------------------------------------------------------------------


def test_a_question_brings_claims_and_the_cited_sentence_in_its_abstract(visit: Visit) -> None:
    expect(visit.page.locator("#about")).to_contain_text("nothing leaves this machine")
    expect(visit.page.locator("#about")).to_contain_text("quoting")
    visit.ask(QUESTION)
    expect(visit.page.locator("#chat p.claim")).to_have_count(3)
    expect(visit.page.locator("#chat p.claim", has_text=CLAIM).locator("sup a")).to_have_text("[1]")
    source = visit.page.locator("article#source-1-1")
    expect(source.locator("mark", has_text=CLAIM)).to_be_visible()
    expect(source).to_contain_text("Direct Preference Optimization (DPO) has recently been")
    expect(source).to_contain_text("title derived from the abstract")
    expect(source.locator(".place")).to_have_text("seeds/000_d9e28358a154ea35.txt:7")


def test_a_follow_up_goes_on_about_the_last_answer_and_numbers_stay(visit: Visit) -> None:
    visit.ask(QUESTION)
    visit.wait_until_answered()
    visit.ask("And RADAR?")
    visit.wait_until_answered()
    expect(visit.page.locator("article#source-2-2 h3")).to_contain_text("RADAR")
    visit.ask("How many trainable parameters does it add?")
    visit.wait_until_answered()
    last = visit.page.locator("#chat .turn").last
    expect(last).to_contain_text("Understood as: How many trainable parameters does RADAR add?")
    expect(last.locator("p.claim", has_text="0.74M").locator("sup a")).to_have_text("[2]")
    expect(visit.page.locator("article#source-3-2")).to_be_visible()


def test_a_number_leads_to_its_source(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.ask(QUESTION)
    visit.wait_until_answered()
    visit.page.locator("#chat sup a").first.click()
    expect(visit.page.locator("article.shown h3")).to_be_in_viewport()
    expect(visit.page.locator("#chat p.claim")).to_have_count(3)


def test_an_example_is_asked_by_a_click_and_its_maths_is_rendered(visit: Visit) -> None:
    visit.page.get_by_role("button", name=re.compile("GDRO")).click()
    expect(visit.page.locator("#chat .asked")).to_contain_text("GDRO")
    expect(visit.page.locator("#chat .katex").first).to_be_visible()
    expect(visit.page.locator("#sources mark .katex").first).to_be_visible()
    expect(visit.page.locator("#welcome")).not_to_be_visible()
    assert "\ue000" not in visit.page.locator("body").inner_text()


def test_every_example_is_answered(visit: Visit) -> None:
    examples = visit.page.locator("button.example").all_inner_texts()
    assert len(examples) >= 3
    for count, example in enumerate(examples, start=1):
        visit.ask(example)
        expect(visit.page.locator("#chat .turn")).to_have_count(count)
        visit.wait_until_answered()
        expect(visit.page.locator("#chat .turn").last.locator("sup a").first).to_be_visible()
    expect(visit.page.locator("#sources details.earlier")).to_have_count(len(examples) - 1)


def test_a_question_that_nothing_answers_is_refused_and_the_nearest_are_shown(visit: Visit) -> None:
    visit.ask("Which olive oil suits a tomato salad?")
    expect(visit.page.locator("#chat .refusal")).to_have_text("The collection does not say.")
    expect(visit.page.locator("#chat .nearest a").first).to_be_visible()
    expect(visit.page.locator("#sources article").first).to_be_visible()


@pytest.mark.parametrize(
    "question",
    ["What does the quokka benchmark measure?", f"quokka zebra {HOSTILE}\n\n# **x**\n- $\\rule$"],
)
@pytest.mark.case("U01")
def test_hostile_text_is_shown_and_does_nothing(visit: Visit, question: str) -> None:
    visit.ask(question)
    visit.wait_until_answered()
    assert visit.page.locator("#chat .asked").inner_text().split() == question.split()
    source = visit.page.locator("article", has_text="zebra patience")
    expect(source).to_contain_text("<script>window.broken=1</script>")
    expect(source.locator("h3")).to_contain_text("<b onclick=x>Quokka")
    for tag in ("script", "img", "div[style]", "b", "p:not(.back) a"):
        expect(source.locator(tag)).to_have_count(0)
    assert visit.page.evaluate("window.broken") is None


def test_a_question_that_is_too_long_is_refused_and_kept(visit: Visit) -> None:
    visit.ask("why " * 3_000)
    expect(visit.page.locator("#chat .failure")).to_be_visible()
    expect(visit.page.locator("#question textarea")).to_have_value("why " * 3_000)


@pytest.mark.case("U06")
def test_readers_do_not_see_each_other(browser: Browser, program: Program) -> None:
    with visiting(browser, program.url) as one, visiting(browser, program.url) as two:
        for _ in range(3):
            one.ask(QUESTION)
            two.ask("How can offline imitation learning be made safe?")
            one.wait_until_answered()
            two.wait_until_answered()
        expect(one.page.locator("#chat .turn")).to_have_count(3)
        expect(two.page.locator("#chat .turn")).to_have_count(3)
        assert "imitation" not in one.page.locator("#chat").inner_text()
        assert "RN-DPO" not in two.page.locator("#page").inner_text().split("Sources")[1]


# --- Conversations that are kept -------------------------------------------------------------


def test_a_number_shows_its_sentence_and_opens_the_abstract_there(visit: Visit) -> None:
    visit.ask(QUESTION)
    visit.wait_until_answered()
    link = visit.page.locator("#chat p.claim", has_text=CLAIM).locator("sup a")
    link.focus()
    card = visit.page.get_by_role("tooltip")
    expect(card.locator("blockquote")).to_have_text(CLAIM)
    visit.page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    link.press("Enter")
    expect(visit.page.locator("#sources mark", has_text=CLAIM)).to_be_in_viewport()
    expect(visit.page.locator("article.shown h3")).to_contain_text("RN-DPO")


def test_a_conversation_is_kept_found_renamed_gone_on_with_and_deleted(visit: Visit) -> None:
    page = visit.page
    visit.ask("What does RADAR add?")
    visit.wait_until_answered()
    address = page.url
    assert re.search(r"\?conversation=\d+$", address)
    page.reload()
    expect(page.locator("#chat .asked")).to_have_text("What does RADAR add?")
    expect(page.locator("article#source-1-1 mark").first).to_be_attached()
    visit.ask("How many trainable parameters does it add?")
    visit.wait_until_answered()
    expect(page.locator("#chat .turn").last.locator("p.claim", has_text="0.74M")).to_be_visible()
    current = page.locator(".talk[aria-current]")
    expect(current).to_contain_text("2")
    current.locator("summary").first.click()
    current.locator("button.rename").click()
    page.get_by_label("New name").fill("Adapters <b>")
    page.keyboard.press("Enter")
    expect(current.locator(".name")).to_contain_text("Adapters <b>")
    page.get_by_label("Search conversations").fill("trainable parameters")
    expect(page.locator("#list .day").first).to_contain_text("trainable")
    page.get_by_label("Search conversations").fill("")
    expect(current.locator(".name")).to_contain_text("Adapters <b>")
    for form, said in (("bibtex", "@"), ("ris", "TY  - "), ("markdown", "# "), ("json", "{")):
        number = address.partition("=")[2]
        file = fetched(f"{page.url.partition('?')[0]}conversations/{number}/export?format={form}")
        assert file[0] == 200
        assert file[2].startswith(said)
        assert "attachment" in file[1]["content-disposition"]
    current.locator("summary").first.click()
    current.get_by_text("Delete…").click()
    current.locator("button.danger").click()
    expect(page.locator("#welcome")).to_be_visible()
    expect(page.locator("#list")).not_to_contain_text("Adapters")
    page.goto(address)
    expect(page.locator("#status .failure")).to_contain_text("There is no conversation")


def test_an_answer_is_copied_judged_and_asked_again(visit: Visit) -> None:
    page = visit.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.ask(QUESTION)
    visit.wait_until_answered()
    page.locator("#chat button[name=copy]").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert f"{CLAIM} [1]" in copied
    assert copied.endswith("References\n[1] RN-DPO. seeds/000_d9e28358a154ea35.txt:7")
    page.locator("#chat button[name=good]").click()
    expect(page.locator("#chat button.up.chosen")).to_be_visible()
    page.locator("#chat button[name=bad]").click()
    page.get_by_label("Reason").fill("misses the point")
    page.get_by_label(re.compile("would have been right")).fill("no such paper")
    page.get_by_role("button", name="Keep this").click()
    expect(page.locator("#opinion .failure")).to_contain_text("no such paper")
    page.get_by_label(re.compile("would have been right")).fill("RADAR")
    page.get_by_role("button", name="Keep this").click()
    expect(page.locator("#chat button.down.chosen")).to_be_visible()
    page.locator("#chat button[name=again]").click()
    expect(page.locator("#chat details.replaced")).to_have_count(1)
    visit.wait_until_answered()
    page.locator("#chat .chip").first.click()
    expect(page.locator("#chat .asked")).to_have_count(2)
    visit.wait_until_answered()
    expect(page.locator("#chat .turn").last.locator("p.claim").first).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_can_be_read_by_everybody(visit: Visit, scheme: Any) -> None:
    page = visit.page
    page.emulate_media(color_scheme=scheme)
    page.reload()
    visit.ask(QUESTION)
    visit.wait_until_answered()
    found = Axe().run(page).response["violations"]
    grave = [one for one in found if one["impact"] in {"serious", "critical"}]
    assert [(one["id"], one["nodes"][0]["html"]) for one in grave] == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"ask-{scheme}-phone.png")


# --- What it lets in and out ---------------------------------------------------------------


def fetched(url: str, **headers: str) -> tuple[int, Message, str]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=named)) as response:
            return response.status, response.headers, response.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, error.read().decode(errors="replace")


@pytest.mark.case("U02")
def test_every_response_bears_the_security_headers(program: Program) -> None:
    home = fetched(program.url)
    asset = re.search(r'(?:src|href)="\.?/?(assets/[^"]+)"', home[2])
    assert asset
    others = [fetched(f"{program.url}/{path}") for path in (asset.group(1), "config", "nowhere")]
    refused = fetched(program.url, host="evil.example")
    assert [status for status, _, _ in (home, *others, refused)] == [200, 200, 200, 404, 400]
    for _, headers, _ in (home, *others, refused):
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil", ""])
@pytest.mark.case("U02")
def test_a_foreign_host_is_refused(program: Program, host: str) -> None:
    assert fetched(program.url, host=host)[0] == 400


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]", "[::1]:7860"])
def test_our_own_names_are_not(program: Program, host: str) -> None:
    assert fetched(program.url, host=host)[0] == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:1"])
@pytest.mark.case("U02")
def test_another_sites_page_is_refused(program: Program, origin: str) -> None:
    assert fetched(f"{program.url}/config", origin=origin)[0] == 403
    assert fetched(f"{program.url}/config", origin=program.url)[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "gradio_api/file=/etc/hostname",
        f"gradio_api/file={ROOT}/pyproject.toml",
        "gradio_api/file=pyproject.toml",
        "gradio_api/mcp/",
        "gradio_api/mcp/sse",
        "monitoring",
        "docs",
        "redoc",
        "elsewhere/",
    ],
)
@pytest.mark.case("U03")
def test_gradios_variables_open_nothing(program: Program, path: str) -> None:
    assert fetched(f"{program.url}/{path}")[0] in {403, 404}


@pytest.mark.parametrize("path", ["gradio_api/upload", "upload"])
@pytest.mark.case("U13")
def test_no_file_is_taken(program: Program, path: str) -> None:
    kind = "multipart/form-data; boundary=x"
    body = (
        b'--x\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\nb\r\n--x--\r\n'
    )
    request = urllib.request.Request(f"{program.url}/{path}", body, {"content-type": kind})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    with refused.value as error:
        assert error.code in {403, 404, 405}


@pytest.mark.case("U14")
def test_no_function_is_offered_to_programs(program: Program) -> None:
    _, _, described = fetched(f"{program.url}/gradio_api/info")
    assert json.loads(described)["named_endpoints"] == {}
    assert json.loads(described)["unnamed_endpoints"] == {}


# --- A model server that is slow, wrong or gone --------------------------------------------


def reply(*, whole: bool = True) -> list[str]:
    """A claim on every sentence that was sent, in a few pieces; not `whole`: the end is missing."""
    claim = {"text": CLAIM, "support": [f"S{n}" for n in range(1, 10)]}
    text = json.dumps({"claims": [claim]})
    cut = text if whole else text.removesuffix("]}") + ', {"text": "And'
    return [cut[i : i + 40] for i in range(0, len(cut), 40)]


@contextmanager
def asking(
    browser: Browser, index: Path, server: ScriptedServer
) -> Iterator[tuple[Program, Visit]]:
    """A reader at a page whose answers a scripted server writes."""
    env = environment(
        RAG_DATA_DIR=str(index),
        OPENAI_BASE_URL=server.url,
        OPENAI_API_KEY="a-secret-key",
        RAG_MAX_RETRIES="0",
    )
    with serving(env=env) as program, visiting(browser, program.url) as visit:
        yield program, visit


@pytest.fixture
def model() -> Iterator[ExitStack]:
    """Closes a scripted server after the page that asks it, or before."""
    with ExitStack() as stack:
        yield stack


def scripted(model: ExitStack, *scripts: Script) -> ScriptedServer:
    return model.enter_context(ScriptedServer(*scripts, models=["scripted"]))


@pytest.mark.case("U08")
def test_stop_ends_the_request_and_keeps_what_came(
    browser: Browser, index: Path, model: ExitStack
) -> None:
    slow = streamed(reply(whole=False), finish=None, done=False, ending="hang", pause=0.05)
    server = scripted(model, slow, slow, streamed(reply()))
    with asking(browser, index, server) as (program, visit):
        expect(visit.page.locator("#about")).to_contain_text(f"sent to {server.host}")
        visit.ask(QUESTION)
        expect(visit.page.locator("#chat p.claim")).to_have_count(1)
        expect(visit.page.locator("#status p")).to_contain_text("writing")
        visit.page.locator("#question .stop-button").click()
        assert server.wait_until(lambda s: s.aborted == 1)
        expect(visit.page.locator("#chat .stopped")).to_be_visible()
        expect(visit.page.locator("#chat p.claim")).to_have_count(1)
        visit.wait_until_answered()

        visit.ask(QUESTION)  # before anything came, and the reader leaves
        assert server.wait_until(lambda s: s.open == 1)
        with visiting(browser, program.url) as other:
            visit.page.close()
            assert server.wait_until(lambda s: s.aborted == 2)
            other.ask(QUESTION)
            other.wait_until_answered()
            expect(other.page.locator("#chat .stopped")).to_have_count(0)
            expect(other.page.locator("#sources mark", has_text=CLAIM)).to_be_visible()


@pytest.mark.case("U11")
def test_a_fault_of_the_server_is_told_and_the_next_question_works(
    browser: Browser, index: Path, model: ExitStack
) -> None:
    bad_key = refusal(401, "Incorrect API key provided: a-secret-key <img src=x>")
    server = scripted(model, bad_key, streamed(reply()))
    with asking(browser, index, server) as (program, visit):
        visit.ask(QUESTION)
        failure = visit.page.locator("#chat .failure")
        expect(failure).to_contain_text("OPENAI_API_KEY")
        expect(failure).not_to_contain_text("a-secret-key")
        expect(visit.page.locator("#question textarea")).to_have_value(QUESTION)
        visit.page.locator("#question .submit-button").click()
        expect(visit.page.locator("#sources mark", has_text=CLAIM)).to_be_visible()
        visit.wait_until_answered()

        model.close()
        visit.ask("How does RN-DPO compare the candidate masks?")
        expect(failure).to_have_count(2)
        expect(failure.last).to_contain_text(server.host)
        assert program.process.poll() is None


# --- Beginning and ending ------------------------------------------------------------------


def one_line(told: str) -> str:
    assert told.startswith("error: ")
    assert told.count("\n") == 1
    return told


@pytest.mark.case("U05")
def test_a_taken_port_is_an_error_in_one_line(index: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = ended("--port", str(port), "--llm", "none", env=environment(RAG_DATA_DIR=str(index)))
    assert run.returncode == 2
    assert f"Port {port} on 127.0.0.1 is in use" in one_line(run.stderr)
    assert "--port" in run.stderr
    assert run.stdout == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "no such host"])
@pytest.mark.case("U04")
def test_other_machines_are_not_served(index: Path, host: str) -> None:
    run = ended("--host", host, "--port", "0", env=environment(RAG_DATA_DIR=str(index)))
    assert run.returncode == 2
    assert "--host 127.0.0.1" in one_line(run.stderr)


def test_without_an_index_it_says_what_to_run(tmp_path: Path, weights: WeightStore) -> None:
    run = ended("--port", "0", "--llm", "none", env=environment(RAG_DATA_DIR=str(tmp_path)))
    assert run.returncode == 3
    assert "rag index" in one_line(run.stderr)


def test_an_unknown_option_is_told_with_the_way_to_help() -> None:
    run = ended("--prot", "1", env=environment())
    assert run.returncode == 2
    assert "python app.py --help" in one_line(run.stderr)


@pytest.mark.parametrize(
    ("number", "code", "told"), [(signal.SIGINT, 130, "\ninterrupted\n"), (signal.SIGTERM, 143, "")]
)
@pytest.mark.case("C12")
def test_it_ends_at_once_although_an_answer_is_being_written(
    browser: Browser,
    index: Path,
    model: ExitStack,
    number: signal.Signals,
    code: int,
    told: str,
) -> None:
    silent = streamed([], finish=None, done=False, ending="hang")
    server = scripted(model, silent)
    with asking(browser, index, server) as (program, visit):
        visit.ask(QUESTION)
        assert server.wait_until(lambda s: s.open == 1)
        program.process.send_signal(number)
        assert program.process.wait(60) == code  # the model would be silent for minutes
        assert server.wait_until(lambda s: s.open == 0)
        assert not children(program.process.pid)
    assert "".join(program.errors) == told


def children(pid: int) -> list[str]:
    """Processes whose parent is, or was, `pid`."""
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return found.stdout.split()


# --- The desk ------------------------------------------------------------------------------


class BrokenAssistant:
    """Raises what nobody foresaw."""

    def ask(self, question: str, **_: object) -> Iterator[Event]:
        raise RuntimeError(f"a secret: {question}")


class SilentAssistant:
    """Says that it waits, then says nothing until it is told to stop."""

    def ask(self, question: str, *, notify: Any, stop: Stop, **_: object) -> Iterator[Event]:
        notify("waiting 7 s (rate limit), Ctrl-C to stop")
        with stop.cutting(self.cut.set):
            self.cut.wait(10)
        yield from ()

    def __init__(self) -> None:
        self.cut = threading.Event()


@pytest.mark.case("U12")
def test_what_nobody_foresaw_is_told_by_a_number_only(caplog: pytest.LogCaptureFixture) -> None:
    desk = Desk(cast("Answers", BrokenAssistant()))
    with caplog.at_level(logging.ERROR):
        *_, last = desk.ask("reader", Turn(1, "why"))
    found = re.search(r"error ([0-9a-f]{8})", last.turn.failure)
    assert found
    assert "secret" not in last.turn.failure
    assert found.group(1) in caplog.text
    assert "RuntimeError: a secret: why" in caplog.text


def test_a_wait_is_told_as_it_begins_and_can_be_stopped() -> None:
    assistant = SilentAssistant()
    desk = Desk(cast("Answers", assistant))
    progress = desk.ask("reader", Turn(1, "why"))
    assert next(progress).waiting == "searching"
    assert next(progress).waiting.startswith("waiting 7 s (rate limit) …")
    desk.stop("another reader")
    assert not assistant.cut.is_set()
    desk.stop("reader")
    assert assistant.cut.wait(PATIENCE)
    *_, last = progress
    assert last.turn.stopped
    assert not last.waiting


@pytest.mark.case("U08")
def test_leaving_stops_the_writing() -> None:
    assistant = SilentAssistant()
    progress = Desk(cast("Answers", assistant)).ask("reader", Turn(1, "why"))
    next(progress), next(progress)
    cast("Any", progress).close()
    assert assistant.cut.is_set()


# --- Standing questions --------------------------------------------------------------------


def test_a_question_is_kept_asked_again_and_removed(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("tab", name="Watch").click()
    expect(page.locator("#watch-status")).to_contain_text("No question is kept yet.")
    page.locator("#watch").get_by_label("Question", exact=True).fill(" ")
    page.locator("#watch-add").click()
    expect(page.locator("#watch-status")).to_contain_text("The question is empty.")
    page.locator("#watch").get_by_label("Question", exact=True).fill(QUESTION)
    page.locator("#watch-add").click()
    kept = page.get_by_label(f"{QUESTION}: not asked yet")
    expect(kept).to_be_visible()
    page.locator("#watch-run").click()
    result = page.locator("#watch-result")
    expect(result).to_contain_text("Answered for the first time.")
    expect(result).to_contain_text(CLAIM.rstrip("."))
    visit.click_until("#watch-run", result, "Not asked: the index is as it was.")
    page.get_by_label(re.compile(f"{re.escape(QUESTION)}: answered")).check()
    page.locator("#watch-remove").click()
    expect(page.locator("#watch-status")).to_contain_text("1 removed.")
    expect(page.locator("#watch-kept input")).to_have_count(0)


def test_whoever_signed_in_sees_who_they_are_and_can_leave(browser: Browser, index: Path) -> None:
    settings = environment(RAG_DATA_DIR=str(index), RAG_PASSWORD="open sesame")
    with serving("--llm", "none", env=settings) as program:
        visit = browser.new_page()
        visit.goto(program.url)
        expect(visit).to_have_url(re.compile("/login$"))
        visit.locator("input[type=password]").fill("open sesame")
        visit.get_by_role("button", name="Log in").click()
        leave = visit.get_by_role("button", name="Log out")
        expect(leave).to_be_visible(timeout=30_000)
        leave.click()
        expect(visit).to_have_url(re.compile("/login$"))
        visit.goto(program.url)
        expect(visit).to_have_url(re.compile("/login$"))
        visit.close()
