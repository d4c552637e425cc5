"""A run reduced to what is compared: the value of each measure for each question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from evals.scoring.scored import OUTCOMES, Outcome, Scored, trouble_of


@dataclass(frozen=True, slots=True)
class Row:
    """One question: `asked` names it and what is known of its answer, `cluster` its paper.

    `values` are means over the repeats that have one; none where every repeat failed.
    """

    asked: str
    cluster: str
    outcome: Outcome
    values: Mapping[str, float]

    @property
    def counts(self) -> bool:
        """Whether something came of it that can be compared."""
        return self.outcome in {"scored", "abstained"}


@dataclass(frozen=True, slots=True)
class Sheet:
    """All questions of a run by id.

    `questions` is the digest of the suite, `judge` whose opinions count, `identity` what made the
    figures (see `Manifest`), `outcomes` how many askings ended how.
    """

    suite: str
    questions: str
    judge: str
    identity: Mapping[str, Any]
    outcomes: Mapping[Outcome, int]
    rows: Mapping[str, Row]

    @property
    def trouble(self) -> str:
        """Why its values are not to be believed, as a report says it; empty where they are."""
        return trouble_of(self.outcomes)

    @property
    def valid(self) -> bool:
        """Whether few enough are missing for the values to be believed."""
        return not self.trouble


def sheet(identity: Mapping[str, Any], judge: str, scored: Sequence[Scored]) -> Sheet:
    """The sheet of a run with this identity."""
    together: dict[str, list[Scored]] = {}
    for one in scored:
        together.setdefault(one.item.id, []).append(one)
    outcomes = {name: sum(one.outcome == name for one in scored) for name in OUTCOMES}
    return Sheet(
        str(identity["suite"]),
        str(identity["questions"]),
        judge,
        dict(identity),
        outcomes,
        {item: _row(repeats) for item, repeats in together.items()},
    )


def _row(repeats: Sequence[Scored]) -> Row:
    first = repeats[0]
    values: dict[str, list[float]] = {}
    for one in repeats:
        for name, value in one.values.items():
            values.setdefault(name, []).append(value)
    means = {name: fmean(of) for name, of in values.items()}
    outcome = _outcome(one.outcome for one in repeats)
    return Row(first.item.digest, first.cluster, outcome, means)


def _outcome(repeats: Iterable[Outcome]) -> Outcome:
    """Scored if one was, else abstained if one was, else failed if one did."""
    seen = set(repeats)
    return next(outcome for outcome in OUTCOMES if outcome in seen)
