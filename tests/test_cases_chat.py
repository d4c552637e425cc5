"""Faults of other systems in a conversation, in citation numbers and in what a server is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes import Received, Script, ScriptedServer, body, refusal, streamed
from helped import Helped, helped
from library import Library

from rag import jsonform
from rag.answering.conversation import Conversation
from rag.answering.generation import OpenAIGenerator, Request
from rag.errors import ServerError
from rag.schema import Answer

OWL = (
    "TinyOwl is a 40 M parameter sparse retriever.",
    "It is evaluated on 12 tasks and raises mean recall by 3.7 points over the dense baseline.",
    "It does not improve latency on CPU.",
)
HERON = (
    "Heron is a dense retriever that pools token vectors late.",
    "On 9 tasks it reaches 61.2 recall, but it needs 1.3 B parameters and a GPU.",
)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = Library(tmp_path)
    records = [
        {"title": "TinyOwl: Sparse Retrieval on a Budget", "abstract": " ".join(OWL)},
        {"title": "Heron: Dense Retrieval with Late Pooling", "abstract": " ".join(HERON)},
    ]
    (library.papers / "birds.json").write_text(json.dumps(records))
    library.index()
    return library


def quoting(received: Received, sentence: str) -> Script:
    """A model that states one of the sentences that it was given, word for word."""
    prompt = received.body["messages"][-1]["content"]
    lines = prompt.split("\n")
    labels = (line[1:].partition("]")[0] for line in lines if line.endswith(sentence))
    if (label := next(labels, "")) == "":
        return streamed(['{"claims": []}'])  # another question than for an answer
    return streamed([json.dumps({"claims": [{"support": [label], "text": sentence}]})])


def says(*sentences: str) -> Iterator[Any]:
    """Replies that state these sentences, one after the other."""
    for sentence in sentences:
        yield lambda received, sentence=sentence: quoting(received, sentence)


def talk(asked: Helped, *questions: str) -> list[Answer]:
    answers: list[Answer] = []
    for question in questions:
        said = asked.assistant.answer(question, conversation=Conversation.of(answers))
        answers.append(said)
    return answers


def prompts(asked: Helped) -> list[str]:
    return [
        "\n".join(message["content"] for message in post.body["messages"])
        for post in asked.server.posts
    ]


def follow_up(answer: Answer) -> Any:
    return answer.manifest.get("follow_up")


def test_chat_002_a_question_that_stands_alone_is_left_as_it_is(library: Library) -> None:
    question = "TinyOwl 在多少个任务上评测?"
    off_topic = {"question": "How do owls hunt at night?", "english": "On how many tasks?"}
    with helped(library, off_topic) as asked:
        first, second = talk(asked, question, question)
        shown = [p for p in prompts(asked) if "[S1]" in p]
    assert follow_up(first) is follow_up(second) is None
    assert len(shown) == 2
    assert all(question in prompt and "hunt" not in prompt for prompt in shown)


def test_chat_002_a_rewrite_that_is_about_something_else_is_not_believed(library: Library) -> None:
    def reply(received: Received) -> Script:
        asks = "Last question:" in received.body["messages"][-1]["content"]
        off = {"question": "How do 14 owls of OwlNet hunt at night?"}
        return streamed([json.dumps(off if asks else {"claims": []})])

    with helped(library, reply) as asked:
        *_, last = talk(asked, "What is TinyOwl?", "And which retrieval tasks are hardest?")
        answering = [p for p in prompts(asked) if "[S1]" in p][-1]
    assert last.question == "And which retrieval tasks are hardest?"
    assert "hunt" not in answering
    assert "which retrieval tasks are hardest" in answering


def test_chat_004_yes_takes_up_the_offer_that_was_made(library: Library) -> None:
    messages = [
        {"role": "user", "content": "What is TinyOwl?"},
        {
            "role": "assistant",
            "content": "TinyOwl is a sparse retriever [1]. Would you like details on recall?",
        },
    ]
    with helped(library, next(says(OWL[1]))) as asked:
        before = Conversation.of_messages(messages)
        answer = asked.assistant.answer("yes", conversation=before)
    assert "recall" in follow_up(answer)["text"]
    assert "TinyOwl" in follow_up(answer)["text"]
    assert "3.7 points" in answer.text
    assert [citation.number for citation in answer.citations] == [1]


def test_chat_005_no_context_of_an_earlier_turn_is_sent_again(library: Library) -> None:
    replies = iter(says(OWL[0], HERON[0]))

    def reply(received: Received) -> Script:
        script = next(replies, None)
        return script(received) if script else streamed(['{"claims": []}'])

    with helped(library, reply) as asked:
        talk(asked, "What is TinyOwl?", "What is Heron?", "And SAIL?")
        shown = [p for p in prompts(asked) if "[S1]" in p]
    assert max(prompt.count(OWL[0]) for prompt in shown) == 1
    assert max(map(len, shown)) < 4_000
    assert "Question: What is SAIL?" in shown[-1]


def test_chat_006_messages_of_a_chat_program_are_sent_as_role_and_text_only(
    library: Library,
) -> None:
    history: list[dict[str, Any]] = [
        {
            "role": "user",
            "metadata": None,
            "content": [{"text": "What is TinyOwl?", "type": "text"}, {"type": "image"}],
            "options": None,
        },
        {
            "role": "assistant",
            "metadata": {"title": "x"},
            "content": [{"text": "TinyOwl is a sparse retriever [1].", "type": "text"}],
            "options": None,
        },
    ]

    def strict(received: Received) -> Script:
        for message in received.body["messages"]:
            if set(message) != {"role", "content"} or not isinstance(message["content"], str):
                return refusal(400, "extra_forbidden")
        return quoting(received, OWL[1])

    with helped(library, strict) as asked:
        before = Conversation.of_messages(history)
        answer = asked.assistant.answer(
            "On how many tasks was TinyOwl tested?", conversation=before
        )
    assert answer.claims[0].text.endswith(OWL[1])


REQUEST = Request("rules", "context\n\nquestion", None, 50)


def asked_of(*scripts: Any) -> tuple[str, list[list[dict[str, str]]]]:
    """What a server says in the end, and the messages that it was sent each time."""
    with ScriptedServer(*scripts) as server:
        model = OpenAIGenerator(base_url=server.url, api_key="k", model="m", max_retries=0)
        try:
            pieces = [piece for piece in model.stream(REQUEST) if isinstance(piece, str)]
        finally:
            model.close()
        return "".join(pieces), [post.body["messages"] for post in server.posts]


@pytest.mark.parametrize(
    "told",
    [
        "System role not supported",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "The system role is not supported by this model.",
    ],
)
def test_chat_007_a_template_without_a_system_role_gets_one_message(told: str) -> None:
    def strict(received: Received) -> Script:
        roles = [message["role"] for message in received.body["messages"]]
        return streamed(["Good."]) if roles == ["user"] else refusal(400, told)

    text, sent = asked_of(strict)
    assert text == "Good."
    assert [len(messages) for messages in sent] == [2, 1]
    assert sent[1][0]["content"] == "rules\n\ncontext\n\nquestion"


def test_chat_007_a_server_that_takes_neither_form_is_told_of_and_not_asked_for_ever() -> None:
    with pytest.raises(ServerError, match="roles must alternate"):
        asked_of(refusal(400, "Conversation roles must alternate"))


def test_chat_007_roles_alternate_whatever_the_history_begins_with() -> None:
    before = Conversation.of_messages(
        [
            {"role": "assistant", "content": "Hello, ask me about papers."},
            {"role": "user", "content": "context"},
            {"role": "user", "content": "What is Heron?"},
            {"role": "assistant", "content": "A dense retriever."},
            {"role": "system", "content": "ignored"},
            {"role": "user", "content": "not answered yet"},
        ]
    )
    assert [(t.question, t.said) for t in before.turns] == [
        ("context What is Heron?", "A dense retriever.")
    ]


@pytest.mark.parametrize(
    "reply",
    [
        body(
            {
                "choices": [
                    {
                        "message": {"role": "assistant", "content": None, "reasoning_content": "t"},
                        "finish_reason": "length",
                    }
                ]
            }
        ),
        body({"choices": []}),
        body({"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}),
    ],
    ids=["null", "no choices", "empty"],
)
def test_gen_009_a_reply_without_text_is_told_in_one_line(reply: Script) -> None:
    with pytest.raises(ServerError) as raised:
        asked_of(reply)
    assert "\n" not in str(raised.value)
    assert "AttributeError" not in str(raised.value)


def test_number_001_numbers_run_in_the_order_of_first_use(library: Library) -> None:
    def reply(received: Received) -> Script:
        prompt = received.body["messages"][-1]["content"]
        label = {
            sentence: line[1:].partition("]")[0]
            for line in prompt.split("\n")
            for sentence in (HERON[0], OWL[0], HERON[1])
            if line.endswith(sentence)
        }
        claims = [{"support": [label[text]], "text": text} for text in (HERON[0], OWL[0], HERON[1])]
        return streamed([json.dumps({"claims": claims})])

    with helped(library, reply) as asked:
        (answer,) = talk(asked, "Which retriever needs fewer parameters, TinyOwl or Heron?")
    assert [claim.citations for claim in answer.claims] == [(1,), (2,), (1,)]
    assert [c.paper.title.partition(":")[0] for c in answer.citations] == ["Heron", "TinyOwl"]


def test_number_005_each_message_keeps_its_references_when_a_chat_is_read_back(
    library: Library,
) -> None:
    replies = iter(says(OWL[0], HERON[0], OWL[1]))
    with helped(library, lambda received: next(replies)(received)) as asked:
        answers = talk(
            asked,
            "What is TinyOwl?",
            "What is Heron?",
            "On how many tasks was TinyOwl evaluated?",
        )
    stored = json.loads(json.dumps([jsonform.answer(answer) for answer in answers]))
    numbers = [[c["number"] for c in one["citations"]] for one in stored]
    titles = [[c["title"].partition(":")[0] for c in one["citations"]] for one in stored]
    assert numbers == [[1], [2], [1]]
    assert titles == [["TinyOwl"], ["Heron"], ["TinyOwl"]]
    assert "[1]" in stored[2]["text"]


def test_number_007_the_sources_are_what_is_cited_in_every_turn(library: Library) -> None:
    replies = iter(says(OWL[0], HERON[0]))
    with helped(library, lambda received: next(replies)(received)) as asked:
        answers = talk(asked, "What is TinyOwl?", "What is Heron?")
    for answer in answers:
        cited = {number for claim in answer.claims for number in claim.citations}
        assert {citation.number for citation in answer.citations} == cited
        assert len(cited) == 1
