"""Trying how well questions of a new model can be carried into the vectors of an index.

A few hundred papers are drawn and embedded by the new model; the index has their present vectors.
Five times a map is fitted on four fifths of them, and a sentence of each paper of the last fifth
asks for its paper, from which that very sentence is left out, among all that were drawn. How deep
it may lie there is in proportion to the ten first of the whole collection. The map that is kept is
fitted on all that were drawn.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rag.errors import UsageError
from rag.index.bridge import Quality, Trial, carry, depth, fit, judge, ranked
from rag.index.built import BuiltWith, probe_of, recorded_dimension
from rag.index.embedding import Vectors, paper_vector
from rag.index.reembedding import Reembedder
from rag.index.serving import remove_bridge, store_bridge

FEWEST = 30  # papers; of fewer a question would find its own among the first ten by chance
_FOLDS = 5
_SEED = 4


@dataclass(frozen=True, slots=True)
class Bridging:
    """The outcome of a trial: between which models, how well, and whether the bridge is kept.

    `depth`: the first so many of the `sample` stand for the first ten of the `papers`.
    """

    new: str
    old: str
    papers: int
    sample: int
    depth: int
    quality: Quality
    least: float

    @property
    def stored(self) -> bool:
        """Whether enough of the recall is recovered."""
        return self.quality.recovered.value >= self.least


@dataclass(frozen=True, slots=True)
class Pair:
    """A paper's chunk vectors under the new model and under the present one, row for row."""

    new: Vectors
    old: Vectors


def build_bridge(reembedder: Reembedder, *, sample: int, least: float) -> Bridging:
    """Fit a bridge to the index as it is served, measure it, and keep it if it is good enough.

    It takes the place of one that was kept before, which goes in any case.

    Raises:
        IndexUnusable: there is no index.
        UsageError: it is served with the new model already, or holds too few papers to tell.
        ModelError: the model failed.
    """
    embedder = reembedder.embedder
    there = reembedder.present()
    if there.embedding_model == embedder.name:
        raise UsageError(f"The index is served with {embedder.name} already")
    pairs, papers = _pairs(reembedder, there, sample)
    if len(pairs) < FEWEST:
        raise UsageError(
            f"{len(pairs)} papers are too few to fit and try a bridge",
            cause=f"{FEWEST} are needed, of two sentences or more",
            remedy=f"`rag reembed --model {embedder.name}` embeds so few in no time.",
        )
    first = depth(len(pairs), papers)
    quality = judge(list(trials(pairs, first)))
    models = (embedder.name, there.embedding_model)
    found = Bridging(*models, papers, len(pairs), first, quality, least)
    bridge, probe = _fitted(pairs), probe_of(embedder)
    with reembedder.writing() as writer:
        if BuiltWith.recorded(writer) == there:  # it may have switched meanwhile
            remove_bridge(writer)
            if found.stored:
                store_bridge(writer, there, embedder.name, probe, bridge)
    return found


def trials(pairs: Sequence[Pair], first: int) -> Iterator[Trial]:
    """One question for each pair, by a bridge that was fitted without it; the `first` it finds."""
    draw = random.Random(_SEED)
    order = draw.sample(range(len(pairs)), len(pairs))
    old = np.stack([paper_vector(pair.old) for pair in pairs])
    new = np.stack([paper_vector(pair.new) for pair in pairs])
    for fold in range(_FOLDS):
        held = order[fold::_FOLDS]
        bridge = _fitted([pairs[place] for place in sorted(set(order) - set(held))])
        for place in held:
            pair = pairs[place]
            asked = draw.randrange(len(pair.new))
            rest_new = paper_vector(np.delete(pair.new, asked, axis=0))
            rest_old = paper_vector(np.delete(pair.old, asked, axis=0))
            carried = carry(pair.new[asked], bridge)
            yield Trial(
                paper=place,
                full=_nearest(pair.new[asked], new, place, rest_new)[:first],
                bridged=_nearest(carried, old, place, rest_old)[:first],
                present=_nearest(pair.old[asked], old, place, rest_old)[:first],
            )


def _fitted(pairs: Sequence[Pair]) -> Vectors:
    return fit(np.vstack([p.new for p in pairs]), np.vstack([p.old for p in pairs]))


def _nearest(question: Vectors, papers: Vectors, place: int, rest: Vectors) -> list[int]:
    """All papers, the nearest first; that at `place` counts with what is left of it."""
    cosines = papers @ question
    cosines[place] = rest @ question
    return ranked(cosines, len(papers))


def _pairs(reembedder: Reembedder, there: BuiltWith, sample: int) -> tuple[list[Pair], int]:
    """Papers that were drawn, and how many there are.

    They are of two chunks or more: of one nothing would be left to be found.
    """
    with reembedder.catalog.reading() as snapshot:
        dimension = recorded_dimension(snapshot)
        total = snapshot.counts().papers
        papers = snapshot.drawn(there.key, sample, _SEED)
        old = snapshot.matrices_of(there.key, [p.content for p in papers], dimension)
    new: dict[str, Vectors] = {}
    for matrices in reembedder.embed(papers):
        new.update(matrices)
    both = (Pair(new[p.content], old[p.content]) for p in papers)
    return [pair for pair in both if len(pair.new) == len(pair.old) >= 2], total
