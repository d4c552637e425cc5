"""A run as a person reads it: a page in a real browser, Markdown, CSV, a terminal."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from browsing import CHROMIUM, CHROMIUM_OPTIONS
from command import evals
from fakes import ScriptedServer, body
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from playwright.sync_api import Browser, Page, expect, sync_playwright
from rich.console import Console
from runs import answered, report_of, run_folder, silent, suite_file

from evals.record import Opinion, Reply, Span
from evals.reporting import terminal
from evals.reporting.beside import Beside, beside, is_better, word_diff
from evals.reporting.markdown import markdown, text
from evals.reporting.page import page
from evals.reporting.plots import confident
from evals.reporting.report import Report
from evals.reporting.sheet import sheet
from evals.reporting.svg import Frame, shares, strip, up_to
from evals.scoring.measures import BY_NAME
from evals.scoring.probabilities import reliability

HOSTILE = (
    "</script><script>window.broken=1</script><img src='http://evil.example/a'"
    " onerror='window.broken=1'> | `x` </details></style><style>body{display:none}</style>"
    '"><svg onload=window.broken=1> {{ 7*7 }} @someone #12 [a](javascript:window.broken=1)'
)
OWLS: list[dict[str, Any]] = [
    {"question": "Where do owls nest?", "answers": ["barns"], "kind": "place"},
    {"question": "How many eggs?", "answers": ["seven"], "kind": "number"},
    {"question": "Who owns an owl?", "answerable": False, "kind": "none"},
    {"question": "What do owls eat?", "answers": ["mice"], "kind": "place"},
]
NEST = ("Owls nest in barns.", "We found that owls nest in barns and towers.")
EGGS = ("They lay six eggs.", "Owls lay seven eggs.")
MICE = ("They eat mice.", "They eat mice.")


@pytest.fixture
def owls(tmp_path: Path) -> Path:
    """Right, wrong, rightly silent, failed."""
    file = suite_file(tmp_path / "owls.jsonl", *OWLS)
    records = [
        answered("q1", [NEST]),
        answered("q2", [EGGS], labels=["contradict"]),
        silent("q3"),
        silent("q4", "failed", "the server is gone"),
    ]
    return run_folder(tmp_path / "first", file, records)


@pytest.fixture
def later(owls: Path) -> Path:
    """The same questions with a longer answer, a right one, a wrong one, and one that did not."""
    records = [
        answered("q1", [("Barn owls nest in barns.", NEST[1])]),
        answered("q2", [("They lay seven eggs.", EGGS[1])]),
        answered("q3", [("Nobody owns an owl.", "Nobody owns an owl.")]),
        answered("q4", [MICE]),
    ]
    return run_folder(owls.parent / "later", owls.parent / "owls.jsonl", records, writer="other")


# --- The page ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_OPTIONS)
        yield chromium
        chromium.close()


@dataclass
class Visit:
    """A reader of a page, and what the browser noticed meanwhile."""

    page: Page
    requests: list[str]
    complaints: list[str]

    @property
    def shown(self) -> list[str]:
        """The ids of the questions in the list."""
        rows = self.page.locator("details.sample:visible .id").all_inner_texts()
        return [row.split()[0].rstrip(",") for row in rows]


@contextmanager
def visiting(browser: Browser, content: str, folder: Path, **options: Any) -> Iterator[Visit]:
    file = folder / "page.html"
    file.write_text(content, encoding="utf-8")
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
    tab = context.new_page()
    visit = Visit(tab, [], [])
    tab.on("request", lambda request: visit.requests.append(request.url))
    tab.on("pageerror", lambda error: visit.complaints.append(str(error)))
    tab.on("dialog", lambda dialog: visit.complaints.append(dialog.message))
    tab.on("console", lambda line: visit.complaints.append(line.text))
    tab.goto(file.as_uri())
    try:
        yield visit
    finally:
        context.close()


def hostile_run(folder: Path) -> Report:
    """Every text that is not ours means harm."""
    question = {
        "question": HOSTILE,
        "kind": HOSTILE,
        "answers": [HOSTILE],
        "reference": HOSTILE,
        "note": HOSTILE,
        "paper_ids": [HOSTILE],
        "rubric": [{"name": HOSTILE, "criterion": HOSTILE}],
        "must_say": [r"</script><script>window.broken=1</script>"],
    }
    file = suite_file(
        folder / "hostile.jsonl",
        question,
        {"question": "Why?", "id": HOSTILE, "kind": "plain"},
    )
    record = answered("q1", [(HOSTILE, HOSTILE)], title=HOSTILE)
    record = replace(
        record,
        answer={
            **record.answer,
            "dropped": [{"text": HOSTILE, "reason": HOSTILE}],
            "note": HOSTILE,
        },
        gold={HOSTILE: "p1"},
        replies=(Reply("subject", HOSTILE, HOSTILE, HOSTILE, HOSTILE, 1, 1, 0.1),),
        opinions={"support": (Opinion(0, (1,), "support", 0.5, HOSTILE, (HOSTILE,)),)},
    )
    records = [record, silent(HOSTILE, "failed", HOSTILE)]
    return report_of(run_folder(folder / "hostile", file, records, writer=HOSTILE))


def test_hostile_texts_are_text_and_nothing_is_fetched(browser: Browser, tmp_path: Path) -> None:
    report = hostile_run(tmp_path)
    with visiting(browser, page(report, beside(report, report)), tmp_path) as visit:
        visit.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert visit.page.evaluate("window.broken") is None
        assert visit.page.locator("script").count() == 1
        assert visit.page.locator("img, iframe, object, embed, link").count() == 0
        assert visit.page.locator("style").count() == 1
        body_text = visit.page.locator("body").inner_text()
        assert body_text.count("window.broken=1") > 12
        assert "49" not in body_text
        expect(visit.page.locator("#s1 pre").last).to_have_text(HOSTILE)
        assert visit.complaints == []
        assert visit.requests == [(tmp_path / "page.html").as_uri()]


def test_what_would_slip_through_could_neither_run_nor_fetch(
    browser: Browser, owls: Path, tmp_path: Path
) -> None:
    with (
        ScriptedServer(body({})) as server,
        visiting(browser, page(report_of(owls)), tmp_path) as visit,
    ):
        injected = f"""
            <img src="http://{server.host}/a" onerror="window.broken=1">
            <p id="styled" style="background: url(http://{server.host}/b); color: red">x</p>
            <link rel="stylesheet" href="http://{server.host}/c"><iframe src="http://{server.host}">
        """
        visit.page.evaluate("html => document.body.insertAdjacentHTML('beforeend', html)", injected)
        visit.page.evaluate(
            "() => { const s = document.createElement('script');"
            " s.textContent = 'window.broken = 1'; document.body.append(s); }"
        )
        visit.page.wait_for_timeout(200)
        assert visit.page.evaluate("window.broken") is None
        assert server.history == []
        colour = visit.page.evaluate("getComputedStyle(document.getElementById('styled')).color")
        assert colour != "rgb(255, 0, 0)"


def test_a_question_opens_to_all_that_happened(
    browser: Browser, owls: Path, tmp_path: Path
) -> None:
    with visiting(browser, page(report_of(owls)), tmp_path) as visit:
        row = visit.page.locator("#s2")
        expect(row.locator(".body")).to_be_hidden()
        row.locator("summary").first.focus()
        visit.page.keyboard.press("Enter")
        expect(row).to_contain_text("seven")
        expect(row.locator(".claim")).to_contain_text("They lay six eggs. [1]")
        expect(row.locator(".claim blockquote")).to_contain_text("Owls lay seven eggs.")
        expect(row.locator(".claim li")).to_have_text("judge support on [1]: contradict")
        visit.page.locator("#failures a").click()
        expect(visit.page.locator("#s4 .body")).to_contain_text("the server is gone")
        assert visit.complaints == []


def test_what_the_product_tells_of_its_own_answer_stands_by_it(
    browser: Browser, tmp_path: Path
) -> None:
    file = suite_file(tmp_path / "s.jsonl", {"question": "Do owls nest?"}, {"question": "When?"})
    record = answered("q1", [NEST])
    (claim,) = record.answer["claims"]
    partly = {**claim, "verdict": "partly", "probability": 0.61, "reason": "“barns” is missing"}
    told = {"kind": "yes_no", "confidence": 0.83, "coverage": {"checked": 56, "total": 57}}
    record = replace(record, answer={**record.answer, **told, "claims": [partly]})
    silence = silent("q2")
    silence = replace(silence, answer={**silence.answer, "missing": "No paper gives the month."})
    report = report_of(run_folder(tmp_path / "run", file, [record, silence]))
    with visiting(browser, page(report), tmp_path) as visit:
        answer = visit.page.locator("#s1 .body")
        expect(answer).to_contain_text("taken for yes/no · confidence 0.83 · 56 of 57 papers")
        expect(answer.locator(".claim > p").first).to_contain_text("partly (0.61) “barns” is")
        expect(visit.page.locator("#s2")).to_contain_text("No paper gives the month.")


def test_the_table_of_kinds_fits_a_laptop(browser: Browser, tmp_path: Path) -> None:
    kinds = [f"unanswerable {n}" for n in range(6)]
    known = {"answers": ["5"], "paper_ids": ["p1"], "evidence": []}
    asked = [{"question": f"Q{n}?", "kind": kind, **known} for n, kind in enumerate(kinds)]
    file = suite_file(tmp_path / "s.jsonl", *asked)
    gold: dict[str, Any] = {"gold": {"p1": "p1"}, "gold_evidence": (Span("p1", 0, 5, "Owls "),)}
    records = [answered(f"q{n}", [NEST], **gold) for n in range(1, 7)]
    report = report_of(run_folder(tmp_path / "run", file, records))
    assert len([name for name in report.summary.means if BY_NAME[name].unit == "share"]) >= 14
    with visiting(browser, page(report), tmp_path) as visit:
        table = visit.page.locator("#kinds .scroll")
        assert table.evaluate("one => one.scrollWidth <= one.clientWidth")
        expect(table.locator("tbody tr").first.locator("td").first).to_have_text("1")


def test_the_list_is_searched_and_filtered(browser: Browser, owls: Path, tmp_path: Path) -> None:
    with visiting(browser, page(report_of(owls)), tmp_path) as visit:
        form = visit.page.locator("#filter")
        assert visit.shown == ["q1", "q2", "q3", "q4"]
        form.locator("[name=text]").fill("SEVEN eggs")
        assert visit.shown == ["q2"]
        expect(visit.page.locator("#count")).to_have_text("1 of 4 shown")
        form.locator("button").click()
        form.locator("[name=kind]").select_option("place")
        assert visit.shown == ["q1", "q4"]
        form.locator("[name=outcome]").select_option("failed")
        assert visit.shown == ["q4"]
        form.locator("button").click()
        form.locator("[name=measure]").select_option("correct")
        assert visit.shown == ["q2"]
        form.locator("[name=below]").fill("1.5")
        assert visit.shown == ["q1", "q2"]


def test_a_link_to_a_question_that_is_filtered_away_shows_it(
    browser: Browser, owls: Path, tmp_path: Path
) -> None:
    with visiting(browser, page(report_of(owls)), tmp_path) as visit:
        visit.page.locator("[name=kind]").select_option("none")
        visit.page.locator("#failures a").click()
        expect(visit.page.locator("#s4 .body")).to_be_visible()
        assert visit.shown == ["q1", "q2", "q3", "q4"]


def test_beside_another_run_answers_differ_word_by_word(
    browser: Browser, owls: Path, later: Path, tmp_path: Path
) -> None:
    report = report_of(later)
    with visiting(browser, page(report, beside(report, report_of(owls))), tmp_path) as visit:
        first, second = visit.page.locator("#s1"), visit.page.locator("#s2")
        visit.page.evaluate("document.querySelectorAll('.sample').forEach(d => d.open = true)")
        assert first.locator("del").all_inner_texts() == ["Owls"]
        assert first.locator("ins").all_inner_texts() == ["Barn owls"]
        assert second.locator("del").all_inner_texts() == ["six"]
        assert second.locator("ins").all_inner_texts() == ["seven"]
        expect(visit.page.locator("#s4")).to_contain_text("It was failed: the server is gone.")
        change = visit.page.locator("[name=change]")
        change.select_option("better")
        assert visit.shown == ["q2"]
        change.select_option("worse")
        assert visit.shown == ["q3"]
        change.select_option("words only")
        assert visit.shown == ["q1", "q4"]
        expect(visit.page.locator("#means")).to_contain_text("writer: quoting, other")


CONTRAST = r"""
() => {
  const curve = (c) => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
  const parse = (text) => text.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) =>
    .2126 * curve(r / 255) + .7152 * curve(g / 255) + .0722 * curve(b / 255);
  const over = ([r, g, b, a = 1], under) =>
    [r, g, b].map((value, i) => value * a + under[i] * (1 - a));
  const ground = (node) => {
    if (!node) return [255, 255, 255];
    const own = parse(getComputedStyle(node).backgroundColor);
    return own[3] === 0 ? ground(node.parentElement) : over(own, ground(node.parentElement));
  };
  const faults = [];
  for (const node of document.querySelectorAll("body *")) {
    const words = [...node.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!words || ["SCRIPT", "STYLE", "OPTION", "title", "desc"].includes(node.tagName)) continue;
    const style = getComputedStyle(node);
    const ink = node.tagName === "text" ? style.fill : style.color;
    const [a, b] = [light(parse(ink)), light(ground(node))].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) faults.push(`${node.tagName}.${node.className} ${ink} ${ratio.toFixed(2)}`);
  }
  return faults;
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_is_legible_in_light_and_dark_at_a_phones_width(
    browser: Browser, owls: Path, later: Path, tmp_path: Path, width: int, scheme: str
) -> None:
    report = report_of(later)
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    content = page(report, beside(report, report_of(owls)))
    with visiting(browser, content, tmp_path, **options) as visit:
        visit.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert visit.page.evaluate("document.documentElement.scrollWidth") == width
        assert visit.page.evaluate(CONTRAST) == []


