"""A gate in the tests of a project: `gate.holds("mine.jsonl", baseline="mine.json")`.

Loaded with `-p evals.pytest_plugin`, or by `pytest_plugins` in a conftest. A suite is asked once in
a session however many tests hold it; with `--evals-suite NAME` only the named suites are asked, and
tests of others are skipped.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from evals.gating import Gate
    from evals.sheet import Sheet

_OPTION = "--evals-suite"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of this plugin."""
    parser.getgroup("evals").addoption(
        _OPTION,
        action="append",
        default=[],
        metavar="NAME",
        help="ask only this suite, by the name or file that the test gives; may be given again",
    )


class Suites:
    """Asks suites and holds their runs against baselines."""

    def __init__(self, folder: Path, wanted: Sequence[str]) -> None:
        """`folder` is where runs are made, `wanted` the suites to be asked; none: all."""
        self._folder = folder
        self._wanted = tuple(wanted)
        self._runs: dict[tuple[str, ...], Path] = {}

    def holds(
        self,
        suite: str | Path,
        baseline: str | Path,
        *,
        margin: str = "0.03",
        measures: Sequence[str] = (),
        arguments: Sequence[str] = ("--llm", "none"),
    ) -> Gate:
        """Fail the test unless a run is as good as the baseline; what was measured.

        `suite` is the name or file of a suite, asked by `python -m evals run` with the `arguments`,
        or the folder of a run that is there. `margin` and `measures` are as for `python -m evals
        gate`.
        """
        from evals import baseline as baselines
        from evals.gating import gate
        from evals.margins import parse
        from rag.errors import AskPapersError

        try:
            kept = baselines.read(Path(baseline))
            run = self._run(str(suite), arguments)
            found = gate(kept, _sheet(run, kept.judge), parse(margin), measures)
        except AskPapersError as error:
            pytest.fail(str(error), pytrace=False)
        if found.standing != "holds":
            pytest.fail("\n".join(_told(found)), pytrace=False)
        return found

    def _run(self, suite: str, arguments: Sequence[str]) -> Path:
        """The folder of a run; the suite is asked if that was not done in this session."""
        from evals.running.journal import MANIFEST

        if (Path(suite) / MANIFEST).exists():
            return Path(suite)
        if self._wanted and suite not in self._wanted:
            pytest.skip(f"{_OPTION} does not name {suite}")
        key = (suite, *arguments)
        if key not in self._runs:
            self._runs[key] = self._asked(suite, arguments)
        return self._runs[key]

    def _asked(self, suite: str, arguments: Sequence[str]) -> Path:
        folder = self._folder / f"run-{len(self._runs)}"
        command = [sys.executable, "-m", "evals", "run", suite, "--out", str(folder), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode > 1:  # 1: finished, and too many questions failed, which the gate tells
            pytest.fail(f"{suite} could not be asked: {done.stderr.strip()}", pytrace=False)
        return folder


@pytest.fixture(scope="session")
def gate(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Suites:
    """Holds runs of suites against baselines."""
    return Suites(tmp_path_factory.mktemp("evals"), pytestconfig.getoption(_OPTION))


def _sheet(run: Path, judge: str) -> Sheet:
    from evals.reporting.report import read
    from evals.sheet import sheet
    from rag.config import load

    report = read(run, load().config.data_dir / "evals", judge or None)
    return sheet(report.manifest.identity, report.judge, report.scored)


def _told(found: Gate) -> list[str]:
    """What is wrong, a line for each measure, with the questions that became worse."""
    lines = [f"{found.suite}: {found.standing}", *([found.missing] if found.missing else [])]
    for one in found.checked:
        if one.standing != "holds":
            worse = [pair.item for pair in one.change.losses[:5]] if one.change else []
            named = f" ({', '.join(worse)})" if worse else ""
            lines.append(f"{one.measure.name} {one.standing}: {one.reason}{named}")
    return lines
