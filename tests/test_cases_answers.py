"""Kinds of questions that went wrong in comparable systems, each tried here by its id."""

from __future__ import annotations

import re
from pathlib import Path

from collections_of import OWLS, asking, by_key, with_model

from rag.index.embedding import Embedder
from rag.schema import Answer

NESTS = (
    {
        "id": "c1",
        "title": "Owls 2022",
        "authors": ["A. Sato"],
        "year": 2022,
        "abstract": "We estimate 300 nests in the valley.",
    },
    {
        "id": "c2",
        "title": "Owls 2024",
        "authors": ["B. Ruiz"],
        "year": 2024,
        "abstract": "We estimate 450 nests in the valley.",
    },
)


def keys(answer: Answer) -> set[str]:
    return {citation.paper.meta.key for citation in answer.citations}


def test_ques_001_a_count_is_that_of_the_collection(tmp_path: Path, embedder: Embedder) -> None:
    numbers = range(1, 26)
    records = [
        {
            "id": f"o{n}",
            "title": f"Nest paper number {n}",
            "abstract": f"Paper {n} studies owl nests.",
        }
        for n in numbers
    ]
    for question in (
        "How many papers about owl nests are in the collection?",
        "How many papers are there?",
        "How many papers are there about owl nests?",
    ):
        with asking(tmp_path, embedder, records) as assistant:
            answer = assistant.answer(question)
        assert answer.kind == "count"
        assert answer.text.startswith("25 papers")
        assert "checked 25 of 25 abstracts" in answer.text
        assert answer.coverage is not None
        assert (answer.coverage.checked, answer.coverage.total) == (25, 25)
        assert keys(answer) == {f"o{n}" for n in numbers}
        assert len(answer.claims) == 25


def test_ques_002_numbers_are_those_of_the_paper_that_was_asked_about(
    tmp_path: Path, embedder: Embedder
) -> None:
    question = (
        "How many tasks is TinyOwl evaluated on, and by how many points does it raise recall?"
    )
    with asking(tmp_path, embedder, OWLS) as assistant:
        answer = assistant.answer(question)
    first = answer.claims[0]
    assert answer.kind == "quantity"
    assert first.text.startswith("12 tasks, 3.7 points: ")
    assert [c.paper.meta.key for c in answer.citations if c.number in first.citations] == ["p-owl"]
    cited = {citation.number: citation.paper.meta.key for citation in answer.citations}
    for claim in answer.claims:
        if re.search(r"\b(?:9|61\.2|81|six)\b", claim.text):
            assert {cited[number] for number in claim.citations} <= {"p-heron", "p-sail"}


def test_ques_004_a_comparison_draws_on_both_papers(tmp_path: Path, embedder: Embedder) -> None:
    with asking(tmp_path, embedder, OWLS[:2]) as assistant:
        answer = assistant.answer("Compare TinyOwl and Heron: type, size, tasks, hardware.")
    assert answer.kind == "comparison"
    assert keys(answer) == {"p-owl", "p-heron"}
    for claim in answer.claims:
        for held in claim.support:
            assert held.text in {s.text for c in answer.citations for s in c.sentences}


def test_ques_005_two_sources_that_disagree_are_both_shown(
    tmp_path: Path, embedder: Embedder
) -> None:
    with asking(tmp_path, embedder, NESTS) as assistant:
        answer = assistant.answer("How many nests are in the valley?")
        asked = assistant.answer("Do the papers agree on how many nests are in the valley?")
    for shown in (answer, asked):
        said = {claim.text: claim.citations for claim in shown.claims}
        of = {c.number: c.paper.meta.key for c in shown.citations}
        assert "disagree" in shown.text
        assert len(said) == 2
        for text, numbers in said.items():
            key = "c1" if "300" in text else "c2"
            assert [of[number] for number in numbers] == [key]
            assert ("450" in text) == (key == "c2")
    assert "2022" in answer.text and "2024" in answer.text
    assert "375" not in answer.text


def test_ques_006_what_no_paper_says_is_refused(tmp_path: Path, embedder: Embedder) -> None:
    with asking(tmp_path, embedder, OWLS[:2]) as assistant:
        for question in ("Is there life on Mars?", "What is the capital of Norway?"):
            answer = assistant.answer(question)
            assert answer.status == "abstained"
            assert answer.text.startswith("The collection does not say.")
            assert not answer.citations


def test_ques_006_a_model_that_finds_nothing_said_of_a_paper_names_it_as_near(
    tmp_path: Path, embedder: Embedder
) -> None:
    with with_model(tmp_path, embedder, OWLS[:2], by_key({})) as (assistant, _):
        answer = assistant.answer("Who funded the TinyOwl work?")
    assert answer.status == "abstained"
    assert not answer.citations
    assert answer.nearest[0].paper.meta.key == "p-owl"
