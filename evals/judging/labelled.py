"""Claims that people have labelled, with what they read: what judges are measured on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
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


def _labelled(claim: Mapping[str, Any], papers: Mapping[str, Mapping[str, Any]]) -> Labelled:
    keys = list(claim["evidence"] or claim["cited_doc_ids"])
    if missing := [key for key in keys if key not in papers]:
        raise InputError(f"Claim {claim['id']} of SciFact has no abstract {missing[0]}")
    passages = tuple(Passage(key, papers[key]["title"], papers[key]["text"]) for key in keys)
    case = Case(str(claim["claim"]), passages)
    return Labelled(str(claim["id"]), case, _LABELS[claim["label"]], keys[0])


def _by_hash(one: Labelled) -> str:
    return hashlib.sha256(one.id.encode()).hexdigest()
