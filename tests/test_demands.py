"""What lists demand beyond words, what only records tell, and follow-ups on a whole answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from collections_of import OWLS, asking

from rag.answering.assistant import Assistant
from rag.answering.conversation import Conversation
from rag.answering.demands import demand_of
from rag.index.embedding import Embedder
from rag.schema import Answer

PLAIN = (
    {
        "id": "kite",
        "title": "Kite",
        "abstract": "Kite is a planner for drones. It was tested on 12,500 flights. "
        "Code is provided at a public address.",
    },
    {
        "id": "swan",
        "title": "Swan",
        "abstract": "Swan is a training-free planner for boats. It was tested on 40 voyages.",
    },
    {
        "id": "mole",
        "title": "Mole",
        "abstract": "Mole plans tunnels and does not need any maps. We introduce MoleBench, a "
        "benchmark of five mines.",
    },
)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Assistant]:
    """Papers whose records have neither authors nor years."""
    with asking(tmp_path_factory.mktemp("plain"), embedder, PLAIN) as assistant:
        yield assistant


@pytest.fixture(scope="module")
def owls(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Assistant]:
    """Papers whose records have authors and years."""
    with asking(tmp_path_factory.mktemp("owls"), embedder, OWLS) as assistant:
        yield assistant


def keys(answer: Answer) -> set[str]:
    return {citation.paper.meta.key for citation in answer.citations}


@pytest.mark.parametrize(
    ("question", "sentence", "met"),
    [
        ("papers with more than 10,000 samples", "We use 12,000 samples.", True),
        ("papers with more than 10,000 samples", "We use 9,000 samples.", False),
        ("papers with more than 10,000 samples", "We use 12,000 images.", False),
        ("papers with at least 1.5 million users", "It has 2M active users.", True),
        ("papers with fewer than 7B parameters", "It has 1.3 billion parameters.", True),
        ("papers that do not need training", "A training-free method.", True),
        ("papers that do not need training", "It works without any training.", True),
        ("papers that do not need training", "Training takes two days.", False),
        ("papers that do not need training", "This keeps training without sacrificing it.", False),
        ("papers that release code", "The source code is provided in the supplement.", True),
        ("papers that release code", "We recover code from games.", False),
        ("papers that release code", "Project page: here.", False),
        ("papers that release code", "Project page: https://example.org/kite.", False),
        ("papers that release code", "The data set will be released.", False),
        ("papers that release code", "We release all models and our code.", True),
        ("papers that release code", "We will open-source Kite.", True),
        ("papers that release code", "We will open-source the data set.", False),
        ("papers that release code", "Code: https://example.org/kite.", True),
        ("papers that release code", "See github.com/example/kite.", True),
        ("papers that introduce a new dataset", "We construct Birds, a dataset of 3 owls.", True),
        ("papers that introduce a new dataset", "We test on a dataset of 3 owls.", False),
    ],
)
def test_a_sentence_meets_a_demand_or_not(question: str, sentence: str, met: bool) -> None:
    demand = demand_of(question)
    assert demand is not None
    assert demand.met_by(sentence) is met


@pytest.mark.parametrize("question", ["papers about owls", "papers not only about owls"])
def test_plain_conditions_demand_nothing_more(question: str) -> None:
    assert demand_of(question) is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which papers evaluate on more than 10,000 flights?", {"kite"}),
        ("Which papers are tested on fewer than 100 voyages?", {"swan"}),
        ("Which papers do not need training?", {"swan"}),
        ("Which papers do not need maps?", {"mole"}),
        ("Which papers release code?", {"kite"}),
        ("Which papers introduce a new benchmark?", {"mole"}),
    ],
)
def test_amounts_denials_and_acts_are_judged_by_sentence(
    plain: Assistant, question: str, expected: set[str]
) -> None:
    answer = plain.answer(question)
    assert keys(answer) == expected
    assert "checked 3 of 3 abstracts" in answer.text


@pytest.mark.parametrize(
    "question", ["Which papers do not use drones?", "Which papers use more than 900 drones?"]
)
def test_silence_of_the_abstracts_is_told_and_is_no_none(plain: Assistant, question: str) -> None:
    answer = plain.answer(question)
    assert answer.status == "abstained"
    assert "silent" in answer.text
    assert "No paper was found" not in answer.text


@pytest.mark.parametrize(
    ("question", "what"),
    [
        ("Which papers were published in 2021?", "the years"),
        ("Which papers were written by Nguyen?", "the authors"),
        ("Which papers were published at NeurIPS?", "the journals and conferences"),
        ("Who wrote Kite?", "the authors"),
        ("When was Kite published?", "the years"),
    ],
)
def test_what_no_record_tells_is_said_to_be_unrecorded(
    plain: Assistant, question: str, what: str
) -> None:
    answer = plain.answer(question)
    assert answer.status == "abstained"
    assert f"The collection does not give {what} of its papers" in answer.missing


def test_a_year_that_cannot_be_judged_leaves_the_other_conditions(plain: Assistant) -> None:
    answer = plain.answer("Which papers about planners were published in 2021?")
    assert keys(answer) >= {"kite", "swan"}
    assert "does not give the years" in answer.note


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who wrote TinyOwl?", "TinyOwl was written by Mira Castellan and Jonas Ekwall."),
        ("When was Heron published?", "Heron is from 2023."),
    ],
)
def test_records_answer_with_the_paper_cited(owls: Assistant, question: str, said: str) -> None:
    answer = owls.answer(question)
    assert [claim.text for claim in answer.claims] == [said]
    assert len(answer.citations) == 1


@pytest.mark.parametrize(
    "question",
    [
        "What is the learning rate of Heron?",
        "What code was used in TinyOwl?",
    ],
)
def test_what_an_abstract_does_not_speak_of_is_not_answered(owls: Assistant, question: str) -> None:
    answer = owls.answer(question)
    assert answer.status == "abstained"
    assert "does not mention" in answer.missing


def test_only_sentences_on_a_limitation_answer_a_question_for_one(owls: Assistant) -> None:
    for question in ("What are the limitations of TinyOwl?", "What are TinyOwl's limitations?"):
        answer = owls.answer(question)
        assert [claim.text for claim in answer.claims] == ["It does not improve latency on CPU."]


def test_a_question_in_another_language_is_not_told_that_there_is_none(plain: Assistant) -> None:
    answer = plain.answer("Welche Arbeiten behandeln Vogelgesang?")
    assert "Ask in English, or with a model" in answer.text


def talk_of(assistant: Assistant, *questions: str) -> Answer:
    conversation, answer = Conversation(), None
    for question in questions:
        answer = assistant.answer(question, conversation=conversation)
        conversation = conversation.after(answer)
    assert answer is not None
    return answer


def test_it_can_be_compared_with_another(owls: Assistant) -> None:
    first = ("What is TinyOwl?", "compare it with Heron")
    answer = talk_of(owls, *first)
    assert answer.table is not None
    assert [row.paper.meta.key for row in answer.table.rows] == ["p-owl", "p-heron"]
    again = talk_of(owls, *first, "how do they differ?")
    assert again.table is not None
    assert keys(again) == {"p-owl", "p-heron"}


def test_shorter_is_the_same_answer_in_one_sentence(owls: Assistant) -> None:
    answer = talk_of(owls, "What is TinyOwl?", "shorter, please")
    assert keys(answer) == {"p-owl"}
    assert len(answer.claims) == 1


def test_which_of_them_is_a_list_over_those_alone(plain: Assistant) -> None:
    answer = talk_of(plain, "Which papers mention a planner?", "which of them release code?")
    assert answer.kind == "list"
    assert keys(answer) == {"kite"}
    assert "checked 2 of 3 abstracts" in answer.text


def test_talk_is_no_question_that_is_asked_again(owls: Assistant) -> None:
    answer = talk_of(owls, "What is TinyOwl?", "thanks", "and Heron?")
    assert keys(answer) == {"p-heron"}
