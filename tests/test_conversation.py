"""Follow-ups: what they are taken to mean, and what a conversation keeps."""

from __future__ import annotations

import string
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from library import paper

from rag.answering.citations import Numbering
from rag.answering.conversation import KEPT, SHOWN_CHARS, Conversation, Turn, short_name
from rag.answering.followed import Followed
from rag.answering.following import follow
from rag.answering.resolving import is_faithful
from rag.schema import Answer, Citation, Claim, Evidence, Nearest, Paper

GRAPH = paper(
    "GraphFlow",
    "GraphFlow turns the paths of an agent into a graph.",
    "On WebShop, ALFWorld, and AppWorld it beats the baseline by 22%.",
)
MASKS = paper(
    "MaskNorm",
    "MaskNorm normalizes a ratio over masks in medical image segmentation.",
    "It helps on two benchmarks.",
)
ADAPT = paper("ADAPT", "ADAPT adds 0.74M trainable parameters.", "It needs no decoder.")
NAMELESS = replace(
    paper("x", "Offline imitation can be made safe by a bound on the risk of each step."),
    id="nameless",
    title="Offline imitation can be made safe by a bound on the risk of each step",
)
COLLECTION = {p.title.casefold(): p for p in (GRAPH, MASKS, ADAPT)}


def names(name: str) -> Paper | None:
    return COLLECTION.get(name.casefold())


def turn(question: str, *subject: Paper, said: str = "", listed: tuple[Paper, ...] = ()) -> Turn:
    return Turn(question, question, said, listed or subject, subject)


def after(*turns: Turn) -> Conversation:
    numbers: dict[str, int] = {}
    for one in turns:
        for cited in one.listed:
            numbers.setdefault(cited.id, len(numbers) + 1)
    return Conversation(turns, numbers)


ONE = after(turn("Which benchmarks is GraphFlow evaluated on?", GRAPH,
                 said="It is tested on WebShop, ALFWorld, and AppWorld."))  # fmt: skip
TWO = after(
    turn("What does MaskNorm normalize?", MASKS),
    turn("How many parameters does ADAPT add?", ADAPT),
)
LIST = after(turn("Which papers are about segmentation?", MASKS, listed=(MASKS, ADAPT, GRAPH)))
UNNAMED = after(turn("How can imitation be made safe?", NAMELESS))


FOLLOW_UPS = [
    (ONE, "Does it need a GPU?", "Does GraphFlow need a GPU?", [GRAPH]),
    (ONE, "What is its main weakness?", "What is GraphFlow's main weakness?", [GRAPH]),
    (ONE, "How did they test that?", "How did the authors of GraphFlow test that?", [GRAPH]),
    (ONE, "What does that paper propose?", "What does GraphFlow propose?", [GRAPH]),
    (ONE, "Who are the authors?", "Who are the authors of GraphFlow?", [GRAPH]),
    (ONE, "What datasets were used?", "What datasets were used (GraphFlow)?", [GRAPH]),
    (ONE, "And ADAPT?", "Which benchmarks is ADAPT evaluated on?", [ADAPT]),
    (ONE, "ADAPT?", "Which benchmarks is ADAPT evaluated on?", [ADAPT]),
    (ONE, "what about masknorm?", "Which benchmarks is MaskNorm evaluated on?", [MASKS]),
    (ONE, "What about latency?", "What about latency in GraphFlow?", [GRAPH]),
    (ONE, "Why?", "Which benchmarks is GraphFlow evaluated on, and why?", [GRAPH]),
    (
        ONE,
        "On the last of those, by how much does it gain?",
        "On AppWorld, by how much does GraphFlow gain?",
        [GRAPH],
    ),
    (
        ONE,
        "no, I meant ADAPT",
        "Which benchmarks is ADAPT evaluated on?",
        [ADAPT],
    ),
    (ONE, "Sorry, not GraphFlow, ADAPT", "Which benchmarks is ADAPT evaluated on?", [ADAPT]),
    (ONE, "No, how large does it get?", "how large does GraphFlow get?", [GRAPH]),
    (TWO, "and the other paper?", "How many parameters does MaskNorm add?", [MASKS]),
    (TWO, "and the first one?", "How many parameters does MaskNorm add?", [MASKS]),
    (TWO, "How do both differ?", "How do MaskNorm and ADAPT differ?", [MASKS, ADAPT]),
    (TWO, "What does [1] report?", "What does MaskNorm report?", [MASKS]),
    (LIST, "What does the second one add?", "What does ADAPT add?", [ADAPT]),
    (LIST, "What does the last paper add?", "What does GraphFlow add?", [GRAPH]),
    (LIST, "and the third one?", "Which papers are about segmentation?", [GRAPH]),
    (UNNAMED, "Does it need a model?", "Does it need a model?", [NAMELESS]),
]  # fmt: skip


@pytest.mark.parametrize(("before", "question", "text", "papers"), FOLLOW_UPS)
def test_a_follow_up_is_made_self_contained(
    before: Conversation, question: str, text: str, papers: list[Paper]
) -> None:
    found = follow(question, before, names)
    meant = found.text.removeprefix("GraphFlow: ")  # said first where the last question had no name
    assert (meant, [one.id for one in found.papers]) == (text, [one.id for one in papers])
    assert found.rule
    assert found.sure


