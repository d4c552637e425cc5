"""The measures of one question: a number, or None where the question has nothing to measure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Literal

from evals import metrics
from evals.record import Opinion, Record, Span
from evals.scoring import answers
from evals.scoring.citations import Cited, Unjudged, cited, entailment
from evals.scoring.statements import statements_of
from evals.suite import Item

Better = Literal["higher", "lower"]
Unit = Literal["share", "s", "tokens", "$"]
_SAME_SENTENCE = 0.5


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, what happened to it, and the judge whose opinions count."""

    item: Item
    record: Record
    judge: str

    @property
    def text(self) -> str:
        """The answer as it was shown."""
        return str(self.record.answer.get("text", ""))

    @property
    def disclosed(self) -> bool:
        """Whether the answer is that an AI system answers, which cites nothing."""
        return "disclosed" in self.record.answer.get("manifest", {})

    @property
    def refused(self) -> str:
        """Why the judge was not asked about all of it; empty where it was.

        Then nothing that rests on the judge can be said of the answer as a whole.
        """
        every = chain.from_iterable(
            self.record.opinions.get(f"{self.judge}{of}", ()) for of in ("", "/conversation")
        )
        return next((one.refused for one in every if one.refused), "")

    @property
    def abstained(self) -> bool:
        """Whether there was none."""
        return self.record.ending == "abstained"


@dataclass(frozen=True, slots=True)
class Measure:
    """What is measured: `better` says which way is good, `about` what it is in one line."""

    name: str
    about: str
    of: Callable[[Asked], float | None]
    better: Better = "higher"
    unit: Unit = "share"


def reported(measure: Measure, value: float) -> float:
    """A value as it is reported: a share within [0, 1], which rounding may have led it out of.

    A cosine of -0.0015 is told as 0, and 1.0000001 as 1.

    Raises:
        Unjudged: it is no number.
    """
    if not math.isfinite(value):
        raise Unjudged(f"{measure.name} is {value}")
    return min(max(value, 0.0), 1.0) if measure.unit == "share" else value


def _ranking(asked: Asked, of: metrics.Measure) -> float | None:
    gold = dict.fromkeys(asked.record.gold.values(), 1)
    return of(asked.record.retrieved, gold) if gold else None


def first(ranking: Sequence[str], judged: metrics.Judgements) -> float:
    """1 if the first document is relevant (precision at 1)."""
    return float(bool(ranking) and judged.get(ranking[0], 0) > 0)


def evidence_recall(asked: Asked) -> float | None:
    """The share of the gold sentences that the writer was given.

    By offsets: a sentence of the same paper that shares at least half of the shorter one's
    characters is the same.
    """
    gold = asked.record.gold_evidence
    return _found(gold, asked.record.evidence) if gold else None


def evidence_cited(asked: Asked) -> float | None:
    """The share of the gold sentences that the answer cites; None where it abstained."""
    gold = asked.record.gold_evidence
    if not gold or asked.abstained:
        return None
    spans = [
        Span(one["paper_id"], sentence["start"], sentence["end"], sentence["text"])
        for one in asked.record.answer["citations"]
        for sentence in one["sentences"]
    ]
    return _found(gold, spans)


def gold_cited(asked: Asked) -> float | None:
    """The share of the cited papers that are gold; None where none is cited or known."""
    cited_papers = [one["paper_id"] for one in asked.record.answer.get("citations", [])]
    gold = set(asked.record.gold.values())
    if not cited_papers or not gold:
        return None
    return sum(one in gold for one in cited_papers) / len(cited_papers)


def decided(asked: Asked) -> float | None:
    """1 if a question with an answer was answered, or one without was left alone.

    None for one that is asked for what the assistant says, whatever it finds.
    """
    if asked.item.asked.must_say or asked.item.asked.must_not_say:
        return None
    return float(asked.abstained != asked.item.answerable)


def citations_of(asked: Asked) -> Cited | None:
    """Recall and precision of the citations.

    None for an abstention, which is counted apart, for a disclosure, and where nobody judged or the
    judge refused.

    Raises:
        Unjudged: the judge failed on something that they need.
    """
    if asked.abstained or asked.disclosed or not asked.judge or asked.refused:
        return None
    opinions = asked.record.opinions.get(asked.judge, ())
    return cited(statements_of(asked.record), entailment(opinions))


def citation_recall(asked: Asked) -> float | None:
    """See `evals.scoring.citations`."""
    found = citations_of(asked)
    return None if found is None else found.recall


def citation_precision(asked: Asked) -> float | None:
    """See `evals.scoring.citations`."""
    found = citations_of(asked)
    return None if found is None else found.precision


def faithful(asked: Asked) -> float | None:
    """The share of the statements that all their citations together support.

    That is citation recall, asked of claims and not of citations: they differ where a statement
    cites nothing, which is left out here; and in a conversation, where a statement may rely on what
    earlier turns cited.

    Raises:
        Unjudged: the judge failed on a statement.
    """
    return _share_of(asked, "support")


