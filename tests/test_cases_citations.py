"""Faults of comparable systems in what they cite, by their ids: each is tried on this one.

There a model writes the numbers; here it names labels and code gives the numbers. What a model
writes all the same has to come out right: marks gone, nothing else lost, punctuation whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from fakes import DONE, Received, Script, ScriptedServer, body, chunk, event, refusal, streamed
from library import WEIGHTS, Library

from rag import jsonform
from rag.answering.assistant import Assistant
from rag.answering.citations import read_marks
from rag.answering.finding import Finder
from rag.answering.marks import without_marks
from rag.answering.parts import writer_of
from rag.answering.writing import QuotingWriter, Writer
from rag.config import Config
from rag.errors import ServerError
from rag.replaying.record import Recorded
from rag.replaying.replay import replay
from rag.retrieval.search import Searcher
from rag.schema import Answer

OWL = (
    "TinyOwl is a 40 M parameter sparse retriever.",
    "It is evaluated on 12 tasks and raises mean recall by 3.7 points over the dense baseline.",
    "It does not improve latency on CPU.",
)
HERON = (
    "Heron is a dense retriever that pools token vectors late; on 9 tasks it reaches 61.2 recall, "
    "but it needs 1.3 B parameters and a GPU.",
)
SAIL = ("SAIL reads commits of repositories.", "It is no retriever.")
QUESTION = "What do the retrievers TinyOwl and Heron and what does SAIL do?"


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Papers whose sentences are all evidence for QUESTION; which has which label is found out."""
    library = Library(tmp_path)
    for name, sentences in (("owl", OWL), ("heron", HERON), ("sail", SAIL)):
        library.write(f"{name}.txt", " ".join(sentences))
    library.index()
    return library


def labels(user: str) -> dict[str, str]:
    """The label of each sentence that a model was given."""
    lines = [line for line in user.split("\n") if line.startswith("[S")]
    return {line.partition("] ")[2]: line[1:].partition("]")[0] for line in lines}


Drafts = Sequence[tuple[str, Sequence[str]]]


def writes(drafts: Drafts, output: str = "schema", piece: int = 7) -> Callable[[Received], Script]:
    """A model that makes these claims, each of the sentences that it names."""

    def reply(received: Received) -> Script:
        of = labels(received.body["messages"][-1]["content"])
        named = [(text, [of.get(one, one) for one in support]) for text, support in drafts]
        if output == "schema":
            said = json.dumps({"claims": [{"support": s, "text": t} for t, s in named]})
        else:
            said = "\n".join(f"{', '.join(s)}: {t}" for t, s in named)
        return streamed([said[i : i + piece] for i in range(0, len(said), piece)])

    return reply


def answer_of(library: Library, writer: Writer, config: Config, question: str) -> Answer:
    with library.reader() as reader:
        finder = Finder(Searcher(reader, WEIGHTS))
        with Assistant(config, reader, finder, writer) as assistant:
            return assistant.answer(question)


def served(
    library: Library,
    reply: Script | Callable[[Received], Script],
    output: str = "schema",
    question: str = QUESTION,
) -> tuple[Answer, list[Received]]:
    with ScriptedServer(reply) as server:
        config = Config.model_validate(
            {
                "llm": "openai",
                "openai_base_url": server.url,
                "openai_model": "m",
                "openai_output": output,
                "embedding_model": "by hand",
                "quotes_beside": 0,
                "max_retries": 0,
            }
        )
        return answer_of(library, writer_of(config), config, question), server.posts


def asked(library: Library, drafts: Drafts, output: str = "schema", piece: int = 7) -> Answer:
    return served(library, writes(drafts, output, piece), output)[0]


def cited(answer: Answer) -> list[str]:
    """The first words of each cited paper, in the order of their numbers."""
    return [citation.paper.text.split()[0] for citation in answer.citations]


BOTH = pytest.mark.parametrize("output", ["schema", "text"])

# --- citation_format


