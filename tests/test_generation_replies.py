"""What becomes of what a model writes, and of a model that dies: G21 to G28 of the test plan.

From a server's bytes to the answer that a reader sees, over real loopback sockets. G01 to G20,
the faults of the server and the stream, are in test_generation.py; how a reply is cut and read in
test_citations.py; the real child process of the embedded model in test_llama.py.
"""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from fakes import (
    DONE,
    FakeModelServer,
    Received,
    Reply,
    Script,
    ScriptedGenerator,
    ScriptedServer,
    chunk,
    event,
    refusal,
    streamed,
    usage,
)
from library import WEIGHTS, Library

from rag.answering.assistant import Assistant, last_answer
from rag.answering.budget import Budget, BudgetedGenerator, BudgetSpent
from rag.answering.citations import read_marks
from rag.answering.events import Notice
from rag.answering.finding import Finder
from rag.answering.generation import Completion, Request
from rag.answering.local import LocalGenerator
from rag.answering.parts import writer_of
from rag.answering.writing import ModelWriter, Writer
from rag.config import Config
from rag.errors import AnswerIncomplete, ModelError, ServerError, WeightsError
from rag.models.catalogue import find_model
from rag.retrieval.search import Searcher
from rag.schema import Answer

APPLES = (
    "We study apples in cold stores.",
    "Apples weigh 150 grams on average.",
    "Apples do not ripen in darkness.",
)
BRIDGES = ("We study bridges over wide rivers.", "Bridges carry 40 tons in winter.")
FACT = APPLES[1]
SHOWN = "Apples weigh 150 grams on average [1]."
QUESTION = "How much do apples weigh?"
BOTH_PROTOCOLS = pytest.mark.parametrize("output", ["schema", "text"])


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """A question about apples labels the first paper's sentences S1 to S3, the other's S4, S5."""
    library = Library(tmp_path_factory.mktemp("replies"))
    library.write("a.txt", " ".join(APPLES), " ".join(BRIDGES))
    library.index()
    return library


def settings(**given: object) -> Config:
    return Config.model_validate(
        {"embedding_model": "by hand", "quotes_beside": 0, "idle_timeout": 5.0, **given}
    )


@contextmanager
def assisting(library: Library, writer: Writer) -> Iterator[Assistant]:
    with library.reader() as reader:
        finder = Finder(Searcher(reader, WEIGHTS))
        with Assistant(settings(), reader, finder, writer) as assistant:
            yield assistant


@contextmanager
def served(library: Library, *scripts: Reply, **given: object) -> Iterator[Assistant]:
    """An assistant of a server that follows the scripts; the server is at its `config`'s URL."""
    with ScriptedServer(*scripts) as server:
        config = settings(
            llm="openai", openai_base_url=server.url, openai_model="m", max_retries=0, **given
        )
        with assisting(library, writer_of(config)) as assistant:
            yield assistant


def answered(library: Library, reply: str, output: str = "schema", piece: int = 7) -> Answer:
    pieces = [reply[i : i + piece] for i in range(0, len(reply), piece)]
    with served(library, streamed(pieces), openai_output=output) as assistant:
        return assistant.answer(QUESTION)


def claims(*drafts: tuple[str, object]) -> str:
    return json.dumps({"claims": [{"support": support, "text": text} for text, support in drafts]})


def reply_of(output: str, text: str, label: str) -> str:
    return claims((text, [label])) if output == "schema" else f"{label}: {text}"


def was_quoted(answer: Answer) -> bool:
    """Whether the reader sees sentences of the papers word for word, each cited by itself."""
    return (
        bool(answer.claims)
        and "the closest sentences are quoted" in answer.note
        and all([e.text for e in c.support] == [c.text] for c in answer.claims)
        and all(c.text in {*APPLES, *BRIDGES} for c in answer.claims)
    )


def cites_truly(answer: Answer) -> bool:
    """Whether each number leads to the paper of the sentences that the claim rests on."""
    papers = {citation.number: citation.paper.id for citation in answer.citations}
    marks = read_marks(answer.text)
    return marks == [claim.citations for claim in answer.claims] and all(
        {papers[number] for number in claim.citations} == {e.paper_id for e in claim.support}
        for claim in answer.claims
    )


