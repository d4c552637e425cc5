"""Whether the assistant is silent where it should be, and fitting what that rests on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evals.abstaining import fitting, report
from evals.abstaining.examples import GOLDEN, LEAVE_OUT, SCIFACT, SUITES, TRAIN, collect
from evals.commands import console
from evals.commands.files import store, store_json
from evals.stats import SEED
from rag.answering.confidence import COEFFICIENTS
from rag.errors import UsageError
from rag.flags import AsJson, ConfigFile, DataDir, print_json, settings
from rag.terminal import counting

_LLM = "none"


def abstention_command(
    suites: Annotated[
        str, typer.Option("--suites", help="Of golden, leave_out, scifact, by commas.")
    ] = ",".join(SUITES),
    rates: Annotated[
        str, typer.Option("--rates", help="Rates of wrong answers to promise, by commas.")
    ] = "0.05,0.10",
    llm: Annotated[
        str, typer.Option("--llm", help="none; local also asks the embedded model yes or no.")
    ] = _LLM,
    kept: Annotated[
        Path | None, typer.Option("--kept", help="Keep signals in this file, and use those there.")
    ] = None,
    fit: Annotated[
        bool, typer.Option("--fit", help="Fit the confidence again, for the product.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the splits.")] = SEED,
    save: Annotated[Path | None, typer.Option("--save", help="Write all as JSON.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw risk by coverage.")] = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """See over 200 random splits whether a stated rate of wrong answers is kept.

    Examples: abstention · abstention --llm local --kept signals.jsonl · abstention --fit
    """
    wanted, promised = _suites(suites), _rates(rates)
    config = settings(data_dir=data_dir, file=config_file, llm=llm).config
    fitted_on = [GOLDEN, LEAVE_OUT, *([TRAIN] if fit or SCIFACT in wanted else [])]
    names = list(dict.fromkeys([*fitted_on, *wanted]))
    with counting("questions") as progress:
        examples = collect(names, config, config.data_dir / "evals", kept, progress)
    if fit:
        known = [one for one in examples if one.suite in fitted_on]
        store_json(COEFFICIENTS, fitting.calibrated(known))
    found = list(report.rows(examples, wanted, promised, seed))
    if save:
        store_json(save, report.as_json(found))
    if plot:
        from evals.figures import shares

        title = "Questions without an answer that are answered"
        store(plot, shares(title, "share of the answerable that is answered", report.lines(found)))
    if as_json:
        print_json(report.as_json(found))
        return
    console.print(report.table(found))


def _suites(text: str) -> list[str]:
    wanted = [name.strip() for name in text.split(",") if name.strip()]
    if not wanted or not set(wanted) <= set(SUITES):
        raise UsageError(
            f"--suites {text} names no suite", remedy=f"Choose from {', '.join(SUITES)}."
        )
    return wanted


def _rates(text: str) -> list[float]:
    try:
        rates = [float(part) for part in text.split(",")]
    except ValueError:
        rates = []
    if not rates or not all(0 < rate <= 1 for rate in rates):
        raise UsageError(f"--rates {text} is no list of rates", remedy="Write them as 0.05,0.10.")
    return rates