ALONE = [
    "What does MaskNorm normalize?",
    "Which papers study masks in medical image segmentation?",
    "How do language model agents behave when they debate?",
    "Is it known whether GraphFlow uses graphs?",
    "Is it possible to train robots without demonstrations of experts?",
    "What is knowledge distillation of language models, and how does it work?",
    "Which of the two approaches to risk needs fewer samples from its environment simulator?",
    "No evidence supports which hypothesis on protein folding in yeast cells?",
    "How does MaskNorm improve over its baselines?",
    "Wie viele Parameter fügt ADAPT hinzu?",
    "Which method trains another network on segmentation errors of annotators?",
]


@pytest.mark.parametrize("before", [ONE, TWO, LIST])
@pytest.mark.parametrize("question", ALONE)
def test_a_question_that_stands_alone_is_left_as_it_is(before: Conversation, question: str) -> None:
    assert follow(question, before, names) == Followed(question)


@pytest.mark.parametrize("question", [*ALONE, "And ADAPT?", "yes", "Does it work?"])
def test_the_first_question_of_a_conversation_is_left_as_it_is(question: str) -> None:
    assert follow(question, Conversation(), names) == Followed(question)


def test_another_paper_is_none_of_those_that_were_spoken_of() -> None:
    before = after(turn("What does MaskNorm normalize?", MASKS))
    found = follow("Is there another paper about the same imaging task?", before, names)
    assert found.without == {MASKS.id}
    assert "medical image segmentation" in found.search
    assert found.papers == ()


def test_a_list_that_goes_on_is_over_all_papers_again() -> None:
    before = after(turn("How many papers use WebShop?", GRAPH))
    found = follow("and ALFWorld?", before, names)
    assert found.papers == ()
    assert "ALFWorld" in found.text
    assert "WebShop" not in found.text


def test_more_is_asked_of_the_sentences_that_were_not_shown() -> None:
    found = follow("tell me more", ONE, names)
    assert (found.more, found.papers) == (True, (GRAPH,))


@pytest.mark.parametrize("yes", ["yes", "Yes, please!", "sure", "ja", "sí", "oui", "好的"])
def test_yes_takes_up_what_the_assistant_offered(yes: str) -> None:
    said = "GraphFlow builds a graph. Would you like to know more about its training cost?"
    found = follow(yes, after(turn("What is GraphFlow?", GRAPH, said=said)), names)
    assert "training cost" in found.text
    assert "GraphFlow" in found.text
    assert found.papers == (GRAPH,)


OTHER_LANGUAGES = [
    ("und ADAPT?", "Which benchmarks is ADAPT evaluated on?"),
    ("¿y ADAPT?", "Which benchmarks is ADAPT evaluated on?"),
    ("Et ADAPT ?", "Which benchmarks is ADAPT evaluated on?"),
    ("那ADAPT呢?", "Which benchmarks is ADAPT evaluated on?"),
    ("Wie viele Parameter hat es?", "Wie viele Parameter hat es (GraphFlow)?"),
    ("¿Y cuántos parámetros tiene?", "¿Y cuántos parámetros tiene (GraphFlow)?"),
    ("Combien de paramètres ajoute-t-il ?", "Combien de paramètres ajoute-t-il (GraphFlow)?"),
    ("它有多少参数?", "它有多少参数 (GraphFlow)?"),
]


@pytest.mark.parametrize(("question", "text"), OTHER_LANGUAGES)
def test_follow_ups_in_other_languages(question: str, text: str) -> None:
    assert follow(question, ONE, names).text == text


@given(st.text(max_size=200), st.sampled_from([ONE, TWO, LIST, UNNAMED]))
def test_no_question_is_too_odd_to_be_understood(question: str, before: Conversation) -> None:
    found = follow(question, before, names)
    assert found.text.strip() or not question.strip()


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("What accuracy does it get on GSM8K?", "GSM8K"),
        ("Does it beat ReAct-2 on WebShop?", "ReAct-2"),
        ("How much does it gain on Web-Shop?", ""),
        ("Does it use RL?", ""),
        ("Does it need a simulator?", ""),
    ],
)
def test_a_name_that_the_paper_lacks_cannot_be_asked_of_it(question: str, absent: str) -> None:
    found = follow(question, ONE, names)
    assert found.absent == absent
    assert (absent in found.missing) if absent else not found.missing


# --- What a model makes of it --------------------------------------------------------------

TOLD = "Reader: Which benchmarks is GraphFlow evaluated on?\nAssistant: On WebShop, by 22%."


