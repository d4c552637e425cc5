"""The search: propose, try on train questions, decide on held-back ones; pure but for its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from evals.stats import clustered_randomisation
from evals.suite import Item
from evals.tuning.proposing import Proposal, Unusable
from evals.tuning.splitting import ALPHA, Split
from evals.tuning.trial import Trial
from rag.errors import ModelError

Try = Callable[[str, Sequence[Item], str], Trial]
"""Asks questions with a template; the last argument names the trial."""
Propose = Callable[[Trial, Sequence[str]], Proposal]


class Spent(Exception):
    """The budget is used up; the text says how."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Two trials over the same questions: mean difference, p of the randomisation test, pairs.

    Questions of one paper go together in the test.
    """

    difference: float
    p: float
    n: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """A round: what was proposed and what came of it; `outcome` is kept or why it was not."""

    number: int
    outcome: str
    template: str = ""
    why: str = ""
    train: Paired | None = None
    held_back: Paired | None = None
    kept: bool = False

    def told(self) -> str:
        """One line, for a person and for the model that proposes next."""
        gain = f", {self.train.difference:+.2f} on train questions" if self.train else ""
        why = f" ({self.why})" if self.why else ""
        return f"{self.number}. {self.outcome}{gain}{why}"


@dataclass(frozen=True, slots=True)
class Tuned:
    """The outcome: `template` is the one to use, `ended` why there were fewer rounds than asked."""

    template: str
    original: Trial
    attempts: tuple[Attempt, ...] = ()
    ended: str = ""

    @property
    def kept(self) -> bool:
        """Whether a revision took the place of the original."""
        return any(one.kept for one in self.attempts)


def paired(before: Trial, after: Trial) -> Paired:
    """The difference over the questions that have a value in both.

    Raises:
        ValueError: there are none.
    """
    both = sorted(before.values.keys() & after.values.keys())
    about = {one.item.id: one.cluster for one in before.scored}
    differences = [after.values[one] - before.values[one] for one in both]
    p = clustered_randomisation(differences, [about[one] for one in both])
    return Paired(fmean(differences), p, len(differences))


def is_better(found: Paired, looks: int) -> bool:
    """Whether the mean rose and chance is an unlikely reason.

    The held-back questions are looked at up to `looks` times, so that each look has its share of
    the 5% (Bonferroni).
    """
    return found.difference > 0 and found.p < ALPHA / looks


def search(template: str, split: Split, rounds: int, try_out: Try, propose: Propose) -> Tuned:
    """Up to `rounds` revisions, each of the best template so far.

    Raises:
        ModelError: the original cannot be tried, so that there is nothing to compare with.
    """
    try:
        best = _believed(try_out(template, split.train, "0-train"))
    except Spent as error:
        raise ModelError("The original was not tried", cause=str(error)) from error
    tuned = Tuned(template, best)
    held_back: Trial | None = None
    for number in range(1, rounds + 1):
        try:
            tried = list(_told(tuned.attempts))
            proposal = propose(best, tried)
            train = try_out(proposal.template, split.train, f"{number}-train")
            attempt = _on_train(number, proposal, best, train)
            if attempt.outcome == "":
                held_back = held_back or _believed(
                    try_out(best.template, split.held_back, "0-held")
                )
                other = try_out(proposal.template, split.held_back, f"{number}-held")
                attempt = _on_held_back(attempt, held_back, other, rounds)
                if attempt.kept:
                    best, held_back = train, other
        except Unusable as error:
            attempt = Attempt(number, f"cannot be tried: {error}")
        except Spent as error:
            return replace(tuned, ended=str(error))
        tuned = replace(tuned, template=best.template, attempts=(*tuned.attempts, attempt))
    return tuned


def _on_train(number: int, proposal: Proposal, best: Trial, train: Trial) -> Attempt:
    """An attempt without an outcome if it is better on the train questions."""
    attempt = Attempt(number, "", proposal.template, proposal.why)
    if train.fault:
        return replace(attempt, outcome=f"not kept: {train.fault}")
    found = paired(best, train)
    outcome = "" if found.difference > 0 else "not kept: no better on the train questions"
    return replace(attempt, train=found, outcome=outcome)


def _on_held_back(attempt: Attempt, before: Trial, after: Trial, looks: int) -> Attempt:
    if after.fault:
        return replace(attempt, outcome=f"not kept: {after.fault}")
    found = paired(before, after)
    if is_better(found, looks):
        return replace(attempt, held_back=found, kept=True, outcome="kept")
    told = f"{found.difference:+.2f}, p = {found.p:.3f} on the held-back questions"
    return replace(attempt, held_back=found, outcome=f"not kept: {told}")


def _told(attempts: Sequence[Attempt]) -> Iterator[str]:
    """What the model that proposes may know: nothing of the held-back questions."""
    for one in attempts:
        outcome = one.outcome if one.held_back is None else "better on train questions"
        yield replace(one, outcome=outcome).told()


def _believed(found: Trial) -> Trial:
    if found.fault:
        raise ModelError("The original cannot be measured", cause=found.fault)
    return found
