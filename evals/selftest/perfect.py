"""Answers as good as can be: each question is answered with its gold sentences.

No index and no model is needed: papers are read from their files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evals.record import Record, Source, Span
from evals.running.gold import locate, names_of
from evals.suite import Item, Suite
from rag.corpus import Limits, find_files, read_papers
from rag.corpus.records import Rejected
from rag.errors import InputError
from rag.schema import Paper

REPEATS = 2
_FOUND = 20  # papers that a search gives
_SURE, _UNSURE = 0.9, 0.1
_NOTHING = "The collection does not hold the answer."


def perfect(suite: Suite) -> list[Record]:
    """Every question of a suite asked twice and answered as its gold says.

    Raises:
        InputError: the papers of the suite cannot be read, or do not hold its gold.
    """
    papers = list(_papers(suite.files))
    named = {name: paper for paper in papers for name in names_of(paper)}
    order = sorted(paper.id for paper in papers)
    return [
        _record(item, repeat, named, order) for item in suite.items for repeat in range(REPEATS)
    ]


def _papers(files: Sequence[Path]) -> Iterable[Paper]:
    for source in find_files(files):
        for found in read_papers(source.content(Limits())):
            if not isinstance(found, Rejected):
                yield found[1]


def _record(item: Item, repeat: int, named: Mapping[str, Paper], order: Sequence[str]) -> Record:
    try:
        gold = {name: named[name] for name in item.asked.paper_ids}
    except KeyError as error:
        raise InputError(f"The gold paper {error} of {item.id} is not in its files") from None
    spans = [span for text in item.asked.evidence if (span := locate(text, gold.values()))]
    ids = [paper.id for paper in gold.values()]
    found = [*ids, *(one for one in order if one not in ids)][:_FOUND]
    ending: Any = "answered" if item.answerable else "abstained"
    return Record(
        item.id,
        repeat,
        ending,
        item.asked.question,
        answer=answer(list(dict.fromkeys(spans))) if item.answerable else abstention(_UNSURE),
        gold={name: paper.id for name, paper in gold.items()},
        gold_evidence=tuple(spans),
        retrieved=tuple(found),
        evidence=tuple(spans),
        papers={paper.id: Source(paper.title, paper.text) for paper in gold.values()},
    )


def answer(spans: Sequence[Span]) -> dict[str, Any]:
    """An answer that quotes sentences, each citing its paper."""
    numbers = {key: n for n, key in enumerate(dict.fromkeys(s.paper_id for s in spans), start=1)}
    return {
        "status": "answered",
        "text": " ".join(span.text for span in spans),
        "claims": [{"text": span.text, "citations": [numbers[span.paper_id]]} for span in spans],
        "citations": [
            {
                "number": number,
                "paper_id": key,
                "sentences": [
                    {"text": span.text, "start": span.start, "end": span.end}
                    for span in spans
                    if span.paper_id == key
                ],
            }
            for key, number in numbers.items()
        ],
        "confidence": _SURE,
        "manifest": {},
    }


def abstention(confidence: float = _SURE) -> dict[str, Any]:
    """An answer that there is none."""
    return {
        "status": "abstained",
        "text": _NOTHING,
        "claims": [],
        "citations": [],
        "confidence": confidence,
        "manifest": {},
    }
