"""The order that a model gives to papers, whatever it replies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from fakes import Script, refusal
from helped import helped
from hypothesis import given
from hypothesis import strategies as st
from library import Library, abstract, paper

from rag.answering.reranking import reordered, show
from rag.config import load
from rag.errors import ConfigError
from rag.retrieval.search import Found
from rag.schema import Evidence, Hit

QUESTION = "Which of the apples bridges clouds deserts grow on a tree in a yard in the far south?"
NAMES = ("apples", "bridges", "clouds", "deserts")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Four papers that a question about all of them finds equally well."""
    library = Library(tmp_path_factory.mktemp("rerank"))
    library.write("a.txt", *map(abstract, NAMES))
    library.index()
    return library


def topics(found: Found) -> list[str]:
    return [hit.paper.text.split()[2] for hit in found.hits]


def order(library: Library, reply: object, **settings: object) -> list[int]:
    """The places that the papers had before, counted from 1."""
    before = topics(library.search(QUESTION))
    settings = {"expand": "off", "rerank": "llm", **settings}
    with helped(library, {"order": reply}, **settings) as its:
        return [before.index(topic) + 1 for topic in topics(its.assistant.search(QUESTION))]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"order": ["P3", "P1", "P4", "P2"]}, [3, 1, 4, 2]),
        ({"order": ["P3"]}, [3, 1, 2, 4]),
        ({"order": ["P4", "P4", "P2", "P4"]}, [4, 2, 1, 3]),
        ({"order": ["P9", "P4", "", "S1", "P0", "P"]}, [4, 1, 2, 3]),
        ({"order": ["p3", "[P2]", " P4 "]}, [3, 2, 4, 1]),
        ({"order": []}, [1, 2, 3, 4]),
        ({"order": "P3"}, [1, 2, 3, 4]),
        ({"order": None}, [1, 2, 3, 4]),
        ({"order": [3, None, {"P2": 1}, ["P2"]]}, [1, 2, 3, 4]),
        ({"other": ["P3"]}, [1, 2, 3, 4]),
        ("I would say P3.", [1, 2, 3, 4]),
        ('```json\n{"order": ["P2"]}\n```', [2, 1, 3, 4]),
        ('{"order": ["P2", "P', [1, 2, 3, 4]),
    ],
)
def test_what_a_reply_does_to_the_order(
    library: Library, reply: object, expected: list[int]
) -> None:
    assert order(library, reply) == expected


def test_the_model_sees_each_paper_under_its_label_and_may_name_no_other(library: Library) -> None:
    with helped(library, {"order": {"order": ["P2"]}}, expand="off", rerank="llm") as its:
        found = its.assistant.search(QUESTION)
    (sent,) = its.server.posts
    user = sent.body["messages"][1]["content"]
    assert [line[:4] for line in user.splitlines()[:4]] == ["[P1]", "[P2]", "[P3]", "[P4]"]
    assert f"Question: {QUESTION}" in user
    assert '"enum": ["P1", "P2", "P3", "P4"]' in json.dumps(sent.body["response_format"])
    (step,) = found.help.steps
    assert (step.step, step.texts) == ("rerank", ("P2",))


@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        ({}, ["order"]),
        ({"rerank": "llm"}, ["order"]),
        ({"rerank": "off"}, []),
        ({"llm": "none", "rerank": "llm"}, []),
    ],
)
def test_who_reranks_is_a_setting(
    library: Library, settings: dict[str, object], asked: list[str]
) -> None:
    with helped(library, {"order": {"order": []}}, expand="off", **settings) as its:
        its.assistant.search(QUESTION)
    assert its.asked == asked


def test_a_question_whose_words_a_paper_has_is_reranked_on_demand_only(library: Library) -> None:
    for setting, asked in (("auto", []), ("llm", ["order"])):
        with helped(library, {"order": {"order": []}}, rerank=setting) as its:
            its.assistant.search("Which apples are measured?")
        assert its.asked == asked


def test_another_reranker_is_refused() -> None:
    with pytest.raises(ConfigError, match="rerank"):
        load({"rerank": "cohere"}, environ={})


def test_one_paper_needs_no_order(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.write("a.txt", abstract("apples"))
    library.index()
    with helped(library, {}, expand="off", rerank="llm") as its:
        its.assistant.search(QUESTION)
    assert its.asked == []


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (Script(ending="hang"), "no complete answer within 0.3 s"),
        (refusal(503, "overloaded"), "overloaded"),
    ],
)
def test_where_no_order_comes_the_former_stands_and_the_answer_says_so(
    library: Library, script: Script, reason: str
) -> None:
    assert order(library, script, help_seconds=0.3) == [1, 2, 3, 4]
    with helped(library, {"order": script}, expand="off", rerank="llm", help_seconds=0.3) as its:
        answer = its.assistant.answer(QUESTION)
    assert "ordering the papers was given up: " in answer.note
    assert reason in answer.note


def test_an_answer_is_written_from_the_papers_in_their_new_order(library: Library) -> None:
    last = topics(library.search(QUESTION))[-1]
    settings = {"expand": "off", "rerank": "llm", "evidence_papers": 1}
    with helped(library, {"order": {"order": ["P4"]}}, **settings) as its:
        chosen = its.assistant.evidence(QUESTION)
    assert {hit.paper.text.split()[2] for hit, _ in chosen} == {last}


def hits(scores: Sequence[float]) -> list[Hit]:
    return [Hit(paper(f"p{n}", "A."), score) for n, score in enumerate(scores)]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.data())
def test_an_order_loses_no_paper_and_scores_still_fall(
    scores: list[float], data: st.DataObject
) -> None:
    before = hits(sorted(scores, reverse=True))
    places = st.integers(0, len(before) - 1)
    named = data.draw(st.lists(places, unique=True))
    after = reordered(before, named)
    assert [hit.score for hit in after] == [hit.score for hit in before]
    assert {hit.paper.id for hit in after} == {hit.paper.id for hit in before}
    assert [hit.paper.id for hit in after[: len(named)]] == [f"p{place}" for place in named]


def test_a_paper_is_shown_by_its_best_sentences_in_the_order_of_the_text() -> None:
    one = paper("p", "First.", "Second.", "Third.", "x" * 900)
    evidence = [
        Evidence("p", index, one.sentences[index].text, 0, 0, 1.0) for index in (3, 1, 0, 2)
    ]
    assert show([Hit(one, 1.0, tuple(evidence))], ["P7"]) == f"[P7] First. Second. {'x' * 300}"
