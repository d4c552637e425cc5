"""Asking the questions of a suite, and what came of it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from evals import known
from evals.commands import console
from evals.commands.flags import Cache, Everything, Force, JudgeName, Limit
from evals.judging import choice
from evals.judging.alce import alce_of
from evals.judging.inline import Judging
from evals.judging.scorer import SupportJudge
from evals.reporting import compared
from evals.reporting import report as reports
from evals.reporting import terminal as shown
from evals.reporting.beside import Beside, beside
from evals.reporting.files import check_free, write_all
from evals.reporting.forms import count
from evals.running.identity import AT_ONCE, manifest_of, run_of
from evals.running.journal import MANIFEST, read_records, writing
from evals.running.pace import Pace
from evals.running.places import opened, prepare
from evals.running.plan import Plan, Prices
from evals.running.runner import Runner
from evals.running.transcript import Replies, Transcript
from evals.scoring.alce import AlceScore
from evals.suite import Suite
from rag.config import Config
from rag.errors import EXIT_PARTLY_FAILED, UsageError
from rag.flags import AsJson, ConfigFile, DataDir, Llm, print_json, settings
from rag.terminal import Counted, counting, err

Out = Annotated[Path | None, typer.Option("--out", help="Folder of the run; a new one.")]


def run_command(
    suite: Annotated[str, typer.Argument(help="Name or file of a suite.")],
    llm: Llm = None,
    limit: Limit = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Of each question.")] = 1,
    judges: Annotated[
        str, typer.Option("--judges", help="By commas; the first one counts. none: nobody.")
    ] = "support",
    at_once: Annotated[int, typer.Option("--at-once", min=1, help="Questions at a time.")] = 1,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, help="Seconds for a question.")
    ] = 300.0,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", min=0, help="Dollars, then it stops.")
    ] = None,
    price_read: Annotated[
        float, typer.Option("--price-read", min=0, help="Dollars for a million tokens read.")
    ] = 0.0,
    price_written: Annotated[
        float, typer.Option("--price-written", min=0, help="The same for tokens written.")
    ] = 0.0,
    out: Out = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in --out, or the last one.")
    ] = False,
    new_run: Annotated[
        bool, typer.Option("--new-run", help="Begin another beside the one in --out.")
    ] = False,
    cache: Cache = False,
    everything: Everything = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Ask every question of a suite and keep what happens; then report.

    Examples: run seeds · run scifact --limit 50 --judges none · run mine.jsonl --llm openai
    """
    if resume and new_run:
        raise UsageError("--resume and --new-run exclude each other", remedy="Give one of them.")
    config = settings(data_dir=data_dir, file=config_file, llm=llm).config
    own = config.data_dir / "evals"
    asked = known.find(suite, own).first(limit)
    source = "" if suite in known.NAMED else str(Path(suite).resolve())
    plan = Plan(repeats, at_once, timeout, max_cost, Prices(price_read, price_written))
    wanted = [name.strip() for name in judges.split(",")]
    folder = _folder(out, own / "runs", asked.name, resume=resume, new_run=new_run)
    replies = Replies(own / "replies" if cache else None)
    _ask(_Setup(config, asked, source, plan, wanted, folder, replies), resume=resume)
    report = reports.read(folder, own)
    _show(report, None, None, everything=everything, as_json=as_json)
    if not report.summary.valid:
        raise typer.Exit(EXIT_PARTLY_FAILED)