def test_it_reads_without_a_script(browser: Browser, owls: Path, tmp_path: Path) -> None:
    with visiting(browser, page(report_of(owls)), tmp_path, java_script_enabled=False) as visit:
        expect(visit.page.locator("#filter")).to_be_hidden()
        visit.page.locator("#s1 summary").first.click()
        expect(visit.page.locator("#s1 .claim")).to_contain_text("Owls nest in barns. [1]")


def test_every_plot_has_a_name_and_its_figures_in_a_table(
    browser: Browser, owls: Path, tmp_path: Path
) -> None:
    with visiting(browser, page(confidently(owls)), tmp_path) as visit:
        plots = visit.page.locator("svg.plot")
        assert plots.count() == 3
        for number in range(3):
            plot = plots.nth(number)
            assert plot.locator("> title").count() == plot.locator("> desc").count() == 1
            assert plot.locator("xpath=..").locator("table tbody tr").count() >= 1
        expect(visit.page.locator("#calibration")).to_contain_text("calibration error 0.450")


def confidently(run: Path) -> Report:
    """The report with the writer's confidence: .9 where it is right, .8 and .6 where not."""
    report = report_of(run)
    given = {"q1": 0.9, "q2": 0.8}
    scored = []
    for one in report.scored:
        record = one.record
        if record is not None and one.item.id in given:
            told = {**record.answer, "confidence": given[one.item.id]}
            record = replace(record, answer=told)
        scored.append(replace(one, record=record))
    return replace(report, scored=tuple(scored))