# --- G21: citations of what was not given

INVENTED = [
    "S9",
    "S0",
    "9",
    "[0]",
    "[1-99]",
    "a",
    "(Smith 2020)",
    "S1-S99",
    "CLASS2",
    f"S{7**5000}{3**900}",  # more digits than Python reads as a number, in no loop
]


@pytest.mark.parametrize("named", INVENTED, ids=lambda name: name[:12])
def test_G21_a_claim_that_cites_only_what_was_not_given_is_left_out(
    library: Library, named: str
) -> None:
    answer = answered(library, claims((FACT, [named])))
    assert [(d.text, d.reason) for d in answer.dropped] == [(FACT, "it names no sentence")]
    assert was_quoted(answer)
    assert cites_truly(answer)


@pytest.mark.parametrize("named", INVENTED, ids=lambda name: name[:12])
def test_G21_beside_a_real_label_it_is_passed_over_and_told(library: Library, named: str) -> None:
    answer = answered(library, claims((FACT, [named, "S2"])))
    assert (answer.status, answer.text, answer.dropped) == ("answered", SHOWN, ())
    assert [evidence.text for evidence in answer.claims[0].support] == [FACT]
    assert answer.note == f"the model also cited what it was not given: {named[:60]}"


@pytest.mark.parametrize(
    "line",
    [
        f"S9: {FACT}",
        f"[0] {FACT}",
        f"[1-99] {FACT}",
        f"[a] {FACT}",
        f"(Smith 2020) {FACT}",
        "Apples weigh 150 grams on average [2].",
        "Apples weigh 150 grams on average (Smith 2020).",
        f"S1-S99: {FACT}",
    ],
)
def test_G21_in_plain_text_such_a_claim_is_left_out_too(library: Library, line: str) -> None:
    answer = answered(library, line, "text")
    assert [dropped.reason for dropped in answer.dropped] == ["it names no sentence"]
    assert was_quoted(answer)
    assert cites_truly(answer)


@BOTH_PROTOCOLS
@pytest.mark.parametrize(
    ("mark", "told"),
    [
        ("[1]", True),
        ("[0]", True),
        ("[9]", True),
        ("[1-99]", True),
        ("[2, 5]", True),
        ("[a]", True),
        ("[^3]", True),
        ("[S9]", True),
        ("(Smith 2020)", True),
        ("(Smith et al., 2020; Jordan and Lee, 2019b)", True),
        ("[S2]", False),  # in the wrong place, but given and meant
    ],
)
def test_G21_a_mark_that_the_model_wrote_is_not_taken_for_ours(
    library: Library, output: str, mark: str, told: bool
) -> None:
    for text in (f"Apples weigh 150 grams on average {mark}.", f"Apples {mark} weigh 150 grams."):
        answer = answered(library, reply_of(output, text, "S2"))
        assert answer.text == text.replace(f" {mark}", "").replace(".", " [1].")
        assert (answer.status, answer.dropped) == ("answered", ())
        assert (mark.strip("[]") in answer.note) is told
        assert cites_truly(answer)


def test_G21_a_bracket_that_the_abstract_itself_has_stays(tmp_path: Path) -> None:
    library = Library(tmp_path)
    sentence = "Apples of Smith (Smith, 2020) have a weight in [0, 1]."
    library.write("a.txt", f"We study apples in cold stores. {sentence}")
    library.index()
    answer = answered(library, claims((sentence, ["S2"])))
    assert answer.text == "Apples of Smith (Smith, 2020) have a weight in [0, 1] [1]."
    assert answer.note == ""


@BOTH_PROTOCOLS
def test_G21_a_range_over_everything_cites_only_the_paper_that_says_it(
    library: Library, output: str
) -> None:
    answer = answered(library, reply_of(output, FACT, "S1-S9"))
    assert answer.text == SHOWN
    assert [citation.paper.text for citation in answer.citations] == [" ".join(APPLES)]
    assert "S6, S7, S8, S9" in answer.note


