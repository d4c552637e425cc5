"""The tabs beside the conversation, in a real browser: compare, list, evaluate, status."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from bibtexparser.entrypoint import parse_string as parse_bibtex
from browsing import CHROMIUM, CHROMIUM_OPTIONS
from command import rag
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright
from recorded import write_suite
from test_page import Program, environment, serving

from evals.running.journal import SAMPLES

SHOTS = Path(__file__).parent / "screenshots"
SLOW = 200_000  # ms; a child process has to start on a busy machine
HOSTILE = {
    "title": "=HYPERLINK(evil) <img src=http://evil.example/a onerror=window.broken=1>",
    "abstract": (
        "We propose quokka counting, a method with <script>window.broken=1</script> and $x^2$. "
        "We evaluate on the zebra benchmark <b onclick=window.broken=1>of stripes</b>."
    ),
    "year": 2021,
}
QUESTIONS = [
    {"id": "dpo", "question": "What does RN-DPO normalize?", "answers": ["likelihood ratio"]},
    {"id": "repo", "question": "What does RepoScope generate?", "answers": ["documentation"]},
]


@pytest.fixture(scope="module")
def folder(seeds_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the seeds and a paper that means harm, in `data`, and a suite of two."""
    made = tmp_path_factory.mktemp("benches")
    (made / "hostile.jsonl").write_text(json.dumps(HOSTILE), encoding="utf-8")
    shutil.copytree(seeds_index, made / "data")
    done = rag("index", "-q", made / "hostile.jsonl", data=made / "data")
    assert done.code == 0, done.err
    write_suite(made / "mine.jsonl", QUESTIONS)
    return made


@pytest.fixture(scope="module")
def program(folder: Path) -> Iterator[Program]:
    with serving("--llm", "none", env=environment(RAG_DATA_DIR=str(folder / "data"))) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_OPTIONS)
        yield chromium
        chromium.close()


@dataclass
class Visit:
    """A reader at the page, and what the browser noticed meanwhile."""

    page: Page
    hosts: set[str] = field(default_factory=set)
    complaints: list[str] = field(default_factory=list)

    def tab(self, name: str) -> Locator:
        self.page.get_by_role("tab", name=name, exact=True).click()
        place = self.page.locator({"Status": "#status-tab"}.get(name, f"#{name.lower()}"))
        found = place.and_(self.page.locator(".bench"))
        expect(found).to_be_visible()
        return found

    def saved(self, link: Locator) -> str:
        with self.page.expect_download() as download:
            link.click()
        return Path(download.value.path()).read_text(encoding="utf-8")


@pytest.fixture
def visit(browser: Browser, program: Program) -> Iterator[Visit]:
    """A reader who must leave without a complaint of the browser's and without a foreign host."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    visit = Visit(context.new_page())
    page = visit.page
    page.on("request", lambda request: visit.hosts.add(request.url.split("/")[2]))
    page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    page.on("dialog", lambda dialog: visit.complaints.append(dialog.message))
    page.on(
        "console",
        lambda line: visit.complaints.append(line.text) if line.type == "error" else None,
    )
    page.goto(program.url)
    expect(page.get_by_role("tab", name="Compare")).to_be_visible()
    yield visit
    assert visit.complaints == []
    assert {host for host in visit.hosts if "." in host} == {program.url.removeprefix("http://")}
    assert page.evaluate("window.broken") is None
    context.close()


def settled(page: Page) -> None:
    """Wait until colours that fade from the one scheme to the other have done so."""
    page.wait_for_function("document.getAnimations().every((one) => one.playState !== 'running')")


def looked_at(visit: Visit, name: str) -> None:
    """A screenshot of desktop, dark and phone, and no fault that axe-core finds in any."""
    SHOTS.mkdir(exist_ok=True)
    page = visit.page
    page.screenshot(path=SHOTS / f"{name}.png")
    assert faults(page) == []
    page.evaluate("document.body.classList.add('dark')")
    settled(page)
    page.screenshot(path=SHOTS / f"{name}-dark.png")
    assert faults(page) == []
    page.evaluate("document.body.classList.remove('dark')")
    settled(page)
    page.set_viewport_size({"width": 390, "height": 844})
    page.screenshot(path=SHOTS / f"{name}-phone.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 900})


def faults(page: Page) -> list[str]:
    """What axe-core calls a violation in the tab that is shown; gradio's own inputs apart."""
    found = Axe().run(page, context=".bench", options={"runOnly": ["wcag2a", "wcag2aa"]})
    return [
        f"{one['id']}: {node['html'][:200]}"
        for one in found.response["violations"]
        for node in one["nodes"]
    ]


def compare(tab: Locator, *names: str) -> None:
    """Name papers, and have them compared."""
    for name in names:
        box = tab.locator("#compare-papers input")
        box.fill(name)
        box.press("Enter")
    tab.locator("h2").click()  # away from the choices
    tab.get_by_role("button", name="Compare", exact=True).click()


# --- Compare -------------------------------------------------------------------------------


