"""What indexing costs as a collection grows: time, memory and disk.

Collections are synthetic, so that there is one of every size, and made of real sentences, so that
words, lengths and sentences per abstract are as they are. Each is indexed by the command line in
processes of their own: from nothing, again without a change, and with ten papers more.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from rich.table import Table

from evals.processes import run_once
from evals.stats import Growth, growth
from rag.corpus import Limits, find_files, read_papers
from rag.corpus.records import Rejected
from rag.schema import Paper

_ADDED = 10
_PER_FILE = 1_000
_COMMAND = [sys.executable, "-c", "from rag.cli import main; main()", "index", "--quiet"]

Abstract = dict[str, str]


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of each of some real papers."""

    papers: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, path: Path) -> Self:
        """Those of a file or folder that `rag index` can read."""
        return cls(tuple(tuple(s.text for s in paper.sentences) for paper in _papers(path)))

    def abstracts(self, count: int, seed: int) -> Iterator[Abstract]:
        """Abstracts of about half of the sentences of two papers, each with a title of its own.

        Two, so that an abstract has a subject: were its sentences drawn from everywhere, all would
        be alike in the mean, and no index of vectors could tell them apart.
        """
        chance = random.Random(seed)
        for number in range(count):
            drawn = [
                sentence
                for paper in chance.sample(self.papers, 2)
                for sentence in chance.sample(paper, (len(paper) + 1) // 2)
            ]
            words = " ".join(chance.choice(drawn).split()[:12])
            yield {"title": f"{words} {seed}-{number}", "abstract": " ".join(drawn)}


@dataclass(frozen=True, slots=True)
class Row:
    """What a collection of `papers` cost: seconds, megabytes of the process tree, bytes.

    `processor` is the seconds of all processors together, which other work on the machine hardly
    changes.
    """

    papers: int
    seconds: float
    processor: float
    megabytes: float
    bytes_per_paper: float
    unchanged_seconds: float
    adding_seconds: float

    @property
    def rate(self) -> float:
        """Abstracts per second, the start of the program included."""
        return self.papers / self.seconds

    @property
    def unchanged_rate(self) -> float:
        """The same for a run that finds nothing to do."""
        return self.papers / self.unchanged_seconds


def run(source: Sentences, sizes: Iterable[int], seed: int) -> Iterator[Row]:
    """Index a collection of each size."""
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            yield _measured(source, size, seed, Path(folder))


def exponents(rows: Sequence[Row]) -> dict[str, Growth]:
    """How time and memory grow; empty for a single size."""
    if len({row.papers for row in rows}) < 2:
        return {}
    sizes = [row.papers for row in rows]
    return {
        "time": growth(sizes, [row.seconds for row in rows]),
        "processor time": growth(sizes, [row.processor for row in rows]),
        "memory": growth(sizes, [row.megabytes for row in rows]),
        "an unchanged run": growth(sizes, [row.unchanged_seconds for row in rows]),
        f"adding {_ADDED}": growth(sizes, [row.adding_seconds for row in rows]),
    }


def as_json(rows: Sequence[Row]) -> dict[str, Any]:
    """Everything that was measured, and what was fitted to it."""
    return {
        "rows": [
            {**asdict(row), "rate": row.rate, "unchanged_rate": row.unchanged_rate} for row in rows
        ],
        "growth": {
            name: {"exponent": found.exponent, "error": _number(found.error), "n": found.n}
            for name, found in exponents(rows).items()
        },
    }


def lines(rows: Sequence[Row]) -> Mapping[str, list[tuple[float, float]]]:
    """The curves of a figure, each named with its unit."""
    return {
        "first run, s": [(row.papers, row.seconds) for row in rows],
        "first run, s of the processors": [(row.papers, row.processor) for row in rows],
        "unchanged, s": [(row.papers, row.unchanged_seconds) for row in rows],
        f"adding {_ADDED}, s": [(row.papers, row.adding_seconds) for row in rows],
        "memory, MB": [(row.papers, row.megabytes) for row in rows],
    }


def table(rows: Sequence[Row]) -> Table:
    """The rows for reading."""
    head = ("papers", "papers/s", "processor ms/paper", "peak MB", "bytes/paper")
    shown = Table(*head, "unchanged papers/s", f"+{_ADDED}, s")
    for row in rows:
        shown.add_row(
            f"{row.papers:,}",
            f"{row.rate:,.1f}",
            f"{1e3 * row.processor / row.papers:,.1f}",
            f"{row.megabytes:,.0f}",
            f"{row.bytes_per_paper:,.0f}",
            f"{row.unchanged_rate:,.0f}",
            f"{row.adding_seconds:.1f}",
        )
    return shown


def _measured(source: Sentences, size: int, seed: int, folder: Path) -> Row:
    papers, data = folder / "papers", folder / "data"
    papers.mkdir()
    command = [*_COMMAND, str(papers)]
    environ = os.environ | {"RAG_DATA_DIR": str(data)}
    _write(papers, "a", source.abstracts(size, seed))
    first = run_once(command, environ)
    on_disk = (data / "catalog.sqlite3").stat().st_size
    unchanged = run_once(command, environ).seconds
    _write(papers, "more", source.abstracts(_ADDED, seed + 1))
    adding = run_once(command, environ).seconds
    cost = (first.seconds, first.processor, first.megabytes)
    return Row(size, *cost, on_disk / size, unchanged, adding)


def _write(folder: Path, name: str, abstracts: Iterator[Abstract]) -> None:
    """Files of a thousand records, as exports of a database are."""
    for number, abstract in enumerate(abstracts):
        path = folder / f"{name}{number // _PER_FILE:05}.jsonl"
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(abstract, ensure_ascii=False) + "\n")


def _papers(path: Path) -> Iterator[Paper]:
    for source in find_files([path]):
        for found in read_papers(source.content(Limits())):
            if not isinstance(found, Rejected):
                yield found[1]


def _number(value: float) -> float | None:
    """JSON has no word for what is not a number."""
    return value if value == value else None
