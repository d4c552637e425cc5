"""Whether the sentences that an answer is written from hold what the question asks for.

The golden questions name the sentences of the abstracts that answer them. Asked without a language
model, the assistant chooses evidence just the same, and its manifest says what it chose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from evals.golden import Sample, suite_id
from rag import Assistant

KINDS = ("named", "numeric", "acronym", "paraphrase")
MEASURES = ("found", "share", "sentences")

Place = tuple[str, str]
"""A paper's name in the suite, and a sentence of it."""


def run(assistant: Assistant, items: Iterable[Sample]) -> Iterator[Sample]:
    """For each answerable question whether a gold sentence is chosen, and what share of them is."""
    for item in items:
        if not item["answerable"]:
            continue
        chosen = _chosen(assistant, item["question"])
        held = held_by(_gold(item), chosen)
        yield {
            "id": item["id"],
            "kind": item["kind"],
            "found": float(any(held)),
            "share": sum(held) / len(held),
            "sentences": len(chosen),
        }


def held_by(gold: Sequence[Place], chosen: Sequence[Place]) -> list[bool]:
    """Which of the gold quotes stand among the chosen sentences of the same paper.

    A quote may be a part of a sentence, or go over several of which one is chosen: sentences are
    cut by the product, quotes were taken by hand. White space does not count.
    """
    sentences = [(paper, _plain(text)) for paper, text in chosen]
    return [
        any(
            paper == other and (_plain(quote) in text or text in _plain(quote))
            for other, text in sentences
        )
        for paper, quote in gold
    ]


def groups(samples: Sequence[Sample]) -> list[Sample]:
    """The samples, and once more those of questions that name what they ask about, together."""
    direct = [sample for sample in samples if sample["kind"] in KINDS[:3]]
    return [*samples, *(sample | {"kind": ", ".join(KINDS[:3])} for sample in direct)]


def _gold(item: Mapping[str, object]) -> list[Place]:
    papers, quotes = item["evidence_paper_ids"], item["evidence"]
    if not isinstance(papers, list) or not isinstance(quotes, list):
        raise TypeError(f"{item['id']} has no lists of evidence")
    return list(zip(papers, quotes, strict=True))


def _chosen(assistant: Assistant, question: str) -> list[Place]:
    """What the manifest of an answer names, as `paper id:index of the sentence`."""
    names = assistant.answer(question).manifest["evidence"]
    if not isinstance(names, list):
        raise TypeError("the manifest has no list of evidence")
    places = []
    for name in names:
        key, _, index = name.rpartition(":")
        paper = assistant.find(key)
        places.append((suite_id(paper.source, paper.ordinal), paper.sentences[int(index)].text))
    return places


def _plain(text: str) -> str:
    return " ".join(text.split())