def test_papers_that_are_found_and_named_are_compared_with_their_sentences(visit: Visit) -> None:
    tab = visit.tab("Compare")
    tab.get_by_label("Find papers").fill("offline imitation learning")
    tab.get_by_label("Find papers").press("Enter")
    tab.locator("#compare-found label", has_text="DexDICE").locator("input").check()
    expect(tab.locator("#compare-papers")).to_contain_text("DexDICE")
    columns = tab.locator("#compare-columns input")
    columns.fill("mobile robot")
    columns.press("Enter")
    compare(tab, "RepoScope")
    heads = tab.locator("thead th")
    expect(heads).to_have_text(
        ["paper", "method", "dataset", "metric", "result", "limitation", "mobile robot"]
    )
    expect(tab.locator("tbody th")).to_have_text(["DexDICE", "RepoScope"])
    own = tab.locator("tbody tr").nth(1).locator("td").last
    expect(own).to_have_text("not stated")
    expect(own.locator("a")).to_have_count(0)
    looked_at(visit, "compare")
    cell = tab.locator("tbody tr").first.locator("td").first
    expect(cell).to_contain_text("dual-expert imitation learning")
    cell.get_by_role("link", name="[1]").click()
    source = tab.locator("article:target")
    expect(source.locator("h4")).to_be_in_viewport()
    expect(source.locator("mark").first).to_contain_text("We introduce dual-expert imitation")
    source.get_by_role("link", name="back").click()
    expect(cell).to_be_in_viewport()


def test_a_table_is_saved_as_csv_markdown_and_json_and_runs_no_formula(visit: Visit) -> None:
    tab = visit.tab("Compare")
    compare(tab, "hostile.jsonl:1", "RepoScope")
    expect(tab.locator("tbody tr")).to_have_count(2)
    expect(tab.locator("tbody th").first).to_contain_text("<img src=http://evil.example/a")
    expect(tab.locator("td .katex").first).to_be_visible()
    for tag in ("script", "img", "b"):
        expect(tab.locator(f".result {tag}")).to_have_count(0)
    rows = list(csv.reader(visit.saved(tab.get_by_role("link", name="CSV")).splitlines()))
    assert rows[0][:4] == ["paper", "source", "method", "method: evidence"]
    assert rows[1][0].startswith("'=HYPERLINK(evil)")
    assert rows[2][0] == "RepoScope"
    assert "RepoScope, a repository documentation generation framework" in rows[2][3]
    assert "| RepoScope |" in visit.saved(tab.get_by_role("link", name="Markdown"))
    table = json.loads(visit.saved(tab.get_by_role("link", name="JSON")))["table"]
    assert [row["title"] for row in table["rows"]][1] == "RepoScope"


def test_the_papers_of_the_last_answer_are_added(visit: Visit) -> None:
    tab = visit.tab("Compare")
    add = tab.get_by_role("button", name="Add the papers of the last answer")
    add.click()
    expect(tab.get_by_role("status")).to_contain_text("No last answer cites a paper.")
    visit.page.get_by_role("tab", name="Ask").click()
    visit.page.fill("#question textarea", "What does RN-DPO normalize?")
    visit.page.keyboard.press("Enter")
    expect(visit.page.locator("#chat sup a").first).to_be_visible()
    expect(visit.page.locator("#status p")).to_have_count(0)
    visit.tab("Compare")
    add.click()
    expect(tab.locator("#compare-papers")).to_contain_text("RN-DPO")


def test_what_cannot_be_compared_is_told_and_the_page_goes_on(visit: Visit) -> None:
    tab = visit.tab("Compare")
    tab.get_by_role("button", name="Compare", exact=True).click()
    expect(tab.get_by_role("alert")).to_contain_text("Choose 2 to 12 papers")
    compare(tab, "RepoScope", "no such paper anywhere")
    expect(tab.get_by_role("alert")).to_contain_text("no such paper anywhere")
    tab.locator("#compare-papers input").press("Backspace")
    compare(tab, "DexDICE")
    expect(tab.locator("tbody th")).to_have_text(["RepoScope", "DexDICE"])
    expect(tab.get_by_role("alert")).to_have_count(0)


# --- Lists ---------------------------------------------------------------------------------


def test_a_list_shows_every_paper_with_its_reason_and_is_narrowed_and_saved(visit: Visit) -> None:
    tab = visit.tab("List")
    tab.get_by_label("Which papers?").fill("Which papers use reinforcement learning?")
    tab.get_by_label("Which papers?").press("Enter")
    items = tab.locator("ol.papers > li")
    expect(items.first).to_be_visible()
    found = items.count()
    expect(tab.locator("h3").first).to_contain_text(f"{found} papers found")
    expect(tab.locator("h3").first).to_contain_text("checked 58 of 58")
    expect(tab.locator("ol.papers > li sup a")).to_have_count(found)
    looked_at(visit, "list")
    third = items.nth(2).locator("strong").inner_text()
    items.nth(2).get_by_role("link").click()
    expect(tab.locator("article:target h4")).to_contain_text(third.rstrip("…"))
    expect(tab.locator("article:target mark")).to_be_in_viewport()
    tab.get_by_label("Show only those with").fill("RewardFlow")
    expect(items).to_have_count(1)
    entries = parse_bibtex(visit.saved(tab.get_by_role("link", name="BibTeX"))).entries
    assert [one["title"].strip("{}") for one in entries] == ["RewardFlow"]