@BOTH
@pytest.mark.parametrize("mark", ["[1, 2]", "[1,2]", "[1 ,2]", "[1;2]", "[1 and 2]", "[1 & 2]"])
def test_cite_001_a_group_of_numbers_is_not_left_as_text(
    library: Library, output: str, mark: str
) -> None:
    both = "TinyOwl is a sparse retriever and Heron is a dense retriever"
    one = "TinyOwl is a 40 M parameter sparse retriever"
    answer = asked(
        library, [(f"{both} {mark}.", [OWL[0], HERON[0]]), (f"{one} {mark}.", [OWL[0]])], output
    )
    assert answer.text == f"{both} [1, 2]. {one} [1]."
    assert cited(answer) == ["TinyOwl", "Heron"]


@BOTH
@pytest.mark.parametrize("piece", [1, 2, 1_000])
def test_cite_002_marks_side_by_side_and_cut_anywhere(
    library: Library, output: str, piece: int
) -> None:
    answer = asked(library, [("SAIL reads commits [1][2][3].", [SAIL[0]])], output, piece)
    assert answer.text == "SAIL reads commits [1]."


@pytest.mark.parametrize(
    ("text", "bare", "marks"),
    [
        ("Recall rises [2-4].", "Recall rises.", ("[2-4]",)),
        ("Recall rises [2–4, 7].", "Recall rises.", ("[2–4, 7]",)),
        ("Recall rises [4-2].", "Recall rises.", ("[4-2]",)),
        ("Recall rises [2-40].", "Recall rises.", ("[2-40]",)),
        ("Interval [0-1] of the scale.", "Interval [0-1] of the scale.", ()),
        ("Values lie in [0, 1].", "Values lie in [0, 1].", ()),
        ("Values lie in [0.5, 1.5].", "Values lie in [0.5, 1.5].", ()),
    ],
)
def test_cite_003_ranges_are_taken_out_whole_and_intervals_stay(
    text: str, bare: str, marks: tuple[str, ...]
) -> None:
    assert without_marks(text, []) == (bare, marks)


@BOTH
@pytest.mark.parametrize(
    "mark",
    [
        "[Source 1]",
        "(Source 2)",
        "[ID:3]",
        "[Document 3]",
        "[source: 2]",
        "(Document 1, Document 2)",
        "[Ref. 2]",
        "【1†source】",
        "[S1]",
        "(S1, S2)",
        "[@Castellan2024]",
    ],
)
def test_cite_006_marks_with_a_word_are_gone_and_lead_nowhere(
    library: Library, output: str, mark: str
) -> None:
    answer = asked(library, [(f"Heron is a dense retriever {mark}.", [HERON[0]])], output)
    assert answer.text == "Heron is a dense retriever [1]."
    assert cited(answer) == ["Heron"]


def test_cite_006_each_claim_keeps_its_own_source(library: Library) -> None:
    answer = asked(
        library,
        [
            ("TinyOwl is a sparse retriever [Source 1].", [OWL[0]]),
            ("Heron is a dense retriever (Source 2).", [HERON[0]]),
            ("SAIL reads commits [ID:3] [Document 3].", [SAIL[0]]),
        ],
    )
    assert [claim.citations for claim in answer.claims] == [(1,), (2,), (3,)]
    assert cited(answer) == ["TinyOwl", "Heron", "SAIL"]
    assert "ID:" not in answer.text and "Source " not in answer.text


@BOTH
@pytest.mark.parametrize("piece", [1, 3, 1_000])
def test_cite_007_double_brackets_leave_none_behind(
    library: Library, output: str, piece: int
) -> None:
    drafts = [
        ("TinyOwl is a sparse retriever [[4]].", [OWL[0]]),
        ("Heron is a dense retriever [1].", [HERON[0]]),
        ("SAIL reads commits [2],of repositories.", [SAIL[0]]),
    ]
    answer = asked(library, drafts, output, piece)
    assert answer.text == (
        "TinyOwl is a sparse retriever [1]. Heron is a dense retriever [2]. "
        "SAIL reads commits,of repositories [3]."
    )
    assert answer.text.count("[") == answer.text.count("]") == 3


@BOTH
@pytest.mark.parametrize("end", ["[i", "[", "[1", "[[", "【", "$", "`"])
@pytest.mark.parametrize("piece", [1, 5, 1_000])
def test_cite_010_what_might_have_become_a_mark_is_not_lost(
    library: Library, output: str, end: str, piece: int
) -> None:
    answer = asked(library, [(f"SAIL reads commits{end}", [SAIL[0]])], output, piece)
    assert answer.text == f"SAIL reads commits{end} [1]"


