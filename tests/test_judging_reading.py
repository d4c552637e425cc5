"""What a judge wrote is read with certainty, or it is a failure that says why."""

from __future__ import annotations

import json

import pytest
from command import ROOT
from hypothesis import given
from hypothesis import strategies as st

from evals.judging.protocol import LABELS
from evals.judging.reading import Unreadable, met, score, verdict

GOOD = '{"reason": "It says so.", "label": "support", "confidence": 0.9}'


@pytest.mark.parametrize(
    ("text", "label", "probability", "reason"),
    [
        (GOOD, "support", 0.9, "It says so."),
        (f"```json\n{GOOD}\n```", "support", 0.9, "It says so."),
        (f"Here is my verdict:\n\n{GOOD}\n\nI hope that it helps.", "support", 0.9, "It says so."),
        (f"<think>label: contradict? No.</think>{GOOD}", "support", 0.9, "It says so."),
        (f"{GOOD}<|im_end|>\n<|im_start|>user {{", "support", 0.9, "It says so."),
        (f"{GOOD}\n{GOOD}", "support", 0.9, "It says so."),
        (f'{{"verdict": {GOOD}}}', "support", 0.9, "It says so."),
        (f"[{GOOD}]", "support", 0.9, "It says so."),
        ('{"label": "neither"}', "neither", None, ""),
        ('{"label": "CONTRADICTS.", "confidence": null}', "contradict", None, ""),
        ('{"label": "contradict", "confidence": 1}', "contradict", 0.0, ""),
        ('{"label": "neither", "confidence": 0.5}', "neither", 0.25, ""),
        ('{"label": "support", "confidence": 1.0000001}', "support", 1.0, ""),
        ('{"label": "support", "confidence": 1, "extra": [1]}', "support", 1.0, ""),
        (
            '{"reason": "It quotes {\\"label\\": \\"contradict\\"}.", "label": "support"}',
            "support",
            None,
            'It quotes {"label": "contradict"}.',
        ),
        (
            'The set {x, y} and \\frac{1}{2} are no JSON. {"label": "neither"}',
            "neither",
            None,
            "",
        ),
        ("reason: It says so.\nlabel: support\nconfidence: 0.75", "support", 0.75, "It says so."),
        ("**Label:** Contradict\n**Confidence:** 0.9", "contradict", 0.05, ""),
        ("reason: by \\frac{1}{2}\nlabel: neither", "neither", None, "by \\frac{1}{2}"),
    ],
)  # fmt: skip
def test_a_verdict_is_read_whatever_stands_around_it(
    text: str, label: str, probability: float | None, reason: str
) -> None:
    found = verdict(text)
    assert (found.label, found.reason) == (label, reason)
    assert found.probability == (None if probability is None else pytest.approx(probability))
    assert not found.failure


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("<think>It might be support.", "empty"),
        ("The passage supports the claim.", "has no label"),
        ("Label: I think that the passage supports it", "none of support, contradict, neither"),
        ('{"label": "unterstützt", "confidence": 0.9}', "'unterstützt' is none of"),
        ('{"label": "支持"}', "'支持' is none of"),
        ('{"label": ""}', "none of"),
        ('{"label": null}', "none of"),
        ('{"label": ["support"]}', "none of"),
        ('{"label": "support or neither"}', "none of"),
        ('{"reason": "It says so.", "confidence": 0.9}', "has no label"),
        ('{"label": "support", "confidence": 0.9', "broken"),
        ('{"reason": "ends here', "broken"),
        ('{"a": {"label": "support"}, oops', "broken"),
        ("{'label': 'support'}", "has no label"),
        ('{"label": "support"} {"label": "contradict"}', "2 verdicts that differ"),
        ('[{"label": "support"}, {"label": "neither"}]', "2 verdicts that differ"),
        ('{"label": "support", "label": "contradict"}', "label stands there twice"),
        ("label: support\nlabel: contradict", "label stands there twice"),
        ('{"label": "support", "confidence": NaN}', "NaN is no number"),
        ('{"label": "support", "confidence": Infinity}', "Infinity is no number"),
        ('{"label": "support", "confidence": 1e999}', "not within 0 to 1"),
        ('{"label": "support", "confidence": 1' + "0" * 400 + "}", "not within 0 to 1"),
        ('{"label": "support", "confidence": 1' + "0" * 5000 + "}", "broken"),
        ('{"label": "support", "confidence": 90}', "90' is not within 0 to 1"),
        ('{"label": "neither", "confidence": -0.1}', "not within 0 to 1"),
        ('{"label": "support", "confidence": "high"}', "'high' is no number"),
        ('{"label": "support", "confidence": true}', "'True' is no number"),
        ('{"label": "support", "confidence": 0.2}', "support with a confidence of 0.2"),
        ("[" * 100_000 + '{"label": ' + "[" * 100_000, "broken"),
    ],
)  # fmt: skip
@pytest.mark.case("E01")
def test_what_leaves_a_doubt_is_no_verdict_and_says_why(text: str, why: str) -> None:
    with pytest.raises(Unreadable) as caught:
        verdict(text)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"score": 11}', "'11' is not within 0 to 10"),
        ('{"score": "11/10"}', "no number"),
        ('{"score": -1}', "not within 0 to 10"),
        ('{"score": NaN}', "no number"),
        ("score: 11/10", "no number"),
        ("I would give it a 7.", "has no score"),
    ],
)
@pytest.mark.case("E01")
def test_a_score_outside_its_range_is_no_score(text: str, why: str) -> None:
    with pytest.raises(Unreadable) as caught:
        met(text)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("given", "label"), [(0, "neither"), (5, "neither"), (6, "support"), (10, "support")]
)
def test_a_criterion_is_met_by_more_than_half_of_the_score(given: int, label: str) -> None:
    found = met(json.dumps({"reason": "So.", "score": given}))
    assert (found.label, found.probability, found.reason) == (label, given / 10, "So.")