# --- G22: a citation that does not support


@BOTH_PROTOCOLS
@pytest.mark.parametrize(
    ("text", "label", "reason"),
    [
        ("Apples weigh 40 grams on average.", "S2", "40 is not in the sentences it names"),
        ("Apples ripen in darkness.", "S3", "it says what the sentences deny"),
        ("Apples do not weigh 150 grams on average.", "S2", "it denies what the sentences say"),
        ("FooNet weighs apples of 150 grams.", "S2", "foonet is not in the abstracts it names"),
        ("Pears taste better than anything.", "S2", "only 0% of its words"),
        ("Bridges carry 150 tons in winter.", "S5", "150 is not in the sentences it names"),
    ],
)
def test_G22_a_claim_that_its_sentence_does_not_support_is_not_shown(
    library: Library, output: str, text: str, label: str, reason: str
) -> None:
    answer = answered(library, reply_of(output, text, label))
    (dropped,) = answer.dropped
    assert dropped.text == text
    assert reason in dropped.reason
    assert text not in answer.text
    assert answer.status == "partial"
    assert was_quoted(answer)


@BOTH_PROTOCOLS
@pytest.mark.parametrize("label", ["S5", "S4", "S1", "S5, S2", "S2, S4"])
def test_G22_a_claim_is_pinned_to_the_paper_that_supports_it_whatever_label_it_has(
    library: Library, output: str, label: str
) -> None:
    labels = label.split(", ")
    reply = claims((FACT, labels)) if output == "schema" else f"{label}: {FACT}"
    answer = answered(library, reply)
    assert answer.text == SHOWN
    assert FACT in [evidence.text for evidence in answer.claims[0].support]
    assert [citation.paper.text for citation in answer.citations] == [" ".join(APPLES)]


# --- G23: no citation


@pytest.mark.parametrize(
    ("output", "reply"),
    [
        ("schema", claims((FACT, []))),
        ("schema", claims((FACT, None))),
        ("schema", claims((FACT, [{}]))),
        ("schema", json.dumps({"claims": [{"text": FACT}]})),
        ("schema", FACT),
        ("text", FACT),
        ("text", f"- {FACT}"),
        ("text", f"S: {FACT}"),
    ],
)
def test_G23_a_claim_without_a_citation_is_unsupported(
    library: Library, output: str, reply: str
) -> None:
    answer = answered(library, reply, output)
    assert [dropped.reason for dropped in answer.dropped] == ["it names no sentence"]
    assert FACT in answer.dropped[0].text
    assert was_quoted(answer)


@pytest.mark.parametrize("piece", [1, 7, 10_000])
def test_G23_beside_cited_claims_it_alone_is_left_out(library: Library, piece: int) -> None:
    bare = "Apples are round."
    for output, reply in (
        ("schema", claims((bare, []), (FACT, ["S2"]))),
        ("text", f"{bare}\nS2: {FACT}"),
    ):
        answer = answered(library, reply, output, piece)
        assert (answer.status, answer.text) == ("partial", SHOWN)
        assert [dropped.text for dropped in answer.dropped] == [bare]


# --- G24: replies that hold more, or are formed otherwise, than was asked

GOOD = claims((FACT, ["S2"]))
LINE = f"S2: {FACT}"


def in_a_call(arguments: object) -> str:
    return json.dumps({"name": "answer", "arguments": arguments})


