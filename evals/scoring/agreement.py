"""How far labels agree: with those that people gave, and those of several judges among themselves.

A matrix has a row for each label that people gave and a column for each that the judge gave; its
cells count cases. Every function takes matrices of shape (…, k, k) and gives figures of shape (…),
so that all resamples of a bootstrap are worked out at once. A figure that has no value, as the
recall of a label that never occurs, is not a number.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.float64]
Figures = NDArray[np.float64]


def confusions(
    gold: Sequence[Hashable], given: Sequence[Hashable], labels: Sequence[Hashable]
) -> Counts:
    """The matrix of two series of labels, rows and columns in the order of `labels`.

    Raises:
        ValueError: the two are not of one length, or hold something that is no label.
    """
    if len(gold) != len(given):
        raise ValueError(f"{len(given)} labels for {len(gold)} cases")
    if strange := {*gold, *given} - {*labels}:
        raise ValueError(f"{strange.pop()!r} is none of the labels")
    counts = np.zeros((len(labels), len(labels)))
    for one, other in zip(gold, given, strict=True):
        counts[labels.index(one), labels.index(other)] += 1
    return counts


def accuracy(counts: Counts) -> Figures:
    """The share of the cases in which both labels are the same."""
    return _ratio(_same(counts).sum(axis=-1), counts.sum(axis=(-2, -1)))


def recall(counts: Counts, label: int) -> Figures:
    """Of the cases that people gave the label, the share that the judge gave it too."""
    return _ratio(counts[..., label, label], counts[..., label, :].sum(axis=-1))


def precision(counts: Counts, label: int) -> Figures:
    """Of the cases that the judge gave the label, the share that people gave it too."""
    return _ratio(counts[..., label, label], counts[..., :, label].sum(axis=-1))


def f1(counts: Counts, label: int) -> Figures:
    """The harmonic mean of both: 2·n_ll / (n_l· + n_·l); 0 where they never meet."""
    both = counts[..., label, :].sum(axis=-1) + counts[..., :, label].sum(axis=-1)
    return _ratio(2 * counts[..., label, label], both)


def balanced_accuracy(counts: Counts) -> Figures:
    """The mean recall of the labels that occur: 1/k for a judge that always says the same.

    Brodersen, Ong, Stephan and Buhmann 2010, "The balanced accuracy and its posterior
    distribution", for k labels.
    """
    recalls = _ratio(_same(counts), counts.sum(axis=-1))
    occurs = ~np.isnan(recalls)
    return _ratio(np.where(occurs, recalls, 0.0).sum(axis=-1), occurs.sum(axis=-1))


def cohen_kappa(counts: Counts) -> Figures:
    """Agreement beyond chance: (p_o - p_e) / (1 - p_e).

    p_o is the accuracy, p_e = Σ_l p_l· p_·l what two judges of these frequencies would reach
    independently (Cohen 1960, "A coefficient of agreement for nominal scales").
    """
    total = counts.sum(axis=(-2, -1))
    by_chance = _ratio((counts.sum(axis=-1) * counts.sum(axis=-2)).sum(axis=-1), total**2)
    return _ratio(accuracy(counts) - by_chance, 1 - by_chance)


def coincidences(units: Sequence[Sequence[Hashable | None]], labels: Sequence[Hashable]) -> Counts:
    """What each unit adds to the matrix of coincidences; shape (units, k, k).

    A unit holds the labels that several judges gave to one case, None for a judge that gave none.
    It adds, for each two labels, the ordered pairs of judges that gave them, divided by m - 1 with
    m ≥ 2 the number of labels in it; a unit with fewer adds nothing.

    Raises:
        ValueError: a unit holds something that is no label.
    """
    found = np.zeros((len(units), len(labels), len(labels)))
    for place, unit in enumerate(units):
        given = [label for label in unit if label is not None]
        if strange := {*given} - {*labels}:
            raise ValueError(f"{strange.pop()!r} is none of the labels")
        if len(given) > 1:
            counts = np.array([given.count(label) for label in labels], dtype=np.float64)
            found[place] = (np.outer(counts, counts) - np.diag(counts)) / (len(given) - 1)
    return found


def krippendorff_alpha(coincided: Counts) -> Figures:
    """How far judges agree beyond chance, for labels without order and with missing ones.

    From the sum of `coincidences` o over units, with n_c = Σ_k o_ck and n = Σ_c n_c:

        α = 1 - (n - 1) · Σ_{c≠k} o_ck / Σ_{c≠k} n_c n_k

    (Krippendorff 2011, "Computing Krippendorff's alpha-reliability", section C). 1 is agreement, 0
    what chance would give; below 0 judges contradict each other. Not a number where nothing can be
    paired or one label alone is used: agreement cannot then be told from chance.
    """
    totals = coincided.sum(axis=-1)
    n = totals.sum(axis=-1)
    seen = n - _same(coincided).sum(axis=-1)
    expected = n**2 - (totals**2).sum(axis=-1)
    return np.asarray(1 - _ratio((n - 1) * seen, expected), dtype=np.float64)


def _same(counts: Counts) -> Counts:
    return np.diagonal(counts, axis1=-2, axis2=-1)


def _ratio(part: Figures, whole: Figures) -> Figures:
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    found = np.full(part.shape, np.nan)
    np.divide(part, whole, out=found, where=whole != 0)
    return found
