"""Citation recall and precision as ALCE defines them.

Gao, Yen, Yu and Chen 2023, "Enabling large language models to generate text with citations",
section 3.3. The recall of a statement is 1 if and only if it has citations and together they entail
it. A citation is irrelevant if and only if alone it does not entail the statement and without it
the others still do; its precision is 1 if and only if its statement has recall 1 and it is not
irrelevant. An answer's recall is the mean over its statements, its precision the mean over its
citations; over answers both means of answers (macro) and of their parts (micro) are told.

A number that names no source is a citation of precision 0 and entails nothing; the paper does not
say, and its script fails on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from evals.record import Opinion
from evals.scoring.statements import Statement

Entails = Callable[[int, tuple[int, ...]], bool]
"""Whether citations together entail the statement of that place."""


@dataclass(frozen=True, slots=True)
class Cited:
    """How the statements of one answer are cited.

    `recalls` holds 0 or 1 for each statement, `precisions` for each citation; `unknown` counts the
    citations that name no source.
    """

    recalls: tuple[float, ...]
    precisions: tuple[float, ...]
    unknown: int = 0

    @property
    def recall(self) -> float:
        """The mean over statements; 0 for an answer without any."""
        return _mean(self.recalls)

    @property
    def precision(self) -> float:
        """The mean over citations; 0 for an answer without any."""
        return _mean(self.precisions)


@dataclass(frozen=True, slots=True)
class Overall:
    """Citations over several answers: macro means answers, micro statements and citations."""

    macro_recall: float
    macro_precision: float
    micro_recall: float
    micro_precision: float
    unknown: int
    answers: int


class Unjudged(ValueError):
    """The judge has no opinion that a measure needs."""


def cited(statements: Sequence[Statement], entails: Entails) -> Cited:
    """Recall of each statement and precision of each of its citations."""
    recalls: list[float] = []
    precisions: list[float] = []
    for place, statement in enumerate(statements):
        known = statement.known
        recall = bool(known) and entails(place, known)
        recalls.append(float(recall))
        precisions += [float(recall and _is_relevant(place, n, known, entails)) for n in known]
        precisions += [0.0] * len(statement.unknown)
    return Cited(tuple(recalls), tuple(precisions), sum(len(s.unknown) for s in statements))


def overall(answers: Iterable[Cited]) -> Overall:
    """The means over answers and over all their parts; 0 where there are none."""
    every = list(answers)
    return Overall(
        _mean([one.recall for one in every]),
        _mean([one.precision for one in every]),
        _mean([value for one in every for value in one.recalls]),
        _mean([value for one in every for value in one.precisions]),
        sum(one.unknown for one in every),
        len(every),
    )


def entailment(opinions: Iterable[Opinion]) -> Entails:
    """Entailment as a judge saw it.

    Raises:
        Unjudged: when it is asked for what the judge did not say.
    """
    said: Mapping[tuple[int, tuple[int, ...]], Opinion] = {
        (one.claim, one.citations): one for one in opinions
    }

    def entails(place: int, citations: tuple[int, ...]) -> bool:
        opinion = said.get((place, citations))
        if opinion is None or opinion.failure:
            raise Unjudged(opinion.failure if opinion else f"no opinion on claim {place + 1}")
        return opinion.label == "support"

    return entails


def _is_relevant(place: int, number: int, known: tuple[int, ...], entails: Entails) -> bool:
    if len(known) == 1 or entails(place, (number,)):
        return True
    return not entails(place, tuple(other for other in known if other != number))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