def test_confidence_is_the_writers_or_the_least_of_the_judge(owls: Path) -> None:
    assert confident(report_of(owls)) == []
    assert confident(confidently(owls)) == [(0.9, True), (0.8, False)]
    said = (Opinion(0, (1,), "support", 0.7), Opinion(0, (1, 2), "support", 0.4))
    report = report_of(owls)
    first = report.scored[0]
    assert first.record is not None
    judged = replace(first, record=replace(first.record, opinions={"support": said}))
    assert confident(replace(report, scored=(judged,))) == [(0.4, True)]


def test_what_judges_say_of_a_rubric_stands_by_its_items(browser: Browser, tmp_path: Path) -> None:
    rubric = [{"name": "names barns", "criterion": "c"}, {"name": "names towers", "criterion": "c"}]
    file = suite_file(tmp_path / "s.jsonl", {"question": "Where?", "rubric": rubric})
    record = answered("q1", [NEST])
    said = (Opinion(0, (), "support"), Opinion(1, (), "neither", None, "no tower"))
    record = replace(record, opinions={**record.opinions, "support/rubric": said})
    report = report_of(run_folder(tmp_path / "run", file, [record]))
    with visiting(browser, page(report), tmp_path) as visit:
        expect(visit.page.locator("#s1 .claim li")).to_have_text(["judge support on [1]: support"])
        items = visit.page.locator("#s1 h3", has_text="By the rubric").locator("+ ul li")
        expect(items).to_have_text(
            [
                "names barns: judge support: support",
                "names towers: judge support: neither, no tower",
            ]
        )


