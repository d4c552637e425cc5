"""The tabs of papers, of uploads and of the map, in a real browser: one program, one browser."""

from __future__ import annotations

import json
import re
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import CHROMIUM, CHROMIUM_OPTIONS
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright
from test_page import Program, environment, serving

SHOTS = Path(__file__).parent / "screenshots"
HOSTILE = '<img src=x onerror="window.broken=1"><b>Quokka</b> {{value}} ${window.broken=1}'
ABSTRACT = (
    "The quokka benchmark <script>window.broken=1</script> measures zebra patience. "
    '<img src="http://evil.example/a" onerror="window.broken=1"> It has ten tasks.'
)


@pytest.fixture(scope="module")
def program(seeds_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A page over the seeds that takes files up to 1 MB."""
    data = shutil.copytree(seeds_index, tmp_path_factory.mktemp("tabs") / "data")
    settings = environment(RAG_DATA_DIR=str(data), RAG_MAX_UPLOAD_MB="1")
    with serving("--llm", "none", env=settings) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_OPTIONS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def page(browser: Browser, program: Program) -> Iterator[Page]:
    """One visit for the whole file; its console must stay free of errors."""
    opened = browser.new_page(viewport={"width": 1280, "height": 860})
    opened.set_default_timeout(30_000)
    expect.set_options(timeout=30_000)
    faults: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        refused = "upload" in message.location.get("url", "") or message.text == "Response"
        if message.type == "error" and not refused:
            faults.append(message.text)

    opened.on("console", hear)
    opened.on("pageerror", lambda error: faults.append(str(error)))
    outside: list[str] = []
    opened.on("request", lambda r: outside.append(r.url) if program.url not in r.url else None)
    opened.goto(program.url)
    yield opened
    assert opened.evaluate("window.broken") is None
    assert [url for url in outside if not url.startswith(("data:", "blob:"))] == []
    assert faults == []
    opened.close()


def shown(page: Page, tab: str) -> Page:
    page.get_by_role("tab", name=tab).click()
    back = page.get_by_role("button", name="Back to the table")
    if tab == "Papers":
        expect(page.locator("#rows table").or_(back).first).to_be_visible()
        if back.is_visible():
            back.click()
        expect(page.locator("#rows table")).to_be_visible()
    return page


def shot(page: Page, name: str) -> None:
    SHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")


def test_the_table_searches_sorts_and_turns_pages(page: Page) -> None:
    shown(page, "Papers")
    expect(page.locator("#papers .count p")).to_have_text("1 to 50 of 57 papers")
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#papers .count p")).to_have_text("51 to 57 of 57 papers")
    box = page.get_by_label("Words in title or abstract")
    box.fill("repository documentation")
    box.press("Enter")
    expect(page.locator("#rows tbody tr")).to_have_count(1)
    expect(page.locator("#rows")).to_contain_text("RepoScope")
    year = page.get_by_label("Year")
    year.fill("soon")
    year.press("Enter")
    expect(page.locator("#rows")).to_contain_text("is not a span of years")
    year.fill("")
    box.fill("")
    box.press("Enter")
    expect(page.locator("#papers .count p")).to_contain_text("of 57 papers")
    shot(page, "papers-table")


def test_a_paper_shows_its_abstract_a_cited_summary_and_similar_papers(page: Page) -> None:
    shown(page, "Papers")
    page.locator("#rows [data-open]", has_text="RepoScope").click()
    expect(page.locator("#paper .paper h2")).to_have_text("RepoScope")
    expect(page.locator("#paper .abstract").first).to_contain_text("Physico-Logical")
    expect(page.locator("#paper .similar li")).to_have_count(8)
    page.get_by_role("button", name="Summarise").click()
    expect(page.locator("#paper .summary .claim").first).to_be_visible()
    expect(page.locator("#paper .summary .cites").first).to_contain_text("[1]")
    shot(page, "papers-one")
    other = page.locator("#paper .similar [data-open]").first
    title = other.inner_text()
    other.click()
    expect(page.locator("#paper .paper h2")).to_contain_text(title[:20])
    page.get_by_role("button", name="Ask about it").click()
    expect(page.get_by_label("Question")).to_have_value(f"What is “{title}” about?")


def test_a_removal_can_be_undone(page: Page) -> None:
    shown(page, "Papers")
    page.get_by_role("button", name="Remove").click()
    expect(page.locator("#papers .told p")).to_contain_text("No paper is chosen")
    page.get_by_label("Choose RepoScope").check()
    page.get_by_role("button", name="Remove").click()
    expect(page.locator("#papers .told p")).to_contain_text("1 paper removed.")
    expect(page.locator("#papers .count p")).to_contain_text("of 56 papers")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#papers .count p")).to_contain_text("of 57 papers")
    expect(page.locator("#rows")).to_contain_text("RepoScope")


def test_a_selection_is_exported(page: Page) -> None:
    shown(page, "Papers")
    page.get_by_label("Choose RN-DPO").check()
    page.wait_for_timeout(500)  # until the choice has reached the server
    page.get_by_role("button", name="Export").click()
    link = page.get_by_role("button", name="Download papers.bib")
    expect(link).to_be_visible()
    with page.expect_download() as download:
        link.click()
    text = download.value.path().read_text(encoding="utf-8")
    assert text.count("@") == 1
    assert "RN-DPO" in text


def test_files_are_indexed_and_every_record_that_fails_is_told(page: Page, tmp_path: Path) -> None:
    shown(page, "Papers")
    page.get_by_role("button", name="Add papers").click()
    good = tmp_path / "new.jsonl"
    good.write_text(json.dumps({"title": HOSTILE, "abstract": ABSTRACT}) + "\n[1]\n")
    empty = tmp_path / "empty.txt"
    empty.touch()
    page.locator("#adding input[type=file]").set_input_files([good, empty])
    expect(page.locator("#adding tr")).to_have_count(2)
    page.get_by_role("button", name="Index them").click()
    report = page.locator("#report")
    expect(report).to_contain_text("2 files: 1 added")
    expect(report).to_contain_text("new.jsonl:2, record 2")
    expect(report).to_contain_text("empty.txt is empty")
    expect(page.locator("#papers .count p")).to_contain_text("of 58 papers")
    box = page.get_by_label("Words in title or abstract")
    box.fill("quokka patience")
    box.press("Enter")
    expect(page.locator("#rows")).to_contain_text("Quokka")
    box.fill("")
    box.press("Enter")
    expect(page.locator("#papers .count p")).to_contain_text("of 58 papers")
    shot(page, "papers-upload")
    large = tmp_path / "large.txt"
    large.write_bytes(b"x" * 1_200_000)
    page.locator("#adding input[type=file]").set_input_files(large)
    expect(page.get_by_text("exceed the maximum allowed size")).to_be_visible()
    page.get_by_role("button", name="Add papers").click()


def test_a_stranger_cannot_send_files(program: Program) -> None:
    body = (
        b"--b\r\nContent-Disposition: form-data; name=files; filename=a.txt\r\n\r\nx\r\n--b--\r\n"
    )
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    for path in ("/gradio_api/upload", "/gradio_api/process_recording"):
        request = urllib.request.Request(program.url + path, body, kind)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=10)
        assert refused.value.code in {403, 404}
        refused.value.close()


def test_the_map_shows_papers_by_pointer_and_by_keyboard(page: Page) -> None:
    shown(page, "Map")
    plot = page.locator("#map svg")
    expect(plot).to_be_visible()
    rows = json.loads(page.locator("#map .topic-map").get_attribute("data-map") or "")
    assert len(rows) == 58
    where = page.evaluate(
        """([x, y]) => { const svg = document.querySelector('#map svg');
        const p = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM()); return [p.x, p.y]; }""",
        rows[0][:2],
    )
    page.mouse.move(*where)
    tip = page.locator("#map .tip")
    expect(tip).to_be_visible()
    at = [row for row in rows if row[4] == tip.inner_text()]
    assert at, tip.inner_text()
    page.mouse.click(*where)
    expect(page.locator("#map .card h3")).to_have_text(tip.inner_text())
    page.get_by_role("button", name="Zoom in").click()
    assert plot.get_attribute("viewBox") != "0 0 1000 1000"
    page.get_by_role("button", name="All").click()
    assert plot.get_attribute("viewBox") == "0 0 1000 1000"

    summary = page.locator("#map summary").first
    summary.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#map li button").first).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    chosen = page.locator("#map li button").first.inner_text()
    expect(page.locator("#map .card h3")).to_have_text(chosen)
    shot(page, "map")
    page.locator("#map .card").get_by_role("button", name="Open").click()
    expect(page.locator("#paper .paper h2")).to_be_visible()
    shown(page, "Map")
    page.locator("#map .card").get_by_role("button", name="Ask about it").click()
    expect(page.get_by_label("Question")).to_have_value(f"What is “{chosen}” about?")


def test_the_hits_of_the_last_question_are_marked(page: Page) -> None:
    page.get_by_role("tab", name="Ask").click()
    box = page.get_by_label("Question")
    box.fill("What does RN-DPO normalize?")
    box.press("Enter")
    expect(page.locator("#chat .claim").first).to_be_visible()
    expect(page.locator("#status p")).to_have_count(0)
    shown(page, "Map")
    expect(page.locator("#map .rings")).to_have_attribute("d", re.compile(r"^M\d+ \d+h0"))
    expect(page.locator("#map .clusters")).to_contain_text("of the last answer")


@pytest.mark.parametrize("tab", ["Papers", "Map"])
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_a_phone_and_the_dark_show_all_of_it(
    browser: Browser, program: Program, tab: str, width: int, scheme: str
) -> None:
    visit = browser.new_page(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    visit.set_default_timeout(30_000)
    visit.goto(program.url)
    visit.get_by_role("tab", name=tab).click()
    expect(visit.locator("#rows table" if tab == "Papers" else "#map svg")).to_be_visible()
    shot(visit, f"{tab.lower()}-{width}-{scheme}")
    assert visit.evaluate("document.documentElement.scrollWidth") <= width
    assert serious(visit) == []
    visit.close()


def serious(page: Page) -> list[str]:
    """What axe-core finds that keeps people from using the page."""
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}"
        for one in found
        if one["impact"] in {"serious", "critical"}
    ]