@pytest.mark.parametrize("piece", [1, 7, 10_000])
@pytest.mark.parametrize(
    ("output", "reply"),
    [
        pytest.param("schema", f"<think>S5: {BRIDGES[1]}\n{{}}</think>\n{GOOD}", id="think-json"),
        pytest.param("text", f"<think>\nS5: {BRIDGES[1]}\n</think>\n{LINE}", id="think-lines"),
        pytest.param("text", f"I look for a weight.\n</think>\n{LINE}", id="think-not-opened"),
        pytest.param("schema", f"```json\n{GOOD}\n```", id="fence"),
        pytest.param("schema", f"Here are the claims:\n```json\n{GOOD}\n```\nBye.", id="preface"),
        pytest.param("text", f"```\n{LINE}\n```", id="fence-lines"),
        pytest.param("schema", f"{GOOD}<|im_end|>\n<|im_start|>user\nS5: x", id="turn-marks"),
        pytest.param("schema", in_a_call(json.loads(GOOD)), id="call"),
        pytest.param("schema", in_a_call(GOOD), id="call-as-string"),
        pytest.param(
            "schema", f"<tool_call>\n{in_a_call(json.loads(GOOD))}\n</tool_call>", id="tag"
        ),
        pytest.param(
            "schema",
            json.dumps({"claims": json.dumps(json.loads(GOOD)["claims"])}),
            id="list-in-a-string",
        ),
        pytest.param("schema", claims((FACT, [{"id": "S2"}])), id="support-as-object"),
        pytest.param(
            "schema", claims((FACT, [{"label": "S2", "text": FACT}])), id="support-with-its-text"
        ),
        pytest.param("schema", claims((FACT, {"id": "S2"})), id="support-not-in-a-list"),
        pytest.param("schema", LINE, id="lines-for-json"),
        pytest.param("text", GOOD, id="json-for-lines"),
        pytest.param("text", f"Question: {QUESTION}\n{LINE}", id="repeats-the-question"),
    ],
)
def test_G24_what_stands_around_the_claims_is_no_part_of_the_answer(
    library: Library, output: str, reply: str, piece: int
) -> None:
    answer = answered(library, reply, output, piece)
    assert (answer.status, answer.text, answer.note) == ("answered", SHOWN, "")
    assert answer.dropped == ()


@BOTH_PROTOCOLS
@pytest.mark.parametrize("part", ["system", "user", "both", "evidence"])
@pytest.mark.parametrize("piece", [7, 10_000])
def test_G24_a_prompt_that_is_repeated_is_no_answer(
    library: Library, output: str, part: str, piece: int
) -> None:
    def parrot(received: Received) -> Script:
        system, user = (message["content"] for message in received.body["messages"])
        evidence = user.partition("\n\n")[0]
        said = {"system": system, "user": user, "evidence": evidence}.get(part, f"{system}\n{user}")
        reply = f"{said}\n\n{GOOD if output == 'schema' else LINE}"
        return streamed([reply[i : i + piece] for i in range(0, len(reply), piece)])

    with served(library, parrot, openai_output=output) as assistant:
        answer = assistant.answer(QUESTION)
    assert (answer.status, answer.text, answer.dropped) == ("answered", SHOWN, ())


@BOTH_PROTOCOLS
def test_G24_a_prompt_that_is_repeated_and_nothing_else_is_quoted(
    library: Library, output: str
) -> None:
    def parrot(received: Received) -> Script:
        return streamed([message["content"] + "\n" for message in received.body["messages"]])

    with served(library, parrot, openai_output=output) as assistant:
        answer = assistant.answer(QUESTION)
    assert answer.dropped == ()
    assert "no claim could be read" in answer.note
    assert was_quoted(answer)


@pytest.mark.parametrize(
    "reply",
    [
        in_a_call({"query": "apples"}),
        f"<tool_call>{in_a_call({'query': 'apples'})}</tool_call>",
        "<think>I have to think of apples. S2: Apples weigh",
        '{"claims": "S2"}',
        '{"claims": {"S2": "Apples weigh 150 grams on average."}}',
        '{"claims": [[["S2", "Apples weigh 150 grams on average."]]]}',
        "{" * 3000 + "}" * 3000,
        '{"claims": ' * 300,
    ],
    ids=lambda reply: reply[:30],
)
def test_G24_what_cannot_be_read_is_not_guessed_at(library: Library, reply: str) -> None:
    answer = answered(library, reply, piece=10_000)
    assert was_quoted(answer)
    assert cites_truly(answer)


