"""What a judge is asked, and what it may say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, Self, runtime_checkable

from evals.scoring.statements import Passage

Label = Literal["support", "contradict", "neither"]
LABELS: tuple[Label, ...] = ("support", "contradict", "neither")


@dataclass(frozen=True, slots=True)
class Case:
    """A claim, what it is said to rely on, and the question that it helps to answer, if any."""

    claim: str
    passages: tuple[Passage, ...]
    question: str = ""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing that a good answer has, and the answer that may have it."""

    wanted: str
    answer: str
    question: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said: a label, or why there is none.

    `probability` is that of support, None where the judge gives none. `raw` is what it wrote,
    attempt by attempt. `votes` are the verdicts of which that of a panel is made. A failure is
    never a label: whoever averages leaves it out and counts it. So is `refused`: why the case was
    not judged at all, by rule (see `evals.judging.planted`).
    """

    label: Label | None
    probability: float | None = None
    reason: str = ""
    raw: tuple[str, ...] = ()
    failure: str = ""
    votes: Mapping[str, Self] = field(default_factory=dict)
    refused: str = ""


class Judge(Protocol):
    """Says whether passages support a claim."""

    @property
    def name(self) -> str:
        """What a report calls it; two judges that may differ have different names."""

    def judge(self, case: Case) -> Verdict:
        """A verdict, or a failure or a refusal told in it.

        Raises:
            RateLimited: its server has too much to do; the case can be judged later.
            ModelError: the judge cannot be used at all, now or for any case.
        """

    def close(self) -> None:
        """Let go of models and connections."""


@runtime_checkable
class RubricJudge(Protocol):
    """A judge that also says whether an answer has what it should have."""

    def meets(self, criterion: Criterion) -> Verdict:
        """Support if the answer meets it, else neither; or a failure.

        Raises:
            ModelError: see `Judge.judge`.
        """
