"""Which papers and sentences of an index the gold of a suite is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from evals.record import Span
from evals.suite import Item, Suite
from rag.errors import InputError
from rag.index.browse import sources_of
from rag.index.snapshot import Snapshot
from rag.schema import Paper
from rag.text import normalise

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Gold:
    """The gold papers of one question: paper id by the name in the suite, and their evidence."""

    papers: Mapping[str, str]
    evidence: tuple[Span, ...]


def suite_id(source: str, ordinal: int) -> str:
    """The name of a seed paper in the suite: 000-04 is the fourth of the file 000….txt."""
    return f"{Path(source).name[:3]}-{ordinal:02d}"


def names_of(paper: Paper) -> tuple[str, ...]:
    """All that a suite may call a paper."""
    return (paper.id, *_names(paper.source, paper.ordinal, paper.meta.key))


def named(snapshot: Snapshot, wanted: Iterable[str]) -> dict[str, Paper]:
    """The paper of each name, for those that there are; of several the first.

    A paper that came from several sources goes by the names of them all.
    """
    left, found = set(wanted), dict[str, Paper]()

    def take(paper: Paper, names: Iterable[str]) -> None:
        for name in left.intersection(names):
            found[name] = paper
            left.discard(name)

    for paper in snapshot.all_papers():
        take(paper, names_of(paper))
    for paper in snapshot.all_papers() if left else ():
        for source in sources_of(snapshot, paper.id):
            take(paper, _names(source.label, source.ordinal, source.meta.key))
    return found


def resolve(suite: Suite, snapshot: Snapshot) -> dict[str, Gold]:
    """The gold of each question, by its id.

    Evidence that does not stand in its papers word for word is looked for with white space and
    signs made equal.

    Raises:
        InputError: a gold paper is not in the index, or a sentence of evidence is in none of the
            gold papers of its question.
    """
    wanted = {name for item in suite.items if not item.left_out for name in item.asked.paper_ids}
    found = named(snapshot, wanted)
    if missing := sorted(wanted - found.keys()):
        more = f" and {len(missing) - _SHOWN:,} more" if len(missing) > _SHOWN else ""
        raise InputError(
            f"{len(missing):,} gold papers of {suite.name} are not in the index",
            cause=f"{', '.join(missing[:_SHOWN])}{more}",
            remedy="Run `rag index FILE` on the file that has them, or `python -m evals run` with"
            " --data-dir of another index.",
        )
    return {item.id: _gold(item, found) for item in suite.items}


def locate(text: str, papers: Iterable[Paper]) -> Span | None:
    """Where a sentence stands in one of the papers: as it is, else the sentence that equals it."""
    for paper in papers:
        start = paper.text.find(text)
        if start >= 0:
            return Span(paper.id, start, start + len(text), text)
        for sentence in paper.sentences:
            if normalise(sentence.text) == normalise(text):
                return Span(paper.id, sentence.start, sentence.end, sentence.text)
    return None


def _gold(item: Item, found: Mapping[str, Paper]) -> Gold:
    if item.left_out:
        return Gold({}, ())
    papers = {name: found[name] for name in item.asked.paper_ids}
    spans = []
    for text in item.asked.evidence:
        span = locate(text, papers.values())
        if span is None:
            raise InputError(
                f"The evidence of question {item.id} is in none of its gold papers",
                cause=f"{text[:80]!r}",
                remedy="Copy the sentence from the paper as it stands.",
            )
        spans.append(span)
    return Gold({name: paper.id for name, paper in papers.items()}, tuple(spans))


def _names(source: str, ordinal: int, key: str) -> tuple[str, ...]:
    file = Path(source).name
    return f"{source}:{ordinal}", f"{file}:{ordinal}", key, suite_id(source, ordinal)
