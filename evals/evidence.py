"""Whether the sentences that an answer is written from hold what the question asks for.

The golden questions name the sentences of the abstracts that answer them. Asked without a language
model, the assistant chooses evidence just the same, and its manifest says what it chose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from evals import golden
from evals.golden import Sample
from evals.running.gold import suite_id
from evals.stats import Mean
from rag import Assistant

DIRECT = ("named", "numeric", "acronym")
KINDS = (*DIRECT, "paraphrase")
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


def table(samples: Sequence[Sample]) -> dict[str, dict[str, Mean]]:
    """The means for each kind, for those together that name what they ask about, and for all."""
    rows = golden.table(list(samples), MEASURES)
    over_all = rows.pop(golden.ALL)
    direct = [sample for sample in samples if sample["kind"] in DIRECT]
    if direct:
        rows[", ".join(DIRECT)] = golden.table(direct, MEASURES)[golden.ALL]
    return rows | {golden.ALL: over_all}


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