def test_G24_a_call_of_a_tool_in_place_of_text_is_quoted(library: Library) -> None:
    call = [{"index": 0, "function": {"name": "answer", "arguments": GOOD}}]
    script = Script([event(chunk(tool_calls=call)), event(chunk(finish="tool_calls")), DONE])
    with served(library, script) as assistant:
        answer = assistant.answer(QUESTION)
    assert "the model returned nothing" in answer.note
    assert was_quoted(answer)


# --- G25: weights that cannot be used

GGUF_HEAD = b"GGUF" + struct.pack("<IQQ", 3, 1, 1)  # version 3, one tensor, one key: none follows


def local(weights: Path, model: str) -> Config:
    return settings(llm="local", weights_dir=weights, local_model=model)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(None, ["cannot be read (No such file", "rag models pull"], id="missing"),
        pytest.param(b"", ["is not a GGUF file", "rag models pull"], id="empty"),
        pytest.param(b"PK\x03\x04" * 99, ["is not a GGUF file", "RAG_LOCAL_MODEL"], id="other"),
        pytest.param(GGUF_HEAD, ["cannot be loaded (", "rag models verify"], id="truncated"),
        pytest.param(
            GGUF_HEAD + bytes(10**6), ["cannot be loaded (", "rag models verify"], id="altered"
        ),
    ],
)
def test_G25_a_file_that_is_no_model_is_named_at_the_first_question(
    library: Library, tmp_path: Path, content: bytes | None, said: list[str]
) -> None:
    path = tmp_path / "my model.gguf"
    if content is not None:
        path.write_bytes(content)
    with (
        assisting(library, writer_of(local(tmp_path, str(path)))) as assistant,
        pytest.raises(WeightsError) as caught,
    ):
        assistant.answer(QUESTION)
    message = str(caught.value)
    assert str(path) in message
    assert all(words in message for words in said)
    assert "\n" not in message
    assert caught.value.exit_code == 4


@pytest.mark.parametrize("size", [None, 1000], ids=["missing", "truncated"])
def test_G25_weights_of_the_wrong_size_are_named_before_anything_is_asked(
    tmp_path: Path, size: int | None
) -> None:
    name = "qwen2.5-coder-1.5b"
    place = tmp_path / name / find_model(name).files[0].name
    if size is not None:
        place.parent.mkdir()
        place.write_bytes(GGUF_HEAD.ljust(size, b"\0"))
    with pytest.raises(WeightsError, match=f"rag models pull {name}") as caught:
        writer_of(local(tmp_path, name))
    said = "is not there" if size is None else "is incomplete (1000 of"
    assert f"{place} {said}" in str(caught.value)
    assert writer_of(settings(llm="auto", weights_dir=tmp_path)).name == "quoting"


def test_G25_weights_of_the_right_size_and_another_content_are_named(
    library: Library, tmp_path: Path
) -> None:
    """Their hash is not read at every start; what they are not shows when they are loaded."""
    name = "qwen2.5-coder-1.5b"
    file = find_model(name).files[0]
    place = tmp_path / name / file.name
    place.parent.mkdir()
    with place.open("wb") as sparse:  # takes no space
        sparse.write(GGUF_HEAD)
        sparse.truncate(file.size)
    with (
        assisting(library, writer_of(local(tmp_path, name))) as assistant,
        pytest.raises(WeightsError, match=r"cannot be loaded \(.+\)\. Run `rag models verify`"),
    ):
        assistant.answer(QUESTION)


# --- G26: the embedded model dies


@contextmanager
def embedded(library: Library, model: FakeModelServer) -> Iterator[Assistant]:
    with assisting(
        library, ModelWriter(LocalGenerator(model, "fake", settings()), 99)
    ) as assistant:
        yield assistant


def dying(model: Callable[[], FakeModelServer], script: Script) -> Reply:
    """A child that ends while it says `script`."""

    def play(_: Received) -> Script:
        model().die()
        return script

    return play


ALIVE = streamed([GOOD])
CRASH = Script(answers=False, ending="reset")


def notices_of(assistant: Assistant) -> tuple[Answer, list[str]]:
    events = list(assistant.ask(QUESTION))
    told = [event.text for event in events if isinstance(event, Notice)]
    return last_answer(iter(events)), told


