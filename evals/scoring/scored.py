"""Each question of a run with its outcome and its figures; and all of them together.

Every asking of a question ends as exactly one of scored, abstained, failed, skipped. A failure is
never averaged: it is counted, and too many of them make a run invalid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from evals.record import Record
from evals.scoring.abstention import Silence, auroc, silence
from evals.scoring.citations import Cited, Overall, Unjudged, overall
from evals.scoring.consistency import agreement, same_sources, stable
from evals.scoring.measures import MEASURES, Asked, Measure, citations_of, reported
from evals.stats import Mean, clustered_mean, mean
from evals.suite import Item

Outcome = Literal["scored", "abstained", "failed", "skipped"]
OUTCOMES: tuple[Outcome, ...] = ("scored", "abstained", "failed", "skipped")
MOST_FAILED = 0.05  # share of the questions beyond which a run is invalid


@dataclass(frozen=True, slots=True)
class Scored:
    """One asking of a question: its outcome, why, and the measures that it has a value for.

    `refused` says why the judge was not to judge it, so that it has no figures of the judge's.
    """

    item: Item
    repeat: int
    outcome: Outcome
    values: Mapping[str, float]
    reason: str = ""
    record: Record | None = None
    cited: Cited | None = None
    refused: str = ""

    @property
    def cluster(self) -> str:
        """What goes together: questions of one paper, or the question by itself."""
        gold = self.item.asked.paper_ids
        return gold[0] if gold else self.item.asked.same_as or self.item.id


@dataclass(frozen=True, slots=True)
class Summary:
    """All questions together: outcomes, and the mean of each measure with its interval.

    `kinds` holds the means by kind of question. Where more than 5% of the askings failed or were
    not made the run is not `valid`, and `trouble` says why. `consistency` is over repeats and other
    wordings, by name. `refused` counts answers that the judge was not to judge: all of them that
    does not rest on the judge is scored.
    """

    outcomes: Mapping[Outcome, int]
    means: Mapping[str, Mean]
    kinds: Mapping[str, Mapping[str, Mean]]
    silence: Silence
    silence_auroc: float | None
    citations: Overall | None
    consistency: Mapping[str, Mean]
    refused: int = 0

    @property
    def asked(self) -> int:
        """How many askings there were to be."""
        return sum(self.outcomes.values())

    @property
    def trouble(self) -> str:
        """See `trouble_of`."""
        return trouble_of(self.outcomes)

    @property
    def valid(self) -> bool:
        """Whether the means are to be believed."""
        return not self.trouble


def trouble_of(outcomes: Mapping[Outcome, int]) -> str:
    """Why the figures of a run are not to be believed; empty where they are.

    The one rule for reports, comparisons, baselines and gates: no more than 5% of the askings may
    be without a result, because they failed or because they were not made.
    """
    total = sum(outcomes.values())
    failed, unasked = outcomes.get("failed", 0), outcomes.get("skipped", 0)
    if total and failed + unasked <= MOST_FAILED * total:
        return ""
    if not total:
        return "nothing was asked"
    parts = ((failed, "failed"), (unasked, "were not asked"))
    return ", ".join(f"{count / total:.0%} {what}" for count, what in parts if count)


def score(
    items: Iterable[Item],
    repeats: int,
    records: Iterable[Record],
    judge: str,
    measures: Sequence[Measure] = MEASURES,
) -> list[Scored]:
    """The outcome of every asking that was planned, in the order of the suite.

    Raises:
        ValueError: there is a record of something that was not planned.
    """
    by_key = {record.key: record for record in records}
    planned = [(item, repeat) for item in items for repeat in range(repeats)]
    if strange := by_key.keys() - {(item.id, repeat) for item, repeat in planned}:
        raise ValueError(f"there is a record of {sorted(strange)[0][0]!r}, which the suite has not")
    return [
        _scored(item, repeat, by_key.get((item.id, repeat)), judge, measures)
        for item, repeat in planned
    ]


def summarise(scored: Sequence[Scored], seed: int) -> Summary:
    """Everything that a report tells of a run."""
    outcomes = {name: sum(one.outcome == name for one in scored) for name in OUTCOMES}
    if sum(outcomes.values()) != len(scored):
        raise AssertionError("an asking has no outcome, or several")
    used = [one for one in scored if one.outcome in {"scored", "abstained"}]
    kinds = dict.fromkeys(one.item.kind for one in used)
    decided = [one for one in used if "decided" in one.values]
    pairs = [(one.item.answerable, one.outcome == "abstained") for one in decided]
    return Summary(
        outcomes,
        means_of(used, seed),
        {kind: means_of([o for o in used if o.item.kind == kind], seed) for kind in kinds},
        silence(pairs),
        silence_auroc(decided),
        overall(cited) if (cited := [o.cited for o in used if o.cited is not None]) else None,
        {name: mean(values, seed) for name, values in consistency(used).items()},
        sum(bool(one.refused) for one in scored),
    )


def means_of(scored: Sequence[Scored], seed: int) -> dict[str, Mean]:
    """The mean of each measure over questions, repeats averaged first, clustered by paper."""
    there = {name for one in scored for name in one.values}
    return {m.name: _mean(m.name, scored, seed) for m in MEASURES if m.name in there}


def per_item(name: str, scored: Sequence[Scored]) -> dict[str, float]:
    """The value of a measure for each question that has one: the mean of its repeats."""
    values: dict[str, list[float]] = {}
    for one in scored:
        if name in one.values:
            values.setdefault(one.item.id, []).append(one.values[name])
    return {item: fmean(of) for item, of in values.items()}


def _mean(name: str, scored: Sequence[Scored], seed: int) -> Mean:
    values = per_item(name, scored)
    clusters = {one.item.id: one.cluster for one in scored}
    return clustered_mean(list(values.values()), [clusters[item] for item in values], seed)


def _scored(
    item: Item, repeat: int, record: Record | None, judge: str, measures: Sequence[Measure]
) -> Scored:
    if record is None:
        return Scored(item, repeat, "skipped", {}, "it was not asked")
    if record.ending == "failed":
        return Scored(item, repeat, "failed", {}, record.reason, record)
    asked = Asked(item, record, judge)
    try:
        cited = citations_of(asked)
        values = dict(_values(asked, measures))
    except Unjudged as error:
        return Scored(item, repeat, "failed", {}, f"{judge or 'nobody'}: {error}", record)
    outcome: Outcome = "abstained" if asked.abstained else "scored"
    return Scored(item, repeat, outcome, values, "", record, cited, asked.refused)


def _values(asked: Asked, measures: Sequence[Measure]) -> Iterator[tuple[str, float]]:
    for measure in measures:
        value = measure.of(asked)
        if value is not None:
            yield measure.name, reported(measure, value)


def silence_auroc(scored: Sequence[Scored]) -> float | None:
    """How well the writer's own confidence tells questions with an answer from those without."""
    known = [
        (one.record.confidence, one.item.answerable)
        for one in scored
        if one.record is not None and one.record.confidence is not None
    ]
    return auroc([c for c, _ in known], [a for _, a in known]) if known else None


