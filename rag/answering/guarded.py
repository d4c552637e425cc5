"""Answers whose reader is told what in them may speak to the machine; nothing is taken away.

Looked at are the question, the sentences that the answer cites or was written from, and the signs
that their papers have carried since they were indexed. It comes after the writing, so that it costs
no wait: what protects the answer itself is that claims are checked by code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rag.answering.events import Done, Event
from rag.answering.unlinked import without_links
from rag.errors import IndexUnusable, ModelError
from rag.guarding.guard import MARK, WORDS, Detector, Subject, detector
from rag.guarding.planted import instruction
from rag.index.reader import IndexReader
from rag.retrieval.crowding import voices
from rag.schema import Answer, Paper
from rag.text import legible

_TOLD = 3  # papers that a note names
_CHARS = 80  # of a sentence, or of a title, that a note quotes
_EMBEDDED = 200  # texts of one answer; of a table over a whole collection the words have to do


@dataclass(frozen=True, slots=True)
class Text:
    """A sentence or a title of a paper that an answer rests on; `key` is `paper id:place`."""

    key: str
    paper: Paper
    text: str


class Guarded:
    """Looks at answers over one index. Safe for use by several threads."""

    def __init__(self, reader: IndexReader) -> None:
        self._reader = reader

    def watch(self, events: Iterator[Event]) -> Iterator[Event]:
        """The same events; the answer at their end says what was found."""
        for event in events:
            yield Done(self.told(event.answer)) if isinstance(event, Done) else event

    def told(self, answer: Answer) -> Answer:
        """The answer with what was found in its note and in its manifest, under `guard`."""
        cited = {one.paper.id: one.number for one in answer.citations}
        texts = self._texts(answer)
        marked = self._marked("passage", [one.text for one in texts])
        found = [
            one
            for one, is_marked in zip(texts, marked, strict=True)
            if is_marked or instruction(one.text)
        ]
        asked = self._marked("question", [answer.question])[0]
        notes = [f"the question {MARK}; it was only searched for"] if asked else []
        notes += _notes(found, cited)
        notes += _planted(answer, {one.paper.id for one in found})
        notes += _one_voice(answer)
        guard = {"question": asked, "marked": [one.key for one in found]}
        return replace(
            answer,
            note="; ".join(filter(None, [answer.note.rstrip("."), *notes]))
            if notes
            else answer.note,
            manifest={**answer.manifest, "guard": guard},
        )

    def _texts(self, answer: Answer) -> list[Text]:
        """What the answer cites or was written from, and the titles of these papers."""
        places = _places(answer)
        papers = {one.paper.id: one.paper for one in answer.citations}
        if missing := places.keys() - papers.keys():
            papers |= self._papers(missing)
        found: list[Text] = []
        for paper_id, indexes in places.items():
            if (paper := papers.get(paper_id)) is None:
                continue
            if not paper.title_derived:
                found.append(Text(f"{paper_id}:title", paper, paper.title))
            found += [
                Text(f"{paper_id}:{index}", paper, paper.sentences[index].text)
                for index in sorted(indexes)
                if index < len(paper.sentences)
            ]
        return found

    def _papers(self, ids: set[str]) -> Mapping[str, Paper]:
        try:
            with self._reader.state() as state:
                return state.snapshot.papers(ids)
        except IndexUnusable:
            return {}

    def _marked(self, subject: Subject, texts: Sequence[str]) -> list[bool]:
        """Which are marked, by words and meaning; by words alone where there are no vectors."""
        judge, vectors = self._judge(subject, texts)
        return [judge.marks(text, vector) for text, vector in zip(texts, vectors, strict=True)]

    def _judge(
        self, subject: Subject, texts: Sequence[str]
    ) -> tuple[Detector, Sequence[Sequence[float]]]:
        without: Sequence[Sequence[float]] = [()] * len(texts)
        try:
            with self._reader.state() as state:
                judge = detector(subject, state.embedding_model)
                if judge.vector and 0 < len(texts) <= _EMBEDDED:
                    return judge, state.embed(list(texts)).tolist()
        except (IndexUnusable, ModelError):
            pass
        return detector(subject, WORDS), without


def _places(answer: Answer) -> dict[str, set[int]]:
    """The sentences that the answer rests on, as places in each paper."""
    places: dict[str, set[int]] = {one.paper.id: set() for one in answer.citations}
    for claim in answer.claims:
        for item in claim.support:
            places.setdefault(item.paper_id, set()).add(item.index)
    read = answer.manifest.get("evidence")
    for name in read if isinstance(read, list) else ():
        paper_id, _, index = str(name).rpartition(":")
        if index.isdigit():
            places.setdefault(paper_id, set()).add(int(index))
    return places


def _notes(found: Sequence[Text], cited: Mapping[str, int]) -> Iterator[str]:
    """A line for each paper, cited ones first, with the first words that were found in it."""
    first: dict[str, Text] = {}
    for one in found:
        first.setdefault(one.paper.id, one)
    ordered = sorted(first.values(), key=lambda one: cited.get(one.paper.id, len(cited) + 1))
    for one in ordered[:_TOLD]:
        number = cited.get(one.paper.id)
        title = _short(one.paper.title)
        who = f"[{number}]" if number else f"“{title}”, which was read and is not cited,"
        yield f"{who} {MARK}: “{_short(one.text)}”"
    if len(ordered) > _TOLD:
        yield f"{len(ordered) - _TOLD} more papers that were read {MARK}"


def _planted(answer: Answer, told: set[str]) -> Iterator[str]:
    """What was seen of a cited paper when it was indexed, if nothing else is told of it."""
    for one in answer.citations:
        if one.paper.meta.flags and one.paper.id not in told:
            yield f"[{one.number}] looks planted: {'; '.join(one.paper.meta.flags)}"


def _one_voice(answer: Answer) -> Iterator[str]:
    """Which cited papers say nearly the same: that they agree is then no second witness."""
    numbers = {one.paper.id: one.number for one in answer.citations}
    for group in voices(one.paper for one in answer.citations):
        if len(group) > 1:
            named = ", ".join(f"[{numbers[paper.id]}]" for paper in group)
            yield f"{named} are nearly the same text, and count as one voice"


def _short(text: str) -> str:
    line = without_links(legible(text))
    return line if len(line) <= _CHARS else f"{line[:_CHARS].rstrip()}…"