def test_G26_a_model_that_dies_before_any_text_is_started_once_more(library: Library) -> None:
    model = FakeModelServer(dying(lambda: model, CRASH), ALIVE)
    with embedded(library, model) as assistant:
        answer, told = notices_of(assistant)
        assert (answer.status, answer.text, answer.note) == ("answered", SHOWN, "")
        assert told.count("the local model ended and was started again") == 1
        assert notices_of(assistant)[1] == []
    assert [len(child.posts) for child in model.children] == [1, 2]


def test_G26_a_model_that_died_between_questions_is_started_again(library: Library) -> None:
    model = FakeModelServer(ALIVE, ALIVE)
    with embedded(library, model) as assistant:
        assert assistant.answer(QUESTION).text == SHOWN
        model.die()
        answer, told = notices_of(assistant)
    assert answer.text == SHOWN
    assert told == ["the local model had ended and was started again"]


def test_G26_what_had_come_is_kept_when_it_dies_in_the_middle(library: Library) -> None:
    begun = streamed([claims((FACT, ["S2"]))[:-2], ', {"sup'], finish=None, done=False)
    model = FakeModelServer(dying(lambda: model, begun), ALIVE)
    with embedded(library, model) as assistant:
        answer = assistant.answer(QUESTION)
        assert (answer.status, answer.complete, answer.text) == ("partial", False, SHOWN)
        assert "broke off" in answer.note
        assert assistant.answer(QUESTION).complete
    assert len(model.children) == 2


def test_G26_a_model_that_dies_again_is_given_up_and_says_so(library: Library) -> None:
    model = FakeModelServer(dying(lambda: model, CRASH), dying(lambda: model, CRASH))
    with embedded(library, model) as assistant:
        for _ in range(2):
            with pytest.raises(ModelError) as caught:
                assistant.answer(QUESTION)
            assert caught.value.exit_code == 4
    assert "stopped again after a restart" in str(caught.value)
    assert len(model.children) == 2


def test_G26_a_fault_of_a_living_model_starts_nothing(library: Library) -> None:
    model = FakeModelServer(refusal(500, "boom"), ALIVE)
    with embedded(library, model) as assistant, pytest.raises(ServerError, match="boom"):
        assistant.answer(QUESTION)
    assert len(model.children) == 1


