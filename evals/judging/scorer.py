"""The product's own check of claims, as a judge: no model is asked."""

from __future__ import annotations

from evals.judging.planted import paper_of
from evals.judging.protocol import Case, Label, Verdict
from evals.scoring.statements import Passage
from rag.answering.support import Pinned, judge
from rag.schema import Evidence

_LABELS: dict[str, Label] = {"supported": "support", "contradicted": "contradict"}


class SupportJudge:
    """What lets a claim pass in the product; in part supported is not supported."""

    name = "support"

    def judge(self, case: Case) -> Verdict:
        """See `Judge.judge`."""
        support = [one for passage in case.passages for one in pinned(passage)]
        found = judge(case.claim, support, case.question)
        label = _LABELS.get(found.verdict, "neither")
        return Verdict(label, found.probability, reason=found.reason)

    def close(self) -> None:
        """There is nothing to let go of."""


def pinned(passage: Passage) -> list[Pinned]:
    """The sentences of a passage that are relied on, all where none is named."""
    paper = paper_of(passage)
    relied_on = passage.sentences or tuple(sentence.text for sentence in paper.sentences)
    return [
        (paper, Evidence(paper.id, place, one, 0, len(one), 0.0))
        for place, one in enumerate(relied_on)
    ]
