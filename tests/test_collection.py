"""Lists, counts, agreement and overviews: the whole collection is looked at, and all is cited."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from collections_of import OWLS, asking, with_model
from command import ROOT, rag
from fakes import Received, Script, streamed

from rag.answering.assistant import Assistant, last_answer
from rag.answering.events import ClaimMade, Done, Heading
from rag.answering.stances import statement_of
from rag.index.browse import filters_of
from rag.index.embedding import Embedder
from rag.schema import Answer

BIRDS = (
    ("a", 2020, "Reward hacking is common in gardens. We count crows."),
    ("b", 2021, "We study tomatoes. Their reward is taste, and hacking branches helps."),
    ("c", 2022, "Gardeners fear reward hacking. They plant roses."),
    ("d", 2023, "Roses need sun. Reward models for roses do not exist."),
    ("e", 2024, "Nothing is said here of anything."),
)
RECORDS = tuple(
    {"id": key, "title": f"Garden {key.upper()}", "year": year, "abstract": text}
    for key, year, text in BIRDS
)


def keys(answer: Answer) -> list[str]:
    return [citation.paper.meta.key for citation in answer.citations]


def is_grounded(answer: Answer) -> bool:
    """Whether each claim cites, and holds its sentence word for word."""
    return all(
        claim.citations and claim.support and all(s.text in claim.text for s in claim.support)
        for claim in answer.claims
    )


# --- Lists and counts ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "expected", "checked"),
    [
        ("Which papers mention reward hacking?", {"a", "c"}, 5),
        ("List all papers about roses.", {"c", "d"}, 5),
        ("Which papers mention tomatoes or crows?", {"a", "b"}, 5),
        ("Which papers since 2022 mention reward hacking?", {"c"}, 3),
        ("Which papers are from 2023?", {"d"}, 5),
    ],
)
def test_a_list_has_every_paper_and_no_other(
    tmp_path: Path, embedder: Embedder, question: str, expected: set[str], checked: int
) -> None:
    with asking(tmp_path, embedder, RECORDS) as assistant:
        answer = assistant.answer(question)
    assert answer.kind == "list"
    assert set(keys(answer)) == expected
    assert len(answer.claims) == len(expected)
    assert is_grounded(answer)
    number = f"{len(expected)} paper{'s' if len(expected) > 1 else ''}"
    assert answer.text.startswith(f"{number} ")
    assert f"checked {checked} of 5 abstracts" in answer.text


@pytest.mark.parametrize("question", ["Which papers mention owls?", "How many papers use owls?"])
def test_where_no_paper_qualifies_that_is_said_with_what_was_checked(
    tmp_path: Path, embedder: Embedder, question: str
) -> None:
    with asking(tmp_path, embedder, RECORDS) as assistant:
        answer = assistant.answer(question)
    assert answer.status == "abstained"
    assert answer.text.startswith("The collection does not say.")
    assert "No paper was found for “owls” (checked 5 of 5 abstracts)" in answer.text
    assert answer.missing == "a paper found for “owls”"
    assert not answer.claims and not answer.sections


def test_a_large_collection_is_checked_in_part_and_that_is_said(
    tmp_path: Path, embedder: Embedder
) -> None:
    with asking(tmp_path, embedder, RECORDS, most_checked=2) as assistant:
        answer = assistant.answer("Which papers mention reward hacking?")
    assert "checked 2 of 5 abstracts" in answer.text
    assert set(keys(answer)) == {"a", "c"}


def test_a_long_list_names_the_first_and_counts_all(tmp_path: Path, embedder: Embedder) -> None:
    with asking(tmp_path, embedder, RECORDS, most_listed=2) as assistant:
        answer = assistant.answer("How many papers are there?")
    assert answer.text.startswith("5 papers in the collection")
    assert "the first 2 are listed" in answer.text
    assert len(answer.claims) == 2


def test_filters_given_beside_the_words_hold_too(tmp_path: Path, embedder: Embedder) -> None:
    with asking(tmp_path, embedder, RECORDS) as assistant:
        events = assistant.list_papers("roses", filters=filters_of(until="2022"))
        answer = last_answer(events)
    assert keys(answer) == ["c"]
    assert "year 2022 or earlier" in answer.text


def test_a_negated_condition_does_not_list_what_affirms_it(
    tmp_path: Path, embedder: Embedder
) -> None:
    with asking(tmp_path, embedder, RECORDS) as assistant:
        answer = assistant.answer("Which papers do not fear reward hacking?")
    assert "c" not in keys(answer)


def test_the_title_comes_before_the_claims_and_the_answer_last(
    tmp_path: Path, embedder: Embedder
) -> None:
    with asking(tmp_path, embedder, RECORDS) as assistant:
        events = list(assistant.ask("Which papers mention reward hacking?"))
    kinds = [type(event) for event in events if isinstance(event, Heading | ClaimMade | Done)]
    assert kinds == [Heading, ClaimMade, ClaimMade, Done]


def test_a_model_decides_on_papers_that_their_words_leave_open(
    tmp_path: Path, embedder: Embedder
) -> None:
    question = "Which papers deal with roses and shade?"
    asked: list[str] = []

    def reply(received: Received) -> Script:
        content = received.body["messages"][-1]["content"]
        asked.append(content)
        lines = [line for line in content.splitlines() if "Garden D" in line]
        labels = [line[1:3] for line in lines]
        return streamed([json.dumps({"meets": labels})])

    with asking(tmp_path, embedder, RECORDS) as assistant:
        alone = assistant.answer(question)
    with with_model(tmp_path, embedder, RECORDS, reply) as (assistant, _):
        answer = assistant.answer(question)
    assert "d" not in keys(alone)
    assert "d" in keys(answer)
    assert is_grounded(answer)
    assert all("Condition: roses and shade" in one for one in asked)


@pytest.mark.parametrize("said", ["no", '{"meets": "P1"}', '{"meets": ["P99", 7, null]}', ""])
def test_a_model_that_says_nothing_useful_adds_no_paper(
    tmp_path: Path, embedder: Embedder, said: str
) -> None:
    question = "Which papers deal with roses and shade?"
    with asking(tmp_path, embedder, RECORDS) as assistant:
        alone = assistant.answer(question)
    with with_model(tmp_path, embedder, RECORDS, streamed([said])) as (assistant, _):
        answer = assistant.answer(question)
    assert keys(answer) == keys(alone)


# --- Agreement -----------------------------------------------------------------------------

STANCES = (
    {"id": "f", "title": "For", "abstract": "Pruning improves yields of roses. We saw it twice."},
    {
        "id": "g",
        "title": "Again",
        "abstract": "Yields of roses improve by pruning, as our trials show.",
    },
    {
        "id": "n",
        "title": "Against",
        "abstract": "Pruning does not improve yields of roses in our trials.",
    },
    {"id": "x", "title": "Else", "abstract": "Bees visit tulips. Nobody knows why."},
)


def test_who_agrees_and_who_does_not_is_quoted_side_by_side(
    tmp_path: Path, embedder: Embedder
) -> None:
    with asking(tmp_path, embedder, STANCES) as assistant:
        answer = assistant.answer("Do the papers agree that pruning improves yields of roses?")
    assert answer.kind == "agreement"
    titles = [section.title for section in answer.sections]
    assert titles == ["Mixed. For (2 papers)", "Against (1 paper)"]
    against = answer.sections[1].first
    assert [claim.support[0].text for claim in answer.claims[against:]] == [STANCES[2]["abstract"]]
    assert set(keys(answer)) == {"f", "g", "n"}


def test_a_model_sorts_the_sides_and_what_it_puts_on_both_is_on_neither(
    tmp_path: Path, embedder: Embedder
) -> None:
    said = {"for": ["S1", "S2"], "against": ["S2", "S3", "S77"]}
    with with_model(tmp_path, embedder, STANCES, streamed([json.dumps(said)])) as (assistant, _):
        answer = assistant.answer("Is there evidence that pruning improves yields of roses?")
    assert answer.sections[0].title.startswith("Mixed.")
    assert len(answer.claims) == 2
    assert is_grounded(answer)


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("Do the papers agree that pruning helps?", "pruning helps"),
        ("Is there evidence for and against pruning?", "pruning"),
        ("Do studies disagree about the value of bees?", "the value of bees"),
        ("Is there a consensus on reward shaping?", "reward shaping"),
    ],
)
def test_the_statement_is_what_is_left_of_the_question(question: str, statement: str) -> None:
    assert statement_of(question) == statement


def test_agreement_on_what_no_paper_has_is_refused(tmp_path: Path, embedder: Embedder) -> None:
    with asking(tmp_path, embedder, STANCES) as assistant:
        answer = assistant.answer("Do the papers agree on quantum gravity?")
    assert answer.status == "abstained"


# --- Overviews, summaries, talk --------------------------------------------------------------


def test_a_survey_has_titled_parts_and_quotes_each_paper(assistant: Assistant) -> None:
    answer = last_answer(assistant.survey("reinforcement learning"))
    assert answer.kind == "overview"
    assert len(answer.sections) >= 2
    assert all(section.title for section in answer.sections)
    assert answer.sections[0].first == 0
    assert len(answer.citations) >= 6
    assert is_grounded(answer)
    for section in answer.sections:
        assert section.title in answer.text


def test_a_survey_of_what_is_not_there_is_refused(assistant: Assistant) -> None:
    answer = last_answer(assistant.survey("owl nests"))
    assert answer.status == "abstained"
    assert "checked 57 of 57 abstracts" in answer.text


def test_a_model_writes_the_parts_and_each_claim_is_checked(
    tmp_path: Path, embedder: Embedder
) -> None:
    claims = [
        {"support": ["S1"], "text": "Pruning improves yields of roses."},
        {"support": ["S1"], "text": "Pruning improves yields by 80%."},
    ]
    with with_model(tmp_path, embedder, STANCES, streamed([json.dumps({"claims": claims})])) as (
        assistant,
        _,
    ):
        answer = last_answer(assistant.survey("pruning roses"))
    assert answer.status == "partial"
    assert [d.text for d in answer.dropped] == ["Pruning improves yields by 80%."]
    assert "80" not in answer.text


def test_a_named_paper_is_summarised_from_itself_alone(assistant: Assistant) -> None:
    answer = assistant.answer("Give a two-sentence summary of ReCoVer.")
    assert answer.kind == "summary"
    assert [citation.paper.title for citation in answer.citations] == ["ReCoVer"]
    assert len(answer.claims) == 2


def test_talk_needs_no_search(tmp_path: Path, embedder: Embedder) -> None:
    with asking(tmp_path, embedder, OWLS) as assistant:
        answer = assistant.answer("Hello, what can you do?")
    assert (answer.kind, answer.status, answer.claims) == ("talk", "answered", ())
    assert "abstracts" in answer.text
    assert answer.manifest["found"] == []


# --- The command line ------------------------------------------------------------------------


def test_rag_list_and_rag_survey(seeds_index: Path) -> None:
    listed = rag("list", "reward hacking", "--llm", "none", data=seeds_index)
    assert listed.code == 0
    first = listed.out.splitlines()[0]
    assert first == "2 papers found for “reward hacking” (checked 57 of 57 abstracts)"
    survey = rag("survey", "LLM agents", "--llm", "none", "--json", data=seeds_index).json()
    assert survey["kind"] == "overview"
    assert survey["sections"][0]["first"] == 0
    assert survey["coverage"] == {"checked": 57, "total": 57}


@pytest.mark.parametrize("command", ["list", "survey"])
def test_an_empty_condition_and_a_wrong_year_are_one_line(command: str, seeds_index: Path) -> None:
    empty = rag(command, " ", "--llm", "none", data=seeds_index)
    year = rag(command, "robots", "--year", "soon", "--llm", "none", data=seeds_index)
    assert (empty.code, year.code) == (2, 2)
    assert "empty" in empty.error_line
    assert "soon" in year.error_line


# --- How good the lists are --------------------------------------------------------------------

LISTS = [json.loads(line) for line in (ROOT / "tests/lists.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("part", "precision", "recall"), [("tuned", 0.95, 0.90), ("afterwards", 0.95, 0.85)]
)
def test_lists_over_the_seeds_are_nearly_right_and_nearly_whole(
    assistant: Assistant, part: str, precision: float, recall: float
) -> None:
    """The papers were labelled from the abstracts, by their words where a word was asked for."""
    right = listed = wanted = 0
    for item in LISTS:
        if item["part"] != part:
            continue
        answer = last_answer(assistant.list_papers(item["question"]))
        found = {f"{Path(c.paper.source).name[:3]}-{c.paper.ordinal:02}" for c in answer.citations}
        right += len(found & set(item["papers"]))
        listed += len(found)
        wanted += len(item["papers"])
    assert right / listed >= precision
    assert right / wanted >= recall