def test_a_page_of_a_hundred_questions_is_below_a_megabyte(tmp_path: Path) -> None:
    sentences = [
        (f"{n} " + "owls in barns " * 11, f"{n} " + "owls in barns " * 12) for n in range(12)
    ]
    items = [{"question": f"What of owl {n}?", "answers": ["barns"]} for n in range(106)]
    file = suite_file(tmp_path / "many.jsonl", *items)
    all_given = answered("q", sentences).evidence
    records = [replace(answered(f"q{n}", sentences[:4]), evidence=all_given) for n in range(1, 107)]
    report = report_of(run_folder(tmp_path / "many", file, records))
    assert len(page(report).encode()) < 1_000_000


# --- What changed --------------------------------------------------------------------------


def test_only_questions_that_both_runs_answered_are_compared(owls: Path, later: Path) -> None:
    found = beside(report_of(later), report_of(owls))
    assert (found.comparison.paired, found.comparison.unpaired.failed_before) == (3, ("q4",))
    correct = found.change("correct")
    assert correct is not None
    assert (correct.before, correct.after, correct.difference.n) == (0.5, 1.0, 2)
    assert [pair.item for pair in correct.wins] == ["q2"]
    assert found.change("rubric") is None
    assert found.settings == ("writer: quoting, other",)


