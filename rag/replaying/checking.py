"""Whether what an answer cites still stands in the collection, and still says it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from rag.answering.support import Judgement
from rag.replaying.record import Cited, Recorded, Said, Sentence
from rag.schema import Evidence, Paper, Verdict

State = Literal["unchanged", "moved", "elsewhere", "changed", "gone"]
"""Of a cited sentence: in its place; elsewhere in its paper; in another paper only; not there any
more though its paper is; gone with its paper."""

Pinned = tuple[Paper, Evidence]
Judge = Callable[[str, list[Pinned]], Judgement]
Owner = Callable[[str], Paper | None]
"""Finds a paper that has a sentence word for word."""


@dataclass(frozen=True, slots=True)
class SentenceCheck:
    """A cited sentence; `paper` has it now, from `start` on, and is None where none has."""

    number: int
    title: str
    text: str
    state: State
    paper: Paper | None = None
    start: int = 0

    @property
    def pinned(self) -> Pinned | None:
        """The sentence as evidence of the paper that has it."""
        if self.paper is None:
            return None
        end = self.start + len(self.text)
        at = (n for n, s in enumerate(self.paper.sentences) if s.start <= self.start < s.end)
        index = next(at, 0)
        return self.paper, Evidence(self.paper.id, index, self.text, self.start, end, 0.0)


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """A claim, its verdict of before and of now, and why it is another."""

    text: str
    before: Verdict
    now: Verdict
    reason: str = ""


def check_sentences(
    recorded: Recorded, papers: Mapping[str, Paper], owner: Owner
) -> dict[tuple[int, int], SentenceCheck]:
    """Each cited sentence, by the number of its paper and where it began."""
    return {
        (cited.number, sentence.start): _sentence(cited, sentence, papers, owner)
        for cited in recorded.citations
        for sentence in cited.sentences
    }


def _sentence(
    cited: Cited, sentence: Sentence, papers: Mapping[str, Paper], owner: Owner
) -> SentenceCheck:
    paper, text = papers.get(cited.paper_id), sentence.text

    def found(state: State, has: Paper | None = None, start: int = 0) -> SentenceCheck:
        return SentenceCheck(cited.number, cited.title, text, state, has, start)

    if paper and paper.text[sentence.start : sentence.end] == text:
        return found("unchanged", paper, sentence.start)
    if paper and text in paper.text:
        return found("moved", paper, paper.text.index(text))
    if other := owner(text):
        return found("elsewhere", other, other.text.index(text))
    return found("changed" if paper else "gone")


def check_claims(
    recorded: Recorded, sentences: Mapping[tuple[int, int], SentenceCheck], judge: Judge
) -> list[ClaimCheck]:
    """Each claim judged again by those of its sentences that are still there."""
    return [_claim(claim, sentences, judge) for claim in recorded.claims]


def _claim(
    claim: Said, sentences: Mapping[tuple[int, int], SentenceCheck], judge: Judge
) -> ClaimCheck:
    if not claim.support:  # such as a count: it rests on no single sentence
        return ClaimCheck(claim.text, claim.verdict, claim.verdict)
    named = [sentences.get((pin.number, pin.start)) for pin in claim.support]
    support = [check.pinned for check in named if check and check.pinned]
    if not support:
        return ClaimCheck(claim.text, claim.verdict, "unsupported", "its sentences are not there")
    judgement = judge(claim.text, support)
    return ClaimCheck(claim.text, claim.verdict, judgement.verdict, judgement.reason)
