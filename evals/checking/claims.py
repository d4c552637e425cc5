"""Claims that are known to be true: what the golden questions' evidence says, in other words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from evals.known import SUITES
from evals.running.gold import suite_id
from evals.suite import Item
from rag.answering.support import Pinned
from rag.corpus import Limits, Rejected, find_files, read_papers
from rag.schema import Evidence, Paper

_FILE = SUITES / "true-claims.jsonl"
_PREFIX = 60  # characters by which the evidence of a question is found in its abstract


@dataclass(frozen=True, slots=True)
class Stated:
    """A claim, the sentences it is pinned to, and the question that it helps to answer."""

    item: str
    claim: str
    support: tuple[Pinned, ...]
    question: str

    @property
    def paper(self) -> Paper:
        """The paper that it is about."""
        return self.support[0][0]


def papers_of_seeds() -> dict[str, Paper]:
    """The papers of the seeds by the ids of the golden questions, as 000-04."""
    found = {}
    for source in find_files([SUITES.parents[1] / "seeds"]):
        for piece in read_papers(source.content(Limits())):
            if not isinstance(piece, Rejected):
                paper = piece[1]
                found[suite_id(paper.source, paper.ordinal)] = paper
    return found


def in_other_words(items: list[Item], papers: dict[str, Paper]) -> Iterator[Stated]:
    """Each true claim of the repository, pinned to the evidence of its question."""
    by_id = {item.id: item for item in items}
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        item = by_id[one["item"]]
        yield Stated(item.id, one["claim"], evidence_of(item, papers), item.asked.question)


def quoted(items: list[Item], papers: dict[str, Paper]) -> Iterator[Stated]:
    """Each sentence that answers a question, as a claim of its own."""
    for item in items:
        if item.answerable and not item.earlier:
            for one in evidence_of(item, papers):
                yield Stated(item.id, one[1].text, (one,), item.asked.question)


def evidence_of(item: Item, papers: dict[str, Paper]) -> tuple[Pinned, ...]:
    """The sentences of its papers that answer a question."""
    wanted = item.asked.evidence
    return tuple(
        (paper, Evidence(paper.id, place, sentence.text, sentence.start, sentence.end, 0.0))
        for paper in (papers[name] for name in item.asked.paper_ids)
        for place, sentence in enumerate(paper.sentences)
        if any(e[:_PREFIX] in sentence.text or sentence.text[:_PREFIX] in e for e in wanted)
    )
