"""From a model's reply to numbered claims, and whether their sentences support them."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from library import paper

from rag.answering.citations import Numbering, read_marks, render, render_claim
from rag.answering.replies import Draft, ReplyReader, read_reply
from rag.answering.support import judge
from rag.schema import Claim, Evidence, Paper

# --- reading a reply


def fed(pieces: list[str]) -> list[Draft]:
    reader = ReplyReader()
    drafts = [draft for piece in pieces for draft in reader.feed(piece)]
    return drafts + reader.finish()


def cut(text: str, places: list[int]) -> list[str]:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[a:b] for a, b in itertools.pairwise(edges)]


LABELS = st.lists(st.integers(1, 12).map("S{}".format), min_size=1, max_size=3, unique=True)
CLAIM_TEXT = st.text(min_size=1, max_size=40).map(str.strip).filter(bool)
DRAFTS = st.lists(st.builds(Draft, CLAIM_TEXT, LABELS.map(tuple)), max_size=4)
NASTY = [
    Draft('a "quoted" {brace} and \\ slash', ("S1",)),
    Draft('{"support": ["S7"], "text": "inner"}', ("S2", "S3")),
    Draft("```json", ("S4",)),
    Draft("line\nbreak [S9] é 图 \u2028 end", ("S5",)),
]


def as_json(drafts: list[Draft], *, ascii_only: bool = False, indent: int | None = None) -> str:
    claims = [{"support": list(draft.labels), "text": draft.text} for draft in drafts]
    return json.dumps({"claims": claims}, ensure_ascii=ascii_only, indent=indent)


@given(DRAFTS, st.lists(st.integers(0, 999), max_size=12), st.booleans())
def test_json_gives_the_same_claims_however_it_is_cut(
    drafts: list[Draft], places: list[int], ascii_only: bool
) -> None:
    text = as_json(drafts, ascii_only=ascii_only)
    assert read_reply(text) == drafts
    assert fed(cut(text, places)) == drafts


@pytest.mark.parametrize("indent", [None, 2])
def test_json_gives_the_same_claims_cut_anywhere_once_and_everywhere(indent: int | None) -> None:
    text = as_json(NASTY, indent=indent)
    assert fed(list(text)) == NASTY
    for place in range(len(text) + 1):
        assert fed([text[:place], text[place:]]) == NASTY


def test_a_claim_is_given_as_soon_as_it_is_complete() -> None:
    reader = ReplyReader()
    assert reader.feed('{"claims": [{"support": ["S1"], "text": "One') == []
    assert reader.feed('."}') == [Draft("One.", ("S1",))]
    assert reader.feed(', {"support": ["S2"], "text": "Two."}]') == [Draft("Two.", ("S2",))]
    assert reader.feed("}") == []
    assert reader.finish() == []


LINE_TEXT = st.from_regex(r"[A-Z][a-z]{0,8}( [a-z0-9.]{1,8}){0,5}[.!]", fullmatch=True)
LINES = st.lists(st.builds(Draft, LINE_TEXT, LABELS.map(tuple)), max_size=4)


@given(LINES, st.lists(st.integers(0, 999), max_size=12))
def test_lines_give_the_same_claims_however_they_are_cut(
    drafts: list[Draft], places: list[int]
) -> None:
    text = "\n".join(f"{', '.join(draft.labels)}: {draft.text}" for draft in drafts)
    assert read_reply(text) == drafts
    assert fed(cut(text, places)) == drafts


@given(st.text(max_size=200), st.lists(st.integers(0, 999), max_size=8))
def test_no_reply_makes_the_reader_fail(text: str, places: list[int]) -> None:
    for draft in [*fed(cut(text, places)), *fed(["{" + text]), *fed(["S1: " + text])]:
        assert draft.text.strip()


ONE = Draft("It works.", ("S1",))
BOTH = [ONE, Draft("It is fast.", ("S2", "S3"))]


@pytest.mark.parametrize(
    ("reply", "drafts"),
    [
        (as_json(BOTH), BOTH),
        (json.dumps([{"support": ["S1"], "text": "It works."}]), [ONE]),
        ('{"support": "S1", "text": "It works."}', [ONE]),
        ('{"text": "It works.", "support": ["S1", "S1"]}', [ONE]),
        (f"```json\n{as_json(BOTH)}\n```", BOTH),
        (f"```\n{as_json(BOTH)}```\n", BOTH),
        (f"<think>S9: no\n{as_json([ONE])}</think>\n{as_json(BOTH)}", BOTH),
        (f"<think></think>{as_json(BOTH)}", BOTH),
        ("<think>S1: It works. But", []),
        ("S1: It works.\nS2, S3: It is fast.", BOTH),
        ("[S1] It works.\n[S2][S3] It is fast.", BOTH),
        ("- S1: It works.\n- S2 and S3: It is fast.", BOTH),
        ("1. [S1]: It works.\n2. (S2, S3) It is fast.", BOTH),
        ("It works [S1].\nIt is fast (S2, S3).", [Draft("It works", ("S1",)), BOTH[1]]),
        ("**S1**: It works.", None),
        ("It works.", [Draft("It works.", ())]),
        ("S99: It works.", [Draft("It works.", ("S99",))]),
        ('{"claims": []}', []),
        ("none", []),
        ("None.", []),
        ("S1:", None),
        ("", []),
        ("\n \n", []),
        (as_json(BOTH)[:-20], [ONE]),
        (as_json([ONE])[:-4], []),
        ('{"claims": [{"support": ["S1"], "text": 5}]}', []),
        ('{"claims": [{"support": ["S1"]}]}', []),
        ('{"claims": [{"text": "It works."}]}', [Draft("It works.", ())]),
        ('{"claims": [{"support": ["S1"], "text": "  "}]}', []),
        ('{"claims": [{"support": ["[S1]", "s2", 3], "text": "It works."}]}', [ONE]),
        ('{"error": "no"}', []),
        ("[" * 5000, []),
    ],
)
def test_replies_of_every_kind(reply: str, drafts: list[Draft] | None) -> None:
    if drafts is None:  # whatever comes of it must name no other sentence
        assert {label for draft in read_reply(reply) for label in draft.labels} <= {"S1"}
        return
    expected = [(draft.text.rstrip("."), draft.labels) for draft in drafts]
    assert [(draft.text.rstrip("."), draft.labels) for draft in read_reply(reply)] == expected


# --- numbers


def evidence(of: Paper, index: int) -> Evidence:
    sentence = of.sentences[index]
    return Evidence(of.id, index, sentence.text, sentence.start, sentence.end, 0.0)


A = paper("a", "One is here.", "Two is here.", "Three is here.")
B = paper("b", "Four is here.")


def test_papers_are_numbered_as_they_are_first_cited_and_gather_their_sentences() -> None:
    numbering = Numbering()
    first = numbering.cite("x", [(B, evidence(B, 0))], "supported")
    second = numbering.cite("y", [(A, evidence(A, 2)), (B, evidence(B, 0))], "partly")
    third = numbering.cite("z", [(A, evidence(A, 0)), (A, evidence(A, 2))], "supported")
    assert [claim.citations for claim in (first, second, third)] == [(1,), (1, 2), (2,)]
    assert second.support == (evidence(A, 2), evidence(B, 0))
    cited = numbering.citations()
    assert [(c.number, c.paper.id) for c in cited] == [(1, "b"), (2, "a")]
    assert [s.text for s in cited[1].sentences] == ["One is here.", "Three is here."]


@pytest.mark.parametrize(
    ("text", "numbers", "shown"),
    [
        ("It works.", (1,), "It works [1]."),
        ("It works!", (1, 2, 12), "It works [1, 2, 12]!"),
        ("It works", (3,), "It works [3]"),
        ('He says "it works."', (1,), 'He says "it works [1]."'),
        ("We call it *dual.*", (1,), "We call it *dual [1].*"),
        ("很有效。", (2,), "很有效 [2]。"),
        ("It works.", (), "It works."),
    ],
)
def test_numbers_stand_before_the_closing_mark(
    text: str, numbers: tuple[int, ...], shown: str
) -> None:
    assert render_claim(Claim(text, numbers, "supported")) == shown


NUMBERS = st.lists(st.integers(1, 999), max_size=5, unique=True).map(lambda n: tuple(sorted(n)))
CLAIMS = st.lists(
    st.builds(
        Claim,
        st.text(st.characters(exclude_characters="[]"), min_size=1, max_size=60),
        NUMBERS,
        st.just("supported"),
    ),
    max_size=6,
)


@given(CLAIMS)
def test_what_is_rendered_is_read_back(claims: list[Claim]) -> None:
    shown = render(claims)
    assert read_marks(shown) == [claim.citations for claim in claims if claim.citations]
    for claim in claims:
        assert [c for c in claim.text if not c.isspace()] == [
            c for c in render_claim(Claim(claim.text, (), "supported")) if not c.isspace()
        ]


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("a [1] b [2, 3] c [1-3].", [(1,), (2, 3), (1, 2, 3)]),
        ("[0] [a] (1) [1,2] [ 1 ] [1234] [x1]", [(0,)]),
        ("no mark", []),
    ],
)
def test_marks_are_read_as_they_are_written(text: str, marks: list[tuple[int, ...]]) -> None:
    assert read_marks(text) == marks


# --- support

SEGMENTATION = paper(
    "RN-DPO",
    "Judges are noisy in medical segmentation.",
    "RN-DPO improves Dice by 2.4 points over vanilla DPO on three datasets.",
    "It does not need 1,000 dense labels.",
    "Experiments on Kvasir and on 512 GPUs lower the cost by 22.2\\%.",
)


@pytest.mark.parametrize(
    ("claim", "sentence", "verdict", "reason"),
    [
        (SEGMENTATION.sentences[1].text, 1, "supported", ""),
        ("Dice rises by 2.4 points with RN-DPO.", 1, "supported", ""),
        ("RN-DPO improves Dice by 2.40 points over vanilla DPO.", 1, "supported", ""),
        ("RN-DPO improves Dice on 3 datasets.", 1, "supported", ""),
        ("It does not need 1000 dense labels.", 2, "supported", ""),
        ("The cost is lower by 22.2% on 512 GPUs.", 3, "supported", ""),
        ("RN-DPO improves Dice by 3.4 points over vanilla DPO.", 1, "unsupported", "3.4"),
        ("RN-DPO improves Dice by 24 points over vanilla DPO.", 1, "unsupported", "24"),
        ("RN-DPO improves Dice on five datasets.", 1, "unsupported", "5"),
        ("RN-DPO improves Dice on 512 GPUs.", 1, "unsupported", "512"),
        ("RepoScope improves Dice by 2.4 points.", 1, "unsupported", "reposcope"),
        ("RN-PPO improves Dice by 2.4 points over vanilla DPO.", 1, "unsupported", "ppo"),
        ("RN-DPO does not improve Dice over vanilla DPO.", 1, "contradicted", "denies"),
        ("It needs 1,000 dense labels.", 2, "contradicted", "deny"),
        ("RN-DPO improves Dice and reduces annotation costs greatly.", 1, "partly", "annotation"),
        ("Radiologists prefer fewer clicks.", 1, "unsupported", "words"),
        ("Le modèle améliore la précision des images.", 1, "unsupported", "words"),
        ("Dice and vanilla DPO.", 1, "supported", ""),
        ("…", 1, "unsupported", "words"),
    ],
)
def test_a_claim_is_judged_by_its_sentence(
    claim: str, sentence: int, verdict: str, reason: str
) -> None:
    judged = judge(claim, [(SEGMENTATION, evidence(SEGMENTATION, sentence))])
    assert judged.verdict == verdict
    assert reason in judged.reason
    assert (judged.reason == "") == (verdict == "supported")


@pytest.mark.parametrize(
    ("sentence", "claim", "verdict"),
    [
        ("Old models cannot scale to video.", "Old models scale to video.", "contradicted"),
        ("Old models fail to scale to video.", "Old models scale to video.", "contradicted"),
        ("It works without training data.", "It works with training data.", "contradicted"),
        ("It works without training data.", "It works without training data.", "supported"),
        (
            "It not only improves accuracy but speed.",
            "It improves accuracy and speed.",
            "supported",
        ),
        ("Others do not scale, ours does scale.", "Ours does scale.", "supported"),
        ("It runs with and without delayed data.", "It runs with delayed data.", "supported"),
        ("74% of failed runs have gaps.", "74% of runs have gaps.", "supported"),
        ("Unlike others, ours scales to video.", "Ours scales to video.", "supported"),
        ("Others do not converge, ours scales to video.", "Ours scales to video.", "supported"),
    ],
)
def test_what_a_sentence_denies_does_not_support_the_claim_that_it_is_so(
    sentence: str, claim: str, verdict: str
) -> None:
    said = paper("p", sentence)
    assert judge(claim, [(said, evidence(said, 0))]).verdict == verdict


def test_a_name_may_stand_elsewhere_in_the_abstract_but_a_number_may_not() -> None:
    support = [(SEGMENTATION, evidence(SEGMENTATION, 0))]
    assert judge("In medical segmentation RN-DPO has noisy judges.", support).verdict != (
        "unsupported"
    )
    assert judge("2.4 judges are noisy in segmentation.", support).verdict == "unsupported"


def test_words_of_the_question_may_be_repeated_but_support_nothing() -> None:
    support = [(SEGMENTATION, evidence(SEGMENTATION, 3))]
    question = "Which endoscopy benchmark is used?"
    assert judge("The endoscopy benchmark is Kvasir.", support).verdict == "partly"
    assert judge("The endoscopy benchmark is Kvasir.", support, question).verdict == "supported"
    assert judge("The endoscopy benchmark is used.", support, question).verdict == "unsupported"


def test_a_claim_without_a_sentence_is_not_supported() -> None:
    judged = judge("It works.", [])
    assert (judged.verdict, judged.reason) == ("unsupported", "it names no sentence")


def test_a_claim_may_join_sentences_of_two_papers() -> None:
    other = paper("b", "Bridges carry 40 tons.")
    support = [(SEGMENTATION, evidence(SEGMENTATION, 1)), (other, evidence(other, 0))]
    assert judge("RN-DPO gains 2.4 points, bridges carry 40 tons.", support).verdict == "supported"
    assert judge("RN-DPO gains 2.4 points.", support[1:]).verdict == "unsupported"
