"""What of an answer is otherwise than at the last time, and which papers made it so.

Pure. A claim is the same if its words are; where only the words differ and the sentences that it
relies on do not, it is reworded. A paper made the difference if the answer cites it, or it was
found before one that is cited, and it came in, left, or changed since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rag.replaying.comparing import Difference, causes, outcome
from rag.replaying.record import Recorded
from rag.schema import Answer
from rag.text import normalise

Move = Literal["new", "changed", "removed"]
Pins = frozenset[tuple[str, int, int]]


@dataclass(frozen=True, slots=True)
class Entry:
    """A paper of the index now: the revision that brought it in, and what names its text."""

    created: int
    content: str
    title: str


@dataclass(frozen=True, slots=True)
class Said:
    """A claim and the ids of the papers that it cites."""

    text: str
    papers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reworded:
    """A claim that relies on the same sentences, or says the same by other ones."""

    before: Said
    now: Said


@dataclass(frozen=True, slots=True)
class Moved:
    """A paper that came in, changed or left; `cited`: by the answer of before or of now."""

    paper_id: str
    title: str
    move: Move
    cited: bool


@dataclass(frozen=True, slots=True)
class Change:
    """All that is otherwise; empty where the answer is as it was and no paper moved.

    `recited` are claims in the same words that now cite other papers. `causes` names what else
    differs beside the index (the model, a prompt, a setting), each in a line.
    """

    status_before: str
    status_now: str
    added: tuple[Said, ...] = ()
    gone: tuple[Said, ...] = ()
    reworded: tuple[Reworded, ...] = ()
    recited: tuple[Reworded, ...] = ()
    papers: tuple[Moved, ...] = ()
    causes: tuple[str, ...] = ()
    answer_differs: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not (self.answer_differs or self.papers)


@dataclass(frozen=True, slots=True)
class Former:
    """The answer of before, the revision of the index then, and the contents of what it cited."""

    answer: Recorded
    revision: int
    contents: Mapping[str, str]


def change(former: Former, answer: Answer, entries: Mapping[str, Entry]) -> Change:
    """What is otherwise; `entries` are the papers of `named` that are in the index now."""
    recorded = former.answer
    before, now = _said_before(recorded), _said_now(answer)
    added, gone, reworded, recited = _claims(before, now)
    return Change(
        recorded.status,
        answer.status,
        added,
        gone,
        reworded,
        recited,
        tuple(_moves(former, answer, entries)),
        tuple(one.told for one in _other_causes(recorded.manifest, answer.manifest)),
        any(one.is_seen for one in outcome(recorded, answer)),
    )


def named(recorded: Recorded | None, answer: Answer) -> frozenset[str]:
    """The papers that either answer has to do with."""
    before = [cited.paper_id for cited in recorded.citations] if recorded else []
    return frozenset([*before, *_cited(answer), *_near(answer)])


def _claims(
    before: Mapping[Said, Pins], now: Mapping[Said, Pins]
) -> tuple[tuple[Said, ...], tuple[Said, ...], tuple[Reworded, ...], tuple[Reworded, ...]]:
    """The claims that came, that left, in other words, and by other papers."""
    gone, added = dict(before), dict(now)
    _pairs(gone, added, lambda one, _: (normalise(one.text), one.papers))
    recited = _pairs(gone, added, lambda one, _: normalise(one.text))
    reworded = _pairs(gone, added, lambda _, pins: pins or None)
    return tuple(added), tuple(gone), tuple(reworded), tuple(recited)


def _pairs(gone: dict[Said, Pins], added: dict[Said, Pins], key: Any) -> list[Reworded]:
    """Take out what has the same key on both sides; a key of None is nobody's."""
    known = {key(one, pins): one for one, pins in gone.items()}
    known.pop(None, None)
    found = []
    for one, pins in list(added.items()):
        if (former := known.pop(key(one, pins), None)) is not None:
            found.append(Reworded(former, one))
            del gone[former], added[one]
    return found


def _said_before(recorded: Recorded) -> dict[Said, Pins]:
    papers = {cited.number: cited.paper_id for cited in recorded.citations}
    return {
        Said(one.text, tuple(papers[n] for n in one.citations if n in papers)): frozenset(
            (papers[pin.number], pin.start, pin.end) for pin in one.support if pin.number in papers
        )
        for one in recorded.claims
    }


def _said_now(answer: Answer) -> dict[Said, Pins]:
    papers = {citation.number: citation.paper.id for citation in answer.citations}
    return {
        Said(one.text, tuple(papers[n] for n in one.citations)): frozenset(
            (item.paper_id, item.start, item.end) for item in one.support
        )
        for one in answer.claims
    }


def _moves(former: Former, answer: Answer, entries: Mapping[str, Entry]) -> Iterator[Moved]:
    """The papers of either answer that are not as they were, those of now first."""
    titles = {cited.paper_id: cited.title for cited in former.answer.citations}
    cited = {*titles, *_cited(answer)}
    for key in dict.fromkeys([*_cited(answer), *_near(answer), *titles]):
        entry = entries.get(key)
        if entry is None:
            if key in titles:
                yield Moved(key, titles[key], "removed", True)
        elif entry.created > former.revision:
            yield Moved(key, entry.title, "new", key in cited)
        elif former.contents.get(key, entry.content) != entry.content:
            yield Moved(key, entry.title, "changed", key in cited)


def _cited(answer: Answer) -> list[str]:
    return [citation.paper.id for citation in answer.citations]


def _near(answer: Answer) -> Sequence[str]:
    """What was found before a paper that is cited; of an abstention the nearest papers."""
    if answer.status == "abstained":
        return [near.paper.id for near in answer.nearest]
    found = answer.manifest.get("found")
    ids = [str(one) for one in found] if isinstance(found, Iterable) else []
    cited = set(_cited(answer))
    last = max((place for place, one in enumerate(ids) if one in cited), default=0)
    return ids[:last]


def _other_causes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[Difference]:
    return [one for one in causes(before, now) if one.what not in {"index", "help"}]
