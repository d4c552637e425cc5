"""The plan of cases, who tests each, and what the last runs gave.

A pytest plugin notes the outcome of every test that belongs to a case; `python tests/plan.py`
writes the table of docs/reliability.md from that. Outcomes of several runs are joined: a test's
last outcome counts, with the day on which it was had.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
PLAN = HERE / "plan.toml"
DOCUMENT = HERE.parent / "docs/reliability.md"
KEPT = HERE.parent / ".pytest_cache/plan.json"
BEGIN, END = "<!-- cases: made by `make plan` -->", "<!-- end of the cases -->"
CODE = re.compile(r"(?<![A-Za-z0-9])([CIXRGUES]\d\d)(?![0-9])")
IN_NAME = re.compile(r"(?<=_)[CIXRGUES]\d\d(?=_)")
GROUPS = {
    "C": "The command line and its settings",
    "I": "Taking in papers",
    "X": "The index",
    "R": "Finding",
    "G": "Writing",
    "U": "The page",
    "E": "Evaluation",
    "S": "Supply and platform",
}
RANK = ("failed", "skipped", "passed")  # the worst of a case's tests is its result


@dataclass(frozen=True)
class Plan:
    """`cases` has a promise for each code, `long` what only torture shows, `uncovered` reasons."""

    cases: Mapping[str, str]
    long: Mapping[str, str]
    uncovered: Mapping[str, str]


@dataclass(frozen=True)
class Outcome:
    """What a test gave when it last ran: passed, failed or skipped."""

    test: str
    codes: tuple[str, ...]
    result: str
    day: str


def read_plan() -> Plan:
    """The plan as it is written."""
    read = tomllib.loads(PLAN.read_text("utf-8"))
    return Plan(read["cases"], read["long"], read["uncovered"])


# --- Who tests what, as it is written


def named(folder: Path = HERE) -> dict[str, set[str]]:
    """Code: the test functions that bear it in name, marker or the ids of their parameters."""
    found: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("test_*.py")):
        for test, code in _of_module(ast.parse(path.read_text("utf-8"))):
            found.setdefault(code, set()).add(f"{path.name}::{test}")
    return found


def _of_module(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            decorated = [code for one in node.decorator_list for code in _of_decorator(one)]
            for code in {*IN_NAME.findall(node.name), *decorated}:
                yield node.name, code
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            for code in re.findall(r"^Test([CIXRGUES]\d\d)", node.targets[0].id):
                yield node.targets[0].id, code


def _of_decorator(node: ast.expr) -> Iterator[str]:
    """The codes of `case(...)`, and those at the beginning of a parameter's id."""
    for call in ast.walk(node):
        if not isinstance(call, ast.Call):
            continue
        is_case = isinstance(call.func, ast.Attribute) and call.func.attr == "case"
        given: list[ast.expr] = [k.value for k in call.keywords if k.arg in {"id", "ids"}]
        for text in _texts(call.args if is_case else given):
            yield from CODE.findall(text)[: None if is_case else 1]


def _texts(nodes: Iterable[ast.expr]) -> Iterator[str]:
    for node in nodes:
        for one in ast.walk(node):
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                yield one.value


# --- The plugin: what a run gave


class Noting:
    """Notes outcomes while pytest runs and joins them to those of earlier runs at its end."""

    def __init__(self, kept: Path = KEPT) -> None:
        self._kept = kept
        self._codes: dict[str, tuple[str, ...]] = {}
        self._results: dict[str, str] = {}

    def pytest_collection_modifyitems(self, items: Sequence[pytest.Item]) -> None:
        for item in items:
            if codes := codes_of(item):
                self._codes[item.nodeid] = codes

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.nodeid in self._codes and (report.when == "call" or not report.passed):
            before = self._results.get(report.nodeid, "passed")
            self._results[report.nodeid] = min(before, report.outcome, key=RANK.index)

    def pytest_sessionfinish(self) -> None:
        today = datetime.now(tz=UTC).date().isoformat()
        new = [Outcome(t, self._codes[t], r, today) for t, r in self._results.items()]
        if new:
            keep(new, set(self._codes), self._kept)


