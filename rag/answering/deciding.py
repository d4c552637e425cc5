"""Whether a question is answered at all, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag.answering.abstention import holds_nothing
from rag.answering.asking import Reading
from rag.answering.confidence import calibration_for, log_odds
from rag.answering.prompting import Labelled
from rag.answering.signals import YES, signals
from rag.answering.yesno import YesNo
from rag.retrieval.search import Found


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to answer, and the probability that the collection holds the answer."""

    answers: bool
    confidence: float


@dataclass(frozen=True, slots=True)
class Decider:
    """Decides before anything is written.

    `rate` is how often questions without an answer may be answered all the same, as a share of all
    questions; None leaves it to whoever writes, whose own silence then counts. `yes_no` asks a
    model; None goes by the search alone.
    """

    rate: float | None
    yes_no: YesNo | None = None

    def decide(
        self, found: Found, sentences: Sequence[Labelled], reading: Reading, persona: str = ""
    ) -> Decision:
        """Go by what was found and, where there is one, by what a model says of it."""
        seen = self.seen(found, sentences, reading, persona)
        nothing = not sentences or holds_nothing(found)
        calibration = calibration_for(seen)
        confidence = 0.0 if not sentences else calibration.confidence(seen)
        sure = self.rate is None or confidence > calibration.threshold(self.rate)
        return Decision(sure and not nothing, confidence)

    def seen(
        self, found: Found, sentences: Sequence[Labelled], reading: Reading, persona: str = ""
    ) -> dict[str, float]:
        """The signals that a decision goes by; see `rag.answering.signals`."""
        seen = signals(found, [item.evidence for item in sentences])
        if self.yes_no and sentences and not holds_nothing(found):
            said = self.yes_no.probability(found.question.text, sentences, reading, persona)
            seen |= {} if said is None else {YES: log_odds(said)}
        return seen
