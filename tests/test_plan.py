"""Every case of the plan has a test or a reason, and the plugin notes what its tests gave."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command import ROOT, environment
from plan import DOCUMENT, Outcome, Plan, named, read_outcomes, read_plan, replaced, table

COUNTS = {"C": 22, "I": 30, "X": 18, "R": 10, "G": 28, "U": 16, "E": 12, "S": 6}


def test_every_case_has_a_test_or_a_reason() -> None:
    plan, tests = read_plan(), named()
    missing = set(plan.cases) - set(tests) - set(plan.uncovered)
    assert sorted(missing) == []
    assert sorted(set(plan.uncovered) & set(tests)) == [], "covered after all: remove the reason"
    assert sorted(set(tests) - set(plan.cases)) == [], "no such case"


def test_the_plan_is_whole() -> None:
    plan = read_plan()
    assert {letter: sum(code[0] == letter for code in plan.cases) for letter in COUNTS} == COUNTS
    assert set(plan.long) | set(plan.uncovered) <= set(plan.cases)
    assert all(why.endswith(".") for why in (*plan.cases.values(), *plan.uncovered.values()))


def test_the_document_names_every_case() -> None:
    text = DOCUMENT.read_text("utf-8")
    plan = read_plan()
    assert [
        code for code, promise in plan.cases.items() if f"| {code} | {promise} |" not in text
    ] == []
    assert [why for why in plan.uncovered.values() if why not in text] == []


TESTS = """
import pytest

@pytest.mark.case("X05", "I16")
def test_marked(): pass

def test_G09_G10_named(): assert False

@pytest.mark.parametrize("n", [pytest.param(1, id="E01 one"), pytest.param(2, id="two")])
def test_by_id(n): pytest.skip("today")

def test_of_no_case(): pass
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin at work on a file of tests; where it kept the outcomes."""
    folder = tmp_path_factory.mktemp("plan")
    (folder / "test_some.py").write_text(TESTS)
    (folder / "conftest.py").write_text(
        "from pathlib import Path\nfrom plan import Noting\n"
        "def pytest_configure(config):\n"
        "    noting = Noting(Path(__file__).with_name('kept.json'))\n"
        "    config.addinivalue_line('markers', 'case(*codes): cases')\n"
        "    config.pluginmanager.register(noting)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    env = environment(PYTHONPATH=str(ROOT / "tests"))
    subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False)
    return folder / "kept.json"


def test_outcomes_are_noted_by_marker_name_and_id(ran: Path) -> None:
    noted = {one.test.partition("::")[2]: (one.codes, one.result) for one in read_outcomes(ran)}
    assert noted == {
        "test_marked": (("I16", "X05"), "passed"),
        "test_G09_G10_named": (("G09", "G10"), "failed"),
        "test_by_id[E01 one]": (("E01",), "skipped"),
    }


def test_what_is_written_is_found_without_running(ran: Path) -> None:
    assert named(ran.parent) == {
        "X05": {"test_some.py::test_marked"},
        "I16": {"test_some.py::test_marked"},
        "G09": {"test_some.py::test_G09_G10_named"},
        "G10": {"test_some.py::test_G09_G10_named"},
        "E01": {"test_some.py::test_by_id"},
    }


def test_the_worst_result_of_a_case_is_shown() -> None:
    plan = Plan(
        {"X05": "It holds.", "X06": "So does this.", "X07": "And this."}, {}, {"X07": "No."}
    )
    outcomes = [
        Outcome("tests/test_a.py::one", ("X05", "X06"), "passed", "2026-01-02"),
        Outcome("tests/test_a.py::two", ("X05",), "failed", "2026-01-03"),
    ]
    made = table(plan, outcomes)
    assert "| X05 | It holds. | failed | 2 in test_a.py |" in made
    assert "| X06 | So does this. | passed | 1 in test_a.py |" in made
    assert "| X07 | And this. | not covered |  |" in made
    assert "Run on 2026-01-02 to 2026-01-03." in made
    assert "- X07: No." in made


def test_only_what_is_between_the_marks_is_made_anew() -> None:
    once = replaced(
        "before <!-- cases: made by `make plan` --> old <!-- end of the cases --> after", "new"
    )
    assert once.startswith("before ")
    assert once.endswith(" after")
    assert "old" not in once
    assert replaced(once, "new") == once


def test_the_kept_file_is_json(ran: Path) -> None:
    assert len(json.loads(ran.read_text())) == 3
