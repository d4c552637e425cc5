"""What kind of thing a question asks for, which sentences give it, and what is given nowhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from collections_of import asking
from library import paper

from rag.answering.assistant import Assistant
from rag.answering.ungiven import credits, ungiven
from rag.index.embedding import Embedder
from rag.retrieval.expecting import expected, gives

NAME, AMOUNT, BOTH, ANY = {"name"}, {"amount"}, {"name", "amount"}, set[str]()


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("Which framework decides who listens to whom?", NAME),
        ("What is the trick that keeps long clips sharp called?", NAME),
        ("which no-retraining trick keeps clips sharp", NAME),
        ("Welches Verfahren mischt die letzten Schichten?", NAME),
        ("哪个框架能生成文档？", NAME),
        ("How many papers were read?", AMOUNT),
        ("What share of the runs fails?", AMOUNT),
        ("What improvement does Swan report?", AMOUNT),
        ("Combien de tâches ?", AMOUNT),
        ("Which method is faster, and by how much?", BOTH),
        ("Where can I find the code of Swan?", {"address"}),
        ("What is the URL of Swan?", {"address"}),
        ("Where is Swan used?", ANY),
        ("Why does the loss rise?", ANY),
        ("Does Swan need maps?", ANY),
        ("", ANY),
    ],
)
def test_what_a_question_asks_for(question: str, kinds: set[str]) -> None:
    assert expected(question) == kinds


def test_sentences_that_give_it_are_wanted_more() -> None:
    asks_name, asks_amount = expected("Which method is it?"), expected("How many tasks are there?")
    introduced = gives("We propose RE-HG, which undoes the bias.", asks_name)
    mentioned = gives("On most tasks RE-HG wins.", asks_name)
    assert introduced > mentioned > gives("It wins on most tasks.", asks_name) == 0
    assert gives("It wins on 12 tasks.", asks_amount) > gives("It wins.", asks_amount) == 0
    assert gives("We propose RE-HG on 12 tasks.", expected("Why is that?")) == 0


SWAN = paper(
    "Swan",
    "Swan is a planner for boats.",
    "On HarbourBench3 it is the best of all.",
    "It was also tested on LakeBench.",
    "There it reaches a score of 81.5.",
    "It is trained with Muon (Jordan et al., 2024).",
)
HERON = paper("Heron", "Heron is a planner for kites. See https://heron.example.org for code.")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What score does Swan reach on HarbourBench3?", "Swan gives no figure for HarbourBench3."),
        ("What score does Swan reach on LakeBench?", ""),
        ("What score does Swan reach on RiverBench?", ""),  # not mentioned at all: another rule
        ("What is Swan's success rate?", ""),
        ("How many boats does Swan plan for on HarbourBench3?", ""),
        ("What is the web address of Swan?", "Swan gives no web address."),
        ("Where is the URL of Heron?", ""),
        ("What is the web address of the kite planner?", ""),
        ("Who introduced the Adam optimizer and in which year?", "made “Adam optimizer”."),
        ("Who introduced Muon?", ""),
        ("Who can use Swan?", ""),
        ("What does Swan-2 add to Swan?", "Swan does not mention “Swan-2”."),
        ("How many clips are in Swan-Audio?", "Swan does not mention “Swan-Audio”."),
        ("What do Swan-based planners do?", ""),
        ("What is Swan's planner?", ""),
        ("Does Swan reach higher scores than Heron?", "compares Heron with Swan."),
        ("Is Swan older than the hills?", ""),
        ("How do Swan and Heron differ?", ""),
    ],
)
def test_what_no_abstract_gives_is_told(question: str, said: str) -> None:
    """`ungiven` is asked of both papers."""
    told = ungiven(question, [HERON, SWAN])
    assert told.endswith(said)
    assert bool(told) == bool(said)


def test_a_paper_that_speaks_of_the_other_compares_them() -> None:
    rival = paper("Crane", "Crane is faster than Swan on lakes.")
    assert ungiven("Is Crane faster than Swan?", [rival, SWAN]) == ""
    assert ungiven("Is Crane faster than Heron?", [rival, HERON]) != ""


def test_a_version_of_which_the_abstract_speaks_is_known() -> None:
    swan = paper("Swan", "Swan is a planner.", "Swan-2 is a larger one.")
    assert ungiven("What is Swan-2?", [swan]) == ""


@pytest.mark.parametrize(
    ("question", "thing"),
    [
        ("Who proposed the Transformer?", "Transformer"),
        ("and who first came up with dropout in deep learning?", "dropout"),
        ("Who benefits from it?", ""),
        ("What did Adam introduce?", ""),
    ],
)
def test_the_thing_whose_makers_are_asked_for(question: str, thing: str) -> None:
    assert credits(question) == thing


PAPERS = (
    {
        "id": "a",
        "title": "DEAR: bots that argue",
        "abstract": "Bots that argue give in to each other far too easily. When bots argue, the "
        "loudest of the arguing bots wins. We propose DEAR, a framework of two roles. On 14 tasks "
        "it is right more often. Code is at https://dear.example.org for whoever wants it.",
    },
    {
        "id": "b",
        "title": "TideNet",
        "abstract": "TideNet foretells tides of 12 harbours. It does so a day ahead.",
    },
)


@pytest.fixture(scope="module")
def argued(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Assistant]:
    with asking(tmp_path_factory.mktemp("argued"), embedder, PAPERS) as assistant:
        yield assistant


def test_the_name_and_the_number_are_quoted_first(argued: Assistant) -> None:
    named = argued.answer("Which framework helps bots that argue and give in to each other?")
    assert "DEAR" in named.text
    counted = argued.answer("On how many tasks do the bots that argue and give in improve?")
    assert "14 tasks" in counted.text


def test_an_address_is_given_where_there_is_one(argued: Assistant) -> None:
    for question in ("Where can I find the code of DEAR?", "What is the URL of DEAR?"):
        assert "dear.example.org" in argued.answer(question).text
    assert argued.answer("What is the URL of TideNet?").status == "abstained"


def test_what_other_papers_say_is_not_quoted_beside_a_named_one(argued: Assistant) -> None:
    answer = argued.answer("How many harbours does TideNet foretell?")
    assert [citation.paper.title for citation in answer.citations] == ["TideNet"]
