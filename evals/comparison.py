"""What runs of several systems over the same queries say; pure functions of runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evals.golden import ALL
from evals.metrics import MEASURES, ranked, relevant
from evals.stats import Mean, detectable, holm, mean, randomisation
from evals.trec import Qrels, Run

Scores = Mapping[str, Mapping[str, float]]
"""For each measure the value of each query."""


@dataclass(frozen=True, slots=True)
class Difference:
    """`system` minus `peer` in one measure, paired by query.

    `corrected` is p after Holm's correction over all that is compared in a report; `detectable` the
    smallest true difference that so many queries show with 80% power before any correction.
    """

    system: str
    peer: str
    measure: str
    mean: Mean
    p: float
    corrected: float
    detectable: float


def score(run: Run, qrels: Qrels) -> dict[str, dict[str, float]]:
    """Each measure for each query that has a relevant document.

    A query that the run does not have found nothing and counts 0; one without a relevant document
    cannot be found right or wrong and does not count.
    """
    eligible = [query for query, judged in qrels.items() if relevant(judged)]
    rankings = {query: ranked(run.get(query, {})) for query in eligible}
    return {
        name: {query: measure(rankings[query], qrels[query]) for query in eligible}
        for name, measure in MEASURES.items()
    }


def means(scores: Scores, kinds: Mapping[str, str], seed: int) -> dict[str, dict[str, Mean]]:
    """The mean of each measure for each kind of query, and over all."""
    queries = list(next(iter(scores.values())))
    groups = {ALL: queries}
    for query in queries:
        if kind := kinds.get(query, ""):
            groups.setdefault(kind, []).append(query)
    return {
        kind: {name: mean([of[query] for query in group], seed) for name, of in scores.items()}
        for kind, group in groups.items()
    }


def compare(system: str, scores: Mapping[str, Scores], seed: int) -> list[Difference]:
    """`system` against each of the others in each measure; nothing where it has no peer.

    Nor where there is a single query: it has no spread.
    """
    found = [
        (peer, measure, _differences(scores[system][measure], scores[peer][measure]))
        for peer in scores
        if system in scores and peer != system
        for measure in MEASURES
    ]
    found = [(peer, measure, values) for peer, measure, values in found if len(values) > 1]
    tests = [randomisation(values, seed) for _, _, values in found]
    return [
        Difference(system, peer, measure, mean(values, seed), p, corrected, detectable(values))
        for (peer, measure, values), p, corrected in zip(found, tests, holm(tests), strict=True)
    ]


def unscored(qrels: Qrels, queries: Iterable[str]) -> int:
    """How many of the queries have no relevant document."""
    return sum(not relevant(qrels.get(query, {})) for query in queries)


def _differences(ours: Mapping[str, float], theirs: Mapping[str, float]) -> list[float]:
    return [ours[query] - theirs[query] for query in ours]
