"""Passages that no language model is to judge: written to instruct whatever model reads them.

Fenced as data such a passage still turns verdicts of small models (docs/evaluation.md). So it is
not shown to them at all, and the verdict says why there is none; a check that asks no model judges
it like any other.
"""

from __future__ import annotations

from collections.abc import Iterable

from evals.scoring.statements import Passage
from rag.guarding.planted import signs
from rag.schema import Paper, Sentence
from rag.text import split_sentences


def paper_of(passage: Passage) -> Paper:
    """The paper that a passage is of, as far as the passage tells."""
    text = passage.text
    places = split_sentences(text)
    sentences = tuple(Sentence(text[start:end], start, end) for start, end in places)
    return Paper(passage.paper_id, "", 0, 0, text, passage.title, False, sentences)


def planted(passages: Iterable[Passage]) -> str:
    """What about the passages looks planted, the first that does; empty where none does."""
    for passage in passages:
        if found := signs(paper_of(passage)):
            name = passage.title or passage.paper_id
            return f"planted: {'; '.join(found)} in “{name}”"
    return ""
