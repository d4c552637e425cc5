"""How good judges are: their verdicts on claims that people have labelled, with intervals."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np

from evals.judging.labelled import Labelled
from evals.judging.panel import majority
from evals.judging.protocol import LABELS, Judge, Verdict
from evals.scoring import agreement, probabilities, resampling
from evals.scoring.abstention import auroc
from evals.stats import SEED, Mean, clustered_mean

MOST_FAILED = 0.05  # share of the cases beyond which a judge's figures are not to be believed

_SUPPORT, _CONTRADICT = LABELS.index("support"), LABELS.index("contradict")

OF_LABELS: Mapping[str, Callable[[agreement.Counts], agreement.Figures]] = {
    "accuracy": agreement.accuracy,
    "balanced accuracy": agreement.balanced_accuracy,
    "kappa": agreement.cohen_kappa,
    "F1 support": partial(agreement.f1, label=_SUPPORT),
    "F1 contradict": partial(agreement.f1, label=_CONTRADICT),
}
"""The figures of labels; those of probabilities are AUROC, ECE, ECE by mass and Brier."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A case with the verdict of each judge and the seconds that it took; a panel takes none."""

    labelled: Labelled
    verdicts: Mapping[str, Verdict]
    seconds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Row:
    """One judge: its figures over the cases that it gave a label, those that it failed apart.

    `refused` counts the cases that it was not to judge (see `evals.judging.planted`).

    `confusions` has a row for each label of people and a column for each of the judge, both in the
    order of `LABELS`. `seconds` is the median of a case, None for a panel.
    """

    judge: str
    figures: Mapping[str, Mean]
    confusions: tuple[tuple[int, ...], ...]
    failed: int
    seconds: float | None
    refused: int = 0

    @property
    def labelled(self) -> int:
        """How many cases it gave a label."""
        return sum(sum(row) for row in self.confusions)

    @property
    def valid(self) -> bool:
        """Whether it failed on few enough cases for its figures to be believed.

        A panel without a majority has not failed: its members differ.
        """
        return self.seconds is None or self.failed <= MOST_FAILED * (self.labelled + self.failed)


@dataclass(frozen=True, slots=True)
class Card:
    """All judges on the same cases.

    `most_frequent` is the accuracy of always giving the most frequent label. `alpha` is how far the
    judges agree among themselves (panels left out), None for fewer than two.
    """

    rows: tuple[Row, ...]
    n: int
    most_frequent: float
    alpha: Mean | None


def judged(
    judges: Sequence[Judge],
    panels: Mapping[str, Sequence[str]],
    cases: Iterable[Labelled],
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Judged]:
    """Ask every judge about every case; a panel is made of what its members said.

    Raises:
        ModelError: a judge cannot be used.
    """
    for one in cases:
        verdicts: dict[str, Verdict] = {}
        seconds: dict[str, float] = {}
        for judge in judges:
            started = clock()
            verdicts[judge.name] = judge.judge(one.case)
            seconds[judge.name] = clock() - started
        for name, members in panels.items():
            verdicts[name] = majority({member: verdicts[member] for member in members})
        yield Judged(one, verdicts, seconds)


def card_of(every: Sequence[Judged], seed: int = SEED) -> Card:
    """The figures of all judges.

    Raises:
        ValueError: there are no cases.
    """
    if not every:
        raise ValueError("a judge is measured on at least one case")
    gold = [one.labelled.label for one in every]
    rows = tuple(_row(name, every, seed) for name in every[0].verdicts)
    frequent = max(gold.count(label) for label in LABELS) / len(gold)
    return Card(rows, len(every), frequent, _alpha(every, seed))


def disagreements(every: Iterable[Judged]) -> Iterator[Judged]:
    """The cases in which two judges gave different labels."""
    for one in every:
        if len({v.label for v in one.verdicts.values() if v.label is not None}) > 1:
            yield one


def _row(name: str, every: Sequence[Judged], seed: int) -> Row:
    with_label = [one for one in every if one.verdicts[name].label is not None]
    given = [one.verdicts[name].label for one in with_label]
    counts = agreement.confusions([one.labelled.label for one in with_label], given, LABELS)
    figures = _of_labels(counts, with_label, name, seed) if with_label else {}
    refused = sum(bool(one.verdicts[name].refused) for one in every)
    seconds = [one.seconds[name] for one in every if name in one.seconds]
    return Row(
        name,
        {**figures, **_of_probabilities(with_label, name, seed)},
        tuple(tuple(int(cell) for cell in row) for row in counts),
        len(every) - len(with_label) - refused,
        median(seconds) if seconds else None,
        refused,
    )


def _of_labels(
    counts: agreement.Counts, every: Sequence[Judged], name: str, seed: int
) -> dict[str, Mean]:
    """Each resample has a matrix of its own: the weights of the cases in each cell."""
    k = len(LABELS)
    cells = np.zeros((len(every), k * k))
    for place, one in enumerate(every):
        row, column = LABELS.index(one.labelled.label), _place(one.verdicts[name])
        cells[place, row * k + column] = 1
    resampled = (resampling.weights(_clusters(every), seed) @ cells).reshape(-1, k, k)
    return {
        figure: resampling.interval(value, of(resampled), len(every))
        for figure, of in OF_LABELS.items()
        if not np.isnan(value := float(of(counts)))
    }


def _of_probabilities(every: Sequence[Judged], name: str, seed: int) -> dict[str, Mean]:
    """Those of support, where the judge gives any."""
    there = [one for one in every if one.verdicts[name].probability is not None]
    if not there:
        return {}
    said = [one.verdicts[name].probability or 0.0 for one in there]
    positive = [one.labelled.label == "support" for one in there]
    weights = resampling.weights(_clusters(there), seed)
    found: dict[str, Mean] = {}
    area = auroc(said, positive)
    if area is not None:
        resampled = resampling.auroc(said, positive, weights)
        found["AUROC"] = resampling.interval(area, resampled, len(there))
    for figure, binned in (
        ("ECE", probabilities.equal_width),
        ("ECE by mass", probabilities.equal_mass),
    ):
        bins = binned(said)
        value = float(probabilities.calibration_error(said, positive, bins)[0])
        resampled = probabilities.calibration_error(said, positive, bins, weights)
        found[figure] = resampling.interval(value, resampled, len(there))
    squares = [(p - y) ** 2 for p, y in zip(said, positive, strict=True)]
    return {**found, "Brier": clustered_mean(squares, _clusters(there), seed)}


def _alpha(every: Sequence[Judged], seed: int) -> Mean | None:
    judges = list(every[0].seconds)
    units = [[one.verdicts[name].label for name in judges] for one in every]
    k = len(LABELS)
    per_case = agreement.coincidences(units, LABELS)
    value = float(agreement.krippendorff_alpha(per_case.sum(axis=0)))
    if len(judges) < 2 or np.isnan(value):
        return None
    weights = resampling.weights(_clusters(every), seed)
    resampled = (weights @ per_case.reshape(len(every), k * k)).reshape(-1, k, k)
    return resampling.interval(value, agreement.krippendorff_alpha(resampled), len(every))


def _clusters(every: Sequence[Judged]) -> list[str]:
    return [one.labelled.cluster for one in every]


def _place(verdict: Verdict) -> int:
    return 0 if verdict.label is None else LABELS.index(verdict.label)
