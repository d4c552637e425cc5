"""When the assistant is silent, how sure it says it is, and what it tells instead of an answer."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from command import rag
from fakes import DONE, Received, Script, ScriptedServer, chunk, event, refusal, streamed
from hypothesis import given
from hypothesis import strategies as st

from rag.answering import prompting
from rag.answering.abstention import REFUSAL
from rag.answering.asking import Reading
from rag.answering.assistant import Assistant
from rag.answering.confidence import Calibration, log_odds
from rag.answering.generation import Completion, OpenAIGenerator, Request
from rag.answering.prompting import label
from rag.answering.risk import NEVER, threshold
from rag.answering.signals import lacking, marks_of
from rag.answering.yesno import YesNo, yes_share
from rag.config import Config, load
from rag.errors import ConfigError
from rag.schema import Answer, Evidence, Paper, Sentence

# --- The threshold ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "n", "rate", "expected"),
    [
        # 19 questions and a rate of .1: (k + 1) / 20 ≤ .1 allows one of them to be wrong.
        ([0.9, 0.8, 0.3], 19, 0.10, 0.8),
        ([0.3, 0.8, 0.9], 19, 0.10, 0.8),
        ([0.9, 0.8, 0.3], 19, 0.05, 0.9),
        ([0.9, 0.8, 0.3], 19, 0.20, 0.0),
        ([0.9, 0.8, 0.3], 19, 0.15, 0.3),
        ([0.9], 19, 0.10, 0.0),
        ([], 19, 0.10, 0.0),
        # Eight questions cannot vouch for one in ten.
        ([], 8, 0.10, NEVER),
        ([], 9, 0.10, 0.0),
        ([0.7, 0.7, 0.7], 19, 0.10, 0.7),
    ],
)
def test_the_least_threshold_that_keeps_the_rate(
    wrong: list[float], n: int, rate: float, expected: float
) -> None:
    assert threshold(wrong, n, rate) == expected


QUESTIONS = st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=2, max_size=40)


@given(questions=QUESTIONS, rate=st.floats(0.01, 1))
def test_a_further_question_is_answered_wrongly_no_more_often_than_promised(
    questions: list[tuple[int, bool]], rate: float
) -> None:
    """Each question in turn is the further one, which all are alike in being exchangeable."""
    wrong = 0
    for place, (sure, answerable) in enumerate(questions):
        others = [*questions[:place], *questions[place + 1 :]]
        known = [s / 20 for s, able in others if not able]
        wrong += sure / 20 > threshold(known, len(others), rate) and not answerable
    assert wrong / len(questions) <= rate + 1e-9


def test_more_wrong_ones_than_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="2 wrong of 1"):
        threshold([0.1, 0.2], 1, 0.1)


def test_a_confidence_is_the_logistic_of_the_weighed_signals() -> None:
    one = Calibration({"a": 2.0, "b": -1.0}, 0.5, (), 9)
    assert one.confidence({"a": 1.0, "b": 0.5}) == pytest.approx(1 / (1 + math.exp(-2.0)))
    assert one.confidence({"a": 1.0}) > one.confidence({"a": 1.0, "b": 1.0})


@pytest.mark.parametrize(("p", "expected"), [(0.5, 0.0), (0.75, math.log(3)), (1, 6.0), (0, -6.0)])
def test_log_odds_are_bounded(p: float, expected: float) -> None:
    assert log_odds(p) == pytest.approx(expected)


# --- Names and numbers --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "marks"),
    [
        ("How does RISE-2 differ from RISE?", ("RISE-2", "RISE")),
        ("What is GroupMemBench-Audio?", ("GroupMemBench-Audio",)),
        ("Does G2PO reach 15.21 on ALFWorld?", ("G2PO", "15.21", "ALFWorld")),
        ("Who introduced the Adam optimizer?", ("Adam",)),
        ("Which two methods are about roads?", ()),
        ("What is a graph?", ()),
    ],
)
def test_marks_are_names_and_numbers(question: str, marks: tuple[str, ...]) -> None:
    assert marks_of(question) == marks


@pytest.mark.parametrize(
    ("mark", "text", "stands"),
    [
        ("RISE-2", "We present RISE, in 2 steps.", False),
        ("RISE-2", "We present RISE-2.", True),
        ("RN-DPO", "RNDPO wins.", True),
        ("15.21", "FID 15.21 is reached", True),
        ("15.21", "FID 15.2 is reached", False),
        ("GPUs", "one GPU", True),
    ],
)
def test_a_mark_stands_only_where_the_whole_of_it_does(mark: str, text: str, stands: bool) -> None:
    assert lacking([mark], text) == ([] if stands else [mark])


# --- A model's yes or no ------------------------------------------------------------------------

TEXT = "Apples weigh 150 grams."
PAPER = Paper("p", "f.txt", 1, 0, TEXT, TEXT, True, (Sentence(TEXT, 0, len(TEXT)),))
LABELLED = label([(PAPER, Evidence("p", 0, TEXT, 0, len(TEXT), 1.0))])


def told(token: str, **others: float) -> Script:
    """One token with what it was chosen from, by probability."""
    top = [{"token": name, "logprob": math.log(p)} for name, p in others.items()]
    first = {"token": token, "logprob": math.log(others[token]), "top_logprobs": top}
    said = chunk(token)
    said["choices"][0]["logprobs"] = {"content": [first]}  # type: ignore[index]
    return Script([event(said), event(chunk(finish="length")), DONE])


def asked(url: str) -> OpenAIGenerator:
    return OpenAIGenerator(
        base_url=url, api_key="k", model="m", max_retries=0, connect_timeout=30, idle_timeout=60
    )


def probability(*scripts: Any) -> tuple[float | None, list[Received]]:
    with ScriptedServer(*scripts) as server, closing(asked(server.url)) as generator:
        said = YesNo(generator, 60.0, 3).probability("How heavy are apples?", LABELLED, Reading())
        return said, server.posts


def test_the_probability_of_yes_is_read_from_one_token() -> None:
    said, posts = probability(told("Yes", Yes=0.5, No=0.2, yes=0.1, Well=0.2))
    assert said == pytest.approx(0.6 / 0.8)
    [body] = [post.body for post in posts]
    assert (body["max_tokens"], body["logprobs"], body["top_logprobs"]) == (1, True, 20)
    assert "response_format" not in body
    assert TEXT in body["messages"][1]["content"]


@pytest.mark.parametrize(
    "scripts",
    [
        (streamed(["Yes"], finish="length"),),
        (refusal(400, "logprobs is not supported", param="logprobs"), streamed(["Yes"])),
        (refusal(400, "top_logprobs: unsupported parameter"), streamed(["Yes"])),
        (refusal(500, "broken"),),
        (streamed([]),),
        (told("Well", Well=0.99, yes=0.005),),
        (Script([event({"choices": [{"delta": {"content": "a"}, "logprobs": {"content": 7}}]})]),),
        (Script([event({"choices": [{"delta": {"content": "a"}, "logprobs": [1]}]}), DONE]),),
    ],
)
def test_a_server_that_does_not_tell_is_no_fault(scripts: tuple[Script, ...]) -> None:
    assert probability(*scripts)[0] is None


def test_an_ordinary_request_asks_for_no_alternatives() -> None:
    with ScriptedServer(streamed(["a"])) as server, closing(asked(server.url)) as generator:
        *_, completion = generator.stream(Request("s", "u", None, 5))
        assert isinstance(completion, Completion)
        assert completion.alternatives == {}
        assert "logprobs" not in server.posts[0].body


@pytest.mark.parametrize(
    ("alternatives", "expected"),
    [
        ({"yes": 0.25, " Yes": 0.25, "no": 0.5}, 0.5),
        ({"No": 0.9, "NO": 0.1}, 0.0),
        ({"yes": 0.01, "no": 0.005}, None),
        ({}, None),
    ],
)
def test_forms_of_yes_and_no_count_together(
    alternatives: dict[str, float], expected: float | None
) -> None:
    found = yes_share({token: math.log(p) for token, p in alternatives.items()})
    assert found == (expected if expected is None else pytest.approx(expected))


def test_the_prompt_begins_as_that_of_the_answer_so_that_it_is_read_once() -> None:
    values = {"most": 3, "evidence": "[S1] A.", "question": "Why?"}
    first, then = (prompting.render(name, values) for name in ("answerable", "answer"))
    assert first.system == then.system
    assert first.user.startswith(then.user)


# --- Over the seeds -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def careful(seeds_config: Config) -> Iterator[Assistant]:
    """A tenth of the questions may be answered without having an answer."""
    with Assistant.from_config(seeds_config) as assistant:
        yield assistant


@pytest.fixture(scope="module")
def careless(seeds_config: Config) -> Iterator[Assistant]:
    config = seeds_config.model_copy(update={"max_wrong_rate": 1.0})
    with Assistant.from_config(config) as assistant:
        yield assistant


ELSEWHERE = "By how much does DexDICE raise CVaR on Bermudan max-call options?"


@pytest.mark.parametrize(
    ("question", "lacks"),
    [
        ("How well does RankE score on GenEval?", "GenEval"),
        ("How many audio clips does GroupMemBench include?", "audio clips"),
        (ELSEWHERE, "CVaR"),
    ],
)
@pytest.mark.case("R07")
def test_a_question_about_a_detail_that_no_paper_gives_is_not_answered(
    careful: Assistant, careless: Assistant, question: str, lacks: str
) -> None:
    answer = careful.answer(question)
    assert answer.status == "abstained"
    assert answer.text.startswith(REFUSAL)
    assert lacks in answer.missing
    assert answer.nearest
    assert careless.answer(question).status == "answered"


@pytest.mark.parametrize(
    "question",
    [
        "Over which part of the image does RN-DPO normalize the likelihood ratio?",
        "What does the short form RSSA stand for?",
        "On which three long-horizon benchmarks is G2PO tested?",
    ],
)
def test_a_question_that_an_abstract_answers_is_answered(careful: Assistant, question: str) -> None:
    answer = careful.answer(question)
    assert (answer.status, answer.missing) == ("answered", "")


def test_confidence_is_that_of_the_manifest_and_higher_where_there_is_an_answer(
    careful: Assistant,
) -> None:
    known = careful.answer("Over which part of the image does RN-DPO normalize the likelihood?")
    unknown = careful.answer("How well does RankE score on GenEval?")
    for answer in (known, unknown):
        assert answer.confidence is not None
        assert 0 < answer.confidence < 1
        assert answer.manifest["confidence"] == answer.confidence
    assert (unknown.confidence or 1) < (known.confidence or 0)


def test_what_stands_in_another_paper_is_quoted_from_it(careful: Assistant) -> None:
    answer = careful.answer(ELSEWHERE)
    [citation] = answer.citations
    assert citation.paper.title == "DIOS"
    assert "CVaR and Bermudan stand in DIOS." in answer.missing
    assert any("Bermudan" in claim.text for claim in answer.claims)
    for claim in answer.claims:
        assert claim.citations == (1,)
        assert claim.text.rstrip(".") in answer.text
        assert [item.text for item in claim.support] == [claim.text]
    assert careful.answer("How well does RankE score on GenEval?").claims == ()


def test_a_lower_rate_is_silent_more_often(seeds_config: Config) -> None:
    question = "Does RankE need a GPU?"
    states = []
    for rate in (0.005, 1.0):
        config = seeds_config.model_copy(update={"max_wrong_rate": rate})
        with Assistant.from_config(config) as assistant:
            states.append(assistant.answer(question).status)
    assert states == ["abstained", "answered"]


def test_the_command_line_tells_what_is_missing(seeds_index: Path) -> None:
    question = "How well does RankE score on GenEval?"
    shown = rag("ask", question, "--llm", "none", data=seeds_index)
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert lines[0] == REFUSAL
    assert "RankE" in lines[1]
    assert "GenEval" in lines[1]
    value = rag("ask", question, "--llm", "none", "--json", data=seeds_index).json()
    assert (value["status"], value["text"]) == ("abstained", REFUSAL)
    assert value["missing"] == lines[1]
    assert value["confidence"] == pytest.approx(value["manifest"]["confidence"], abs=1e-4)


@pytest.mark.parametrize("rate", [0, 1.5, "much"])
def test_a_rate_that_is_none_is_refused(rate: object) -> None:
    with pytest.raises(ConfigError, match="max_wrong_rate"):
        load({"max_wrong_rate": rate}, environ={})


def served(config: Config, server: ScriptedServer, **settings: object) -> Answer:
    given = {"llm": "openai", "openai_base_url": server.url, "openai_model": "m"}
    with Assistant.from_config(config.model_copy(update={**given, **settings})) as assistant:
        return assistant.answer("Over which part of the image does RN-DPO normalize?")


def test_a_servers_model_decides_by_itself_unless_it_is_to_be_asked_first(
    seeds_config: Config,
) -> None:
    silent = streamed(['{"claims": []}'])
    with ScriptedServer(silent) as server:
        answer = served(seeds_config, server, max_wrong_rate=0.005)
        assert len(server.posts) == 1
    assert answer.status == "abstained"
    assert answer.confidence is not None
    with ScriptedServer(told("No", No=0.99, Yes=0.01)) as server:
        answer = served(seeds_config, server, ask_first="llm", expand="off", rerank="off")
        assert len(server.posts) == 1
    assert answer.status == "abstained"
    with ScriptedServer(told("Yes", No=0.001, Yes=0.999), silent) as server:
        sure = served(seeds_config, server, ask_first="llm", expand="off", rerank="off")
        assert len(server.posts) == 2
    assert (sure.confidence or 0) > (answer.confidence or 1)