def test_a_list_is_filtered_by_what_is_known_of_papers(visit: Visit) -> None:
    tab = visit.tab("List")
    tab.get_by_label("Years").fill("soon")
    tab.get_by_label("Which papers?").fill("quokka counting")
    tab.get_by_label("Which papers?").press("Enter")
    expect(tab.get_by_role("alert")).to_contain_text("'soon' is not a span of years")
    tab.get_by_label("Years").fill("2020-2022")
    tab.get_by_label("Which papers?").press("Enter")
    expect(tab.locator("ol.papers > li")).to_have_count(1)
    expect(tab.locator("ol.papers > li")).to_contain_text("2021 · ")


# --- Status --------------------------------------------------------------------------------


def test_status_tells_who_answers_what_is_held_and_what_answers_took(visit: Visit) -> None:
    visit.page.fill("#question textarea", "What does RN-DPO normalize?")
    visit.page.keyboard.press("Enter")
    expect(visit.page.locator("#chat sup a").first).to_be_visible()
    expect(visit.page.locator("#status p")).to_have_count(0)
    tab = visit.tab("Status")
    facts = tab.locator("dl.facts")
    for told in (
        "Quoting: no model writes",
        "Nothing leaves this machine.",
        "58 from 4 files",
        "all-minilm-l6-v2",
    ):
        expect(facts).to_contain_text(told)
    row = tab.locator("tbody tr", has_text="What does RN-DPO normalize?").first
    expect(row).to_contain_text("answered")
    expect(row).to_contain_text("free")
    expect(tab.locator("svg rect").first).to_be_attached()
    tab.get_by_role("button", name="Check everything").click()
    expect(tab.get_by_text("All is sound.")).to_be_visible(timeout=SLOW)
    expect(tab.locator("li.sound")).to_have_count(4)
    looked_at(visit, "status")


# --- Evaluate ------------------------------------------------------------------------------


def test_a_suite_is_run_gone_on_with_and_compared(visit: Visit, folder: Path) -> None:
    tab = visit.tab("Evaluate")
    suite = tab.locator("#evaluate-suite input")
    suite.fill(str(folder / "mine.jsonl"))
    suite.press("Enter")
    tab.get_by_role("button", name="Run", exact=True).click()
    expect(tab.locator("progress")).to_be_attached(timeout=SLOW)
    expect(tab.get_by_text("has ended: 2 of 2 questions")).to_be_visible(timeout=SLOW)
    tab.get_by_role("button", name="Show the report").click()
    report = tab.frame_locator("iframe.report")
    expect(report.locator("h1")).to_have_text("mine", timeout=SLOW)
    expect(report.locator("#means")).to_contain_text("correct")
    looked_at(visit, "evaluate")
    (run,) = (folder / "data" / "evals" / "runs").glob("mine-*")
    samples = run / SAMPLES
    samples.write_bytes(samples.read_bytes().splitlines(keepends=True)[0])  # as if it was stopped
    tab.get_by_role("button", name="Go on with it").click()
    expect(tab.locator("progress")).to_be_attached(timeout=SLOW)
    expect(tab.get_by_text("has ended: 2 of 2 questions")).to_be_visible(timeout=SLOW)
    assert len(samples.read_bytes().splitlines()) == 2
    tab.locator("#evaluate-other input").click()
    visit.page.get_by_role("option", name=re.compile("mine · quoting")).click()
    tab.get_by_role("button", name="Show the report").click()
    expect(report.locator("header")).to_contain_text(f"beside {run.name}", timeout=SLOW)


def test_a_run_is_stopped_there_is_one_at_a_time_and_faults_are_told(visit: Visit) -> None:
    tab = visit.tab("Evaluate")
    start = tab.get_by_role("button", name="Run", exact=True)
    tab.get_by_label("Questions (empty: all)").fill("many")
    start.click()
    expect(tab.get_by_role("alert")).to_contain_text("'many' is no number of questions")
    tab.get_by_label("Questions (empty: all)").fill("")
    start.click()
    expect(tab.locator("progress")).to_be_attached(timeout=SLOW)
    other = visit.page.context.new_page()
    other.goto(visit.page.url)
    other.get_by_role("tab", name="Evaluate").click()
    expect(other.locator("#evaluate progress")).to_be_attached(timeout=SLOW)  # it is seen there too
    other.close()
    tab.get_by_role("button", name="Stop").click()
    expect(tab.get_by_text("was stopped")).to_be_visible(timeout=SLOW)
    expect(start).to_be_visible()
