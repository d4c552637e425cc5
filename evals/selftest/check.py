"""Damaging good answers and looking at every figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from evals.judging.inline import Judging
from evals.judging.scorer import SupportJudge
from evals.record import Record
from evals.running.transcript import Replies, Transcript
from evals.scoring.abstention import silence
from evals.scoring.measures import BY_NAME, MEASURES, Measure
from evals.scoring.scored import Scored, consistency, per_item, score, silence_auroc
from evals.selftest.cases import cases_of
from evals.selftest.damage import DAMAGE, Change, Damage, Mostly
from evals.selftest.perfect import REPEATS
from evals.suite import Item

UNDAMAGED, OTHERS = "none", "all others"
_WITHIN = 1e-9
_PERFECT = {"unknown citations": 0.0}
_ANY = frozenset({"token F1", "seconds", "first claim", "cost"})  # of good answers too


@dataclass(frozen=True, slots=True)
class Row:
    """What a damage did to a figure: the change that was expected and the one that was seen."""

    damage: str
    figure: str
    expected: Change
    seen: float

    @property
    def ok(self) -> bool:
        """Whether it moved as it should."""
        if self.expected == "down":
            return self.seen < -_WITHIN
        if self.expected == "up":
            return self.seen > _WITHIN
        if isinstance(self.expected, Mostly):
            return self.expected.share <= self.seen / self.expected.amount <= 1 + _WITHIN
        return abs(self.seen - self.expected) <= _WITHIN


@dataclass(frozen=True, slots=True)
class Outcome:
    """All rows, and the figures that no damage moves, so that nothing is known of them."""

    rows: tuple[Row, ...]
    untested: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every figure moved as it should."""
        return all(row.ok for row in self.rows)


def check(
    items: Sequence[Item],
    records: Sequence[Record],
    measures: Sequence[Measure] = MEASURES,
    damage: Mapping[str, Damage] = DAMAGE,
) -> Outcome:
    """Damage the perfect records of some questions in every way.

    What stays is told in one row for each damage, by the figure that moved most.
    """
    judging = Judging([SupportJudge()], Transcript(Replies(None)))
    known = {id(record): judging.judge(record) for record in records}
    base = _figures(items, list(known.values()), measures)
    cases = cases_of(items, records)
    rows = [
        Row(UNDAMAGED, name, 0.0, base[name] - _best(name)) for name in base if name not in _ANY
    ]
    moved: set[str] = set()
    for name, spoil in damage.items():
        done = spoil(cases)
        judged = [known.get(id(record)) or judging.judge(record) for record in done.records]
        figures = _figures(items, judged, measures)
        rows += _rows(name, base, figures, done.expected)
        moved.update(done.expected)
    return Outcome(tuple(rows), tuple(name for name in base if name not in moved))


def _rows(
    damage: str,
    base: Mapping[str, float],
    figures: Mapping[str, float],
    expected: Mapping[str, Change],
) -> list[Row]:
    changes = {name: figures.get(name, 0.0) - base.get(name, 0.0) for name in {**base, **figures}}
    rows = [Row(damage, name, of, changes.pop(name, 0.0)) for name, of in expected.items()]
    largest = max(changes, key=lambda name: abs(changes[name]))
    is_still = abs(changes[largest]) <= _WITHIN
    return [*rows, Row(damage, OTHERS if is_still else largest, 0.0, changes[largest])]


def _figures(
    items: Sequence[Item], records: Sequence[Record], measures: Sequence[Measure]
) -> dict[str, float]:
    """Every figure of a report, without its interval."""
    scored = score(items, REPEATS, records, SupportJudge.name, measures)
    there = dict.fromkeys(name for one in scored for name in one.values)
    found = {name: fmean(per_item(name, scored).values()) for name in there}
    found |= {name: fmean(values) for name, values in consistency(scored).items()}
    return {**found, **_of_silence(scored), "unknown citations": _unknown(scored)}


def _of_silence(scored: Sequence[Scored]) -> dict[str, float]:
    counts = silence([(one.item.answerable, one.outcome == "abstained") for one in scored])
    found = {
        "answer rate": counts.answer_rate,
        "abstention recall": counts.abstention_recall,
        "abstention precision": counts.abstention_precision,
        "AUROC of confidence": silence_auroc(scored),
    }
    return {name: value for name, value in found.items() if value is not None}


def _unknown(scored: Sequence[Scored]) -> float:
    return float(sum(one.cited.unknown for one in scored if one.cited))


def _best(name: str) -> float:
    """The value of a figure for answers that could not be better."""
    measure = BY_NAME.get(name)
    return _PERFECT.get(name, 0.0 if measure and measure.better == "lower" else 1.0)
