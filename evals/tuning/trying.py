"""Asking the product questions with a template that is not its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from evals.judging.inline import Judging
from evals.record import Reply
from evals.running.journal import Journal, read_lines
from evals.running.pace import Pace
from evals.running.places import Place, opened
from evals.running.plan import Plan
from evals.running.runner import Runner
from evals.running.transcript import Transcript
from evals.scoring.scored import score
from evals.suite import Item
from evals.tuning.search import Spent
from evals.tuning.trial import Trial, trial


class Meter:
    """Tokens that were read and written, and how many may be."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.tokens = 0

    def add(self, replies: Iterable[Reply]) -> None:
        """Count replies; of a server that does not tell, four characters are a token."""
        for one in replies:
            written = len(one.text) // 4 if one.completion_tokens is None else one.completion_tokens
            self.tokens += (one.prompt_tokens or 0) + written

    def check(self) -> None:
        """Go on.

        Raises:
            Spent: no more may be used.
        """
        if self.tokens >= self.most:
            raise Spent(f"{self.tokens:,} tokens were used of {self.most:,}")


@dataclass(frozen=True)
class Trials:
    """Each trial has a folder: the prompts that it was made with, and a line for each question.

    `prompt` is the name of the template, `places` are all indexes that questions are asked of.
    """

    prompt: str
    places: Sequence[Place]
    objective: str
    folder: Path
    meter: Meter
    transcript: Transcript
    plan: Plan
    progress: Callable[[str, int, int], None]
    notify: Callable[[str], None]

    def __call__(self, template: str, items: Sequence[Item], label: str) -> Trial:
        """See `evals.tuning.search.Try`.

        Raises:
            Spent: before any question, if the budget is used up.
            ModelError: the model cannot be used.
        """
        self.meter.check()
        folder = self.folder / label
        prompts = folder / "prompts"
        prompts.mkdir(parents=True)
        places = self._with(prompts, {item.id for item in items})
        (prompts / f"{self.prompt}.md").write_text(template, encoding="utf-8")
        journal = Journal(folder, frozenset())
        with opened(places, self.transcript, self.notify) as (subject, _):
            progress = partial(self.progress, label)
            judging = Judging((), self.transcript)
            pace = Pace(self.plan.at_once)
            Runner(subject, judging, self.plan, subject.state, progress, pace).run(items, journal)
        records = read_lines(folder)
        for record in records:
            self.meter.add(record.replies)
        return trial(template, score(items, 1, records, ""), self.objective)

    def _with(self, prompts: Path, wanted: set[str]) -> list[Place]:
        """The places with a folder of prompts, which begins as that of the settings."""
        own = self.places[0].config.prompts
        for path in own.glob("*.md") if own is not None else ():
            shutil.copy(path, prompts)
        chosen = []
        for place in self.places:
            items = tuple(item for item in place.items if item.id in wanted)
            if items:
                config = place.config.model_copy(update={"prompts": prompts})
                chosen.append(replace(place, config=config, items=items))
        return chosen