@pytest.mark.parametrize(
    ("question", "rewritten", "right"),
    [
        ("And how large is the gain?", "How large is the gain of GraphFlow?", True),
        ("And how large is the gain?", "How large is the gain of DEAR?", False),
        ("And how large is the gain?", "How large is the gain of 35%?", False),
        ("And how large is the gain?", "How do owls hunt at night?", False),
        ("And how large is the gain?", "Wie groß ist der Gewinn von GraphFlow?", False),
        ("Is 22% on WebShop a lot?", "Is that a lot?", False),
        ("And how large is the gain?", "", False),
        ("And how large is the gain?", "How large is the gain? " * 40, False),
    ],
)
def test_a_rewrite_is_believed_only_if_it_says_nothing_of_its_own(
    question: str, rewritten: str, right: bool
) -> None:
    assert is_faithful(rewritten, question, TOLD) is right


# --- What is kept --------------------------------------------------------------------------


def answer(question: str, *papers: Paper, near: tuple[Paper, ...] = (), number: int = 1) -> Answer:
    claims, citations = [], []
    for place, cited in enumerate(papers, start=number):
        first = cited.sentences[0]
        evidence = Evidence(cited.id, 0, first.text, first.start, first.end, 1.0)
        claims.append(Claim(first.text, (place,), "supported", (evidence,)))
        citations.append(Citation(place, cited, (first,)))
    text = " ".join(f"{c.text[:-1]} [{c.citations[0]}]." for c in claims) or "It does not say."
    return Answer(
        question,
        "answered" if papers else "abstained",
        text,
        tuple(claims),
        tuple(citations),
        (),
        tuple(Nearest(one, 0.5) for one in near),
        {"found": [one.id for one in reversed(papers)]},
    )


def test_the_subject_is_the_paper_that_was_asked_for_by_name() -> None:
    said = answer("What does MaskNorm normalize?", GRAPH, MASKS)
    assert Conversation.of([said]).subject == (MASKS,)


def test_the_subject_is_else_the_cited_paper_that_was_found_first() -> None:
    assert Conversation.of([answer("What is normalized?", GRAPH, MASKS)]).subject == (MASKS,)


def test_an_abstention_leaves_the_subject_as_it_was() -> None:
    said = [answer("What is a graph?", GRAPH), answer("Does it fly?", near=(MASKS,))]
    assert Conversation.of(said).subject == (GRAPH,)


def test_marks_are_no_part_of_what_was_said() -> None:
    before = Conversation.of([answer("What is a graph?", GRAPH)])
    assert before.turns[-1].said == GRAPH.sentences[0].text
    assert before.shown == {(GRAPH.id, 0)}


@pytest.mark.case("U15")
def test_two_hundred_turns_keep_their_numbers_and_little_else() -> None:
    papers = [paper(f"P{n}", f"Paper {n} is about thing {n}.") for n in range(200)]
    before = Conversation()
    sizes = []
    for n, one in enumerate(papers, start=1):
        before = before.after(answer(f"What is P{n - 1}?", one, number=n))
        sizes.append(len(before.told()))
    assert len(before.turns) == KEPT
    assert max(sizes) <= SHOWN_CHARS
    assert before.numbers[papers[0].id] == 1
    assert before.numbers[papers[-1].id] == 200
    assert follow("Does it work?", before, names).papers == (papers[-1],)


@pytest.mark.case("U15")
def test_what_a_model_is_told_is_bounded_and_has_the_last_turn_whole() -> None:
    long = "word " * 400
    before = after(*(turn(f"Question {n} {long}?", GRAPH, said=long) for n in range(KEPT)))
    assert len(before.told(1_000)) <= 1_000
    assert f"Question {KEPT - 1}" in before.told(1_000)


@given(
    st.dictionaries(st.sampled_from(string.ascii_lowercase[:6]), st.integers(1, 9), max_size=6),
    st.lists(st.sampled_from(string.ascii_lowercase[:9]), min_size=1, max_size=12),
)
def test_a_paper_keeps_its_number_and_no_number_is_given_twice(
    given_before: dict[str, int], cited: list[str]
) -> None:
    earlier = {key: place for place, key in enumerate(sorted(given_before), start=1)}
    numbering = Numbering(earlier)
    for name in cited:
        one = paper(name, f"About {name}.")
        numbering.cite(
            "x", [(one, Evidence(name, 0, one.text, 0, len(one.text), 1.0))], "supported"
        )
    numbers = {c.paper.id: c.number for c in numbering.citations()}
    assert set(numbers) == set(cited)
    assert all(numbers[key] == earlier[key] for key in numbers.keys() & earlier.keys())
    assert len(set(numbers.values())) == len(numbers)
    new = [numbers[key] for key in dict.fromkeys(cited) if key not in earlier]
    assert new == list(range(len(earlier) + 1, len(earlier) + 1 + len(new)))


@pytest.mark.parametrize(
    ("title", "derived", "name"),
    [
        ("RADAR", True, "RADAR"),
        ("TinyOwl: Sparse Retrieval on a Budget", False, "TinyOwl"),
        ("Attention Is All You Need", False, ""),
        ("Deep Residual Learning", False, "Deep Residual Learning"),
        ("We show that freezing a decoder harms its policy", True, ""),
    ],
)
def test_what_a_paper_is_called(title: str, derived: bool, name: str) -> None:
    assert short_name(replace(MASKS, title=title, title_derived=derived)) == name
