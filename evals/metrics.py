"""How good a ranking is, as trec_eval 9 works it out; pure functions.

A ranking is a sequence of document ids, best first. Judgements give a document its grade: 1 and
more is relevant, 0 and less, or no judgement, is not. A query without a relevant document has 0 of
every measure here, as in trec_eval; whoever averages leaves it out (see `evals.comparison`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np

Judgements = Mapping[str, int]
Measure = Callable[[Sequence[str], Judgements], float]


def ranked(scores: Mapping[str, float]) -> list[str]:
    """Document ids by score, highest first; of equal scores the later id first.

    That is trec_eval's order (`te_form_res_rels.c`), which takes no notice of the ranks in a run
    file and holds scores in single precision: 0.5 and 0.5 + 1e-9 are equal.
    """
    with np.errstate(over="ignore"):  # beyond single precision is infinite, and so equal
        single = np.array(list(scores.values()), dtype=np.float64).astype(np.float32).tolist()
    order = sorted(zip(single, scores, strict=True), reverse=True)
    return [document for _, document in order]


def ndcg(ranking: Sequence[str], judged: Judgements, k: int) -> float:
    """Normalised discounted cumulative gain of the first `k` (Järvelin and Kekäläinen 2002).

    DCG@k = sum over ranks i ≤ k of grade(i) / log2(i + 1), divided by that of the judged documents
    in the order of their grades, whether the collection has them or not. The gain is the grade
    itself, not 2^grade - 1; negative grades count as 0 (trec_eval's `ndcg_cut`).
    """
    ideal = _dcg(sorted((max(grade, 0) for grade in judged.values()), reverse=True)[:k])
    return _dcg(max(judged.get(one, 0), 0) for one in ranking[:k]) / ideal if ideal else 0.0


def recall(ranking: Sequence[str], judged: Judgements, k: int) -> float:
    """The share of all relevant documents that is among the first `k` (`recall`)."""
    wanted = relevant(judged)
    return len(wanted.intersection(ranking[:k])) / len(wanted) if wanted else 0.0


def reciprocal_rank(ranking: Sequence[str], judged: Judgements, k: int) -> float:
    """1 / rank of the first relevant document among the first `k`, 0 if there is none.

    Its mean over queries is MRR@k (`recip_rank` of a run that was cut at k).
    """
    wanted = relevant(judged)
    ranks = (rank for rank, one in enumerate(ranking[:k], start=1) if one in wanted)
    return 1.0 / next(ranks, math.inf)


def average_precision(ranking: Sequence[str], judged: Judgements, k: int) -> float:
    """The precision at the rank of each relevant document, summed over the first `k`.

    Divided by the number of all relevant documents, so that one not found counts 0 (`map_cut`).
    """
    wanted = relevant(judged)
    ranks = [rank for rank, one in enumerate(ranking[:k], start=1) if one in wanted]
    return sum(n / rank for n, rank in enumerate(ranks, start=1)) / len(wanted) if wanted else 0.0


def relevant(judged: Judgements) -> frozenset[str]:
    """The documents of a grade above 0."""
    return frozenset(document for document, grade in judged.items() if grade > 0)


MEASURES: Mapping[str, Measure] = {
    "nDCG@10": partial(ndcg, k=10),
    "recall@10": partial(recall, k=10),
    "recall@100": partial(recall, k=100),
    "MRR@10": partial(reciprocal_rank, k=10),
}
"""What a benchmark of retrieval reports."""


def _dcg(gains: Iterable[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