@pytest.mark.parametrize(
    ("name", "by", "expected"),
    [("correct", 0.1, True), ("correct", -0.1, False), ("seconds", 0.1, False)],
)
def test_which_way_is_better(name: str, by: float, expected: bool) -> None:
    assert is_better(name, by) is expected


@settings(deadline=None)
@given(st.text(alphabet="ab ,.[]1é\n", max_size=40), st.text(alphabet="ab ,.[]1é\n", max_size=40))
def test_a_word_diff_loses_nothing(before: str, now: str) -> None:
    pieces = list(word_diff(before, now))
    assert "".join(text for kind, text in pieces if kind != "new") == before
    assert "".join(text for kind, text in pieces if kind != "gone") == now


def test_a_word_diff_keeps_words_whole() -> None:
    assert list(word_diff("It gains 12 points.", "It gains 15 points.")) == [
        ("same", "It gains "),
        ("gone", "12"),
        ("new", "15"),
        ("same", " points."),
    ]


# --- Markdown and CSV ----------------------------------------------------------------------


def cells_of(document: str) -> list[list[list[str]]]:
    """The texts of the cells of each table, as another program reads them."""
    tables: list[list[list[str]]] = []
    for token in MarkdownIt("commonmark").enable("table").parse(document):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type == "inline" and tables and len(tables[-1][-1:]) and token.level > 3:
            tables[-1][-1].append("".join(child.content for child in token.children or ()))
    return tables


def test_markdown_tells_means_and_failures(owls: Path) -> None:
    written = markdown(report_of(owls))
    assert written.startswith(
        "### ⚠️ INVALID, 25% failed. owls: 4 asked: 2 scored, 1 abstained, 1 failed"
    )
    means, failed = cells_of(written)
    assert ["correct", "0.50", "[0.00, 1.00]", "2"] in means
    assert failed[1] == ["q4 What do owls eat?", "the server is gone"]


def test_markdown_tells_what_changed(owls: Path, later: Path) -> None:
    report = report_of(later)
    differences, worse, better = cells_of(markdown(report, beside(report, report_of(owls))))
    correct = next(row for row in differences if row[0] == "correct")
    assert correct[:4] == ["correct", "0.50", "1.00", "+0.500"]
    assert correct[5:] == ["1 better, 0 worse", "2", "cannot tell"]
    assert worse[1:] == [["q3 Who owns an owl?", "decided", "1.00 → 0.00"]]
    assert ["q2 How many eggs?", "correct", "0.00 → 1.00"] in better


