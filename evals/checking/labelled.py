"""The check of claims on SciFact's labelled claims: does it tell support and contradiction?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evals.checking.fitting import nearest
from evals.judging.labelled import Labelled
from evals.judging.protocol import Label
from evals.scoring.abstention import auroc
from rag.answering.support import Judgement, Likeness, judge
from rag.answering.weighing import Odds, features, weigh
from rag.index.embedding import Embedder
from rag.schema import Verdict

_CALLED: dict[Verdict, Label] = {"supported": "support", "contradicted": "contradict"}


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one label: the AUROC of its probability, and the F1 of the verdict, over `n` claims."""

    auroc: float
    f1: float
    n: int


@dataclass(frozen=True, slots=True)
class Seen:
    """A labelled claim as the check saw it, with the odds before any rule has its say."""

    label: Label
    judgement: Judgement
    odds: Odds


def seen(cases: Sequence[Labelled], embedder: Embedder, likeness: Likeness) -> list[Seen]:
    """Each claim beside the sentences nearest to it in its abstracts."""
    found = []
    for one in cases:
        support = nearest(one, embedder)
        texts = [evidence.text for _, evidence in support]
        abstracts = " ".join(f"{paper.title} {paper.text}" for paper, _ in support)
        like = likeness(one.case.claim, texts)
        odds = weigh(
            features(one.case.claim, " ".join(texts), abstracts, "", like), with_likeness=True
        )
        judgement = judge(one.case.claim, support, "", likeness)
        found.append(Seen(one.label, judgement, odds))
    return found


def figures(rows: Sequence[Seen]) -> dict[str, Figures]:
    """By label, against all other claims."""
    scores = {
        "support": [row.odds.support for row in rows],
        "contradict": [row.odds.contradiction for row in rows],
    }
    return {name: _figures(rows, name, values) for name, values in scores.items()}


def _figures(rows: Sequence[Seen], name: str, scores: Sequence[float]) -> Figures:
    positive = [row.label == name for row in rows]
    called = [_CALLED.get(row.judgement.verdict) == name for row in rows]
    right = sum(a and b for a, b in zip(positive, called, strict=True))
    total = sum(positive) + sum(called)
    return Figures(auroc(scores, positive) or 0.0, 2 * right / total if total else 0.0, len(rows))
