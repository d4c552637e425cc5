"""Whether the sentences that a claim names do support it, how surely, and if not, why not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag.answering import listed
from rag.answering.facts import missing_names, missing_numbers, numbers, other_unit
from rag.answering.polarity import (
    denies_what_is_said,
    exchanged_direction,
    other_direction,
    says_what_is_denied,
)
from rag.answering.prompting import Labelled
from rag.answering.weighing import Odds, cover, features, is_verbatim, left_over, weigh
from rag.schema import Evidence, Paper, Verdict

SUPPORTED = 0.4
PARTLY = 0.25
_ABOUT_THE_SAME = 0.5  # of a claim's words that its sentences have, before they can deny it
_OWN_SHARE = 0.35
_A_PART = 4  # words in a row that would be a statement of their own
_NEAR = 0.25  # the cosine from which such words may be another way to say it

Likeness = Callable[[str, Sequence[str]], float | None]
"""The cosine of a claim to the nearest of several sentences; None where it cannot be had."""

Pinned = tuple[Paper, Evidence]
"""A sentence, with its paper, that a claim relies on."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What checking a claim gave; `reason` says why it is not fully supported.

    `probability` is that the sentences say it, None where that cannot be told.
    """

    verdict: Verdict
    reason: str = ""
    probability: float | None = 0.0


def judge(
    claim: str,
    support: Sequence[Pinned],
    question: str = "",
    likeness: Likeness | None = None,
) -> Judgement:
    """Compare a claim with its sentences.

    A number must stand in one of the sentences, in the same unit. A name must stand in them or
    elsewhere in the abstract that they are from: "It improves …" is about the system that was
    named before. The contrary of what they say contradicts them. Beyond that the verdict rests on
    how likely they say it, by words and, where `likeness` is given, by meaning.
    """
    if not support:
        return Judgement("unsupported", "it names no sentence")
    texts = [evidence.text for _, evidence in support]
    sentences = " ".join(texts)
    abstracts = " ".join(f"{paper.title} {paper.text}" for paper, _ in support)
    like = likeness(claim, texts) if likeness else None
    seen = features(claim, sentences, abstracts, question, like)
    odds = weigh(seen, with_likeness=like is not None)
    if is_verbatim(claim, sentences):
        return Judgement("supported", probability=1.0)
    if missing := _missing(claim, sentences, abstracts, question):
        return Judgement("unsupported", missing, min(odds.support, 0.05))
    if contrary := _contrary(claim, sentences, question, seen.cover):
        return Judgement("contradicted", contrary, min(odds.support, 0.05))
    found = _weighed(odds, seen.cover)
    if found.verdict == "supported" and (part := _added(claim, texts, question, likeness)):
        lacking = f"the sentences it names do not say “{part}”"
        return Judgement("partly", lacking, min(odds.support, PARTLY))
    return found


def _added(claim: str, texts: Sequence[str], question: str, likeness: Likeness | None) -> str:
    """A part of a claim that no sentence comes near to, in words or in meaning, or nothing."""
    words = left_over(claim, " ".join(texts), question)
    if len(words) < _A_PART:
        return ""
    part = " ".join(words)
    like = likeness(part, texts) if likeness else None
    return "" if like is not None and like >= _NEAR else part


def _weighed(odds: Odds, covered: float) -> Judgement:
    if odds.support >= SUPPORTED:
        return Judgement("supported", probability=odds.support)
    told = f"{covered:.0%} of its words are in the sentences it names"
    if odds.support >= PARTLY:
        return Judgement("partly", told, odds.support)
    return Judgement("unsupported", f"only {told}", odds.support)


def _missing(claim: str, sentences: str, abstracts: str, question: str) -> str:
    """The number, unit or name of a claim that its sentences lack, or nothing."""
    if missing := missing_numbers(claim, sentences):
        return f"{missing[0]} is not in the sentences it names"
    if other := other_unit(claim, sentences):
        return other
    if missing := missing_names(claim, abstracts, question):
        return f"{missing[0]} is not in the abstracts it names"
    return ""


def _contrary(claim: str, sentences: str, question: str, covered: float) -> str:
    """How a claim says otherwise than its sentences, or nothing."""
    if wrong := listed.misread(claim, sentences, question):
        return wrong
    if covered < _ABOUT_THE_SAME:
        return ""
    if denies_what_is_said(claim, sentences):
        return "it denies what the sentences say"
    if says_what_is_denied(claim, sentences):
        return "it says what the sentences deny"
    return other_direction(claim, sentences) or exchanged_direction(claim, sentences)


def repin(
    claim: str,
    named: Sequence[Labelled],
    given: Sequence[Labelled],
    question: str,
    likeness: Likeness | None = None,
) -> tuple[list[Pinned], Judgement]:
    """The sentences that a claim is pinned to, and how it was judged by them.

    They are those that the model named. Where these do not support the claim but another one
    that it was given fully does, it named the wrong label, and the claim is pinned to that one.
    A claim that names none is not helped: whoever does not cite has not read. Nor is one that its
    own sentences contradict.
    """
    support = [(item.paper, item.evidence) for item in named]
    judgement = judge(claim, support, question, likeness)
    if judgement.verdict == "supported":
        return _needed(claim, support, question, likeness), judgement
    if not named or judgement.verdict == "contradicted":
        return support, judgement
    for item in sorted(given, key=lambda item: -cover(claim, item.evidence.text, question)):
        other = [(item.paper, item.evidence)]
        found = judge(claim, other, question, likeness)
        if found.verdict == "supported":
            return other, found
    return support, judgement


def _needed(
    claim: str, support: Sequence[Pinned], question: str, likeness: Likeness | None
) -> list[Pinned]:
    """Those sentences without the ones of a paper that says little of the claim.

    It is left out only where the others support the claim without it: to cite it would send the
    reader to a wrong paper.
    """
    kept = list(support)
    for paper_id in dict.fromkeys(paper.id for paper, _ in support):
        own = " ".join(evidence.text for paper, evidence in kept if paper.id == paper_id)
        rest = [pinned for pinned in kept if pinned[0].id != paper_id]
        says_little = cover(claim, own, question) < _OWN_SHARE
        if says_little and judge(claim, rest, question, likeness).verdict == "supported":
            kept = rest
    return kept


__all__ = ["Judgement", "Likeness", "Pinned", "judge", "numbers", "repin"]
