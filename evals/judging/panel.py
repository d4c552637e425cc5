"""Several judges as one: what most of them say, and how far they agree.

One family of models tends to share its mistakes, so that more of its opinions are not more
evidence; members should differ in kind.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from statistics import fmean

import numpy as np

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

    Else there is none: a tie is no verdict, and a judge that failed has not agreed. The
    probability is the mean of those that give one.
    """
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
            return Verdict(label, fmean(known) if known else None, told, raw, votes=votes)
    return Verdict(None, raw=raw, failure=f"no majority: {told}", votes=votes)


def krippendorff_alpha(units: Sequence[Sequence[Hashable | None]]) -> float | None:
    """How far judges agree beyond chance on labels without order; None stands for no label.

    A unit holds the labels of one case. From the matrix of coincidences o_ck = Σ over units u of
    (ordered pairs c-k within u) / (m_u - 1), where m_u ≥ 2 counts the labels of u, with n_c = Σ_k
    o_ck and n = Σ_c n_c:

        α = 1 - (n - 1) · Σ_{c≠k} o_ck / Σ_{c≠k} n_c n_k

    (Krippendorff 2011, "Computing Krippendorff's alpha-reliability", section C). 1 is agreement, 0
    what chance would give; below 0 judges contradict each other. None where there is nothing to
    pair, or only one label is used: agreement cannot then be told from chance.
    """
    pairable = [given for unit in units if len(given := [v for v in unit if v is not None]) > 1]
    labels = list(dict.fromkeys(chain.from_iterable(pairable)))
    if len(labels) < 2:
        return None
    places = {label: place for place, label in enumerate(labels)}
    coincidences = np.zeros((len(labels), len(labels)))
    for given in pairable:
        counts = np.bincount([places[label] for label in given], minlength=len(labels))
        coincidences += (np.outer(counts, counts) - np.diag(counts)) / (len(given) - 1)
    totals = coincidences.sum(axis=1)
    seen = coincidences.sum() - np.trace(coincidences)
    expected = totals.sum() ** 2 - (totals**2).sum()
    return float(1.0 - (totals.sum() - 1) * seen / expected)