def contradicted(asked: Asked) -> float | None:
    """The share of the statements with citations that these contradict."""
    return _share_of(asked, "contradict")


def rubric(asked: Asked) -> float | None:
    """The weight of the rubric items that the answer meets, as a share of all.

    0 for an abstention, as nothing is met.

    Raises:
        Unjudged: the judge failed on an item.
    """
    items = asked.item.asked.rubric
    said = asked.record.opinions.get(f"{asked.judge}/rubric", ())
    if not items or (not said and not asked.abstained):
        return None
    if asked.abstained:
        return 0.0
    met = entailment(said)
    total = sum(one.weight for one in items)
    return sum(one.weight for place, one in enumerate(items) if met(place, ())) / total


def _answer(asked: Asked, of: Callable[..., float | None]) -> float | None:
    """A measure of the text; of an abstention too, but not where that is right."""
    return of(asked.item.asked, asked.text) if asked.item.answerable else None


def _seconds(asked: Asked) -> float | None:
    """From the question to the end; None where a model's words came from an earlier run."""
    return None if _is_cached(asked.record) else asked.record.times.total


def _first_claim(asked: Asked) -> float | None:
    return None if _is_cached(asked.record) else asked.record.times.first_claim


def _tokens(asked: Asked, *, read: bool) -> float | None:
    own = [reply for reply in asked.record.replies if reply.of == "subject"]
    counts = [reply.prompt_tokens if read else reply.completion_tokens for reply in own]
    known = [count for count in counts if count is not None]
    return float(sum(known)) if known else None


def _is_cached(record: Record) -> bool:
    return any(reply.cached for reply in record.replies)


def _share_of(asked: Asked, label: str) -> float | None:
    if asked.abstained or asked.refused:
        return None
    whole = _whole(asked)
    if failures := [one.failure for one in whole if one.failure]:
        raise Unjudged(failures[0])
    return sum(one.label == label for one in whole) / len(whole) if whole else None


def _whole(asked: Asked) -> Sequence[Opinion]:
    """The opinions on statements with all that they may rely on."""
    opinions = asked.record.opinions
    if (in_turn := opinions.get(f"{asked.judge}/conversation")) is not None:
        return in_turn
    known = [statement.known for statement in statements_of(asked.record)]
    return [one for one in opinions.get(asked.judge, ()) if one.citations == known[one.claim]]


def _found(gold: Sequence[Span], given: Sequence[Span]) -> float:
    return sum(any(_same(one, other) for other in given) for one in gold) / len(gold)


def _same(one: Span, other: Span) -> bool:
    if one.paper_id != other.paper_id:
        return False
    shared = min(one.end, other.end) - max(one.start, other.start)
    shorter = min(one.end - one.start, other.end - other.start)
    return shared > 0 and shared >= _SAME_SENTENCE * shorter


MEASURES: tuple[Measure, ...] = (
    Measure("first", "a gold paper is found first", partial(_ranking, of=first)),
    *(
        Measure(name, f"{name} of the papers found", partial(_ranking, of=of))
        for name, of in metrics.MEASURES.items()
        if name != "recall@100"
    ),
    Measure("evidence", "gold sentences that the writer was given", evidence_recall),
    Measure("evidence cited", "gold sentences that the answer cites", evidence_cited),
    Measure("gold cited", "cited papers that are gold", gold_cited),
    Measure("decided", "answered if and only if there is an answer", decided),
    Measure("correct", "the required answers are there", partial(_answer, of=answers.correct)),
    Measure("token F1", "words shared with the answer", partial(_answer, of=answers.token_f1)),
    Measure("numeric", "the numbers of the answer are there", partial(_answer, of=answers.numeric)),
    Measure("label", "yes, no or maybe, as it should", partial(_answer, of=answers.labelled)),
    Measure("said", "what had to be said was said", partial(_answer, of=answers.said)),
    Measure("citation recall", "statements that their citations entail", citation_recall),
    Measure("citation precision", "citations that are needed", citation_precision),
    Measure("faithful", "cited statements that are supported", faithful),
    Measure("contradicted", "cited statements that are contradicted", contradicted, "lower"),
    Measure("rubric", "weight of the rubric that is met", rubric),
    Measure("first claim", "until the first claim", _first_claim, "lower", "s"),
    Measure("seconds", "until the end", _seconds, "lower", "s"),
    Measure("tokens read", "read by the model", partial(_tokens, read=True), "lower", "tokens"),
    Measure(
        "tokens written", "written by the model", partial(_tokens, read=False), "lower", "tokens"
    ),
    Measure("cost", "for the answer and its judges", lambda asked: asked.record.cost, "lower", "$"),
)
"""Every measure, in the order of a report."""

BY_NAME: Mapping[str, Measure] = {measure.name: measure for measure in MEASURES}
