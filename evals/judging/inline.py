"""Having an answer judged while a run goes on, so that its line is whole.

Each of its statements is judged against what it cites, and the whole against a rubric, if the
question has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from evals.judging.protocol import Case, Criterion, Judge, RubricJudge, Verdict
from evals.record import Opinion, Record, Reply
from evals.running.transcript import Transcript
from evals.scoring.statements import Passage, Statement, passages_of, statements_of
from evals.suite import RubricItem
from rag.answering.stop import Stop


class Judging:
    """Some judges, each asked about every statement. Safe for use by several threads."""

    def __init__(self, judges: Sequence[Judge], transcript: Transcript) -> None:
        self._judges = tuple(judges)
        self._transcript = transcript

    @property
    def names(self) -> tuple[str, ...]:
        """The judges, in their order."""
        return tuple(judge.name for judge in self._judges)

    def judge(
        self, record: Record, rubric: Sequence[RubricItem] = (), stop: Stop | None = None
    ) -> Record:
        """The record with every judge's opinions; one that has no answer is as it was.

        `stop` ends what judges ask of a model; what they had not said then has failed.

        Raises:
            ModelError, RateLimited: as `Judge.judge`.
        """
        if record.ending != "answered":
            return record
        opinions = dict(record.opinions)
        replies: list[Reply] = list(record.replies)
        for judge in self._judges:
            with self._transcript.listening(judge.name, record.repeat, stop) as heard:
                opinions[judge.name] = tuple(opinions_of(judge, record))
                if record.earlier:
                    opinions[f"{judge.name}/conversation"] = tuple(in_conversation(judge, record))
                if rubric and isinstance(judge, RubricJudge):
                    opinions[f"{judge.name}/rubric"] = tuple(on_rubric(judge, record, rubric))
            replies += heard
        return replace(record, opinions=opinions, replies=tuple(replies))


def on_rubric(
    judge: RubricJudge, record: Record, rubric: Sequence[RubricItem]
) -> Iterator[Opinion]:
    """Whether the answer meets each item, told by its place (see `evals.scoring.measures`)."""
    answer = str(record.answer.get("text", ""))
    for place, item in enumerate(rubric):
        verdict = judge.meets(Criterion(item.criterion, answer, record.question))
        yield _opinion(place, (), verdict)


def opinions_of(judge: Judge, record: Record) -> Iterator[Opinion]:
    """All that citation recall and precision need to know (see `evals.scoring.citations`).

    Of each statement its citations together; where several together support it, each alone, and
    where one alone does not, the others without it.
    """
    for place, statement in enumerate(statements_of(record)):
        yield from _of_statement(judge, record, place, statement)


def in_conversation(judge: Judge, record: Record) -> Iterator[Opinion]:
    """Of every statement, whether what it cites and what earlier turns cited support it.

    A turn may rely on a fact of an earlier one without citing it again.
    """
    before = [_whole(record, paper_id) for paper_id in record.earlier]
    for place, statement in enumerate(statements_of(record)):
        passages = [*passages_of(record, place, statement.known), *before]
        yield _judged(judge, record, place, statement, passages)


def _of_statement(
    judge: Judge, record: Record, place: int, statement: Statement
) -> Iterator[Opinion]:
    cited = statement.known
    if not cited:
        return
    together = _asked(judge, record, place, statement, cited)
    yield together
    if len(cited) == 1 or together.label != "support":
        return
    for number in cited:
        alone = _asked(judge, record, place, statement, (number,))
        yield alone
        if alone.label != "support" and not (alone.failure or alone.refused):
            others = tuple(other for other in cited if other != number)
            yield _asked(judge, record, place, statement, others)


def _asked(
    judge: Judge, record: Record, place: int, statement: Statement, cited: tuple[int, ...]
) -> Opinion:
    passages = passages_of(record, place, cited)
    return _judged(judge, record, place, replace(statement, citations=cited), passages)


def _judged(
    judge: Judge, record: Record, place: int, statement: Statement, passages: Sequence[Passage]
) -> Opinion:
    verdict = judge.judge(Case(statement.text, tuple(passages), record.question))
    return _opinion(place, statement.known, verdict)


def _opinion(claim: int, citations: tuple[int, ...], verdict: Verdict) -> Opinion:
    return Opinion(
        claim,
        citations,
        verdict.label or "",
        verdict.probability,
        verdict.reason,
        verdict.raw,
        verdict.failure,
        {name: one.label or "" for name, one in verdict.votes.items()},
        verdict.refused,
    )


def _whole(record: Record, paper_id: str) -> Passage:
    source = record.papers[paper_id]
    return Passage(paper_id, source.title, source.text)
