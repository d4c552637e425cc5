"""How long a search takes as a collection grows: as a whole, by stage, and with several at once."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from evals.collection import Collection
from evals.enlarged import Remembered, build, enlarged
from evals.stats import percentile
from rag import Assistant
from rag.config import Config
from rag.retrieval.search import Found

_WARM_UP = "What is found before anything is measured?"

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of each collection: questions, threads at once, processes that start anew.

    The first half of the questions is asked one by one, the others by several threads, so that none
    has been asked before. `seed` is that of the mixed papers.
    """

    questions: tuple[str, ...]
    readers: int
    starts: int
    seed: int

    @property
    def alone(self) -> tuple[str, ...]:
        """Those asked one by one."""
        return self.questions[: (len(self.questions) + 1) // 2]

    @property
    def together(self) -> tuple[str, ...]:
        """Those asked by several threads."""
        return self.questions[len(self.alone) :]


@dataclass(frozen=True, slots=True)
class Spread:
    """Milliseconds of `n` searches."""

    median: float
    p95: float
    n: int

    def __str__(self) -> str:
        return f"{self.median:.1f}, {self.p95:.1f}"


@dataclass(frozen=True, slots=True)
class First:
    """Seconds of the first search of a process, medians of `starts` processes.

    `whole` is the process from start to end; `search` begins when all packages are imported.
    """

    whole: float
    imports: float
    search: float
    starts: int


@dataclass(frozen=True, slots=True)
class Row:
    """A collection of `papers`, searched.

    `stages` are parts of the searches of `single`. `together` are the searches of `readers` threads
    at a time, of other questions; `lost` of them found something else than alone. `index` is the
    state that was searched; it ends with "exact" where it was the catalog, paper by paper, for want
    of a generation of vectors.
    """

    papers: int
    index: str
    single: Spread
    stages: Mapping[str, Spread]
    together: Spread
    readers: int
    per_second: float
    lost: int
    first: First


def run(
    collection: Collection,
    sizes: Iterable[int],
    settings: Config,
    plan: Plan,
    progress: Progress,
) -> Iterator[Row]:
    """Index a collection of each size in a folder of its own, and search it."""
    remembered: Remembered = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            config = settings.model_copy(update={"data_dir": data, "llm": "none"})
            papers = enlarged(collection.documents, size, plan.seed)
            held = build(config, papers, remembered, plan.seed, progress)
            yield _searched(config, held, plan)


def spread(seconds: Sequence[float]) -> Spread:
    """Median and 95th percentile of times, in milliseconds."""
    return Spread(1e3 * statistics.median(seconds), 1e3 * percentile(seconds, 0.95), len(seconds))


def stages(found: Sequence[Found]) -> dict[str, Spread]:
    """The times of each stage of the searches, in their order."""
    times: dict[str, list[float]] = {}
    for one in found:
        for name, seconds in one.timings.items():
            times.setdefault(name, []).append(seconds)
    return {name: spread(values) for name, values in times.items()}


def as_json(rows: Sequence[Row], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that was measured."""
    return {"facts": dict(facts), "rows": [asdict(row) for row in rows]}


def lines(rows: Sequence[Row]) -> dict[str, list[tuple[float, float]]]:
    """The curves of a figure."""
    return {
        "median, ms": [(row.papers, row.single.median) for row in rows],
        "95th percentile, ms": [(row.papers, row.single.p95) for row in rows],
        "several at once, 95th percentile, ms": [(row.papers, row.together.p95) for row in rows],
    }


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """Searches as a whole, then by stage."""
    head = (
        "papers",
        "vectors",
        "n",
        "median, p95 ms",
        f"{rows[0].readers} at once, ms",
        "searches/s",
        "lost",
    )
    whole = Table(*head, "first search s", "imports s", "whole process s")
    for row in rows:
        first = (row.first.search, row.first.imports, row.first.whole)
        whole.add_row(
            *(f"{row.papers:,}", "catalog" if row.index.endswith("exact") else "generation"),
            *(f"{row.single.n} + {row.together.n}", str(row.single)),
            *(str(row.together), f"{row.per_second:.0f}", str(row.lost)),
            *(f"{seconds:.2f}" for seconds in first),
        )
    yield whole
    by_stage = Table("papers", *(f"{name}: median, p95 ms" for name in rows[0].stages))
    for row in rows:
        by_stage.add_row(f"{row.papers:,}", *map(str, row.stages.values()))
    yield by_stage


def _searched(config: Config, papers: int, plan: Plan) -> Row:
    first = _first(config, plan.alone[0], plan.starts)
    with Assistant.from_config(config) as assistant:
        assistant.search(_WARM_UP)
        seconds, found = _timed(assistant, plan.alone)
        started = time.perf_counter()
        with ThreadPoolExecutor(plan.readers) as pool:
            at_once = list(pool.map(lambda asked: _search(assistant, asked), plan.together))
        elapsed = time.perf_counter() - started
        again = [_ids(assistant.search(question)) for question in plan.together]
    return Row(
        papers=papers,
        index=found[0].index_state,
        single=spread(seconds),
        stages=stages(found),
        together=spread([taken for taken, _ in at_once]),
        readers=plan.readers,
        per_second=len(at_once) / elapsed,
        lost=sum(_ids(one) != ids for (_, one), ids in zip(at_once, again, strict=True)),
        first=first,
    )


def _timed(assistant: Assistant, questions: Sequence[str]) -> tuple[list[float], list[Found]]:
    results = [_search(assistant, question) for question in questions]
    return [taken for taken, _ in results], [found for _, found in results]


def _search(assistant: Assistant, question: str) -> tuple[float, Found]:
    started = time.perf_counter()
    found = assistant.search(question)
    return time.perf_counter() - started, found


def _ids(found: Found) -> list[str]:
    return [hit.paper.id for hit in found.hits]


def _first(config: Config, question: str, starts: int) -> First:
    """Searches in processes of their own, after one that warms the disk cache."""
    command = [sys.executable, "-m", "evals.first_search", str(config.data_dir), question]
    runs = []
    for _ in range(starts + 1):
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"a search failed: {done.stderr.strip()[-300:]}")
        runs.append(json.loads(done.stdout) | {"whole": time.perf_counter() - started})
    whole, imports, search = (
        statistics.median(one[name] for one in runs[1:]) for name in ("whole", "import", "search")
    )
    return First(whole, imports, search, starts)
