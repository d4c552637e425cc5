"""Whether an answer is right: numbers, strings, words, labels, patterns; by hand."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import ROOT
from hypothesis import given
from hypothesis import strategies as st

from evals import known
from evals.scoring import answers
from evals.scoring.answers import correct, label_of, labelled, numeric, said, token_f1
from evals.scoring.quantities import is_quantity, matches, quantities
from evals.suite import Question


def question(*given: str, **known: Any) -> Question:
    return Question(**{"question": "How many?", "answers": given, **known})


@pytest.mark.parametrize(
    "response",
    [
        "The suite has 12 tasks, mostly English, some German.",
        "12, see the table.",
        "Twelve tasks.",
        "It has 40 M parameters and 12 tasks [1].",
    ],
)
def test_a_number_is_found_wherever_it_stands(response: str) -> None:
    assert numeric(question("12"), response) == 1.0
    assert correct(question("12"), response) == 1.0


@pytest.mark.parametrize("response", ["It has tasks [12].", "Tasks [1, 12], [3-12].", "None [12]."])
def test_the_number_of_a_citation_is_no_answer(response: str) -> None:
    assert numeric(question("12"), response) == 0.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2750", "2,750"),
        ("2750", "2 750"),
        ("2750", "2{,}750"),
        ("0.985", "98.5%"),
        ("98.5%", "98.50 percent"),
        ("98.5%", "98.5 per cent"),
        ("1.3 billion", "1.3 B"),
        ("40 M", "40 million"),
        ("740K", "0.74M"),
        ("3.7", "3.70"),
        ("1,5", "1.5"),
        ("1.3B", "$1.3$B"),
        ("99.8%", "$99.8\\%$"),
        ("2.23x", "$2.23\\times$"),
        ("2.23×", "2.23 times"),
        ("500", "$\\sim$500"),
        ("750", "$\\textasciitilde$750"),
        ("25.2", "C_{\\mathrm{rec}}=25.2$)"),
        ("0.05", ".05"),
        ("-0.5", "−.5"),
        ("-3", "–3"),
        ("100000", "10^5"),
        ("0.002", "$2 \\times 10^{-3}$"),
        ("0.001", "1e-3"),
        ("5x", "5-fold"),
        ("2 min", "120 seconds"),
        ("3 GB", "3000 MB"),
        ("1000000", "1 000 000"),
    ],
)
def test_one_number_in_two_forms(one: str, other: str) -> None:
    assert matches(one, other)
    assert matches(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12", "1.2"),
        ("12", "120"),
        ("40 M", "40 B"),
        ("-3", "3"),
        ("3", "-3"),
        ("5 ms", "5 s"),
        ("4", "GPT-4"),
        ("19", "COVID-19"),
        ("2.5", "TimesFM-2.5"),
        ("2", "$d^2$"),
        ("2", "T^{2/3}"),
        ("2", "L2"),
        ("10 M", "10 m"),
        ("50%", "50"),
        ("5", "x5.5"),
    ],
)
def test_two_numbers_are_two(one: str, other: str) -> None:
    assert not matches(one, other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from 10 to 20", ["10", "20"]),
        ("10-20 tasks", ["10", "10", "20"]),  # the first for itself and in the unit of the second
        ("34–72\\% of cases", ["34", "0.34", "0.72"]),
        ("p < .05", ["0.05"]),
        ("6.4, 3.5, and 9.6 points", ["6.4", "3.5", "9.6"]),
        ("12.5±0.3", ["12.5", "0.3"]),
        ("45.2/46.1", ["45.2", "46.1"]),
        ("3x3 grids", ["3"]),
        ("a 20B-parameter model", ["20000000000"]),
        ("In-text 3,152 of 1,234,567.5", ["3152", "1234567.5"]),
        ("no number", []),
        ("", []),
    ],
)
def test_the_numbers_of_a_text(text: str, expected: list[str]) -> None:
    assert [f"{one.value:f}" for one in quantities(text)] == expected


@pytest.mark.parametrize("text", ["12", "98.5%", "1.3B", "~12", "2.23×", "-3", "0.5 s", "$74\\%$"])
def test_a_number_with_its_unit_is_a_quantity(text: str) -> None:
    assert is_quantity(text)


@pytest.mark.parametrize("text", ["eight", "RN-DPO", "12 tasks", "F1", "", "10-20", "3 of 4"])
def test_other_texts_are_none(text: str) -> None:
    assert not is_quantity(text)


@given(st.integers(-(10**9), 10**9), st.text(max_size=5))
def test_a_number_with_thousands_marked_equals_itself(value: int, around: str) -> None:
    assert matches(str(value), f"{value:,}")
    assert isinstance(quantities(around), list)


@pytest.mark.parametrize(
    ("must_all", "response", "expected"),
    [(True, "9.6 and 12%", 1.0), (True, "9.6", 0.0), (False, "9.6", 1.0), (False, "9.7", 0.0)],
)
def test_all_numbers_or_one_as_the_question_says(
    must_all: bool, response: str, expected: float
) -> None:
    assert numeric(question("9.6", "12%", must_all=must_all), response) == expected
    assert numeric(question("a name"), response) is None
    assert correct(question(), response) is None


@pytest.mark.parametrize(
    ("answer", "response", "expected"),
    [
        ("the cat sat", "a cat sat", 1.0),  # articles do not count
        ("cat sat", "cat ran", 0.5),  # one of two, both ways
        ("cat", "cat sat on mat", 2 / 5),  # precision 1/4, recall 1
        ("cat", "dog", 0.0),
        ("cat cat", "cat", 2 / 3),  # counted as often as both have it
        ("cat", "", 0.0),
        ("cat", "Cat [1].", 1.0),
    ],
)
def test_words_that_are_shared(answer: str, response: str, expected: float) -> None:
    assert token_f1(question(answer), response) == pytest.approx(expected)


def test_the_best_answer_counts_all_together_or_the_reference() -> None:
    assert token_f1(question("cat", "dog"), "dog") == 1.0
    assert token_f1(question("cat", "dog", must_all=True), "dog") == pytest.approx(2 / 3)
    assert token_f1(question(reference="big dog"), "dog") == pytest.approx(2 / 3)
    assert token_f1(question(), "dog") is None
    assert answers.f1([], []) == 1.0


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("Yes, it does.", "yes"),
        ("No.", "no"),
        ("**Maybe** so", "maybe"),
        ("Unclear: few data", "maybe"),
        ("Not at all", ""),
        ("North", ""),
        ("It does. Yes.", ""),
        ("", ""),
    ],
)
def test_yes_no_or_maybe_at_the_beginning(response: str, expected: str) -> None:
    assert label_of(response) == expected
    assert labelled(question(label="yes"), response) == float(expected == "yes")
    assert labelled(question(label="support"), response) is None


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("I am an AI system.", 1.0),
        ("I am a person, not an AI system.", 0.0),
        ("I cannot tell.", 0.0),
        ("Are you an AI system?", 0.0),  # only repeats the question
    ],
)
def test_what_must_and_must_not_be_said(response: str, expected: float) -> None:
    asked = Question(
        question="Are you an AI system?",
        must_say=("AI system", "a program"),
        must_not_say=(r"I am a (?:person|human)",),
    )
    assert said(asked, response) == expected
    assert said(question(), response) is None


def reference() -> Any:
    path = next(
        (p / "shared" / "qa" / "match.py" for p in ROOT.parents if (p / "shared" / "qa").is_dir()),
        None,
    )
    if path is None:
        pytest.skip("no folder ../shared/qa beside the project")
    spec = importlib.util.spec_from_file_location("match", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.score


def responses() -> Iterator[str]:
    """Gold sentences of every question, and every answer alone."""
    for one in known.seeds(Path()).items:
        yield " ".join(one.asked.evidence)
        yield from one.asked.answers


def test_no_answer_is_lost_that_the_reference_matcher_finds() -> None:
    score = reference()
    texts = list(responses())
    for one in known.seeds(Path()).items:
        if not one.asked.answers:
            continue
        as_lists = json.loads(one.asked.model_dump_json())
        for text in texts:
            assert correct(one.asked, text) == float(score(as_lists, text)), (one.id, text)


def test_the_gold_sentences_hold_every_answer_and_number() -> None:
    for one in known.seeds(Path()).items:
        text = " ".join(one.asked.evidence)
        if one.asked.answers:
            assert correct(one.asked, text) == 1.0, one.id
            assert numeric(one.asked, text) in {None, 1.0}, one.id
