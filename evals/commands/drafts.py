"""A suite of one's own: a template, drafts by a model, and their review."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from evals.commands import console
from evals.commands.flags import Force, Seed
from evals.drafting.asking import Draft, drafts, drawn
from evals.drafting.checks import passes
from evals.drafting.deciding import decide
from evals.drafting.feedback import lines_of_feedback
from evals.drafting.review import (
    Reviewed,
    read_review,
    reviewable,
    save,
    with_passing,
    write_suite,
)
from evals.known import SUITES
from rag import Assistant
from rag.answering.asking import Asker, GivenUp
from rag.answering.parts import generator_of
from rag.config import Config
from rag.errors import EXIT_PARTLY_FAILED, ModelError, UsageError
from rag.flags import ConfigFile, DataDir, Llm, settings
from rag.history import History, history_of
from rag.index.catalog import Catalog
from rag.index.disk import write_durably
from rag.schema import Paper
from rag.terminal import counting, err

TEMPLATE = SUITES / "template.jsonl"
_SEARCHED = 10


def new_command(
    file: Annotated[Path, typer.Argument(help="Where the suite is written.")],
    from_feedback: Annotated[
        bool, typer.Option("--from-feedback", help="Of answers that people thought bad.")
    ] = False,
    force: Force = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Write a suite: a few questions about the seeds to be changed, or what was answered badly."""
    _check_free(file, force=force)
    if from_feedback:
        data = settings(data_dir=data_dir, file=config_file).config.data_dir
        _write_feedback(file, history_of(data))
        return
    write_durably(file, TEMPLATE.read_text(encoding="utf-8"))
    console.print(f"{file} asks about the seeds: `rag index seeds` and", soft_wrap=True)
    console.print(f"`python -m evals run {file}` try it.", soft_wrap=True)


def generate_command(
    out: Annotated[Path, typer.Option("--out", help="The review file.")],
    llm: Llm = None,
    papers: Annotated[int, typer.Option("--papers", min=1, help="Drawn at random.")] = 10,
    per_paper: Annotated[int, typer.Option("--per-paper", min=1, max=10, help="Drafts.")] = 2,
    seed: Seed = 0,
    timeout: Annotated[float, typer.Option("--timeout", min=1, help="Seconds a paper.")] = 120.0,
    force: Force = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Have a model draft questions from the papers of the index, for `review`."""
    _check_free(out, force=force)
    config = settings(data_dir=data_dir, file=config_file, llm=llm).config
    generator = generator_of(config)
    if generator is None:
        raise UsageError(
            "No model is there to draft questions", remedy="Use --llm local or openai."
        )
    found: list[Reviewed] = []
    failed: list[str] = []
    quoting = config.model_copy(update={"llm": "none"})
    with (
        closing(generator),
        Assistant.from_config(quoting, _notify) as assistant,
        counting("papers") as progress,
    ):
        assistant.counts()  # an index that is not there is told before anything is drawn
        chosen = _drawn(config, papers, seed)
        asker = Asker(generator, timeout, config.prompts)
        for number, paper in enumerate(chosen, start=1):
            try:
                written = drafts(asker, paper, per_paper)
            except GivenUp as error:
                failed.append(f"{paper.source}:{paper.ordinal}: {error}")
                _notify(f"no draft of {failed[-1]}")
                if len(failed) == len(chosen):
                    raise ModelError("No question was drafted", cause=str(error)) from error
            else:
                found += _reviewables(written, found, assistant)
                save(out, found)
            progress("drafting", number, len(chosen))
    good = sum(passes(one.checks) for one in found)
    console.print(f"{len(found)} drafts from {len(chosen)} papers, {good} pass every check.")
    console.print(f"`python -m evals review {out} --out SUITE` goes through them.", soft_wrap=True)
    if failed:
        raise typer.Exit(EXIT_PARTLY_FAILED)


def review_command(
    file: Annotated[Path, typer.Argument(help="What `generate` wrote.")],
    out: Annotated[Path, typer.Option("--out", help="The suite of what is accepted.")],
    accept_all_passing: Annotated[
        bool,
        typer.Option("--accept-all-passing", help="Ask nothing; take what passes every check."),
    ] = False,
) -> None:
    """Accept, drop or reword drafts; what was decided is kept, and asked no more."""
    found = read_review(file)
    if accept_all_passing:
        found = list(with_passing(found))
        save(file, found)
    else:
        found = decide(
            found,
            lambda prompt: console.input(prompt, markup=False),
            lambda text: console.print(text, markup=False, soft_wrap=True),
            lambda decided: save(file, decided),
        )
    left = sum(one.accept is None for one in found)
    if left and not accept_all_passing and not any(one.accept for one in found):
        console.print(f"Nothing is accepted yet; {left} are undecided.")
        return
    count = write_suite(out, found)
    console.print(f"{count} questions are in {out}; {left} are undecided.", soft_wrap=True)


def _reviewables(
    written: list[Draft], before: list[Reviewed], assistant: Assistant
) -> Iterator[Reviewed]:
    others = [one.question for one in before]
    for number, draft in enumerate(written, start=1):
        hits = assistant.search(draft.question, _SEARCHED).hits
        ids = [hit.paper.id for hit in hits]
        rank = ids.index(draft.paper.id) + 1 if draft.paper.id in ids else None
        yield reviewable(draft, number, rank, others)
        others.append(draft.question)


def _drawn(config: Config, count: int, seed: int) -> list[Paper]:
    path = config.data_dir / "catalog.sqlite3"
    with closing(Catalog(path)) as catalog, catalog.reading() as snapshot:
        chosen = drawn(snapshot.all_papers(), count, seed)
    if not chosen:
        raise UsageError("No paper of the index has several sentences", remedy="Index abstracts.")
    return chosen


def _write_feedback(file: Path, history: History) -> None:
    lines = lines_of_feedback(history.rejected())
    if not lines:
        raise UsageError(
            "No answer was thought bad", remedy="`rag history rate` says what you think of one."
        )
    write_durably(file, "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines))
    told = "1 rejected question is" if len(lines) == 1 else f"{len(lines)} rejected questions are"
    console.print(f"{told} in {file}.", soft_wrap=True)
    console.print("Add `answers` where you know them.", soft_wrap=True)


def _check_free(path: Path, *, force: bool) -> None:
    if path.exists() and not force:
        raise UsageError(f"{path} is there already", remedy="Name another, or use --force.")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {path.absolute().parent}", remedy="Make it first.")


def _notify(said: str) -> None:
    err.print(said, markup=False)
