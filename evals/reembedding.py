"""What it costs and brings to change the embedding model: the bridge, the switch, the searches.

An index is made with one model. The judged queries are asked of it in four states: with its own
model, by the new model over the bridge, while all is embedded anew, and afterwards.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from evals.collection import Collection, Query
from evals.metrics import ndcg, recall
from evals.stats import Mean, mean
from evals.systems.product import write_papers
from rag.answering.assistant import Assistant
from rag.answering.parts import indexer_of
from rag.answering.served import reembedding, with_model
from rag.config import Config
from rag.errors import AskPapersError
from rag.index.bridge import Interval, ratio
from rag.index.bridging import Bridging, build_bridge

K = 10
_PAUSE = 0.2  # seconds between two searches of a person who never rests
WAYS = ("old model", "bridge", "new model")
MEANING = {
    "weight_dense": 1.0,
    "weight_lexical": 0.0,
    "weight_sentence": 0.0,
    "weight_aspect": 0.0,
}
Progress = Callable[[str, int, int], None]
Rankings = dict[str, list[str]]
"""The ids of the first ten documents for each query."""


@dataclass(frozen=True, slots=True)
class Row:
    """How well one way of asking finds: by vectors alone, or by the whole search.

    `overlap` is with the ten that the new model finds, all being embedded by it.
    """

    way: str
    ranking: str
    ndcg: Mean
    recall: Mean
    overlap: Mean


@dataclass(frozen=True, slots=True)
class Asked:
    """Searches that were made while all was embedded anew."""

    searches: int
    failed: int
    median: float
    slowest: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """`recovered`: recall@10 over the bridge by that of the new model, by vectors alone."""

    papers: int
    tried: Bridging
    rows: tuple[Row, ...]
    recovered: Interval
    seconds: float
    meanwhile: Asked


def run(
    collection: Collection, config: Config, new: str, sample: int, progress: Progress
) -> Outcome:
    """Index a collection, bridge it, and take it over to the model `new`."""
    with TemporaryDirectory() as folder:
        config = config.model_copy(update={"data_dir": Path(folder) / "data", "llm": "none"})
        papers = _index(collection, config, Path(folder) / "papers.jsonl", progress)
        found = {("old model", name): r for name, r in _both(collection, config).items()}
        with reembedding(config, new, progress) as worker:
            tried = build_bridge(worker, sample=sample, least=0.0)
        wished = with_model(config, new)
        found |= {("bridge", name): r for name, r in _both(collection, wished).items()}
        seconds, meanwhile = _move(collection, config, new, progress)
        found |= {("new model", name): r for name, r in _both(collection, wished).items()}
    rows = tuple(
        _row(collection, way, name, found) for name in ("vectors", "search") for way in WAYS
    )
    judged = [_recalls(collection, found[way, "vectors"]) for way in ("bridge", "new model")]
    recovered = ratio(*(np.asarray(values) for values in judged))
    return Outcome(papers, tried, rows, recovered, seconds, meanwhile)


def _index(collection: Collection, config: Config, path: Path, progress: Progress) -> int:
    write_papers(path, collection.documents)
    indexer = indexer_of(config, progress)
    try:
        return indexer.sync([path]).total.papers
    finally:
        indexer.close()


def _both(collection: Collection, config: Config) -> dict[str, Rankings]:
    """The rankings by vectors alone and by the whole search."""
    return {
        "vectors": _rankings(collection, config.model_copy(update=MEANING)),
        "search": _rankings(collection, config),
    }


def _rankings(collection: Collection, config: Config) -> Rankings:
    with Assistant.from_config(config) as assistant:
        return {query.id: _ask(assistant, collection, query) for query in collection.scored}


def _ask(assistant: Assistant, collection: Collection, query: Query) -> list[str]:
    hits = assistant.search(query.text, K).hits
    return [collection.documents[hit.paper.ordinal - 1].id for hit in hits]


def _row(
    collection: Collection, way: str, name: str, found: Mapping[tuple[str, str], Rankings]
) -> Row:
    mine, full = found[way, name], found["new model", name]
    gains = [ndcg(mine[q.id], collection.judgements[q.id], K) for q in collection.scored]
    shared = [len(set(mine[q.id]) & set(full[q.id])) / K for q in collection.scored]
    return Row(way, name, mean(gains), mean(_recalls(collection, mine)), mean(shared))


def _recalls(collection: Collection, found: Rankings) -> list[float]:
    return [recall(found[q.id], collection.judgements[q.id], K) for q in collection.scored]


def _move(
    collection: Collection, config: Config, new: str, progress: Progress
) -> tuple[float, Asked]:
    """Embed all anew and switch, while somebody searches without pause."""
    ends = threading.Event()
    times: list[float] = []
    failures: list[AskPapersError] = []

    def ask() -> None:
        with Assistant.from_config(config) as assistant:
            while not ends.is_set():
                query = collection.scored[len(times) % len(collection.scored)]
                began = time.perf_counter()
                try:
                    assistant.search(query.text, K)
                except AskPapersError as error:
                    failures.append(error)
                times.append(time.perf_counter() - began)
                ends.wait(_PAUSE)

    thread = threading.Thread(target=ask)
    thread.start()
    began = time.perf_counter()
    try:
        with reembedding(config, new, progress) as worker:
            worker.run()
        seconds = time.perf_counter() - began
    finally:
        ends.set()
        thread.join()
    asked = Asked(len(times), len(failures), float(np.median(times)), max(times))
    return seconds, asked


def table(rows: Sequence[Row]) -> str:
    """A Markdown table of what each way of asking finds."""
    lines = ["| ranking | asked by | nDCG@10 | recall@10 | of the new model's ten |"]
    lines.append("|---" * 5 + "|")
    lines += [f"| {r.ranking} | {r.way} | {r.ndcg} | {r.recall} | {r.overlap} |" for r in rows]
    return "\n".join(lines)


def told(outcome: Outcome) -> list[str]:
    """What else is to be said of an outcome, a sentence each."""
    quality, asked = outcome.tried.quality, outcome.meanwhile
    return [
        f"The bridge from {outcome.tried.new} to {outcome.tried.old}, fitted on"
        f" {outcome.tried.sample} papers, recovers {outcome.recovered} of recall@10 on the judged"
        f" queries; by its own trial {quality.recovered}.",
        f"Taking over {outcome.papers:,} papers took {outcome.seconds:.1f} s,"
        f" {outcome.papers / outcome.seconds:.1f} papers/s.",
        f"Meanwhile {asked.searches} searches were made, {asked.failed} of them failed; median"
        f" {asked.median * 1000:.0f} ms, slowest {asked.slowest * 1000:.0f} ms.",
    ]


def as_json(outcome: Outcome) -> dict[str, Any]:
    """The figures, for a file."""
    return asdict(outcome)
