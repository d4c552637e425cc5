"""The index that a suite is asked of: the user's own, or one made of the files of the suite.

Indexes of suites are kept, so that only what has changed is embedded again. Questions whose gold
papers are to be absent are asked of copies without them, in a few folds: each copy lacks the papers
of its share of the questions.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from evals.record import Record
from evals.running.gold import named, resolve
from evals.running.subject import Product
from evals.running.transcript import Transcript
from evals.suite import Item, Suite
from rag import Assistant
from rag.answering.parts import indexer_of
from rag.answering.served import as_wanted
from rag.answering.stop import Stop
from rag.config import Config
from rag.index.catalog import Catalog
from rag.index.curation import Curator
from rag.index.snapshot import Snapshot

FOLDS = 5

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Place:
    """An index, and the questions that are asked of it."""

    config: Config
    items: tuple[Item, ...]


def prepare(suite: Suite, config: Config, folder: Path, progress: Progress) -> list[Place]:
    """The indexes that a suite needs, brought up to date with its files.

    Raises:
        InputError: the files cannot be read.
        IndexUnusable, IndexLocked: an index is not there, or is being written.
    """
    own = config
    if suite.files:
        own = config.model_copy(update={"data_dir": folder / suite.name / "index"})
        _index(own, suite.files, progress)
    present = tuple(item for item in suite.items if not item.left_out)
    places = [Place(own, present)] if present else []
    for fold in range(FOLDS):
        items = tuple(item for item in suite.items if item.left_out and _fold(item) == fold)
        if items:
            places.append(
                Place(_without(own, folder / suite.name / f"without-{fold}", items), items)
            )
    return places


def digest_of(snapshot: Snapshot) -> str:
    """Names what an index holds: every paper and its text, whatever its revision."""
    found = hashlib.sha256()
    rows = snapshot.connection.execute(
        "SELECT p.paper_id, t.content FROM papers p JOIN texts t ON t.id = p.text ORDER BY 1"
    )
    for paper_id, content in rows:
        found.update(f"{paper_id} {content}\n".encode())
    return found.hexdigest()[:16]


class Places:
    """The subject over all indexes of a suite: each question is asked of its own."""

    def __init__(
        self, places: Sequence[Place], assistants: Sequence[Assistant], transcript: Transcript
    ) -> None:
        self._catalogs = [_catalog(place.config) for place in places]
        self._subjects: dict[str, Product] = {}
        digests = []
        for place, assistant, catalog in zip(places, assistants, self._catalogs, strict=True):
            suite = Suite("the suite", place.items)
            with catalog.reading() as snapshot:
                gold = resolve(suite, snapshot)
                digests.append(digest_of(snapshot))
            subject = Product(assistant, gold, transcript)
            self._subjects |= dict.fromkeys((item.id for item in place.items), subject)
        self.digest = digests[0] if len(digests) == 1 else "+".join(one[:8] for one in digests)

    def ask(self, item: Item, repeat: int, stop: Stop) -> Record:
        """See `Subject.ask`."""
        return self._subjects[item.id].ask(item, repeat, stop)

    def state(self) -> str:
        """Changes with any change of an index."""
        revisions = []
        for catalog in self._catalogs:
            with catalog.reading() as snapshot:
                revisions.append(str(snapshot.revision))
        return " ".join(revisions)

    def close(self) -> None:
        """Close the catalogs."""
        for catalog in self._catalogs:
            catalog.close()


@contextmanager
def opened(
    places: Sequence[Place], transcript: Transcript, notify: Callable[[str], None]
) -> Iterator[tuple[Places, Assistant]]:
    """The subject, and an assistant that tells what it consists of."""
    with ExitStack() as stack:
        assistants = [
            stack.enter_context(Assistant.from_config(place.config, notify, transcript.wrap))
            for place in places
        ]
        subject = Places(places, assistants, transcript)
        stack.callback(subject.close)
        yield subject, assistants[0]


def _index(config: Config, files: Sequence[Path], progress: Progress) -> None:
    indexer = indexer_of(as_wanted(config), progress)
    try:
        indexer.sync(list(files))
    finally:
        indexer.close()


def _without(config: Config, folder: Path, items: Sequence[Item]) -> Config:
    """A copy of an index that lacks the gold papers of some questions."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(config.data_dir, folder)
    names = {name for item in items for name in item.asked.paper_ids}
    catalog = Catalog(folder / "catalog.sqlite3")
    try:
        with catalog.reading() as snapshot:
            gone = {paper.id for paper in named(snapshot, names).values()}
        Curator(catalog).remove(sorted(gone))
    finally:
        catalog.close()
    return config.model_copy(update={"data_dir": folder})


def _fold(item: Item) -> int:
    """By the first gold paper, so that all questions about a paper share a fold."""
    name = item.asked.paper_ids[0] if item.asked.paper_ids else item.id
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % FOLDS


def _catalog(config: Config) -> Catalog:
    return Catalog(config.data_dir / "catalog.sqlite3")
