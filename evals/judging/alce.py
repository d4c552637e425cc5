"""The scores of ALCE's script for the answers of a run, each sentence judged anew."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evals.judging.protocol import Case, Judge
from evals.record import Record
from evals.scoring.alce import AlceScore, alce, alce_mean, documents_of


def alce_of(judge: Judge, records: Iterable[Record]) -> AlceScore | None:
    """The means over all answers; None where there is none.

    The sources of an answer are its documents, in the order of their numbers. A judge that fails
    on a sentence has not found it entailed, as in the script.

    Raises:
        ModelError: the judge cannot be used.
    """
    return alce_mean(_score(judge, one) for one in records if one.ending == "answered")


def _score(judge: Judge, record: Record) -> AlceScore | None:
    documents = documents_of(record)

    def entails(places: Sequence[int], claim: str) -> bool:
        passages = tuple(documents[place] for place in places)
        return judge.judge(Case(claim, passages, record.question)).label == "support"

    return alce(str(record.answer.get("text", "")), len(documents), entails)