# --- citation_grounding


@BOTH
def test_ground_001_numbers_beyond_the_sources_never_reach_the_reader(
    library: Library, output: str
) -> None:
    drafts: Drafts = [
        ("TinyOwl is a sparse retriever [2].", [OWL[0]]),
        ("SAIL reads commits [6,8].", ["S77"]),
        ("Heron is a dense retriever [3, 9].", [HERON[0], "S99"]),
    ]
    answer = asked(library, drafts, output)
    assert answer.text == "TinyOwl is a sparse retriever [1]. Heron is a dense retriever [2]."
    assert [dropped.text for dropped in answer.dropped] == ["SAIL reads commits [6,8]."]
    assert "[3, 9]" in answer.note and "S99" in answer.note


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Recall rises (Castellan2024; Voss1999).", "Recall rises."),
        ("The Voss1999 corpus is public (Voss1999).", "The Voss1999 corpus is public."),
        ("The Voss199 set is not Voss1999 (Voss1999).", "The Voss199 set is not Voss1999."),
        (
            "Recall rises (Smith et al., 2020; Lee and Kim, 2019), we find.",
            "Recall rises, we find.",
        ),
        ("According to [1], recall rises.", "Recall rises."),
        ("In [2], recall rises.", "Recall rises."),
        ("Recall rises, as shown in [2].", "Recall rises."),
        ("Recall rises (see Figure 2).", "Recall rises (see Figure 2)."),
        ("Recall rises (p < .05) [1].", "Recall rises (p < .05)."),
        ("[1] Recall rises.", "Recall rises."),
        ("Recall [1] rises [2], and [3] falls [4].", "Recall rises, and falls."),
        ("recall rises in x[i] and a[0].", "recall rises in x[i] and a[0]."),
    ],
)
def test_ground_002_only_the_mark_goes_and_punctuation_stays_whole(text: str, bare: str) -> None:
    assert without_marks(text, [])[0] == bare


def test_ground_004_a_quotation_of_another_paper_is_told_from_an_invented_one(
    library: Library,
) -> None:
    config = Config.model_validate({"embedding_model": "by hand"})
    papers = {paper.text.split()[0]: paper for paper in library.stored().values()}
    with library.reader() as reader:
        finder = Finder(Searcher(reader, WEIGHTS))
        with Assistant(config, reader, finder, QuotingWriter()) as assistant:
            ids = {name: assistant.find(f"{name.lower()}.txt:1").id for name in ("Owl", "Heron")}
            sentences = {"Owl": HERON[0], "Heron": "It beats every baseline by 20 points."}
            recorded = Recorded.model_validate_json(
                json.dumps(
                    {
                        "question": QUESTION,
                        "status": "answered",
                        "text": "",
                        "claims": [],
                        "manifest": {},
                        "citations": [
                            {
                                "number": number,
                                "paper_id": ids[name],
                                "title": name,
                                "sentences": [{"text": text, "start": 0, "end": len(text)}],
                            }
                            for number, (name, text) in enumerate(sentences.items(), start=1)
                        ],
                    }
                )
            )
            wrong, invented = replay(assistant, recorded, run=False).sentences
    assert wrong.state == "elsewhere"
    assert wrong.paper is not None
    assert wrong.paper.text == papers["Heron"].text
    assert (invented.state, invented.paper) == ("changed", None)


def test_ground_007_names_and_years_of_the_evidence_reach_the_model_and_the_reader(
    library: Library,
) -> None:
    fact = "Owl-2 extends the sparse index of Castellan and Ekwall (2024) with learned stop lists."
    library.write("owl2.txt", fact)
    library.index()
    claim = "Owl-2 extends the sparse index of Castellan and Ekwall (2024)."
    question = "Whose index does Owl-2 extend?"
    answer, posts = served(library, writes([(claim, [fact])]), question=question)
    assert "Castellan and Ekwall (2024)" in posts[0].body["messages"][-1]["content"]
    assert answer.text == "Owl-2 extends the sparse index of Castellan and Ekwall (2024) [1]."
    assert cited(answer) == ["Owl-2"]


