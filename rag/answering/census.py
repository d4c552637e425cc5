"""Whether each paper of a collection meets a condition, by its words and its meaning; pure.

Nothing is ranked here: a paper is judged by what it says itself, so that how many are listed does
not depend on how many were retrieved. The bounds were set on questions over the seed papers
(docs/collection.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag.answering.conditions import Condition
from rag.answering.facts import names
from rag.index.embedding import Vectors
from rag.schema import Evidence, Hit
from rag.text import terms, tokens

_ALL, _MOST, _MUCH = 0.95, 0.75, 0.60
_NEAR, _VERY_NEAR = 0.25, 0.40
_MAYBE_SAID, _MAYBE_MEANT = 0.40, 0.42
_NEGATIONS = frozenset("not no never without neither nor cannot lack lacks free".split())
_LONGEST_ACRONYM = 5
_UNKNOWN = 0.5
_JOINT = re.compile(r"[-'’·]")
_JOINING = re.compile(r"\b(?:and|or|in|of|on|for|with|by|to|from|using|that|which)\b|[,;]")
_BETWEEN = 2  # other words among those that belong together


@dataclass(frozen=True, slots=True)
class Checked:
    """A paper that was held against a condition, and the sentence that speaks most for it.

    `meets` is True or False where the paper's own words decide, and None where they leave it open.
    """

    hit: Hit
    evidence: Evidence
    score: float
    meets: bool | None


@dataclass(frozen=True, slots=True)
class Yardstick:
    """A condition as sentences are held against it.

    `weights` has the inverse document frequency of each of its terms: one that no paper has counts
    half, it may be a word of the asker's own. `acronyms` are terms that stand for several others,
    as gnn for graph, neural and network; `joints` are words with hyphens, which count as one, and
    what they join. `units` are terms that must stand close together to count together. `vector` is
    the condition's.
    """

    weights: Mapping[str, float]
    acronyms: Mapping[str, frozenset[str]]
    joints: Mapping[str, str]
    units: tuple[frozenset[str], ...]
    vector: Vectors
    literal: bool
    negated: bool

    @classmethod
    def of(
        cls,
        condition: Condition,
        holding: Mapping[str, int],
        papers: int,
        vector: Vectors,
        known: Collection[str] = (),
    ) -> Yardstick:
        """`holding` says in how many of the `papers` each term stands.

        `known` are acronyms that the collection defines; only these may be of two letters.
        """
        joints = _joints(condition.text)
        parts = {part for spaced in joints.values() for part in terms(spaced)}
        wanted = sorted((set(terms(condition.text)) - parts) | joints.keys())
        weights = {
            term: math.log((papers + 1) / (holding.get(term, 0) + 0.5))
            * (1.0 if term in holding else _UNKNOWN)
            for term in wanted
        }
        text = condition.text
        units = tuple(_units(text, weights.keys()))
        literal = condition.literal or bool(names(text))
        return cls(weights, _acronyms(text, known), joints, units, vector, literal, _denies(text))

    def check(self, hit: Hit, vectors: Vectors) -> Checked:
        """Hold a paper against the condition; `vectors` has a row for each of its sentences."""
        paper = hit.paper
        titled = [] if paper.title_derived else [paper.title]
        said = [self._terms(sentence.text) for sentence in paper.sentences]
        shares = [self._share([words]) for words in said]
        near = (vectors @ self.vector).tolist() if len(vectors) else [0.0] * len(said)
        ranks = [share + max(0.0, cosine) for share, cosine in zip(shares, near, strict=True)]
        best = int(np.argmax(ranks))
        sentence = paper.sentences[best]
        evidence = Evidence(paper.id, best, sentence.text, sentence.start, sentence.end, near[best])
        in_title = self._share([self._terms(title) for title in titled])
        window = max(map(self._share, zip(said, [*said[1:], frozenset[str]()], strict=True)))
        meets = self._meets(max(shares[best], in_title), window, max(near))
        if meets and self.negated and not _denies(sentence.text):
            meets = None
        return Checked(hit, evidence, ranks[best], meets)

    def _meets(self, said: float, window: float, near: float) -> bool | None:
        if said >= _ALL or (said >= _MOST and (self.literal or near >= _NEAR)):
            return True
        if self.literal:
            return False
        if near >= _VERY_NEAR and (said >= _MUCH or window >= _ALL):
            return True
        return None if said >= _MAYBE_SAID or near >= _MAYBE_MEANT else False

    def _terms(self, text: str) -> frozenset[str]:
        """Which of the condition's terms a text has, also by their acronym or without hyphen."""
        held = set(terms(text))
        apart = {joint: spaced for joint, spaced in self.joints.items() if joint not in held}
        if apart:
            words = f" {' '.join(tokens(text))} "
            held |= {joint for joint, spaced in apart.items() if f" {spaced} " in words}
        meant = [self.acronyms[one] for one in self.acronyms.keys() & held]
        scattered = (unit for unit in self.units if unit <= held and not _close(unit, text))
        apart_terms = {term for unit in scattered for term in unit - {max(unit, key=self._weight)}}
        spelt = {term for some in meant for term in some}
        return frozenset(((held - apart_terms) | spelt) & self.weights.keys())

    def _weight(self, term: str) -> tuple[float, str]:
        return self.weights[term], term

    def _share(self, held: Iterable[frozenset[str]]) -> float:
        """How much of the condition's weight texts hold together."""
        total = sum(self.weights.values())
        both = frozenset[str]().union(*held)
        return sum(self.weights[term] for term in both) / total if total else 1.0