def test_hostile_texts_make_neither_cells_nor_links_nor_mentions(tmp_path: Path) -> None:
    written = markdown(hostile_run(tmp_path))
    html = MarkdownIt("commonmark").enable("table").render(written)
    assert not re.search(
        r"<(?!/?(?:h3|p|table|thead|tbody|tr|th|td|strong|details|summary)\b)", html
    )
    assert "javascript:window" not in "".join(re.findall(r'href="([^"]*)"', html))
    *_, failed = cells_of(written)
    assert [len(row) for row in failed] == [2, 2]
    assert not re.search(r"[@#](?=[a-z]|12)", written)


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_one_cell_that_says_it(value: str) -> None:
    html = MarkdownIt("commonmark").enable("table").render(f"| a |\n| --- |\n| x{text(value)}x |")
    assert html.count("<td") == 1
    assert not re.search(r"<(?!/?(?:table|thead|tbody|tr|th|td)\b)", html)


def test_csv_has_a_row_for_each_asking_and_no_formula(tmp_path: Path) -> None:
    file = suite_file(
        tmp_path / "s.jsonl",
        {"id": "=cmd()", "question": "A?", "kind": "@SUM(A1)", "answers": ["barns"]},
        {"id": '-2+3, "x"\n', "question": "B?", "kind": "place"},
        {"id": "fine", "question": "C?"},
    )
    records = [answered("=cmd()", [NEST]), silent('-2+3, "x"\n', "failed", " +1\tgone")]
    report = report_of(run_folder(tmp_path / "run", file, records))
    first, second, third = csv.DictReader(io.StringIO(sheet(report), newline=""))
    assert (first["id"], first["kind"], first["outcome"]) == ("'=cmd()", "'@SUM(A1)", "scored")
    assert (first["correct"], first["first claim"]) == ("1", "0.5")
    assert (second["id"], second["reason"]) == ('\'-2+3, "x"\n', "' +1\tgone")
    assert (second["outcome"], second["correct"]) == ("failed", "")
    assert (third["id"], third["outcome"]) == ("fine", "skipped")


# --- The terminal and the command ----------------------------------------------------------


def test_the_summary_fits_a_screen_of_a_hundred_columns(tmp_path: Path) -> None:
    kinds = "named paraphrase numeric acronym multi unanswerable summary noisy opening followup"
    items = [
        {"question": "Owls?", "answers": ["barns"], "paper_ids": ["p1"], "kind": kind}
        for kind in kinds.split()
    ]
    file = suite_file(tmp_path / "s.jsonl", *items)
    records = [
        replace(answered(f"q{n}", [NEST]), gold={"p1": "p1"}) for n in range(1, len(items) + 1)
    ]
    report = report_of(run_folder(tmp_path / "run", file, records))
    shown = drawn(report)
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 100
    assert len(shown.splitlines()) <= 40
    assert all(kind in shown for kind in kinds.split())
    assert "token F1" not in shown
    every = drawn(report, everything=True)
    assert "token F1" in every
    assert max(map(len, every.splitlines())) <= 100


def test_what_changed_fits_a_hundred_columns(owls: Path, later: Path) -> None:
    report = report_of(later)
    shown = drawn(report, beside(report, report_of(owls)))
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 100
    assert "correct: 1 better, 0 worse, 1 equal" in shown
    assert "failed before: 1: q4" in shown
    assert "token F1" not in shown


