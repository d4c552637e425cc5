"""Indexing on real Ray clusters: the catalog of one process, whatever befalls the workers."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations, islice
from pathlib import Path

import pytest
from cluster import two_machines
from command import SEEDS, rag_apart
from fakes import TOPICS
from library import Library, SlowEmbedder, abstract

from rag.errors import ModelError
from rag.index.embedding import Recipe, Vectors
from rag.index.ray_engine import RayEngine
from rag.index.sync import Indexer, Report
from rag.models import WeightStore

FORBIDDEN = "eagles"
PAPERS = 2_400


class TouchyEmbedder(SlowEmbedder):
    """Fails on texts about eagles."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        if any(FORBIDDEN in text for text in texts):
            raise ModelError("The embedding server is gone")
        return super().embed(texts)


def touchy(seconds: float, files: Sequence[Path], threads: int) -> TouchyEmbedder:
    return TouchyEmbedder(seconds)


RECIPE = Recipe(partial(touchy, 0.0005))


def dump(data: Path) -> list[str]:
    """All that the catalog holds, vectors included, as SQL."""
    connection = sqlite3.connect(data / "catalog.sqlite3")
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def descendants(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            yield child
            yield from descendants(child)


def processes(name: str) -> list[int]:
    """Processes of ours in whose command line `name` stands."""
    commands = {p: Path(f"/proc/{p}/cmdline").read_bytes() for p in descendants(os.getpid())}
    return [pid for pid, command in commands.items() if name.encode() in command]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Many small files, a large one, an archive, a broken file; indexed by this process."""
    library = Library(tmp_path_factory.mktemp("ray"))
    texts = [abstract(*three) for three in islice(combinations(TOPICS[:-1], 3), PAPERS)]
    for number in range(100):
        library.write(f"{number}.txt", *texts[4 * number : 4 * number + 4])
    with zipfile.ZipFile(library.papers / "many.zip", "w") as archive:
        for number, text in enumerate(texts[400:500]):
            archive.writestr(f"{number}.txt", text)
    library.write("rest.txt", *texts[500:])
    library.write("broken.jsonl", '{"title": "No abstract"}')
    library.index()
    return library


class Run:
    """Indexing a library's files into another folder; `hit` is called when `phase` begins."""

    def __init__(self, library: Library, data: Path, phase: str, hit: Callable[[], object]) -> None:
        self.library = library
        self.data = data
        self.phase = phase
        self.hit = hit
        self.seen: set[str] = set()

    def __call__(self, engine: RayEngine, *paths: Path) -> Report:
        indexer = Indexer(
            self.data,
            self.library.embedder,
            self.library.built_with,
            self._progress,
            engine=engine,
        )
        try:
            return indexer.sync(paths or [self.library.papers])
        finally:
            indexer.catalog.close()

    def _progress(self, what: str, done: int, total: int) -> None:
        if what == self.phase and what not in self.seen:
            self.hit()
        self.seen.add(what)


def kill_a_worker() -> None:
    os.kill(processes("ray::Worker")[0], signal.SIGKILL)


@pytest.mark.timeout(600)
def test_a_cluster_gives_the_catalog_of_one_process_whatever_is_lost_of_it(
    library: Library, tmp_path: Path, weights: WeightStore
) -> None:
    """One cluster for all of it: a start takes many seconds."""
    with two_machines() as cluster:
        few = sorted(SEEDS.glob("*.txt"))[:1]
        for side, flags in (
            ("one", []),
            ("many", ["--engine", "ray", "--ray-address", cluster.address]),
        ):
            ran = rag_apart("index", *few, *flags, "--json", data=tmp_path / side)
            assert (ran.code, ran.err, ran.json()["failed"]) == (0, "", [])
        assert dump(tmp_path / "many") == dump(tmp_path / "one")

        with RayEngine(RECIPE, library.built_with, cluster.address) as engine:
            for phase, hit in (
                ("reading", kill_a_worker),
                ("embedding", kill_a_worker),
                ("embedding", cluster.lose_one),
            ):
                run = Run(library, tmp_path / f"{phase} {hit.__name__}", phase, hit)
                report = run(engine)
                assert phase in run.seen
                assert (report.added, report.embedded) == (PAPERS, PAPERS)
                assert [failure.source for failure in report.failures] == ["papers/broken.jsonl"]
                assert dump(run.data) == dump(library.data)


def test_a_cluster_of_its_own_is_for_this_machine_only_and_may_be_lost(
    library: Library, tmp_path: Path
) -> None:
    def lose() -> None:
        (driver,) = processes("rag.index.ray_driver")
        os.kill(driver, signal.SIGKILL)

    started: list[int] = []
    run = Run(library, tmp_path / "data", "embedding", lose)
    with RayEngine(RECIPE, library.built_with, workers=2) as engine:
        touching = Run(library, tmp_path / "other", "", lambda: None)
        path = tmp_path / "a.txt"
        path.write_text(abstract(FORBIDDEN), encoding="utf-8")
        with pytest.raises(ModelError, match="The embedding server is gone"):
            touching(engine, path)
        bound = addresses(processes("ray"))
        assert bound
        assert bound <= {"0100007F", "0000000000000000FFFF00000100007F"}  # 127.0.0.1
        started += descendants(os.getpid())
        with pytest.raises(ModelError, match="connection with the Ray cluster is lost") as caught:
            run(engine)
    assert caught.value.exit_code == 4
    ends = time.monotonic() + 120
    while any(is_alive(pid) for pid in started):
        assert time.monotonic() < ends
        time.sleep(0.1)
    here = library.like(library.embedder)
    here.data = run.data
    assert 0 < here.index().embedded < PAPERS
    assert dump(run.data) == dump(library.data)


def addresses(pids: Sequence[int]) -> set[str]:
    """Where these processes listen, as the kernel writes it."""
    files = [file for pid in pids for file in Path(f"/proc/{pid}/fd").iterdir()]
    mine = {str(file.readlink()) for file in files}
    tables = [Path(f"/proc/net/{name}").read_text().splitlines()[1:] for name in ("tcp", "tcp6")]
    rows = [line.split() for table in tables for line in table]
    listening = [row for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in mine]
    return {row[1].split(":")[0] for row in listening}


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