def alternatives(condition: Condition) -> list[Condition]:
    """The conditions of "video generation or video models", of which one has to be met."""
    parts = re.split(r"\s*,?\s+(?:or|oder|ou)\s+", condition.text)
    return [Condition(part, condition.literal) for part in parts if terms(part)] or [condition]


def _joints(text: str) -> dict[str, str]:
    """The terms of words with hyphens, as trainingfree, and the words that they join."""
    joined = (_JOINT.split(token) for token in tokens(text))
    return {"".join(parts): " ".join(parts) for parts in joined if len(parts) > 1}


def _units(text: str, wanted: Collection[str]) -> Iterator[frozenset[str]]:
    """The terms of words that follow each other in a condition, such as reward and hack."""
    for part in _JOINING.split(text):
        unit = frozenset(terms(part)) & frozenset(wanted)
        if len(unit) > 1:
            yield unit


def _close(unit: frozenset[str], text: str) -> bool:
    """Whether the terms stand in a text with no more than two other words among them."""
    found = [terms(word) for word in tokens(text)]
    size = len(unit) + _BETWEEN
    spans = (found[start : start + size] for start in range(max(1, len(found) - size + 1)))
    return any(unit <= {term for word in span for term in word} for span in spans)


def _acronyms(text: str, known: Collection[str]) -> dict[str, frozenset[str]]:
    """The initials of each run of up to five words, and the terms that they stand for."""
    words = tokens(text)
    letters = ["".join(part[0] for part in _JOINT.split(word) if part) for word in words]
    meant = [_joints(word).keys() or set(terms(word)) for word in words]
    found = {}
    for size in range(1, _LONGEST_ACRONYM + 1):
        for start in range(len(words) - size + 1):
            initials = "".join(letters[start : start + size])
            if len(initials) > 2 or initials in known:
                found[initials] = frozenset[str]().union(*meant[start : start + size])
    return found


def _denies(text: str) -> bool:
    return not _NEGATIONS.isdisjoint(re.findall(r"[a-z]+", text.lower()))


def best_of(checks: Sequence[Checked]) -> Checked:
    """The check of one paper against alternatives that speaks most for it."""
    order = {True: 2, None: 1, False: 0}
    return max(checks, key=lambda one: (order[one.meets], one.score))
