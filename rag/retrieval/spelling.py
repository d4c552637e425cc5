"""Typos, repaired against the collection's own vocabulary.

Only a word that neither a paper nor a dictionary has is a typo, and only where most of the
question's words are known: a question in another language is not misspelt. Names, numbers and what
has a capital or an accent are left as they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag.index.snapshot import Snapshot
from rag.index.vocabulary import beginning, texts_with
from rag.retrieval.lexicon import english_words
from rag.retrieval.query import Query
from rag.text import content_words, terms

_SHORTEST = 4
_SHORT = 6  # letters, up to which one edit is allowed; two above
_TRIED = 5
_TYPED = 0.5  # what the typo itself weighs
_WORD = re.compile(r"[^\W_]+(?:[-'\u2019][^\W_]+)*")
_READ = 10  # texts, for how a word is written


@dataclass(frozen=True, slots=True)
class Repair:
    """A word that no paper has, and the one that was meant."""

    word: str
    meant: str


def repair_typos(query: Query, snapshot: Snapshot) -> Query:
    """Put the nearest word of the collection in place of each typo; the typo stays a term."""
    repairs = [
        repair
        for word in _suspects(query.text, snapshot)
        if (repair := _repair(word, snapshot)) is not None
    ]
    if not repairs:
        return query
    meant = {repair.word: repair.meant for repair in repairs}
    text = _WORD.sub(lambda match: meant.get(match[0], match[0]), query.text)
    typed = {term: _TYPED for repair in repairs for term in terms(repair.word)}
    told = ", ".join(f"{repair.word} \u2192 {repair.meant}" for repair in repairs)
    return query.reading(text).expanded(typed).noting(f"spelling: {told}")


def _suspects(text: str, snapshot: Snapshot) -> list[str]:
    """Words that are unknown and look like no name, if they are the fewer."""
    words = [match[0] for match in _WORD.finditer(text) if content_words(match[0])]
    asked = {word: terms(word) for word in words}
    there = snapshot.holding([term for found in asked.values() for term in found])
    missing = [word for word, found in asked.items() if not any(term in there for term in found)]
    if not any(_may_be_misspelt(word, text) for word in missing):
        return []
    unknown = [word for word in missing if word.lower() not in english_words()]
    if 2 * len(unknown) > len(asked):
        return []
    return [word for word in unknown if _may_be_misspelt(word, text)]


def _may_be_misspelt(word: str, text: str) -> bool:
    """Four letters or more, all of a to z; a capital only where it begins the question."""
    begins = text.startswith(word)
    plain = word[1:] if begins else word
    return len(word) >= _SHORTEST and word.isascii() and word.isalpha() and plain.islower()


def _repair(word: str, snapshot: Snapshot) -> Repair | None:
    """The word of the collection that is nearest to `word`, the commonest of several."""
    stem, edits = terms(word)[0], 1 if len(word) <= _SHORT else 2
    for first in (stem[0], stem[1]):  # the first two letters may be exchanged
        near = _near(stem, beginning(snapshot, first), edits)
        written = [found for one in near if (found := _as_written(one, word, snapshot, edits))]
        if written:
            return Repair(word, written[0])
    return None


def _near(stem: str, vocabulary: dict[str, int], edits: int) -> list[str]:
    """Terms within so many edits of a stem (Damerau and Levenshtein), best first.

    A digit is no typo: h2o and h20 are two names.
    """
    from rapidfuzz.distance import DamerauLevenshtein
    from rapidfuzz.process import extract

    found = extract(
        stem,
        [term for term in vocabulary if abs(len(term) - len(stem)) <= edits and term.isalpha()],
        scorer=DamerauLevenshtein.distance,
        score_cutoff=edits,
        limit=None,
    )
    ordered = sorted((distance, -vocabulary[term], term) for term, distance, _ in found)
    return [term for _, _, term in ordered[:_TRIED]]


def _as_written(term: str, typed: str, snapshot: Snapshot, edits: int) -> str:
    """The word of which `term` is the stem, as papers write it, nearest to what was typed.

    Empty where none is as near as its stem.
    """
    from rapidfuzz.distance import DamerauLevenshtein

    begins = re.compile(rf"\b{re.escape(term[:2])}[a-z]*\b", re.IGNORECASE)
    texts = texts_with(snapshot, [term], _READ)
    words = {word.lower() for text in texts for word in begins.findall(text)}
    near = [
        (DamerauLevenshtein.distance(word, typed.lower()), word)
        for word in words
        if terms(word) == [term]
    ]
    distance, word = min(near, default=(edits + 1, ""))
    return word if distance <= edits else ""