@pytest.mark.parametrize(
    "question",
    [
        "How many retrievers are there and what does each retriever do?",
        "What does each retriever do?",
    ],
)
def test_ground_009_a_how_many_drops_no_citation(library: Library, question: str) -> None:
    drafts: Drafts = [
        ("TinyOwl is a sparse retriever.", [OWL[0]]),
        ("Heron is a dense retriever.", [HERON[0]]),
    ]
    answer, _ = served(library, writes(drafts), question=question)
    assert {"TinyOwl", "Heron"} <= set(cited(answer))
    assert all(claim.citations for claim in answer.claims)


@pytest.mark.parametrize(
    "support",
    ['["{0}"]', "{0}", ["{0}"], [["{0}"]], "[{0}]", {"id": "{0}"}],
)
def test_ground_011_support_in_a_string_is_the_same_support(
    library: Library, support: object
) -> None:
    def reply(received: Received) -> Script:
        label = labels(received.body["messages"][-1]["content"])[OWL[0]]
        said = json.dumps({"claims": [{"support": support, "text": OWL[0]}]})
        return streamed([said.replace("{0}", label)])

    answer, _ = served(library, reply)
    (claim,) = answer.claims
    (evidence,) = claim.support
    assert answer.citations[0].paper.text[evidence.start : evidence.end] == OWL[0]
    assert answer.status == "answered"


def test_ground_011_no_support_is_no_citation_and_no_crash(library: Library) -> None:
    reply = streamed([json.dumps({"claims": [{"support": None, "text": OWL[0]}]})])
    answer, _ = served(library, reply)
    assert [dropped.reason for dropped in answer.dropped] == ["it names no sentence"]


# --- citation_numbering_sources


def test_number_001_numbers_are_in_order_of_first_use(library: Library) -> None:
    drafts: Drafts = [
        ("SAIL reads commits [4].", [SAIL[0]]),
        ("TinyOwl is a sparse retriever [1].", [OWL[0]]),
        ("SAIL is no retriever [4].", [SAIL[1]]),
    ]
    answer = asked(library, drafts)
    assert answer.text == (
        "SAIL reads commits [1]. TinyOwl is a sparse retriever [2]. SAIL is no retriever [1]."
    )
    listed = jsonform.answer(answer)["citations"]
    assert [one["number"] for one in listed] == [1, 2]
    assert cited(answer) == ["SAIL", "TinyOwl"]


def test_number_007_only_what_is_cited_is_a_source(library: Library) -> None:
    answer = asked(library, [("TinyOwl is a sparse retriever [1].", [OWL[0]])])
    assert cited(answer) == ["TinyOwl"]
    others = {nearest.paper.text.split()[0] for nearest in answer.nearest}
    assert others == {"Heron", "SAIL"}


@BOTH
@pytest.mark.parametrize("question", ["hello", "what is kjqzx", "thanks!"])
@pytest.mark.parametrize(
    "said",
    [
        "I could not find this in the papers.",
        "The provided sentences do not contain information about that.",
        "The abstracts don't mention it.",
        "There is no information on this in the given sentences.",
    ],
)
def test_number_008_a_refusal_lists_no_sources(
    library: Library, output: str, question: str, said: str
) -> None:
    answer, _ = served(library, streamed([said]), output, question)
    assert answer.citations == ()
    assert jsonform.answer(answer)["citations"] == []
    assert read_marks(answer.text) == []


# --- generation_hygiene

OWL_CLAIM = "TinyOwl is a 40 M parameter sparse retriever"


def labelled(pattern: str) -> Callable[[Received], Script]:
    """A reply in plain text; `%L` stands for the label of the first sentence of the owl."""

    def reply(received: Received) -> Script:
        label = labels(received.body["messages"][-1]["content"])[OWL[0]]
        return streamed([pattern.replace("%L", label)])

    return reply


@pytest.mark.parametrize(
    "rest",
    [
        " </s><s> [INST] Hi, my name is Sam. [/INST] I am a program.",
        "\n\nQuestion: What else?\nAnswer: %L: TinyOwl is sparse [1].",
        "\nUser: And Heron?\n%L: TinyOwl is sparse.",
        "\n### Instruction: Go on.\n%L: It is sparse.",
        "<|im_end|>\n<|im_start|>user\n%L: more",
    ],
)
def test_gen_001_the_turn_that_a_model_makes_up_is_not_shown(library: Library, rest: str) -> None:
    answer, _ = served(library, labelled(f"%L: {OWL_CLAIM} [1].{rest}"), "text")
    assert answer.text == f"{OWL_CLAIM} [1]."
    assert answer.dropped == ()


