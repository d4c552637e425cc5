"""What is set before a claim, and which abstracts disagree: expectations by hand."""

from __future__ import annotations

import pytest
from library import paper

from rag.answering.conflicts import conflicting
from rag.answering.forms import put
from rag.answering.prompting import label
from rag.schema import Evidence, Kind, Paper
from rag.text import legible


def pinned(text: str, before: str = "") -> tuple[Paper, Evidence]:
    """A sentence, and the paper that has it behind another one."""
    found = paper("TinyOwl", *([before] if before else []), text)
    sentence = found.sentences[-1]
    place = len(found.sentences) - 1
    return found, Evidence(found.id, place, text, sentence.start, sentence.end, 1.0)


@pytest.mark.parametrize(
    ("kind", "question", "sentence", "first"),
    [
        (
            "yes_no",
            "Does TinyOwl improve latency on CPU?",
            "It does not improve latency on CPU.",
            "No",
        ),
        ("yes_no", "Is TinyOwl a sparse retriever?", "TinyOwl is a small sparse retriever.", "Yes"),
        ("yes_no", "Is Heron a sparse retriever?", "TinyOwl is a small sparse retriever.", ""),
        ("yes_no", "Is TinyOwl better than BM25?", "TinyOwl is better, BM25 is not.", ""),
        ("yes_no", "Is TinyOwl fast on a phone?", "TinyOwl is a small sparse retriever.", ""),
        ("yes_no", "Does TinyOwl use 12 tasks?", "TinyOwl uses 9 tasks.", ""),
        (
            "yes_no",
            "Is TinyOwl a sparse retriever?",
            "TinyOwl is a sparse retriever that has no index.",
            "",
        ),
        ("quantity", "How many tasks is it tested on?", "It is tested on 12 tasks.", "12 tasks"),
        (
            "quantity",
            "On how many tasks is it run, and by how many points does recall rise?",
            "It is run on 12 tasks and recall rises by 3.7 points.",
            "12 tasks, 3.7 points",
        ),
        (
            "quantity",
            "How many face models were examined?",
            "Across 45 trained face models we see it.",
            "45 trained face models",
        ),
        ("quantity", "By how many percent does it rise?", "It rises by 24\\%.", "24%"),
        ("quantity", "By how many points does it win on B?", "It wins by 1, 2 and 3 points.", ""),
        (
            "quantity",
            "By how many points does it win on A?",
            "On A and B it wins by 2 points and 3 points respectively.",
            "",
        ),
        ("quantity", "How many tasks does Heron have?", "It is tested on 12 tasks.", "12 tasks"),
        ("quantity", "How many tasks does H3N have?", "It is tested on 12 tasks.", ""),
        ("quantity", "How accurate is it on 3 tasks?", "It is tested on 12 tasks.", ""),
        (
            "definition",
            "What does SAIL stand for?",
            "We present Seeded Architectural Intent Lift (SAIL), a method.",
            "SAIL stands for Seeded Architectural Intent Lift",
        ),
        ("definition", "What is TinyOwl?", "TinyOwl is a sparse retriever.", ""),
        ("fact", "Is TinyOwl a sparse retriever?", "TinyOwl is a sparse retriever.", ""),
    ],
)
def test_what_was_asked_comes_first(kind: Kind, question: str, sentence: str, first: str) -> None:
    claim = legible(sentence)
    expected = f"{first}: {claim}" if first else claim
    assert put(kind, question, claim, [pinned(sentence)]) == expected


def test_a_claim_of_a_model_that_says_yes_is_left_alone() -> None:
    said = "Yes, TinyOwl is a sparse retriever."
    support = [pinned("TinyOwl is a sparse retriever.")]
    assert put("yes_no", "Is TinyOwl a sparse retriever?", said, support) == said


@pytest.mark.parametrize(
    ("question", "texts", "disagree"),
    [
        (
            "How many nests are in the valley?",
            ["We estimate 300 nests in the valley.", "We estimate 450 nests in the valley."],
            True,
        ),
        (
            "How many nests are in the valley?",
            ["We estimate 300 nests in the valley.", "We estimate 300 nests in the valley."],
            False,
        ),
        (
            "Do owls nest in barns?",
            ["Owls nest in barns.", "Owls do not nest in barns."],
            True,
        ),
        (
            "How many tasks is TinyOwl evaluated on?",
            ["It is evaluated on 12 tasks.", "It is evaluated on 9 tasks."],
            False,
        ),
        (
            "How many tasks is TinyOwl evaluated on?",
            ["TinyOwl is evaluated on 12 tasks.", "Heron reaches 61.2 recall on 9 tasks."],
            False,
        ),
    ],
)
def test_abstracts_that_disagree(question: str, texts: list[str], disagree: bool) -> None:
    papers = [paper(f"p{number}", text) for number, text in enumerate(texts)]
    sentences = label([(p, Evidence(p.id, 0, p.text, 0, len(p.text), 1.0)) for p in papers])
    expected = [p.id for p in papers] if disagree else []
    assert [item.paper.id for item in conflicting(question, sentences)] == expected


def test_one_paper_does_not_disagree_with_itself() -> None:
    texts = ("We count 300 nests in the valley.", "We count 450 nests in the valley.")
    found = paper("p", *texts)
    sentences = label(
        [
            (found, Evidence("p", place, s.text, s.start, s.end, 1.0))
            for place, s in enumerate(found.sentences)
        ]
    )
    assert conflicting("How many nests are in the valley?", sentences) == []


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("Is SFP4 a pair of grids?", "SFP4 is a triple of grids."),
        ("Does RISE rewrite prompts?", "RISE evolves strategies rather than rewriting prompts."),
        ("Does RankE keep the decoder frozen?", "Current methods keep the decoder frozen."),
        ("Is Muon a Euclidean optimizer?", "We study non-Euclidean optimizers such as Muon."),
        (
            "Is RealityTest restricted to English?",
            "Existing evaluations are restricted to English.",
        ),
        ("Does RN-DPO?", "We propose RN-DPO."),
        ("Is imitation learning online?", "We study imitation learning."),
    ],
)
def test_what_is_said_of_others_or_in_other_words_is_no_yes(question: str, sentence: str) -> None:
    support = [pinned(sentence, before=f"{question.rstrip('?')}.")]
    assert put("yes_no", question, sentence, support) == sentence


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("How many models are tested?", "We test 17 text and 6 speech models."),
        ("How many LLMs are tested?", "We test on 75 LLM generated policies."),
    ],
)
def test_a_number_of_something_else_is_not_put_first(question: str, sentence: str) -> None:
    assert put("quantity", question, sentence, [pinned(sentence)]) == sentence


def test_letters_are_spelled_out_before_what_a_model_says_of_them() -> None:
    sentence = "It plugs into hybrid sharded data parallel (HSDP) as a substrate."
    support = [pinned(sentence)]
    question = "What is HSDP in full?"
    assert put("definition", question, "HSDP is a substrate.", support) == (
        "HSDP stands for hybrid sharded data parallel: HSDP is a substrate."
    )
    said = "HSDP is hybrid sharded data parallel."
    assert put("definition", question, said, support) == said