def consistency(scored: Sequence[Scored]) -> dict[str, list[float]]:
    """What agrees over the repeats of each question, and over the wordings of one question."""
    groups: Mapping[str, Callable[[Scored], str]] = {
        "repeats": lambda one: one.item.id,
        "wordings": lambda one: one.item.asked.same_as or one.item.id,
    }
    found: dict[str, list[float]] = {}
    for name, key in groups.items():
        together: dict[str, list[Scored]] = {}
        for one in scored:
            if name == "repeats" or one.repeat == 0:
                together.setdefault(key(one), []).append(one)
        for measure, of in _CONSISTENT.items():
            values = [v for group in together.values() if (v := of(group)) is not None]
            if values:
                found[f"{measure} over {name}"] = values
    return found


def _texts(group: Sequence[Scored]) -> float | None:
    return agreement([str(one.record.answer["text"]) for one in group if one.record])


def _sources(group: Sequence[Scored]) -> float | None:
    cited = [one.record.answer["citations"] for one in group if one.record]
    return same_sources([frozenset(c["paper_id"] for c in of) for of in cited])


def _verdicts(group: Sequence[Scored]) -> float | None:
    return stable([one.values["correct"] == 1.0 for one in group if "correct" in one.values])


_CONSISTENT: Mapping[str, Callable[[Sequence[Scored]], float | None]] = {
    "same words": _texts,
    "same papers": _sources,
    "same verdict": _verdicts,
}