def drawn(report: Report, since: Beside | None = None, *, everything: bool = False) -> str:
    console = Console(width=100, file=io.StringIO(), force_terminal=False)
    for table in terminal.tables(report, since, everything=everything):
        console.print(table)
    for line in terminal.lines(report, since, everything=everything):
        console.print(line, markup=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_command_writes_every_form(owls: Path, later: Path, tmp_path: Path) -> None:
    names = {"--html": "r.html", "--markdown": "r.md", "--csv": "r.csv"}
    wanted = [part for flag, name in names.items() for part in (flag, tmp_path / name)]
    ran = evals("report", later, "--with", owls, "--data-dir", tmp_path, "--json", *wanted)
    assert (ran.code, ran.err) == (0, "")
    told = json.loads(ran.out)
    correct = told["beside"]["changes"]["correct"]
    assert (correct["before"], correct["after"], len(correct["wins"])) == (0.5, 1.0, 1)
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")
    assert "Beside first" in (tmp_path / "r.md").read_text()
    assert (tmp_path / "r.csv").read_text().count("\n") == 5


@pytest.mark.case("E03")
def test_a_run_with_many_failures_is_reported_and_invalid(owls: Path, tmp_path: Path) -> None:
    ran = evals("report", owls, "--data-dir", tmp_path, "--html", tmp_path / "r.html")
    assert ran.code == 1
    assert ran.out.startswith("INVALID, 25% failed. owls: 4 asked")
    assert "failed: q4: the server is gone" in ran.out
    assert "not to be believed" in (tmp_path / "r.html").read_text()
    again = evals("report", owls, "--data-dir", tmp_path, "--html", tmp_path / "r.html")
    assert again.code == 2
    assert "r.html is there already. Name another, or use --force." in again.error_line
    forced = evals("report", owls, "--data-dir", tmp_path, "--html", tmp_path / "r.html", "--force")
    assert forced.code == 1  # of the failures


def test_what_cannot_be_reported_ends_in_one_line(owls: Path, tmp_path: Path) -> None:
    other = suite_file(tmp_path / "others.jsonl", *OWLS[:2])
    run = run_folder(tmp_path / "others", other, [answered("q1", [NEST]), answered("q2", [EGGS])])
    missing = tmp_path / "no" / "r.html"
    for arguments, code, words in (
        ((tmp_path / "nothing",), 2, "holds no run"),
        ((run, "--with", owls), 2, "The runs are of different questions"),
        ((run, "--with", tmp_path), 2, "holds no run"),
        ((run, "--judge", "nobody"), 2, "no judge nobody (it has support)"),
        ((run, "--html", missing), 5, f"{missing} cannot be written (No such file"),
    ):
        ran = evals("report", *arguments, "--data-dir", tmp_path)
        assert (ran.code, ran.out) == (code, "")
        assert words in ran.error_line


# --- Plots ---------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.floats(1e-6, 1e9))
def test_an_axis_reaches_its_largest_value_in_a_few_round_steps(largest: float) -> None:
    axis = up_to("x", largest)
    assert axis.high >= largest * (1 - 1e-9)
    assert axis.high < 2 * largest * (1 + 1e-9)
    assert 3 <= len(axis.ticks) <= 7


def test_marks_stand_where_their_values_are() -> None:
    frame = Frame(shares("coverage"), up_to("risk", 2.0))
    drawn = frame.draw("A & B", "about", frame.line([(0, 0), (0.5, 1.0), (1, 2.0)]))
    line = ET.fromstring(drawn).find("polyline")
    assert line is not None
    start, middle, end = (tuple(map(float, p.split(","))) for p in line.attrib["points"].split())
    assert middle == ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    assert start[0] < end[0]
    assert start[1] > end[1]  # a page counts downwards


def test_steps_keep_their_height_until_the_next() -> None:
    frame = Frame(shares("x"), shares("y"))
    line = ET.fromstring(frame.steps([(0, 0), (0.5, 1.0)]))
    corners = [tuple(map(float, p.split(","))) for p in line.attrib["points"].split()]
    assert len(corners) == 3
    assert corners[0][1] == corners[1][1]
    assert corners[1][0] == corners[2][0]


def test_an_interval_is_drawn_from_end_to_end() -> None:
    drawn = ET.fromstring(strip([(0.5, 0.25, 0.75)], "<told>"))
    interval = [line for line in drawn.iter("line") if "series-0" in line.attrib["class"]]
    dot = drawn.find("circle")
    assert dot is not None
    left, right = float(interval[0].attrib["x1"]), float(interval[0].attrib["x2"])
    assert float(dot.attrib["cx"]) == (left + right) / 2 == 80
    assert right - left == 75  # half of the line
    assert drawn.findtext("title") == "<told>"


def test_reliability_by_hand() -> None:
    low, high = reliability([0.95, 0.91, 0.2, 0.29, 1.0], [True, False, False, True, True])
    assert (low.low, low.high, low.n, low.positive) == (0.2, 0.3, 2, 0.5)
    assert low.probability == pytest.approx(0.245)
    assert (high.low, high.high, high.n) == (0.9, 1.0, 3)
    assert (high.probability, high.positive) == pytest.approx((2.86 / 3, 2 / 3))


@pytest.mark.parametrize("confidences", [[1.1], [-0.1], [0.5, 0.5], []])
def test_what_is_no_probability_is_refused(confidences: list[float]) -> None:
    with pytest.raises(ValueError, match="probabilities"):
        reliability(confidences, [True])
