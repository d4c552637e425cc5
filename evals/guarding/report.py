"""What the guard marks of the texts that it was not fitted on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evals.guarding.exact import Share, share
from evals.guarding.material import ATTACKS, Sample
from rag.guarding.guard import WORDS, Detector, Subject, detector
from rag.index.embedding import Embedder

_BATCH = 256


@dataclass(frozen=True, slots=True)
class Row:
    """How many texts of a set were marked; `model` is the embedding model, or `words`."""

    subject: Subject
    model: str
    set: str
    marked: Share
    missed: tuple[str, ...] = ()
    false: tuple[str, ...] = ()


def rows(subject: Subject, samples: Sequence[Sample], embedder: Embedder | None) -> Iterator[Row]:
    """A row for each set, and for each kind of attack, of what was not fitted on."""
    model = embedder.name if embedder else WORDS
    judge = detector(subject, model)
    rest = [one for one in samples if not one.fits]
    marked = _marked(judge, rest, subject, embedder if judge.vector else None)
    groups: dict[str, list[int]] = {}
    for place, one in enumerate(rest):
        groups.setdefault(one.set, []).append(place)
        if one.set == ATTACKS:
            groups.setdefault(f"{ATTACKS}: {one.group}", []).append(place)
    for name, places in groups.items():
        found = [marked[place] for place in places]
        texts = [rest[place].text for place in places]
        split = list(zip(texts, found, strict=True))
        is_attack = name.startswith(ATTACKS)
        yield Row(
            subject,
            model,
            name,
            share(sum(found), len(found)),
            tuple(text for text, was in split if not was) if is_attack and name != ATTACKS else (),
            tuple(text for text, was in split if was) if not is_attack else (),
        )


def _marked(
    judge: Detector, samples: Sequence[Sample], subject: Subject, embedder: Embedder | None
) -> list[bool]:
    pieces = [[one.text] if subject == "question" else one.pieces() for one in samples]
    flat = [piece for own in pieces for piece in own]
    verdicts = iter(_verdicts(judge, flat, embedder))
    return [sum(next(verdicts) for _ in own) > 0 for own in pieces]


def _verdicts(judge: Detector, texts: Sequence[str], embedder: Embedder | None) -> Iterator[bool]:
    for at in range(0, len(texts), _BATCH):
        batch = texts[at : at + _BATCH]
        vectors = embedder.embed(batch).tolist() if embedder else [()] * len(batch)
        yield from map(judge.marks, batch, vectors)
