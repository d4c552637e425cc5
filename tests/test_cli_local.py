"""One question from end to end with the embedded model: no server, no network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import rag_apart

from rag.answering.abstention import REFUSAL
from rag.answering.citations import read_marks
from rag.models import WeightStore


@pytest.fixture(scope="session")
def local_answer(seeds_index: Path, weights: WeightStore) -> dict[str, Any]:
    """What the embedded model answers to one question."""
    assert weights.present("qwen2.5-coder-1.5b")
    ran = rag_apart(
        *("ask", "--llm", "local", "Which two structures does RepoScope model jointly?", "--json"),
        data=seeds_index,
        timeout=280,
    )
    assert ran.code == 0, ran.err
    return dict(json.loads(ran.out))


def test_the_embedded_model_answers_from_the_abstract(local_answer: dict[str, Any]) -> None:
    assert local_answer["status"] in {"answered", "partial"}
    assert local_answer["text"] != REFUSAL
    assert "call graphs" in local_answer["text"]
    assert local_answer["citations"][0]["title"] == "RepoScope"
    assert local_answer["manifest"]["finish"] == "stop"
    assert "on this machine" in local_answer["manifest"]["writer"]


def test_every_claim_of_it_is_cited_by_a_sentence_that_is_shown(
    local_answer: dict[str, Any],
) -> None:
    numbers = {citation["number"] for citation in local_answer["citations"]}
    marks = read_marks(local_answer["text"])
    assert len(marks) == len(local_answer["claims"])
    assert {number for mark in marks for number in mark} == numbers
    for claim in local_answer["claims"]:
        assert claim["verdict"] in {"supported", "partly"}
        assert claim["support"]
