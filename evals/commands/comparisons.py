"""Two runs compared, and a run held against a baseline."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from evals import baseline as baselines
from evals.commands import console
from evals.commands.flags import Everything, JudgeName, Seed
from evals.comparing import check_comparable, compare
from evals.gating import Gate, Unmeasurable, gate
from evals.margins import MARGIN, check_measure, parse
from evals.reporting import compared
from evals.reporting import report as reports
from evals.reporting.compared import SHOWN
from evals.reporting.junit import junit
from evals.running.journal import Manifest
from evals.running.runs import listed, remedy_of
from evals.sheet import Sheet, sheet
from evals.stats import SEED
from rag.errors import EXIT_PARTLY_FAILED, ResourceError, UsageError
from rag.flags import AsJson, DataDir, print_json, settings

_MORE = "Ask more questions, each several times with --repeats, or widen the --margin."
_ANEW = "See to what failed, and run it again with --new-run."

Margin = Annotated[
    str, typer.Option("--margin", help="How much worse is no worse: 0.03, or name=0.02,…")
]
Names = Annotated[
    str, typer.Option("--measures", help="Names by commas; all shares with enough questions.")
]


def compare_command(
    before: Annotated[Path, typer.Argument(metavar="A", help="Folder of a run.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="Folder of another.")],
    margin: Margin = f"{MARGIN}",
    judge: JudgeName = None,
    paired_only: Annotated[
        bool, typer.Option("--paired-only", help="Also of different suites: what both have.")
    ] = False,
    everything: Everything = False,
    seed: Seed = SEED,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Compare two runs question by question: B minus A in every measure, with a verdict."""
    margins = parse(margin)
    suites = settings(data_dir=data_dir).config.data_dir / "evals"
    a, b = (_sheet(run, suites, judge) for run in (before, after))
    if not paired_only:
        check_comparable(a, b, "--paired-only compares the questions that both have.")
    found = compare(a, b, margins, seed)
    differences = Manifest(a.identity, {}).differences(Manifest(b.identity, {}))
    if as_json:
        print_json({"differences": differences, **compared.as_json(found)})
        return
    for line in differences or ["The runs are of the same questions, settings and models."]:
        console.print(line, markup=False, soft_wrap=True)
    console.print(compared.table(found.changes))
    _print(compared.lines(found, None if everything else SHOWN))


def gate_command(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    baseline: Annotated[
        Path | None, typer.Option("--baseline", help="What it is held against.")
    ] = None,
    write_baseline: Annotated[
        Path | None, typer.Option("--write-baseline", help="Make this run a baseline.")
    ] = None,
    margin: Margin = f"{MARGIN}",
    measures: Names = "",
    junit_file: Annotated[
        Path | None, typer.Option("--junit", help="Write the outcome as JUnit XML.")
    ] = None,
    judge: JudgeName = None,
    everything: Everything = False,
    seed: Seed = SEED,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Exit 0 if a run is as good as a baseline, 1 if it is worse or that cannot be told."""
    if (baseline is None) == (write_baseline is None):
        raise UsageError(
            "Neither or both of --baseline and --write-baseline are given",
            remedy="Give one of them.",
        )
    names = _names(measures)
    margins = parse(margin)
    suites = settings(data_dir=data_dir).config.data_dir / "evals"
    if write_baseline:
        baselines.write(write_baseline, _sheet(run, suites, judge), names)
        console.print(f"{write_baseline} holds {run}", markup=False, soft_wrap=True)
    elif baseline:
        kept = baselines.read(baseline)
        present = _sheet(run, suites, judge or kept.judge or None)
        found = gate(kept, present, margins, names, seed)
        if junit_file:
            _write(junit_file, junit(found))
        shown = None if everything else SHOWN
        _show(found, _since(kept, present), shown, as_json=as_json)
        _leave(found, run)


def _sheet(run: Path, suites: Path, judge: str | None) -> Sheet:
    report = reports.read(run, suites, judge)
    return sheet(report.manifest.identity, report.judge, report.scored)


def _names(measures: str) -> list[str]:
    names = [name.strip() for name in measures.split(",") if name.strip()]
    for name in names:
        check_measure(name)
    return names


def _since(kept: Sheet, present: Sheet) -> list[str]:
    """What has changed since the baseline, of all that it keeps."""
    known = {name: present.identity.get(name) for name in kept.identity}
    return Manifest(kept.identity, {}).differences(Manifest(known, {}))


def _show(found: Gate, since: list[str], shown: int | None, *, as_json: bool) -> None:
    if as_json:
        print_json({"differences": since, **compared.gate_json(found)})
        return
    _print(since)
    console.print(compared.gate_table(found))
    _print(compared.gate_lines(found, shown))


def _leave(found: Gate, run: Path) -> None:
    """End with the exit code of the outcome; 0 is no exception."""
    if found.standing == "regressed":
        raise typer.Exit(EXIT_PARTLY_FAILED)
    if found.standing == "unmeasurable":
        unasked = bool(found.missing) and not listed(run).complete
        raise Unmeasurable(
            "It cannot be told whether the run is worse",
            cause=found.why,
            remedy=remedy_of(run) if unasked else _ANEW if found.missing else _MORE,
        )


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise ResourceError(f"{path} cannot be written", cause=error.strerror or "") from None
