"""Understanding a question, step by step; each takes what is known of it and gives the next.

What is written stays: a name, a number or a word that the collection has is never replaced. A step
that finds nothing to do gives back what it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rag.index.browse import Filter, passing
from rag.index.lexical import inverse_frequencies
from rag.index.snapshot import Snapshot
from rag.retrieval.acronyms import add_acronyms
from rag.retrieval.chinese import translate_chinese
from rag.retrieval.filters import take_filters
from rag.retrieval.phrases import keep_phrases
from rag.retrieval.query import Query, Question
from rag.retrieval.spelling import repair_typos
from rag.retrieval.variants import add_spellings

Step = Callable[[Query, Snapshot], Query]
_MOST_TERMS = 60
_WORDS_READ = 100  # a longer question is a text: it is searched as it stands


def understand(question: Question, snapshot: Snapshot, asked: Sequence[Filter] = ()) -> Query:
    """What a question asks of this collection; `asked` are filters that were given beside it."""
    query = Query.of(question)
    for wanted in asked:
        query = _given(query, wanted, passing(snapshot, wanted))
    if query.papers is not None and not query.papers:
        return query
    for step in _steps(question):
        query = step(query, snapshot)
    return query


def _steps(question: Question) -> tuple[Step, ...]:
    if len(question.text.split()) > _WORDS_READ:
        return (keep_phrases, translate_chinese, keep_rarest)
    reading: tuple[Step, ...] = (keep_phrases, take_filters, repair_typos)
    return (*reading, add_spellings, add_acronyms, translate_chinese, keep_rarest)


def keep_rarest(query: Query, snapshot: Snapshot) -> Query:
    """At most 60 terms, those that the fewest papers have."""
    if len(query.terms) <= _MOST_TERMS:
        return query
    there = sorted(snapshot.holding(query.terms))
    rarity = inverse_frequencies(snapshot, there)
    kept = sorted(there, key=lambda term: (-rarity[term], term))[:_MOST_TERMS]
    note = f"long: the {len(kept)} rarest of {len(query.terms)} words were searched"
    return replace(query, terms={term: query.terms[term] for term in sorted(kept)}).noting(note)


def _given(query: Query, wanted: Filter, papers: frozenset[str]) -> Query:
    query = replace(query, filters=(*query.filters, wanted)).only(papers)
    left = len(query.papers or ())
    if not left:
        return query.noting(f"no paper passes the filter: {wanted.told()}")
    return query.noting(f"only {wanted.told()} ({left:,} papers)")
