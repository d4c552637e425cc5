"""Choosing the sentences to answer from: relevance, diversity, what they need, what fits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import ROOT
from hypothesis import given
from hypothesis import strategies as st
from library import Library, paper

from rag.answering.assistant import Assistant
from rag.index.embedding import Vectors
from rag.retrieval.evidence import Budget, choose, refers_back
from rag.schema import Evidence, Hit
from rag.text import normalise

PLENTY = Budget(10, 10, 10_000)


def hit(name: str, score: float, *sentences: tuple[str, float]) -> Hit:
    """A hit of which each sentence has the given score."""
    text = paper(name, *[sentence for sentence, _ in sentences])
    evidence = [
        Evidence(name, index, s.text, s.start, s.end, score)
        for index, (s, (_, score)) in enumerate(zip(text.sentences, sentences, strict=True))
    ]
    return Hit(text, score, tuple(sorted(evidence, key=lambda item: -item.score)))


def apart(hits: Sequence[Hit]) -> dict[str, Vectors]:
    """Vectors of which no two are alike."""
    total = sum(len(one.paper.sentences) for one in hits)
    rows = iter(np.eye(total, dtype=np.float32))
    return {h.paper.id: np.stack([next(rows) for _ in h.paper.sentences]) for h in hits}


def at(*degrees: float) -> Vectors:
    """Unit vectors in a plane."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def chosen(
    hits: Sequence[Hit], budget: Budget = PLENTY, vectors: Mapping[str, Vectors] | None = None
) -> list[str]:
    found = choose(hits, apart(hits) if vectors is None else vectors, budget)
    return [item.text for _, item in found]


def test_a_sentence_counts_by_itself_and_by_its_paper() -> None:
    hits = [
        hit("a", 0.7, ("Apples one.", 0.5), ("Apples two.", 0.1)),
        hit("b", 0.2, ("Bridges one.", 0.6), ("Bridges two.", 0.3)),
    ]
    # .4 · paper + .6 · (.9 · sentence + .1 · the one beside it): .56, .36 and .42, .28
    assert chosen(hits) == ["Apples one.", "Bridges one.", "Apples two.", "Bridges two."]


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (Budget(1, 9, 999), ["Apples one.", "Apples two."]),
        (Budget(2, 1, 999), ["Apples one."]),
        (Budget(2, 2, 999), ["Apples one.", "Bridges."]),
        (Budget(2, 9, 19), ["Apples one.", "Bridges."]),
        (Budget(2, 9, 1), ["Apples one."]),
        (Budget(2, 9, 22), ["Apples one.", "Bridges."]),
    ],
)
def test_no_more_is_chosen_than_may_be_read(budget: Budget, expected: list[str]) -> None:
    hits = [
        hit("a", 0.9, ("Apples one.", 0.9), ("Apples two.", 0.1)),
        hit("b", 0.9, ("Bridges.", 0.5)),
    ]
    assert chosen(hits, budget) == expected


def test_a_sentence_too_long_gives_way_to_a_shorter_one_behind_it() -> None:
    hits = [hit("a", 0.5, ("First.", 0.9), ("x" * 50, 0.8), ("Last.", 0.1))]
    assert chosen(hits, Budget(1, 9, 20)) == ["First.", "Last."]


def test_nothing_found_is_nothing_chosen() -> None:
    assert choose([], {}, PLENTY) == []
    assert chosen([Hit(paper("a", "x"), 0.5)]) == []


def test_of_two_equally_relevant_sentences_the_one_that_says_something_new_comes_first() -> None:
    one = hit("a", 0.5, ("Apples are red.", 0.80), ("Apples are reddish.", 0.61), ("Pears.", 0.60))
    assert chosen([one], vectors={"a": at(0, 10, 90)})[:2] == ["Apples are red.", "Pears."]
    assert chosen([one], vectors={"a": at(0, 90, 90)})[:2] == [
        "Apples are red.",
        "Apples are reddish.",
    ]


@pytest.mark.case("R08")
def test_a_sentence_that_another_paper_repeats_is_no_second_support() -> None:
    said = ("Owls see 3.7 points.", 0.9)
    hits = [
        hit("preprint", 0.9, said),
        hit("journal", 0.8, said, ("Code is public.", 0.1)),
    ]
    vectors = {"preprint": at(0), "journal": at(2, 80)}
    assert choose(hits, vectors, PLENTY)[0][0].paper.id == "preprint"
    assert chosen(hits, vectors=vectors) == ["Owls see 3.7 points.", "Code is public."]


def test_a_paper_may_repeat_itself() -> None:
    one = hit("a", 0.5, ("Twice said.", 0.9), ("Said twice.", 0.8))
    assert len(chosen([one], vectors={"a": at(0, 1)})) == 2


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (PLENTY, ["It weighs 40 tons.", "Arc is a bridge.", "Also.", "Rivers are wide."]),
        (Budget(1, 1, 999), ["It weighs 40 tons."]),
        (Budget(1, 9, 25), ["It weighs 40 tons.", "Also."]),
    ],
)
def test_a_sentence_that_refers_back_brings_along_the_one_before_it_if_that_fits(
    budget: Budget, expected: list[str]
) -> None:
    one = hit(
        "a",
        0.5,
        ("Rivers are wide.", 0.2),
        ("Arc is a bridge.", 0.1),
        ("It weighs 40 tons.", 0.9),
        ("Also.", 0.3),
    )
    assert chosen([one], budget) == expected


