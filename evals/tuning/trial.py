"""What came of asking questions with one template, and what of it is shown to a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from evals.scoring.measures import BY_NAME
from evals.scoring.scored import MOST_FAILED, Scored
from rag.errors import UsageError

RIGHT = "right"
OBJECTIVES: Mapping[str, str] = {
    "answer": RIGHT,
    "answer-text": RIGHT,
    **dict.fromkeys(("translate", "rewrite", "hypothesis", "decompose", "rerank"), "nDCG@10"),
}
"""What is to become better, by the prompt; other prompts have no part in answering a suite."""

_ROWS = 8
_CHARS = 1_500  # of the evidence in a trace


@dataclass(frozen=True, slots=True)
class Trial:
    """A template, the questions that were asked with it, and the value of the objective of each.

    A question that failed, or that the objective says nothing of, has no value.
    """

    template: str
    scored: tuple[Scored, ...]
    values: Mapping[str, float]

    @property
    def mean(self) -> float:
        """The objective over all questions that have it.

        Raises:
            ValueError: none has.
        """
        return fmean(self.values.values())

    @property
    def fault(self) -> str:
        """Why it cannot be believed; empty if it can."""
        failed = sum(one.outcome == "failed" for one in self.scored)
        if failed > MOST_FAILED * len(self.scored):
            return f"{failed} of {len(self.scored)} questions failed"
        return "" if self.values else "no question has a value"


def trial(template: str, scored: Sequence[Scored], objective: str) -> Trial:
    """The values of the objective for what was scored."""
    of = _objective(objective)
    found = {one.item.id: of(one) for one in scored}
    values = {key: value for key, value in found.items() if value is not None}
    return Trial(template, tuple(scored), values)


def checked(objective: str) -> str:
    """The name of an objective.

    Raises:
        UsageError: there is no such measure, or less of it is better.
    """
    if objective == RIGHT or (objective in BY_NAME and BY_NAME[objective].better == "higher"):
        return objective
    names = ", ".join([RIGHT, *(name for name, one in BY_NAME.items() if one.better == "higher")])
    raise UsageError(f"Nothing can be tuned for {objective!r}", remedy=f"Choose from {names}.")


def median(found: Trial) -> Scored:
    """The question whose value is in the middle; of several the one with the middle id."""
    ranked = sorted(
        (one for one in found.scored if one.item.id in found.values),
        key=lambda one: (found.values[one.item.id], one.item.id),
    )
    return ranked[(len(ranked) - 1) // 2]


def aggregate(found: Trial) -> str:
    """What happened over all questions, in a few lines."""
    lines = [f"{len(found.values)} questions; mean score {found.mean:.2f}"]
    lines += [f"- {kind or 'other'}: {told}" for kind, told in _by_kind(found)]
    silent = [one for one in found.scored if one.outcome == "abstained"]
    answerable = sum(one.item.answerable for one in silent)
    lines.append(
        f"- no answer given: {answerable} times wrongly, {len(silent) - answerable} rightly"
    )
    reasons = Counter(
        str(one["reason"])[:60] for each in found.scored for one in _answer(each).get("dropped", ())
    )
    lines += [f"- claim refused {n} times: {reason}" for reason, n in reasons.most_common(3)]
    return "\n".join(lines)


def trace(one: Scored, value: float) -> str:
    """What happened to one question: evidence, what the model wrote, what was shown, the score."""
    record, asked = one.record, one.item.asked
    wanted = "; ".join(asked.answers) or ("" if one.item.answerable else "no answer is there")
    evidence = " ".join(span.text for span in record.evidence)[:_CHARS] if record else ""
    wrote = (
        next((r.text for r in reversed(record.replies) if r.of == "subject"), "") if record else ""
    )
    lines = [f"Question: {asked.question}", f"Evidence: {evidence}", f"The model wrote: {wrote}"]
    lines += [f"Shown: {_answer(one).get('text', '')}", f"Wanted: {wanted}", f"Score: {value:.2f}"]
    return "\n".join(line for line in lines if not line.endswith(": "))


def _by_kind(found: Trial) -> Iterator[tuple[str, str]]:
    kinds = dict.fromkeys(one.item.kind for one in found.scored)
    for kind in list(kinds)[:_ROWS]:
        values = [
            found.values[one.item.id]
            for one in found.scored
            if one.item.kind == kind and one.item.id in found.values
        ]
        if values:
            yield kind, f"{fmean(values):.2f} over {len(values)}"


def _answer(one: Scored) -> Mapping[str, Any]:
    return one.record.answer if one.record is not None else {}


def _objective(name: str) -> Callable[[Scored], float | None]:
    if name == RIGHT:
        return lambda one: one.values.get("correct", one.values.get("decided"))
    return lambda one: one.values.get(name)
