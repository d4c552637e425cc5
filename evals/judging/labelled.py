"""Claims that people have labelled, with what they read: what judges are measured on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evals.judging.protocol import Case, Label
from evals.known import public
from evals.scoring.statements import Passage
from rag.errors import InputError

_LABELS: Mapping[str, Label] = {
    "SUPPORT": "support",
    "CONTRADICT": "contradict",
    "NOT_ENOUGH_INFO": "neither",
}

Split = Literal["dev", "train"]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A case and the label that people gave it; cases of one `cluster` share a paper."""

    id: str
    case: Case
    label: Label
    cluster: str


def scifact(split: Split) -> list[Labelled]:
    """SciFact's claims of a split, each with the abstracts that its annotators labelled.

    Those are the abstracts of its evidence and, of a claim with too little evidence, the ones that
    it was written from (Wadden et al. 2020, "Fact or fiction: verifying scientific claims"). In an
    order by hash, so that the first n are a sample of them all.

    Raises:
        InputError: the data is not there, or a claim names an abstract that is not.
    """
    papers = {str(one["id"]): one for one in public("scifact", "corpus.jsonl")}
    claims = [one for one in public("scifact", "claims.jsonl") if one["split"] == split]
    return sorted((_labelled(one, papers) for one in claims), key=_by_hash)


def stratified(cases: Sequence[Labelled], n: int) -> list[Labelled]:
    """The first of each label, `n` in all, in the proportions that the labels have among all cases.

    Each label gets the whole part of its share, and those with the largest remainders one more
    (Hamilton's method), so that a few cases are as hard to guess as all. In their order.
    """
    places: dict[Label, list[int]] = {}
    for place, one in enumerate(cases):
        places.setdefault(one.label, []).append(place)
    shares = {label: n * len(of) / len(cases) for label, of in places.items()}
    sizes = {label: int(share) for label, share in shares.items()}
    rest = sorted(shares, key=lambda label: sizes[label] - shares[label])
    for label in rest[: n - sum(sizes.values())]:
        sizes[label] += 1
    chosen = {place for label, of in places.items() for place in of[: sizes[label]]}
    return [one for place, one in enumerate(cases) if place in chosen]


def _labelled(claim: Mapping[str, Any], papers: Mapping[str, Mapping[str, Any]]) -> Labelled:
    keys = list(claim["evidence"] or claim["cited_doc_ids"])
    if missing := [key for key in keys if key not in papers]:
        raise InputError(f"Claim {claim['id']} of SciFact has no abstract {missing[0]}")
    passages = tuple(Passage(key, papers[key]["title"], papers[key]["text"]) for key in keys)
    case = Case(str(claim["claim"]), passages)
    return Labelled(str(claim["id"]), case, _LABELS[claim["label"]], keys[0])


def _by_hash(one: Labelled) -> str:
    return hashlib.sha256(one.id.encode()).hexdigest()
