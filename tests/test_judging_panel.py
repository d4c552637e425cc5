"""Several judges as one: more than half of them, or no verdict."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from fakes import ScriptedGenerator
from hypothesis import given
from hypothesis import strategies as st

from evals.judging.inline import Judging
from evals.judging.llm import LlmJudge
from evals.judging.panel import Panel, majority
from evals.judging.protocol import LABELS, Case, Criterion, Label, Verdict
from evals.judging.scorer import SupportJudge
from evals.record import Record, Source
from evals.running.transcript import Replies, Transcript
from evals.scoring.statements import Passage

CASE = Case("Owls hunt.", (Passage("p", "Owls", "Owls hunt."),))


@dataclass
class Saying:
    """A judge that always says the same."""

    name: str
    verdict: Verdict
    closed: list[str] = field(default_factory=list)

    def judge(self, case: Case) -> Verdict:
        return self.verdict

    def close(self) -> None:
        self.closed.append(self.name)


def votes(*labels: str) -> dict[str, Verdict]:
    short: dict[str, Label | None] = {
        "s": "support",
        "c": "contradict",
        "n": "neither",
        "-": None,
    }
    return {f"j{n}": Verdict(short[one]) for n, one in enumerate(labels)}


@pytest.mark.parametrize(
    ("given_", "label"),
    [
        ("s", "support"),
        ("ss", "support"),
        ("sc", None),
        ("ssc", "support"),
        ("scn", None),
        ("snn", "neither"),
        ("ssccn", None),
        ("ss-", "support"),
        ("s-", None),  # one that failed has not agreed
        ("s--", None),
        ("ss--", None),
        ("---", None),
    ],
)
def test_more_than_half_of_all_members_decide(given_: str, label: str | None) -> None:
    found = majority(votes(*given_))
    assert found.label == label
    assert ("no majority" in found.failure) == (label is None)
    assert found.probability is None


def test_the_probability_is_the_mean_of_those_that_give_one() -> None:
    found = majority(
        {
            "a": Verdict("support", 0.9),
            "b": Verdict("neither", 0.2),
            "c": Verdict("support"),
            "d": Verdict("support", 0.7),
        }
    )
    assert found.probability == pytest.approx(0.6)
    assert found.reason == "support: a, c, d; neither: b"


@given(st.lists(st.sampled_from([*LABELS, None]), min_size=1, max_size=7), st.randoms())
def test_the_order_of_the_members_does_not_matter(
    labels: list[Label | None], random: object
) -> None:
    given_ = [Verdict(label) for label in labels]
    one = majority({f"j{n}": verdict for n, verdict in enumerate(given_)})
    other = majority({f"j{n}": verdict for n, verdict in enumerate(reversed(given_))})
    assert one.label == other.label
    if one.label:
        assert 2 * labels.count(one.label) > len(labels)


def test_a_panel_asks_and_closes_each_of_its_judges() -> None:
    closed: list[str] = []
    panel = Panel(
        [
            Saying("a", Verdict("support", raw=("yes",)), closed),
            Saying("b", Verdict(None, raw=("?", "??"), failure="prose"), closed),
            Saying("c", Verdict("support", raw=("oui",)), closed),
        ]
    )
    found = panel.judge(CASE)
    assert panel.name == "a+b+c"
    assert found.label == "support"
    assert found.raw == ("yes", "?", "??", "oui")
    assert found.votes["b"].failure == "prose"
    panel.close()
    assert closed == ["a", "b", "c"]


def test_a_panel_judges_rubrics_by_those_of_its_judges_that_can() -> None:
    scored = ScriptedGenerator('{"reason": "All of it.", "score": 8}')
    panel = Panel([SupportJudge(), LlmJudge(scored, "llm")])
    found = panel.meets(Criterion("Says that owls hunt", "Owls hunt.", "What do owls do?"))
    assert (found.label, found.probability) == ("support", 0.8)
    assert list(found.votes) == ["llm"]
    none = Panel([SupportJudge()]).meets(Criterion("Says x", "y", "z"))
    assert none.label is None
    assert "judges rubrics" in none.failure


def test_a_record_holds_what_each_member_said() -> None:
    transcript = Transcript(Replies(None))
    said = '{"reason": "No.", "label": "neither", "confidence": 0.8}'
    llm = LlmJudge(transcript.wrap(ScriptedGenerator(said)), "llm")
    record = Record(
        "q1",
        0,
        "answered",
        "What do owls do?",
        answer={
            "text": "Owls hunt. [1]",
            "claims": [{"text": "Owls hunt.", "citations": [1], "support": []}],
            "citations": [{"number": 1, "paper_id": "p", "sentences": []}],
        },
        papers={"p": Source("Owls", "Owls hunt.")},
    )
    judged = Judging([Panel([SupportJudge(), llm])], transcript).judge(record)
    (opinion,) = judged.opinions["support+llm"]
    assert opinion.label == ""
    assert opinion.failure == "no majority: support: support; neither: llm"
    assert opinion.votes == {"support": "support", "llm": "neither"}
    assert Record.read(judged.line()) == judged