@pytest.mark.parametrize(
    ("sentence", "refers"),
    [
        ("It improves accuracy.", True),
        ("They do not.", True),
        ("These results hold.", True),
        ("However, this is slow.", True),
        ("Such models fail.", True),
        ("The latter is new.", True),
        ("Our method is fast.", True),
        ("Its weights are frozen.", True),
        ("Italy has owls.", False),
        ("Thesis work is long.", False),
        ("We propose Arc.", False),
        ("Our collection has 40 owls.", False),
        ("The model is new.", False),
        ("", False),
    ],
)
def test_which_sentences_need_the_one_before(sentence: str, refers: bool) -> None:
    assert refers_back(sentence) is refers


@st.composite
def found(draw: st.DrawFn) -> tuple[list[Hit], dict[str, Vectors]]:
    count = draw(st.integers(0, 4))
    words = st.sampled_from(["It is so.", "Owls.", "This long sentence is about bridges.", "No."])
    score = st.floats(0, 1, allow_nan=False)
    hits = [
        hit(f"p{number}", draw(score), *unique)
        for number in range(count)
        if (unique := draw(st.lists(st.tuples(words, score), max_size=4, unique_by=lambda t: t[0])))
    ]
    angle = st.floats(0, 360)
    vectors = {h.paper.id: at(*[draw(angle) for _ in h.paper.sentences]) for h in hits}
    return hits, vectors


@given(found(), st.integers(1, 5), st.integers(1, 9), st.integers(1, 120))
def test_whatever_is_found_the_choice_keeps_to_its_bounds(
    given_: tuple[list[Hit], dict[str, Vectors]], papers: int, sentences: int, chars: int
) -> None:
    hits, vectors = given_
    result = choose(hits, vectors, Budget(papers, sentences, chars))
    places = [(item.paper_id, item.index) for _, item in result]
    assert len(set(places)) == len(places) <= sentences
    assert {one.paper.id for one, _ in result} <= {one.paper.id for one in hits[:papers]}
    assert len(result) <= 1 or sum(len(item.text) for _, item in result) <= chars
    assert bool(result) == bool(hits)
    assert all(one.paper.text[item.start : item.end] == item.text for one, item in result)


# --- with an index


def test_what_two_papers_say_alike_is_read_once(tmp_path: Path) -> None:
    library = Library(tmp_path)
    shared = "Bridges carry 40 tons in winter."
    library.write(
        "a.txt",
        f"We study apples in cold stores. {shared} Clouds bring rain to the hills.",
        f"Harbours were measured by hand. {shared} Deserts stay dry all through the year.",
    )
    library.index()
    found = library.search("How many tons do bridges carry?")
    assert len(found.hits) == 2
    texts = [item.text for _, item in choose(found.hits, found.vectors, PLENTY)]
    assert texts[0] == shared
    assert texts.count(shared) == 1


@pytest.mark.parametrize("chunk_sentences", [1, 2, 50])
def test_each_sentence_of_a_hit_has_a_vector_however_papers_are_cut(
    tmp_path: Path, chunk_sentences: int
) -> None:
    library = Library(tmp_path)
    library.built_with = type(library.built_with)("by hand", chunk_sentences, 254)
    library.write("a.txt", "We study apples. We study bridges there. We study clouds above.")
    library.index()
    found = library.search("apples")
    (only,) = found.hits
    rows = found.vectors[only.paper.id]
    assert rows.shape == (3, library.embedder.dimension)
    apples = library.embedder.embed(["apples"])[0]
    cosines = {1: [1.0, 0.0, 0.0], 2: [0.7071, 0.0, 0.0], 50: [0.5774] * 3}[chunk_sentences]
    assert (rows @ apples).tolist() == pytest.approx(cosines, abs=1e-3)


# --- the golden questions

SUITE = [
    json.loads(line)
    for line in (ROOT / "evals/suites/seeds.jsonl").read_text(encoding="utf-8").splitlines()
]


def holds_gold(assistant: Assistant, item: Mapping[str, Any]) -> bool:
    """Whether a sentence that is known to answer is among the chosen."""
    chosen = assistant.evidence(item["question"])
    assert len(chosen) <= 12
    texts = [normalise(evidence.text) for _, evidence in chosen]
    gold = [normalise(text) for text in item["evidence"]]
    return any(one in text or text in one for one in gold for text in texts)


@pytest.mark.parametrize(
    ("kinds", "count", "least"),
    [("named numeric acronym", 34, 0.92), ("paraphrase", 20, 0.55), ("multi", 9, 0.85)],
)
def test_the_chosen_sentences_hold_the_evidence_of_golden_questions(
    assistant: Assistant, kinds: str, count: int, least: float
) -> None:
    items = [item for item in SUITE if item["kind"] in kinds.split()]
    assert len(items) == count
    held = {item["id"]: holds_gold(assistant, item) for item in items}
    assert sum(held.values()) / count >= least, [key for key, good in held.items() if not good]