def report_command(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    html: Annotated[Path | None, typer.Option("--html", help="Write one page of HTML.")] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", help="Write Markdown, for a pull request.")
    ] = None,
    sheet: Annotated[
        Path | None, typer.Option("--csv", help="Write a row for each question.")
    ] = None,
    other: Annotated[
        Path | None, typer.Option("--with", help="Another run, to tell what changed since.")
    ] = None,
    judge: JudgeName = None,
    alce_compat: Annotated[
        bool, typer.Option("--alce-compat", help="Citations also as the script of ALCE has them.")
    ] = False,
    everything: Everything = False,
    force: Force = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Work out every figure of a run again, from what was recorded; no model is asked.

    Examples: report RUN --html report.html · report RUN --with OTHER_RUN --markdown changes.md
    """
    wanted = {"html": html, "markdown": markdown, "csv": sheet}
    paths = {form: path for form, path in wanted.items() if path}
    check_free(paths.values(), force=force)
    own = settings(data_dir=data_dir).config.data_dir / "evals"
    report = reports.read(run, own, judge)
    since = beside(report, reports.read(other, own, judge)) if other else None
    write_all(report, since, paths)
    script = _alce(report) if alce_compat else None
    _show(report, since, script, everything=everything, as_json=as_json)
    if not report.summary.valid:
        raise typer.Exit(EXIT_PARTLY_FAILED)


@dataclass(frozen=True, slots=True)
class _Setup:
    """What is asked, of whom, how, and where it is kept; `source` is the file of the suite."""

    config: Config
    suite: Suite
    source: str
    plan: Plan
    judges: list[str]
    folder: Path
    replies: Replies


def _ask(setup: _Setup, *, resume: bool) -> None:
    config, suite, plan = setup.config, setup.suite, setup.plan
    if not any(item.answerable for item in suite.items):
        _notify(f"No question of {suite.name} has an answer: only abstention can be measured.")
    pace = Pace(plan.at_once)
    transcript = Transcript(setup.replies, pace.refused)
    with ExitStack() as stack:
        judges = choice.make(setup.judges, config, transcript)
        for judge in judges:
            stack.callback(judge.close)
        with counting("papers") as indexing:
            places = prepare(suite, config, config.data_dir / "evals" / "suites", indexing)
        subject, assistant = stack.enter_context(opened(places, transcript, _notify))
        judging = Judging(judges, transcript)
        made_by = manifest_of(setup.source, config, assistant)
        manifest = run_of(suite, subject.digest, plan, judging.names, made_by)
        journal = stack.enter_context(writing(setup.folder, manifest, resume=resume))
        progress = stack.enter_context(counting("questions"))
        asking = partial(_asking, progress, pace)
        runner = Runner(subject, judging, plan, subject.state, asking, pace)
        spent = sum(record.cost for record in read_records(setup.folder))
        try:
            ran = runner.run(suite.items, journal, spent)
        finally:
            journal.tell(AT_ONCE, pace.facts())
    if pace.refusals:
        _notify(f"{pace.told()}.")
    if ran.unasked:
        verb = "was" if ran.unasked == 1 else "were"
        _notify(f"{count(ran.unasked, 'question')} {verb} not asked: {ran.reason}.")


def _asking(progress: Counted, pace: Pace, done: int, total: int) -> None:
    progress("asking", done, total, pace.told())


def _notify(said: str) -> None:
    err.print(said, markup=False)


def _folder(out: Path | None, runs: Path, suite: str, *, resume: bool, new_run: bool) -> Path:
    """Where a run is: what `out` names, else the last one of the suite or a new one."""
    if out is not None:
        _check_place(out.absolute())
    if out is not None and not (new_run and (out / MANIFEST).exists()):
        return out
    if resume:
        there = sorted(path.parent for path in runs.glob(f"{suite}-*/{MANIFEST}"))
        if not there:
            raise UsageError(f"There is no run of {suite} to go on with", cause=f"in {runs}")
        return there[-1]
    now = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return out.with_name(f"{out.name}-{now}") if out is not None else runs / f"{suite}-{now}"


def _check_place(out: Path) -> None:
    """See that a folder is not made right under the root of the disk by a slip of the pen."""
    there = next(place for place in out.parents if place.exists())
    if there == Path(there.anchor) and out.parent != there:
        raise UsageError(f"There is no folder {out.parent}", remedy="Make it first.")


def _alce(report: reports.Report) -> AlceScore | None:
    """What the script of ALCE makes of a run: it judges sentences that the run did not judge."""
    if report.judge != SupportJudge.name:
        raise UsageError(
            "--alce-compat has sentences judged anew",
            cause=f"{report.judge or 'no judge'} cannot do so without a model",
            remedy="Give --judge support, or run the suite with --judges support.",
        )
    records = [one.record for one in report.scored if one.record is not None]
    return alce_of(SupportJudge(), records)


def _show(
    report: reports.Report,
    since: Beside | None,
    script: AlceScore | None,
    *,
    everything: bool,
    as_json: bool,
) -> None:
    if as_json:
        changed = {"beside": compared.as_json(since.comparison)} if since else {}
        counted = {"alce": asdict(script)} if script else {}
        print_json(reports.as_json(report) | changed | counted)
        return
    console.print(report.headline, markup=False, soft_wrap=True)
    for table in shown.tables(report, since, everything=everything):
        console.print(table)
    for line in shown.lines(report, since, everything=everything):
        console.print(line, markup=False, soft_wrap=True)
    if report.remedy:
        console.print(report.remedy, markup=False, soft_wrap=True)
    if script:
        scores = f"recall {script.recall:.2f}, precision {script.precision:.2f}"
        console.print(f"citations as the script of ALCE counts: {scores}, n={script.answers}")
    console.print(f"The run is in {report.folder}", markup=False, soft_wrap=True)
