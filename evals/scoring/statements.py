"""The statements of an answer, each with the numbers that it cites.

The product hands over its claims one by one. Of any other text the sentences are the statements,
and the marks in and right behind a sentence are its citations: `[1]`, `[1, 2]`, `[1-3]`, `[1][2]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evals.record import Record
from rag.text import split_sentences

_MARK = re.compile(r"\s*\[(\d{1,4}(?:\s*(?:[,;]|[-–])\s*\d{1,4})*)\]")
_BEHIND = re.compile(rf"(?:{_MARK.pattern})+")
_WIDEST = 100  # numbers that one range may name


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of an answer without its marks; numbers ascending, each once.

    `unknown` are those that name no source of the answer.
    """

    text: str
    citations: tuple[int, ...]
    unknown: tuple[int, ...] = ()

    @property
    def known(self) -> tuple[int, ...]:
        """The citations that name a source."""
        return tuple(number for number in self.citations if number not in self.unknown)


@dataclass(frozen=True, slots=True)
class Passage:
    """What a citation points at: a paper, and those of its sentences that are relied on.

    Without sentences the whole text is what is relied on.
    """

    paper_id: str
    title: str
    text: str
    sentences: tuple[str, ...] = ()


def statements_of(record: Record) -> list[Statement]:
    """The statements of a recorded answer; none if it has no text."""
    known = {int(one["number"]) for one in record.answer.get("citations", [])}
    claims = record.answer.get("claims")
    if claims:
        return [_statement(one["text"], one["citations"], known) for one in claims]
    return parse(str(record.answer.get("text", "")), known)


def parse(text: str, known: set[int]) -> list[Statement]:
    """The statements of a running text whose sources are numbered `known`."""
    found: list[Statement] = []
    for start, end in split_sentences(text):
        sentence = text[start:end]
        if found and (behind := _BEHIND.match(sentence)):  # they stand behind the last full stop
            before = found.pop()
            found.append(_statement(before.text, [*before.citations, *_marked(behind[0])], known))
            sentence = sentence[behind.end() :]
        bare = _MARK.sub("", sentence).strip()
        if any(character.isalnum() for character in bare):
            found.append(_statement(bare, _marked(sentence), known))
    return found


def passages_of(record: Record, claim: int, citations: tuple[int, ...]) -> list[Passage]:
    """What a statement relies on when only these of its citations are there, in their order.

    A citation that names no source has no passage.
    """
    sources = {int(one["number"]): one for one in record.answer.get("citations", [])}
    return [
        _passage(record, sources[number], _relied_on(record, claim, number))
        for number in citations
        if number in sources
    ]


def _statement(text: str, numbers: list[int], known: set[int]) -> Statement:
    cited = tuple(sorted(set(numbers)))
    return Statement(text, cited, tuple(number for number in cited if number not in known))


def _marked(text: str) -> list[int]:
    return [number for mark in _MARK.finditer(text) for number in _numbers(mark[1])]


def _numbers(inside: str) -> Iterator[int]:
    for part in re.split(r"\s*[,;]\s*", inside):
        ends = [int(end) for end in re.split(r"\s*[-–]\s*", part)]
        last = min(ends[-1], ends[0] + _WIDEST)
        yield from range(ends[0], last + 1) if len(ends) > 1 else ends


def _relied_on(record: Record, claim: int, number: int) -> list[tuple[int, int]]:
    claims = record.answer.get("claims") or []
    if claim >= len(claims):
        return []
    support = claims[claim].get("support", [])
    return [(one["start"], one["end"]) for one in support if one["number"] == number]


def _passage(
    record: Record, source: Mapping[str, Any], relied_on: list[tuple[int, int]]
) -> Passage:
    paper = record.papers[source["paper_id"]]
    places = relied_on or [(one["start"], one["end"]) for one in source.get("sentences", [])]
    sentences = tuple(paper.text[start:end] for start, end in places)
    return Passage(source["paper_id"], paper.title, paper.text, sentences)
