"""Having a model draft questions about one paper, and drawing the papers."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rag.answering.asking import Asker, GivenUp, Reading, object_schema
from rag.answering.prompting import Labelled, label, show
from rag.schema import Evidence, Paper

_SENTENCES = 20  # of an abstract that the model reads
_TOKENS_A_DRAFT = 160


@dataclass(frozen=True, slots=True)
class Draft:
    """What a model wrote of a paper: `sentence` is the one that it says answers the question.

    `sentence` is empty where it names none that is there.
    """

    paper: Paper
    question: str
    answer: str
    sentence: str


def drawn(papers: Iterable[Paper], count: int, seed: int) -> list[Paper]:
    """`count` papers of several sentences, each as likely as any other; in the order given.

    One pass and `count` papers in memory: reservoir sampling (Vitter 1985, algorithm R).
    """
    draws = random.Random(seed)
    kept: list[tuple[int, Paper]] = []
    seen = 0
    for paper in papers:
        if len(paper.sentences) < 2:
            continue
        place = seen if seen < count else draws.randrange(seen + 1)
        if place < count:
            kept[place : place + 1] = [(seen, paper)]
        seen += 1
    return [paper for _, paper in sorted(kept, key=lambda one: one[0])]


def drafts(asker: Asker, paper: Paper, most: int) -> list[Draft]:
    """At most `most` questions about a paper, as the model wrote them.

    Raises:
        GivenUp: it failed, was too late, or wrote nothing that can be read.
    """
    evidence = [
        Evidence(paper.id, place, one.text, one.start, one.end, 0.0)
        for place, one in enumerate(paper.sentences[:_SENTENCES])
    ]
    sentences = label([(paper, one) for one in evidence])
    schema = _schema([one.label for one in sentences], most)
    values = {"most": most, "evidence": show(sentences)}
    reply = asker.ask("draft-question", values, schema, _TOKENS_A_DRAFT * most, Reading())
    found = list(_read(reply.value, paper, sentences))[:most]
    if not found:
        raise GivenUp("it wrote no question that can be read")
    return found


def _read(
    value: Mapping[str, object], paper: Paper, sentences: Iterable[Labelled]
) -> Iterator[Draft]:
    by_label = {one.label: one.evidence.text for one in sentences}
    listed = value.get("drafts")
    for one in listed if isinstance(listed, list) else []:
        if not isinstance(one, dict):
            continue
        question, answer = _text(one, "question"), _text(one, "answer")
        if question and answer:
            yield Draft(paper, question, answer, by_label.get(_text(one, "sentence"), ""))


def _text(value: Mapping[str, Any], key: str) -> str:
    text = value.get(key)
    return " ".join(text.split()) if isinstance(text, str) else ""


def _schema(labels: list[str], most: int) -> dict[str, object]:
    """The sentence comes first: a model that has chosen it asks what it answers."""
    text = {"type": "string", "minLength": 1, "maxLength": 300}
    draft = {
        "type": "object",
        "properties": {
            "sentence": {"type": "string", "enum": labels},
            "answer": {"type": "string", "minLength": 1, "maxLength": 120},
            "question": text,
        },
        "required": ["sentence", "answer", "question"],
        "additionalProperties": False,
    }
    return object_schema(
        "drafts", {"type": "array", "items": draft, "minItems": 1, "maxItems": most}
    )
