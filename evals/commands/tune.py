"""Searching for a better prompt."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from evals import known
from evals.commands import console
from evals.running.places import prepare
from evals.running.plan import Plan
from evals.running.transcript import Replies, Transcript
from evals.suite import Suite
from evals.tuning.proposing import Proposal, Proposer
from evals.tuning.search import Tuned, search
from evals.tuning.splitting import Split, split
from evals.tuning.trial import OBJECTIVES, Trial, checked
from evals.tuning.trying import Meter, Trials
from rag.answering import prompting
from rag.answering.asking import Asker
from rag.answering.parts import choice_of, generator_of
from rag.config import Config
from rag.errors import UsageError
from rag.flags import ConfigFile, DataDir, Llm, settings
from rag.index.disk import write_durably
from rag.terminal import counting, err

RESULT, KEPT = "result.json", "kept.md"


def tune_command(
    prompt: Annotated[str, typer.Argument(help="Name of a prompt, such as answer.")],
    llm: Llm = None,
    suite: Annotated[str, typer.Option("--suite", help="Name or file of a suite.")] = "seeds",
    rounds: Annotated[int, typer.Option("--rounds", min=1, max=50, help="Revisions.")] = 3,
    questions: Annotated[
        int | None, typer.Option("--questions", min=1, help="Only so many, over both halves.")
    ] = None,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=1, help="Read and written, then it stops.")
    ] = 1_000_000,
    objective: Annotated[
        str | None, typer.Option("--objective", help="A measure; else one that fits the prompt.")
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", min=1, help="Seconds a question.")] = 300.0,
    out: Annotated[Path | None, typer.Option("--out", help="A new folder.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Ask no model.")] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="Write what is kept over the prompt itself.")
    ] = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Have a model revise a prompt; keep a revision that held-back questions find better."""
    config = settings(data_dir=data_dir, file=config_file, llm=llm).config
    wanted = checked(objective or _objective_of(prompt))
    template = prompting.template(prompt, config.prompts)
    own = config.data_dir / "evals"
    asked = known.find(suite, own)
    halves = split(asked.items, questions, rounds)
    folder = out or own / "tunings" / f"{prompt}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    _tell_plan(prompt, wanted, halves, rounds, max_tokens)
    if dry_run:
        return
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty", remedy="Name another folder with --out.")
    if choice_of(config) == "none":
        raise UsageError("No model is there to be asked", remedy="Use --llm local or openai.")
    meter = Meter(max_tokens)
    plan = Plan(timeout=timeout)
    with _trials(prompt, wanted, config, asked, halves, folder, meter, plan) as (
        trials,
        transcript,
    ):
        tuned = search(
            template, halves, rounds, trials, _Proposing(config, transcript, meter, timeout)
        )
    _write(folder, prompt, tuned, meter)
    _tell(tuned, folder)
    if apply and tuned.kept:
        path = (config.prompts or prompting.folder()) / f"{prompt}.md"
        write_durably(path, tuned.template)
        console.print(f"{path} is written.", soft_wrap=True)


class _Proposing:
    """Asks the model of the settings; it is there only while it is asked."""

    def __init__(
        self, config: Config, transcript: Transcript, meter: Meter, seconds: float
    ) -> None:
        self._config = config
        self._transcript = transcript
        self._meter = meter
        self._seconds = seconds

    def __call__(self, best: Trial, tried: Sequence[str]) -> Proposal:
        self._meter.check()
        generator = generator_of(self._config)
        if generator is None:
            raise RuntimeError("the settings name no model")
        heard = self._transcript.listening("proposer", len(tried))
        with closing(generator), heard as replies:
            asker = Asker(self._transcript.wrap(generator), self._seconds, self._config.prompts)
            try:
                return Proposer(asker).propose(best, tried)
            finally:
                self._meter.add(replies)


@contextmanager
def _trials(
    prompt: str,
    objective: str,
    config: Config,
    asked: Suite,
    halves: Split,
    folder: Path,
    meter: Meter,
    plan: Plan,
) -> Iterator[tuple[Trials, Transcript]]:
    transcript = Transcript(Replies(None))
    suite = Suite(asked.name, (*halves.train, *halves.held_back), asked.files)
    with counting("papers") as indexing:
        places = prepare(suite, config, config.data_dir / "evals" / "suites", indexing)
    with counting("questions") as progress:
        yield (
            Trials(prompt, places, objective, folder, meter, transcript, plan, progress, _notify),
            transcript,
        )


def _objective_of(prompt: str) -> str:
    if prompt not in OBJECTIVES:
        raise UsageError(
            f"No suite measures the prompt {prompt!r}",
            remedy=f"Choose from {', '.join(OBJECTIVES)}.",
        )
    return OBJECTIVES[prompt]


def _tell_plan(prompt: str, objective: str, halves: Split, rounds: int, max_tokens: int) -> None:
    train, held_back = len(halves.train), len(halves.held_back)
    most = (rounds + 1) * (train + held_back)
    console.print(
        f"{prompt}, for {objective}: {train} questions to learn from, {held_back} to decide by; "
        f"{rounds} rounds, {most} questions asked at most, {max_tokens:,} tokens",
        markup=False,
        soft_wrap=True,
    )


def _write(folder: Path, prompt: str, tuned: Tuned, meter: Meter) -> None:
    """The candidates, what came of them, and the template that is to be used."""
    for one in tuned.attempts:
        if one.template:
            write_durably(folder / f"{one.number}.md", one.template)
    write_durably(folder / KEPT, tuned.template)
    value: dict[str, Any] = {
        "prompt": prompt,
        "original": tuned.original.mean,
        "kept": tuned.kept,
        "attempts": [asdict(one) for one in tuned.attempts],
        "ended": tuned.ended,
        "tokens": meter.tokens,
    }
    write_durably(folder / RESULT, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _tell(tuned: Tuned, folder: Path) -> None:
    lines = [f"original: {tuned.original.mean:.2f} on train questions"]
    lines += [one.told() for one in tuned.attempts]
    lines += [f"It ended early: {tuned.ended}."] if tuned.ended else []
    lines.append("A revision is kept." if tuned.kept else "The original stays.")
    lines.append(f"Templates and scores are in {folder}")
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def _notify(said: str) -> None:
    err.print(said, markup=False)
