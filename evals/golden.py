"""The golden questions over the seeds, through the assistant that users have."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evals.matching import is_right
from evals.running.gold import suite_id
from evals.stats import Mean, mean
from rag import Answer, Assistant, ClaimMade, Done
from rag.answering.parts import indexer_of
from rag.config import load

ROOT = Path(__file__).parents[1]
SUITE = ROOT / "evals" / "suites" / "seeds.jsonl"

ALL = "all"

Sample = dict[str, Any]


def read_suite(path: Path, kinds: Iterable[str] = ()) -> list[Sample]:
    """The items of a suite, of the given kinds or of all."""
    wanted = set(kinds)
    items = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [item for item in items if not wanted or item["kind"] in wanted]


@contextmanager
def over_seeds(settings: Mapping[str, object]) -> Iterator[Assistant]:
    """An assistant over an index of the seeds made for this use."""
    with tempfile.TemporaryDirectory() as folder:
        config = load({**settings, "data_dir": folder}).config
        indexer = indexer_of(config, lambda *_: None)
        try:
            indexer.sync([ROOT / "seeds"])
        finally:
            indexer.close()
        with Assistant.from_config(config) as assistant:
            yield assistant


def run_search(assistant: Assistant, items: Iterable[Sample]) -> Iterator[Sample]:
    """Whether the right paper is first, and what share of the right ones is in the first five."""
    for item in items:
        gold = set(item["paper_ids"])
        if not gold:
            continue
        hits = assistant.search(item["question"], 10).hits
        ids = [suite_id(hit.paper.source, hit.paper.ordinal) for hit in hits]
        yield {
            "id": item["id"],
            "kind": item["kind"],
            "first": float(bool(ids) and ids[0] in gold),
            "in5": len(gold.intersection(ids[:5])) / len(gold),
        }


def run_ask(assistant: Assistant, items: Iterable[Sample]) -> Iterator[Sample]:
    """Whether each answer is right, abstained, verbatim in its citations, and how long it took."""
    for item in items:
        started = time.perf_counter()
        first: float | None = None
        answer: Answer | None = None
        for event in assistant.ask(item["question"]):
            if isinstance(event, ClaimMade) and first is None:
                first = time.perf_counter() - started
            elif isinstance(event, Done):
                answer = event.answer
        if answer is None:
            raise RuntimeError(f"{item['id']} has no answer")
        yield _judged(item, answer) | {
            "seconds": time.perf_counter() - started,
            "first_claim": first,
            "text": answer.text,
        }


def _judged(item: Sample, answer: Answer) -> Sample:
    gold = set(item["paper_ids"])
    cited = [suite_id(c.paper.source, c.paper.ordinal) for c in answer.citations]
    sample: Sample = {
        "id": item["id"],
        "kind": item["kind"],
        "abstained": float(answer.status == "abstained"),
        "verbatim": [
            float(_slices_back(c.paper, s)) for c in answer.citations for s in c.sentences
        ],
        "dropped": len(answer.dropped),
    }
    if item["answerable"]:
        sample["right"] = float(is_right(item, answer.text))
        if cited:
            sample["cites_gold"] = sum(name in gold for name in cited) / len(cited)
    return sample


def _slices_back(paper: Any, sentence: Any) -> bool:
    """Whether the cited sentence stands in the seed file exactly where its offsets say."""
    text = (ROOT / "seeds" / Path(paper.source).name).read_text(encoding="utf-8")
    begin = paper.source_offset
    return bool(text[begin + sentence.start : begin + sentence.end] == sentence.text)


def table(samples: list[Sample], measures: Iterable[str]) -> dict[str, dict[str, Mean]]:
    """The mean of each measure for each kind of question and over all; absent where none has it."""
    groups = {kind: [s for s in samples if s["kind"] == kind] for kind in _kinds(samples)}
    groups[ALL] = samples
    return {
        kind: {measure: mean(values) for measure in measures if (values := _values(group, measure))}
        for kind, group in groups.items()
    }


def _kinds(samples: list[Sample]) -> list[str]:
    return sorted({sample["kind"] for sample in samples})


def _values(group: Iterable[Mapping[str, Any]], measure: str) -> list[float]:
    found: list[float] = []
    for sample in group:
        value = sample.get(measure)
        if isinstance(value, list):
            found += value
        elif value is not None:
            found.append(float(value))
    return found
