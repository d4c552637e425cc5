"""What measuring judges found, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from evals.judging.card import OF_LABELS, Card, Judged, Row, disagreements
from evals.judging.protocol import LABELS, Verdict
from evals.scoring import ppi
from evals.stats import Mean

_PLOTTED = ("balanced accuracy", "kappa", "F1 support", "F1 contradict", "AUROC", "ECE")
OF_PROBABILITIES = ("AUROC", "ECE", "ECE by mass", "Brier")


def lines(card: Card, every: Sequence[Judged]) -> Iterator[str]:
    """The headline, and what does not fit a table."""
    invalid = [row.judge for row in card.rows if not row.valid]
    told = f"INVALID: too many failures of {', '.join(invalid)}. " if invalid else ""
    yield (
        f"{told}{card.n} labelled claims; always the most frequent label: accuracy "
        f"{card.most_frequent:.2f}"
    )
    for row in card.rows:
        if row.refused:
            yield f"{row.judge} was not to judge {row.refused}, whose abstracts look planted"
    if card.alpha:
        differ = sum(1 for _ in disagreements(every))
        yield (
            f"Krippendorff's alpha among the judges: {_shown(card.alpha)}; "
            f"they differ on {differ} of {card.n}"
        )


def tables(card: Card) -> Iterator[Table]:
    """The figures of labels, those of probabilities where there are any, and the confusions."""
    table = Table("judge", "n", "no label", *OF_LABELS, "s/case")
    for row in card.rows:
        seconds = "" if row.seconds is None else f"{row.seconds:.2g}"
        cells = _cells(row, OF_LABELS)
        table.add_row(row.judge, str(row.labelled), str(row.failed), *cells, seconds)
    yield table
    with_probabilities = [row for row in card.rows if "Brier" in row.figures]
    if with_probabilities:
        table = Table("judge", *OF_PROBABILITIES)
        for row in with_probabilities:
            table.add_row(row.judge, *_cells(row, OF_PROBABILITIES))
        yield table
    table = Table("judge", "people said", *(f"judge: {label}" for label in LABELS))
    for row in card.rows:
        for label, counts in zip(LABELS, row.confusions, strict=True):
            table.add_row(row.judge if label == LABELS[0] else "", label, *map(str, counts))
    yield table


def trials(every: Sequence[Judged], labels: int, seed: int) -> dict[str, ppi.Trial]:
    """What `labels` labels and each judge tell of the share of claims that are supported.

    By the probability of support where the judge gives one with every label, else by the label.
    Cases on which it failed are left out: they have no score. None of a judge that has too few.
    """
    found: dict[str, ppi.Trial] = {}
    for name in every[0].verdicts:
        there = [one for one in every if one.verdicts[name].label is not None]
        if labels <= len(there) - ppi.LEAST:
            gold = [float(one.labelled.label == "support") for one in there]
            scores = _scores([one.verdicts[name] for one in there])
            found[name] = ppi.trial(gold, scores, labels, seed=seed)
    return found


def trial_table(found: Mapping[str, ppi.Trial]) -> Table:
    """For each judge the estimates of the first draw, and how all draws did."""
    columns = ("of all, by people", "by the judge", "by labels alone", "corrected (PPI++)")
    table = Table("judge", *columns, "mean widths", "hold the truth")
    for name, one in found.items():
        alone, powered = one.first
        table.add_row(
            name,
            f"{one.truth:.2f} n={one.cases}",
            f"{one.judge:.2f}",
            f"{alone.value:.2f} [{alone.low:.2f}, {alone.high:.2f}] n={one.n}",
            f"{powered.value:.2f} [{powered.low:.2f}, {powered.high:.2f}] λ={powered.tuning:.2f}",
            " → ".join(f"{width:.3f}" for width in one.widths),
            " → ".join(f"{share:.1%}" for share in one.covered),
        )
    return table


def trials_as_json(found: Mapping[str, ppi.Trial]) -> dict[str, Any]:
    """Under `ppi`; nothing where there are none."""
    return {"ppi": {name: asdict(one) for name, one in found.items()}} if found else {}


def panels(card: Card) -> dict[str, dict[str, tuple[float, float, float]]]:
    """What is drawn: a panel for each figure, a line for each judge."""
    drawn = {
        figure: {
            row.judge: (mean.value, mean.low, mean.high)
            for row in card.rows
            if (mean := row.figures.get(figure))
        }
        for figure in _PLOTTED
    }
    return {figure: of for figure, of in drawn.items() if of}


def as_json(card: Card, every: Sequence[Judged], facts: Mapping[str, Any]) -> dict[str, Any]:
    """All figures, and every case with what each judge said of it."""
    differ = {one.labelled.id for one in disagreements(every)}
    return {
        **facts,
        "n": card.n,
        "most_frequent": card.most_frequent,
        "alpha": asdict(card.alpha) if card.alpha else None,
        "judges": {row.judge: _row(row) for row in card.rows},
        "cases": [_case(one, one.labelled.id in differ) for one in every],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "labelled": row.labelled,
        "failed": row.failed,
        "refused": row.refused,
        "valid": row.valid,
        "seconds": row.seconds,
        "figures": {name: asdict(mean) for name, mean in row.figures.items()},
        "confusions": {
            label: dict(zip(LABELS, counts, strict=True))
            for label, counts in zip(LABELS, row.confusions, strict=True)
        },
    }


def _case(one: Judged, differ: bool) -> dict[str, Any]:
    return {
        "id": one.labelled.id,
        "claim": one.labelled.case.claim,
        "papers": [passage.paper_id for passage in one.labelled.case.passages],
        "label": one.labelled.label,
        "judges_differ": differ,
        "verdicts": {
            name: {
                "label": verdict.label,
                "probability": verdict.probability,
                "reason": verdict.reason,
                "failure": verdict.failure,
                "refused": verdict.refused,
                "raw": list(verdict.raw) if name in one.seconds else [],
                "seconds": one.seconds.get(name),
            }
            for name, verdict in one.verdicts.items()
        },
    }


def _scores(verdicts: Sequence[Verdict]) -> list[float]:
    given = [one.probability for one in verdicts]
    known = [probability for probability in given if probability is not None]
    if len(known) == len(verdicts):
        return known
    return [float(one.label == "support") for one in verdicts]


def _cells(row: Row, names: Mapping[str, object] | Sequence[str]) -> list[str]:
    return [_shown(row.figures[name]) if name in row.figures else "" for name in names]


def _shown(mean: Mean) -> str:
    return f"{mean.value:.2f} [{mean.low:.2f}, {mean.high:.2f}]"
