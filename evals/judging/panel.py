"""Several judges as one: what most of them say.

One family of models tends to share its mistakes, so that more of its opinions are not more
evidence; members should differ in kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from statistics import fmean

from evals.judging.protocol import LABELS, Case, Criterion, Judge, RubricJudge, Verdict


class Panel:
    """Asks each of its judges about each case."""

    def __init__(self, judges: Sequence[Judge]) -> None:
        self._judges = tuple(judges)

    @property
    def name(self) -> str:
        """Its members, with a plus between them."""
        return "+".join(judge.name for judge in self._judges)

    def judge(self, case: Case) -> Verdict:
        """See `Judge.judge`."""
        return majority({judge.name: judge.judge(case) for judge in self._judges})

    def meets(self, criterion: Criterion) -> Verdict:
        """See `RubricJudge.meets`; of those that judge rubrics at all."""
        able = [(one.name, one) for one in self._judges if isinstance(one, RubricJudge)]
        if not able:
            return Verdict(None, failure=f"none of {self.name} judges rubrics")
        return majority({name: one.meets(criterion) for name, one in able})

    def close(self) -> None:
        """Close its judges."""
        for judge in self._judges:
            judge.close()


def majority(votes: Mapping[str, Verdict]) -> Verdict:
    """The label that more than half of the judges gave, those that failed counted among them.

    Else there is none: a tie is no verdict, and a judge that failed has not agreed. One that
    refused has no vote, and where all did the panel refuses too. The probability is the mean of
    those that give one.
    """
    every, votes = votes, {name: one for name, one in votes.items() if not one.refused}
    if every and not votes:
        return Verdict(None, votes=every, refused=next(iter(every.values())).refused)
    by_label = {
        label: [name for name, one in votes.items() if one.label == label]
        for label in (*LABELS, None)
    }
    told = "; ".join(
        f"{label or 'failed'}: {', '.join(names)}" for label, names in by_label.items() if names
    )
    raw = tuple(chain.from_iterable(one.raw for one in votes.values()))
    for label in LABELS:
        if 2 * len(by_label[label]) > len(votes):
            given = [one.probability for one in votes.values() if one.label is not None]
            known = [probability for probability in given if probability is not None]
            return Verdict(label, fmean(known) if known else None, told, raw, votes=every)
    return Verdict(None, raw=raw, failure=f"no majority: {told}", votes=every)