def case(name: str) -> dict[str, list[str]]:
    places = (parent / "shared" / "cases" / "cases.jsonl" for parent in ROOT.parents)
    path = next((place for place in places if place.exists()), None)
    if path is None:
        pytest.skip("the cases of other systems are not there: ../shared/cases/cases.jsonl")
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    found: dict[str, list[str]] = next(one for one in lines if one["id"] == name)["input"]
    return found


def test_eval_004_latex_in_json_is_read_and_kept() -> None:
    found = [score(reply) for reply in case("eval-004")["judge_replies"]]
    assert found == [
        (5.0, r"loss is \alpha"),
        (5.0, r"uses \frac{1}{2} and \nabla"),
        (5.0, r"path C:\users"),
        (5.0, "ok \n é \\beta"),
    ]


@pytest.mark.parametrize(
    "command",
    r"\alpha \beta \bar{x} \boldsymbol \frac{a}{b} \forall \flat \nabla \nu \neq \notin \rho "
    r"\rightarrow \theta \times \tau \tfrac12 \text{a} \upsilon \% \{ \sum".split(),
)
def test_latex_that_json_would_swallow_is_kept(command: str) -> None:
    assert verdict(f'{{"reason": "with {command} in it", "label": "neither"}}').reason == (
        f"with {command} in it"
    )


@given(st.text(max_size=300))
@pytest.mark.case("E01")
def test_no_text_breaks_the_reader_or_gets_a_label_by_default(text: str) -> None:
    try:
        found = verdict(text)
    except Unreadable as error:
        assert str(error)
    else:
        assert found.label in LABELS
        assert "label" in text.lower()


@given(
    st.text(st.characters(exclude_categories=["C"], exclude_characters="<[|"), max_size=60),
    st.sampled_from(LABELS),
    st.text(max_size=30).filter(lambda text: not set("{}[]<>|`:=") & set(text)),
)
def test_a_verdict_that_json_writes_is_read_as_it_was(reason: str, label: str, around: str) -> None:
    text = json.dumps({"reason": reason, "label": label}, ensure_ascii=True)
    found = verdict(f"{around}\n{text}")
    assert (found.label, found.reason) == (label, reason.strip())
