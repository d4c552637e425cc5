"""The benchmark of retrieval: systems run over one collection, and what is kept of a run."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from evals.collection import Collection
from evals.comparison import unscored
from evals.metrics import relevant
from evals.systems import PACKAGES, System, make
from evals.trec import Qrels, Run, read_qrels, read_run, write_qrels, write_run
from rag.config import Config
from rag.errors import InputError, ResourceError

DEPTH = 100  # documents of a ranking: what recall@100 needs
REPORT, JUDGED = "report.json", "qrels.txt"

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds that a system took to index `documents`, and for each search after the first.

    Indexing includes loading the models that it needs; importing packages is not in it. The first
    search, which may load or compile something, is made twice and measured the second time.
    """

    documents: int
    index_seconds: float
    search_seconds: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """What was run: everything in a report but the rankings themselves.

    `unscored` queries have no relevant document; they were not asked. `kinds` names the kind of
    each query where the collection tells kinds apart.
    """

    collection: str
    split: str
    documents: int
    queries: int
    unscored: int
    depth: int
    seed: int
    settings: str
    versions: Mapping[str, str]
    kinds: Mapping[str, str]
    costs: Mapping[str, Cost]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The run of each system over the same queries, and what they are judged by."""

    facts: Facts
    qrels: Qrels
    runs: Mapping[str, Run]


def run(
    collection: Collection,
    names: Sequence[str],
    config: Config,
    seed: int,
    split: str,
    progress: Progress,
) -> Benchmark:
    """Index the collection with each system in turn and ask each the same queries.

    Raises:
        UsageError: there is no such system, or it lacks a package; told before anything is run.
    """
    for name in names:
        make(name, config).close()
    asked = {query.id: query for query in collection.scored}
    runs: dict[str, Run] = {}
    costs: dict[str, Cost] = {}
    for name in names:
        progress(f"indexing with {name}", 0, 0)
        system = make(name, config)
        try:
            runs[name], costs[name] = _measured(system, name, collection, progress)
        finally:
            system.close()
    facts = Facts(
        collection=collection.name,
        split=split,
        documents=len(collection.documents),
        queries=len(asked),
        unscored=unscored(collection.judgements, (query.id for query in collection.queries)),
        depth=DEPTH,
        seed=seed,
        settings=config.fingerprint(),
        versions=_versions(),
        kinds={query.id: query.kind for query in asked.values() if query.kind},
        costs=costs,
    )
    return Benchmark(facts, {query: collection.judgements[query] for query in asked}, runs)


def save(benchmark: Benchmark, folder: Path, report: Mapping[str, Any]) -> None:
    """Write the runs and judgements in TREC's forms, and `report.json` with all the rest.

    `report` is what was worked out from them; it is for other programs and never read back.

    Raises:
        ResourceError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, of in benchmark.runs.items():
            write_run(folder / f"{name}.run", of, name)
        write_qrels(folder / JUDGED, benchmark.qrels)
        whole = {"facts": asdict(benchmark.facts), **report}
        text = json.dumps(whole, indent=1, ensure_ascii=False)
        (folder / REPORT).write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise ResourceError(f"{folder} cannot be written", cause=error.strerror or "") from error


def saved(folder: Path) -> Benchmark:
    """What `save` wrote; nothing is run. A run file that was put beside it is a system too.

    Raises:
        InputError: the folder has no benchmark, or a file of it is not what it should be.
    """
    path = folder / REPORT
    try:
        facts = TypeAdapter(Facts).validate_python(json.loads(path.read_bytes())["facts"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{folder} holds no benchmark of retrieval", cause=_cause(error, path)
        ) from error
    files = {file.stem: file for file in sorted(folder.glob("*.run"))}
    qrels = read_qrels(folder / JUDGED)
    if not files or not any(relevant(judged) for judged in qrels.values()):
        raise InputError(
            f"{folder} holds no benchmark of retrieval",
            cause="no run files" if not files else f"no relevant document in {JUDGED}",
        )
    names = [*(name for name in facts.costs if name in files)]
    names += [name for name in files if name not in facts.costs]
    return Benchmark(facts, qrels, {name: read_run(files[name]) for name in names})


def _measured(
    system: System, name: str, collection: Collection, progress: Progress
) -> tuple[Run, Cost]:
    started = time.perf_counter()
    system.index(collection.documents)
    indexed = time.perf_counter() - started
    queries = collection.scored
    system.search(queries[0].text, DEPTH)
    found: dict[str, dict[str, float]] = {}
    seconds: list[float] = []
    for done, query in enumerate(queries, start=1):
        started = time.perf_counter()
        ranking = system.search(query.text, DEPTH)
        seconds.append(time.perf_counter() - started)
        found[query.id] = dict(ranking)
        progress(f"searching with {name}", done, len(queries))
    return found, Cost(len(collection.documents), indexed, tuple(seconds))


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue  # a peer that was not run
    return found


def _cause(error: Exception, path: Path) -> str:
    if isinstance(error, OSError):
        return f"{path.name}: {error.strerror}"
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{path.name}: {'.'.join(map(str, first['loc']))}: {first['msg']}"
    return f"{path.name} is not what was saved"