def in_threads(number: int, work: Callable[[], Answer]) -> list[Answer]:
    """What each of so many readers at once got; one whose thread failed is missing."""
    got: list[Answer] = []
    threads = [threading.Thread(target=lambda: got.append(work())) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return got


def test_G26_every_reader_whose_answer_had_not_begun_gets_it_from_the_next_child(
    library: Library,
) -> None:
    both_ask = threading.Barrier(3)

    def die_once_all_wait(_: Received) -> Script:
        if both_ask.wait(60) == 0:
            model.die()
        return Script(ending="hang")

    model = FakeModelServer(die_once_all_wait, ALIVE)
    with embedded(library, model) as assistant:
        answers = in_threads(3, lambda: assistant.answer(QUESTION))
    assert [answer.text for answer in answers] == [SHOWN] * 3
    assert [len(child.posts) for child in model.children] == [3, 3]


# --- G27: several answers at once from one model


def test_G27_answers_at_once_are_all_complete_and_do_not_mix(library: Library) -> None:
    questions = {f"How much do apples weigh in store {n}?": f"S{n}" for n in (1, 2, 3)}
    all_at_once = threading.Barrier(3)

    def write(received: Received) -> Script:
        asked = received.body["messages"][1]["content"].rpartition("Question: ")[2]
        text = claims((APPLES[int(questions[asked][1:]) - 1], [questions[asked]]))
        all_at_once.wait(60)
        pieces = [event(chunk(text[i : i + 5])) for i in range(0, len(text), 5)]
        return Script([*pieces, event(chunk(finish="stop")), DONE], pause=0.005)

    model = FakeModelServer(write)
    waiting = list(questions)
    asked: dict[str, str] = {}

    def ask() -> Answer:
        question = waiting.pop()
        answer = assistant.answer(question)
        asked[question] = answer.claims[0].text
        return answer

    with embedded(library, model) as assistant:
        answers = in_threads(3, ask)
    assert [(a.status, a.complete, len(a.claims)) for a in answers] == [("answered", True, 1)] * 3
    assert asked == dict(zip(questions, APPLES, strict=True))
    assert len(model.children) == 1


# --- G28: a budget of tokens


def counted(prompt: int, completion: int) -> Script:
    stop = [event(chunk(finish="stop")), event(usage(prompt, completion)), DONE]
    return Script([event(chunk(GOOD)), *stop])


def test_G28_a_spent_budget_is_refused_before_the_call(library: Library) -> None:
    settings_of = {"token_budget": 2000, "max_answer_tokens": 100, "openai_output": "schema"}
    with ScriptedServer(counted(900, 60)) as server:
        config = settings(llm="openai", openai_base_url=server.url, openai_model="m", **settings_of)
        for _run in range(2):  # another start of the program counts anew
            before = len(server.posts)
            with assisting(library, writer_of(config)) as assistant:
                assert assistant.answer(QUESTION).text == SHOWN
                assert assistant.answer(QUESTION).text == SHOWN
                for _ in range(2):
                    with pytest.raises(BudgetSpent) as caught:
                        assistant.answer(QUESTION)
            assert len(server.posts) == before + 2
    message = str(caught.value)
    assert "1,920 of 2,000 used" in message
    assert "when the program is started again" in message
    assert "RAG_TOKEN_BUDGET" in message
    assert caught.value.exit_code == 4


def test_G28_without_a_budget_nothing_is_refused(library: Library) -> None:
    with served(library, counted(10**9, 10**9)) as assistant:
        assert [assistant.answer(QUESTION).text for _ in range(3)] == [SHOWN] * 3


def test_G28_a_budget_below_a_single_answer_asks_nobody(library: Library) -> None:
    with ScriptedServer(counted(1, 1)) as server:
        config = settings(
            llm="openai", openai_base_url=server.url, openai_model="m", token_budget=399
        )
        with assisting(library, writer_of(config)) as assistant, pytest.raises(BudgetSpent):
            assistant.answer(QUESTION)
        assert server.history == []


ASKED = Request("Be", "brief.", None, 10)  # eight characters are at most three tokens of three


@pytest.mark.parametrize(
    ("reply", "used"),
    [
        pytest.param("twelve chars", 3 + 4, id="not-counted-by-the-server"),
        pytest.param(["six ch", AnswerIncomplete("gone", partial="six ch")], 3 + 2, id="broken"),
        pytest.param(ServerError("gone"), 0, id="nothing-came"),
    ],
)
def test_G28_what_the_server_does_not_count_is_estimated(
    reply: str | list[str | AnswerIncomplete] | ServerError, used: int
) -> None:
    budget = Budget(1000)
    inner = Uncounted(reply) if isinstance(reply, str) else ScriptedGenerator(reply)
    asked = BudgetedGenerator(inner, budget)
    with suppress(ModelError):
        list(asked.stream(ASKED))
    assert budget.used == used


class Uncounted(ScriptedGenerator):
    """A model that does not tell how many tokens it read and wrote."""

    def _play(self, reply: object) -> Iterator[str | Completion]:
        yield str(reply)
        yield Completion("stop", None, None, 0.0, self.name)


def test_G28_answers_in_work_count_in_full_until_they_end() -> None:
    budget = Budget(25)  # 3 and 10 tokens for each: one fits beside nothing, two do not with use
    asked = BudgetedGenerator(Uncounted("123456789"), budget)
    first = asked.stream(ASKED)
    assert next(first) == "123456789"
    with pytest.raises(BudgetSpent, match=r"0 of 25 used, 13 kept"):
        next(asked.stream(ASKED))
    assert isinstance(list(first)[-1], Completion)
    assert budget.used == 6
    assert next(asked.stream(ASKED)) == "123456789"