def codes_of(item: pytest.Item) -> tuple[str, ...]:
    """The cases that a test belongs to, by marker, name and the id of its parameters."""
    marked = [str(code) for mark in item.iter_markers("case") for code in mark.args]
    name, _, parameters = item.nodeid.partition("::")[2].partition("[")
    by_name = IN_NAME.findall(f"_{name}_") + re.findall(r"Test([CIXRGUES]\d\d)", name)
    return tuple(sorted({*marked, *by_name, *CODE.findall(parameters)[:2]}))


def keep(new: Iterable[Outcome], collected: set[str], kept: Path) -> None:
    """Join outcomes to the kept ones; of a file that was run whole, tests that are gone go."""
    files = {test.partition("::")[0] for test in collected}
    before = {one.test: one for one in read_outcomes(kept)}
    stays = {t: o for t, o in before.items() if t in collected or t.partition("::")[0] not in files}
    joined = stays | {one.test: one for one in new}
    kept.parent.mkdir(exist_ok=True)
    shown = [vars(joined[test]) for test in sorted(joined)]
    kept.write_text(json.dumps(shown, indent=0), "utf-8")


def read_outcomes(kept: Path = KEPT) -> list[Outcome]:
    """What earlier runs gave; nothing where there were none."""
    if not kept.is_file():
        return []
    read: list[dict[str, Any]] = json.loads(kept.read_text("utf-8"))
    return [Outcome(o["test"], tuple(o["codes"]), o["result"], o["day"]) for o in read]


# --- The document


def table(plan: Plan, outcomes: Sequence[Outcome]) -> str:
    """Every case with its promise, its result and its tests, and what is not covered."""
    lines = [_summary(plan, outcomes)]
    for letter, title in GROUPS.items():
        lines += ["", f"### {title}", "", "| | promise | result | tests |", "|---|---|---|---|"]
        for code, promise in plan.cases.items():
            if code.startswith(letter):
                of_case = [one for one in outcomes if code in one.codes]
                lines.append(f"| {code} | {promise} | {_result(code, of_case, plan)} |")
    return "\n".join([*lines, "", *_not_covered(plan)])


def _summary(plan: Plan, outcomes: Sequence[Outcome]) -> str:
    shown = {code for one in outcomes if one.result == "passed" for code in one.codes}
    days = sorted({one.day for one in outcomes})
    when = f" Run on {' to '.join(sorted({days[0], days[-1]}))}." if days else ""
    held = len(shown & set(plan.cases))
    return (
        f"{held} of {len(plan.cases)} cases are held by {len(outcomes):,} tests"
        f" (a test with its parameters counts as often as it ran);"
        f" {len(plan.uncovered)} are not covered, and why stands below.{when}"
    )


def _result(code: str, outcomes: Sequence[Outcome], plan: Plan) -> str:
    if code in plan.uncovered:
        return "not covered | "
    if not outcomes:
        return "not run | "
    worst = min((one.result for one in outcomes), key=RANK.index)
    if worst == "skipped" and any(one.result == "passed" for one in outcomes):
        worst = "passed, some skipped"
    files = sorted({one.test.partition("::")[0].removeprefix("tests/") for one in outcomes})
    return f"{worst} | {len(outcomes)} in {', '.join(files)}"


def _not_covered(plan: Plan) -> Iterator[str]:
    yield from ("### Shown in full by `make torture` only", "")
    yield from (f"- {code}: {what}." for code, what in plan.long.items())
    yield from ("", "### Not covered, and why", "")
    yield from (f"- {code}: {why}" for code, why in plan.uncovered.items())


def replaced(document: str, made: str) -> str:
    """The document with what is between its marks made anew."""
    head, _, rest = document.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{made}\n\n{END}{tail}"


def main() -> int:
    """Write the table into the document."""
    made = table(read_plan(), read_outcomes())
    DOCUMENT.write_text(replaced(DOCUMENT.read_text("utf-8"), made), "utf-8")
    sys.stdout.write(f"{DOCUMENT.name}: {made.partition(chr(10))[0]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