def test_gen_002_rules_and_headers_of_a_prompt_are_not_shown(library: Library) -> None:
    said = (
        "Citation rules: use [1] or [1][2]. DO NOT cite outside <context></context>.\n"
        f"Source 1:\n{OWL[0]}\n%L: {OWL_CLAIM} [1]."
    )
    answer, _ = served(library, labelled(said), "text")
    assert answer.text == f"{OWL_CLAIM} [1]."


@pytest.mark.parametrize("thought", ["<think>Maybe [2] or [7]? {}</think>\n", "I see...</think>"])
def test_gen_004_a_thought_is_neither_shown_nor_cited(library: Library, thought: str) -> None:
    answer, _ = served(library, labelled(f"{thought}%L: {OWL_CLAIM} [1]."), "text")
    assert answer.text == f"{OWL_CLAIM} [1]."
    assert "2" not in answer.note and "7" not in answer.note


def test_gen_004_a_thought_without_an_end_is_no_answer(library: Library) -> None:
    answer, _ = served(library, labelled(f"<think>never closed %L: {OWL_CLAIM} [1]."), "text")
    assert "no claim could be read" in answer.note
    assert all([e.text for e in claim.support] == [claim.text] for claim in answer.claims)


# --- llm_client_context


def test_chat_006_messages_have_a_role_and_text_and_nothing_else(library: Library) -> None:
    def strict(received: Received) -> Script:
        for message in received.body["messages"]:
            if message.keys() != {"role", "content"} or not isinstance(message["content"], str):
                return refusal(400, "extra_forbidden")
        return writes([(f"{OWL_CLAIM}.", [OWL[0]])])(received)

    assert served(library, strict)[0].text == f"{OWL_CLAIM} [1]."


@pytest.mark.parametrize(
    "told",
    [
        "System role not supported",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "This model does not support a system message.",
    ],
)
@pytest.mark.parametrize("status", [400, 500])
def test_chat_007_a_template_without_a_system_role_gets_one_message(
    library: Library, told: str, status: int
) -> None:
    def template(received: Received) -> Script:
        if [message["role"] for message in received.body["messages"]] != ["user"]:
            return refusal(status, told)
        return writes([(f"{OWL_CLAIM}.", [OWL[0]])])(received)

    answer, posts = served(library, template)
    assert answer.text == f"{OWL_CLAIM} [1]."
    assert len(posts) == 2
    before = [message["content"] for message in posts[0].body["messages"]]
    assert posts[1].body["messages"] == [{"role": "user", "content": "\n\n".join(before)}]


def test_chat_007_a_template_that_refuses_that_too_is_an_error_once(library: Library) -> None:
    with ScriptedServer(refusal(400, "System role not supported")) as server:
        config = Config.model_validate(
            {"llm": "openai", "openai_base_url": server.url, "openai_model": "m"}
            | {"embedding_model": "by hand", "quotes_beside": 0, "max_retries": 0}
        )
        with pytest.raises(ServerError, match="System role not supported"):
            answer_of(library, writer_of(config), config, QUESTION)
        assert len(server.posts) <= 3  # with it, without it, and as text


@pytest.mark.parametrize(
    "script",
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
        body({"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}),
        Script([event(chunk(content=None)), event(chunk(finish="stop")), DONE]),
        Script([event(chunk(reasoning_content="t")), event(chunk(finish="length")), DONE]),
        Script([event({"choices": []}), DONE]),
    ],
)
def test_gen_009_a_reply_without_text_is_told_and_the_evidence_quoted(
    library: Library, script: Script
) -> None:
    answer, _ = served(library, script)
    assert "the closest sentences are quoted" in answer.note
    assert "model" in answer.note
    assert all([e.text for e in claim.support] == [claim.text] for claim in answer.claims)


def test_gen_009_what_is_no_answer_at_all_is_told_in_a_line(library: Library) -> None:
    with pytest.raises(ServerError, match="no choices"):
        served(library, body({"choices": []}))
