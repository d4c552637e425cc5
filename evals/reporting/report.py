"""A run with its figures: what every form of a report tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evals import known
from evals.running.journal import Manifest, read_manifest, read_records
from evals.running.runs import remedy_of
from evals.scoring.scored import Scored, Summary, score, summarise
from evals.stats import SEED, Mean
from evals.suite import Suite
from rag.errors import InputError, UsageError


@dataclass(frozen=True, slots=True)
class Report:
    """A run, the outcome of each of its questions, and all of them together.

    `judge` is the one whose opinions count, "" where nobody judged.
    """

    folder: Path
    manifest: Manifest
    scored: tuple[Scored, ...]
    summary: Summary
    judge: str

    @property
    def headline(self) -> str:
        """What a person reads first: how many questions ended how, and whether to believe it."""
        counts = ", ".join(f"{n} {name}" for name, n in self.summary.outcomes.items() if n)
        told = f"{self.manifest.suite}: {self.summary.asked} asked: {counts}"
        if self.summary.valid:
            return told
        alone = not self.summary.outcomes.get("failed")
        return f"{'INCOMPLETE' if alone else 'INVALID'}, {self.summary.trouble}. {told}"

    @property
    def remedy(self) -> str:
        """How what was not asked is asked; empty where all was."""
        return remedy_of(self.folder) if self.summary.outcomes.get("skipped") else ""


def read(folder: Path, suites: Path, judge: str | None = None, seed: int = SEED) -> Report:
    """The report of the run in `folder`; nothing is asked of any model or index.

    `judge` defaults to the first of the run. `suites` is where files of suites are written.

    Raises:
        InputError: it is no run, its suite is not there, or has changed since.
        UsageError: the run has no such judge.
    """
    manifest = read_manifest(folder)
    suite = suite_of(manifest, suites)
    chosen = _judge(manifest, judge)
    records = read_records(folder)
    try:
        scored = score(suite.items, int(manifest.identity["repeats"]), records, chosen)
    except ValueError as error:
        raise InputError(f"{folder} does not fit its suite", cause=str(error)) from None
    return Report(folder, manifest, tuple(scored), summarise(scored, seed), chosen)


def suite_of(manifest: Manifest, suites: Path) -> Suite:
    """The questions of a run.

    Raises:
        InputError: the suite is not there, or is not as it was.
    """
    source = str(manifest.facts.get("suite file") or manifest.suite)
    suite = known.find(source, suites).first(int(manifest.identity["asked"]))
    if suite.digest != manifest.identity["questions"]:
        raise InputError(
            f"The suite {manifest.suite} has changed since the run",
            cause=f"{source}: {manifest.identity['questions']} then, {suite.digest} now",
            remedy="Run it again, or restore the file.",
        )
    return suite


def as_json(report: Report) -> dict[str, Any]:
    """Everything but the records themselves."""
    summary = report.summary
    return {
        "suite": report.manifest.suite,
        "run": report.folder.name,
        "valid": summary.valid,
        "outcomes": dict(summary.outcomes),
        "judge": report.judge,
        "means": _means(summary.means),
        "kinds": {kind: _means(of) for kind, of in summary.kinds.items()},
        "silence": asdict(summary.silence),
        "silence_auroc": summary.silence_auroc,
        "citations": asdict(summary.citations) if summary.citations else None,
        "consistency": _means(summary.consistency),
        "refused": {one.item.id: one.refused for one in report.scored if one.refused},
        "identity": dict(report.manifest.identity),
    }


def _means(means: Mapping[str, Mean]) -> dict[str, dict[str, float]]:
    return {name: asdict(mean) for name, mean in means.items()}


def _judge(manifest: Manifest, wanted: str | None) -> str:
    judges = [str(name) for name in manifest.identity["judges"]]
    if wanted is None:
        return judges[0] if judges else ""
    if wanted not in judges:
        there = ", ".join(judges) or "none"
        raise UsageError(f"The run has no judge {wanted}", cause=f"it has {there}")
    return wanted
