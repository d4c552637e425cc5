"""Finding papers: joining lists by hand, then the seeds with the real model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import ROOT
from fakes import TOPICS
from hypothesis import given
from hypothesis import strategies as st
from library import Library, abstract, paper, sentences

from rag.answering.assistant import Assistant
from rag.config import load
from rag.errors import ConfigError, PaperNotFound, UsageError
from rag.retrieval.evidence import Wanted, score_sentences, top
from rag.retrieval.fusion import Weights, best, fuse, min_max
from rag.retrieval.lookup import find_paper
from rag.retrieval.query import aspects, read_question
from rag.retrieval.search import nearness

# --- by hand


@pytest.mark.parametrize(
    ("scores", "anchors", "expected"),
    [
        ({"a": 2.0, "b": 1.0, "c": 0.0}, None, {"a": 1.0, "b": 0.5, "c": 0.0}),
        ({"a": -3.0, "b": -1.0}, None, {"a": 0.0, "b": 1.0}),
        ({"a": 7.0}, None, {"a": 1.0}),
        ({"a": 7.0, "b": 7.0}, None, {"a": 1.0, "b": 1.0}),
        ({"a": 5.0, "b": 2.0, "c": -5.0}, {"x": 0.0, "y": 4.0}, {"a": 1.0, "b": 0.5, "c": 0.0}),
        ({"a": 5.0, "b": 3.0}, {"x": 4.0, "y": 4.0}, {"a": 1.0, "b": 0.0}),
        ({}, None, {}),
    ],
)
def test_min_max(
    scores: Mapping[str, float], anchors: Mapping[str, float] | None, expected: dict[str, float]
) -> None:
    assert min_max(scores, scores if anchors is None else anchors) == expected


@pytest.mark.parametrize(
    ("weights", "coverage", "dense", "lexical", "sentence", "aspect"),
    [
        (Weights(0.25, 0.50, 0.25, 0.35), 1.0, 0.25, 0.50, 0.25, 0.0),
        (Weights(0.25, 0.50, 0.25, 0.35), 0.35, 0.25, 0.50, 0.25, 0.0),
        (Weights(0.25, 0.50, 0.25, 0.35), 0.175, 0.375, 0.25, 0.375, 0.0),
        (Weights(0.25, 0.50, 0.25, 0.35), 0.0, 0.5, 0.0, 0.5, 0.0),
        (Weights(1.0, 1.0, 2.0, 0.35), 0.5, 0.25, 0.25, 0.5, 0.0),
        (Weights(1.0, 1.0, 2.0, 0.0), 0.0, 0.25, 0.25, 0.5, 0.0),
        (Weights(1.0, 0.0, 0.0, 0.35), 0.1, 1.0, 0.0, 0.0, 0.0),
        (Weights(0.0, 1.0, 0.0, 0.35), 0.1, 0.0, 1.0, 0.0, 0.0),
        (Weights(0.0, 1.0, 0.0, 0.35), 0.0, 0.0, 1.0, 0.0, 0.0),
        (Weights(0.20, 0.50, 0.15, 0.40, 0.15), 1.0, 0.20, 0.50, 0.15, 0.15),
        (Weights(0.20, 0.50, 0.15, 0.40, 0.15), 0.2, 0.30, 0.25, 0.225, 0.225),
    ],
)
def test_shares_of_the_lists(
    weights: Weights, coverage: float, dense: float, lexical: float, sentence: float, aspect: float
) -> None:
    expected = {"dense": dense, "lexical": lexical, "sentence": sentence, "aspect": aspect}
    assert weights.at(coverage) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which optimiser merges screens", []),
        ("one two three four five six seven eight?", []),
        (
            "one two three four five six seven eight nine ?",
            ["one two three four five six seven eight", "two three four five six seven eight nine"],
        ),
        (
            "a b c d e f g h i j k l m",
            ["a b c d e f g h", "e f g h i j k l", "f g h i j k l m"],
        ),
    ],
)
def test_the_parts_of_a_question(question: str, expected: list[str]) -> None:
    assert aspects(question) == expected


@given(st.lists(st.sampled_from("abcdefghij"), min_size=9, max_size=2_000))
def test_the_parts_hold_every_word_and_are_at_most_twelve(words: list[str]) -> None:
    numbered = [f"{word}{number}" for number, word in enumerate(words)]
    parts = aspects(" ".join(numbered))
    assert len(parts) <= 12
    assert {word for part in parts for word in part.split()} == set(numbered)


def test_weights_that_rank_nothing_are_refused() -> None:
    names = ("weight_dense", "weight_lexical", "weight_sentence", "weight_aspect")
    with pytest.raises(ConfigError, match="must not all be 0"):
        load(dict.fromkeys(names, 0.0), environ={})
    for name in names:
        load(dict.fromkeys(names, 0.0) | {name: 1.0}, environ={})


def test_fusion_adds_what_each_list_gives_and_nothing_for_a_paper_it_lacks() -> None:
    lists = {"x": {"a": 3.0, "b": 1.0, "c": 2.0}, "y": {"b": 5.0, "c": 9.0}}
    parts = fuse(lists, {"x": 0.4, "y": 0.6})
    assert parts["a"] == {"x": 0.4}
    assert parts["c"] == {"x": 0.2, "y": 0.6}
    assert 0 < parts["b"]["x"] < 0.001 and 0 < parts["b"]["y"] < 0.001  # last, yet found


def test_the_best_come_first_and_equals_by_id() -> None:
    scores = {"d": 1.0, "b": 2.0, "c": 1.0, "a": 1.0}
    assert list(best(scores, 3)) == ["b", "a", "c"]
    assert list(best(scores, 9)) == ["b", "a", "c", "d"]


def test_a_sentence_scores_by_the_words_it_shares_and_by_its_similarity() -> None:
    wanted = Wanted(np.ones(1, dtype=np.float32), {"appl": 2.0, "bridg": 1.0}, 0.5)
    one = paper("p", "Apples are red.", "Bridges carry apples.", "Nothing here.")
    scored = score_sentences(one, [0.2, 0.4, 0.6], wanted)
    assert [item.index for item in scored] == [0, 1, 2]
    # ½ · share of the question's weight that the words cover + ½ · cosine
    assert [item.score for item in scored] == pytest.approx([1 / 3 + 0.1, 0.5 + 0.2, 0.3])
    assert [item.index for item in top(scored, 2)] == [1, 0]
    assert all(one.text[item.start : item.end] == item.text for item in scored)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("  \n\t ", "is empty"),
        ("\u200b\u202e", "is empty"),
        ("\x1b\x00", "is empty"),
        ("😀 🎉", "has no word in it"),
        ("?!… «»", "has no word in it"),
    ],
)
@pytest.mark.case("R01")
def test_a_question_without_a_word_is_refused(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=f"The question {told}"):
        read_question(text, max_chars=100)


@pytest.mark.case("R01")
def test_a_question_has_a_longest_length() -> None:
    assert read_question("x" * 100, max_chars=100).text == "x" * 100
    with pytest.raises(UsageError, match="101 characters, the limit is 100"):
        read_question("x" * 101, max_chars=100)


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("  What\n is\tit? ", "What is it?"),
        ("a\x1b[31mb", "a[31mb"),
        ("zero\u200bwidth \u202eright", "zerowidth right"),
        ("哪个数据集？", "哪个数据集？"),
        ("7", "7"),
        ("half \ud800 a pair", "half \ufffd a pair"),
    ],
)
def test_a_question_is_trimmed_and_free_of_what_cannot_be_seen(asked: str, read: str) -> None:
    assert read_question(asked, max_chars=100).text == read


# --- an index by hand


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.case("R09")
def test_papers_that_nothing_tells_apart_come_in_the_order_of_ids(
    tmp_path: Path, order: int
) -> None:
    library = Library(tmp_path)
    cases = ["red", "tan", "hot", "wet", "dry"][::order]
    library.write("a.txt", *[abstract("apples", about=f"a {case} case") for case in cases])
    library.index()
    hits = library.search("apples").hits
    assert len({hit.score for hit in hits}) == 1
    assert [hit.paper.id for hit in hits] == sorted(library.stored())


def test_the_paper_that_shares_the_topic_is_first_and_shows_its_sentences(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.write("a.txt", *[abstract(topic) for topic in TOPICS])
    library.index()
    hits = library.search("Which study has zebras?", 3).hits
    assert hits[0].paper.text == abstract("zebras")
    assert hits[0].score == pytest.approx(1.0)
    assert sorted(item.text for item in hits[0].evidence) == sorted(sentences(abstract("zebras")))


# --- the seeds

SUITE = [
    json.loads(line)
    for line in (ROOT / "evals/suites/seeds.jsonl").read_text(encoding="utf-8").splitlines()
]


def places(assistant: Assistant, kinds: set[str], first: int) -> dict[str, bool]:
    """Whether the right paper of each golden question is among the first ones."""
    found = {}
    for item in (item for item in SUITE if item["kind"] in kinds):
        hits = assistant.search(item["question"], first).hits
        there = {f"{h.paper.source[6:9]}-{h.paper.ordinal:02}" for h in hits}
        found[item["id"]] = set(item["paper_ids"]) <= there
    return found


def share(found: dict[str, bool]) -> float:
    return sum(found.values()) / len(found)


def test_a_golden_question_about_a_name_or_a_number_finds_its_paper_first(
    assistant: Assistant,
) -> None:
    found = places(assistant, {"named", "numeric"}, 1)
    assert len(found) == 29
    assert share(found) >= 0.95, [key for key, right in found.items() if not right]


def test_a_paraphrase_finds_its_paper_among_the_first_five(assistant: Assistant) -> None:
    found = places(assistant, {"paraphrase"}, 5)
    assert len(found) == 20
    assert share(found) >= 0.75, [key for key, right in found.items() if not right]


def test_a_sentence_of_a_paper_finds_that_paper_and_itself(assistant: Assistant) -> None:
    wanted: dict[str, Any] = {}
    for number in range(1, 20):
        found = assistant.find(f"003:{number}")
        wanted[found.id] = found.sentences[-2]
    for paper_id, sentence in wanted.items():
        hit = assistant.search(sentence.text, 1).hits[0]
        assert hit.paper.id == paper_id
        assert hit.evidence[0].text == sentence.text


@pytest.mark.parametrize("question", ["reinforcement learning", "什么是强化学习", "zqxj"])
def test_every_hit_is_a_paper_once_with_sentences_that_slice_back(
    assistant: Assistant, question: str
) -> None:
    hits = assistant.search(question, 1000).hits
    assert len(hits) == 57
    assert len({hit.paper.id for hit in hits}) == len(hits)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1.000001 for score in scores)
    for hit in hits:
        assert len(hit.evidence) == min(2, len(hit.paper.sentences))
        for item in hit.evidence:
            assert hit.paper.text[item.start : item.end] == item.text
            assert hit.paper.sentences[item.index].text == item.text


@pytest.mark.case("R02")
def test_more_papers_than_there_are_are_not_an_error(assistant: Assistant) -> None:
    assert len(assistant.search("learning", 1000).hits) == 57
    assert len(assistant.search("learning", 1).hits) == 1


def test_of_two_papers_both_are_shown(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.write("a.txt", abstract("apples"), abstract("bridges"))
    library.index()
    assert len(library.search("apples").hits) == 2


def test_the_same_question_has_the_same_hits(assistant: Assistant) -> None:
    one = assistant.search("policy optimization for agents", 57)
    other = assistant.search("policy optimization for agents", 57)
    assert one == other


REPOSCOPE = "seeds/000_d9e28358a154ea35.txt:4"


@pytest.mark.parametrize(
    "reference",
    [
        REPOSCOPE,
        REPOSCOPE.removeprefix("seeds/"),
        f"./{REPOSCOPE}",
        "000:4",
        "RepoScope",
        " reposcope ",
        "RepoScop",
        "Physico-Logical Partitioning",
        "SAIL",
    ],
)
def test_a_paper_is_found_by_what_a_person_calls_it(assistant: Assistant, reference: str) -> None:
    found = assistant.find(reference)
    assert f"{found.source}:{found.ordinal}" == REPOSCOPE


def test_a_paper_is_found_by_its_id_and_by_the_beginning_of_it(assistant: Assistant) -> None:
    paper_id = assistant.find(REPOSCOPE).id
    for reference in (paper_id, paper_id.upper(), paper_id[:6]):
        assert assistant.find(reference).id == paper_id


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("RepoSkope", ["No paper is called 'RepoSkope'", "Did you mean RepoScope"]),
        ("00:4", ["3 papers answer to '00:4'", "000_d9e28358a154ea35.txt:4 (RepoScope)"]),
        ("000:99", ["No paper is called '000:99'"]),
        ("Zaphod Beeblebrox", ["No paper is called", "rag search"]),
        ("", ["No paper is called"]),
        ("(", ["No paper is called"]),
        ("\x1b[31m", ["No paper is called"]),
    ],
)
def test_a_reference_to_none_or_to_several_is_told_with_the_nearest(
    assistant: Assistant, reference: str, words: list[str]
) -> None:
    with pytest.raises(PaperNotFound) as caught:
        assistant.find(reference)
    assert all(word in str(caught.value) for word in words), caught.value


def test_papers_that_share_a_title_are_told_apart_by_their_place(tmp_path: Path) -> None:
    library = Library(tmp_path)
    lines = [{"title": "Twins", "abstract": abstract(topic)} for topic in TOPICS[:2]]
    library.write("a.jsonl", "\n".join(map(json.dumps, lines)))
    library.index()
    with library.state() as state:
        with pytest.raises(PaperNotFound, match=r"2 papers .*a\.jsonl:1 \(Twins\), a\.jsonl:2"):
            find_paper(state.snapshot, "twins")
        assert find_paper(state.snapshot, "a.jsonl:2").text == abstract(TOPICS[1])


def test_nearness_is_that_of_the_best_chunk_to_the_question_and_to_each_part() -> None:
    similar = {
        "a": np.array([[0.1, 0.9, 0.2], [0.4, 0.3, 0.6]], dtype=np.float32),
        "b": np.array([[0.5, 0.0, 0.0]], dtype=np.float32),
    }
    whole, parts = nearness(similar)
    assert whole == pytest.approx({"a": 0.4, "b": 0.5})
    assert parts == pytest.approx({"a": 0.75, "b": 0.0})  # the parts may be in two sentences
    alone, same = nearness({"c": np.array([[0.2], [0.7]], dtype=np.float32)})
    assert alone == same == pytest.approx({"c": 0.7})
    assert nearness({}) == ({}, {})
