"""Whatever is done to files and index, in any order: the index holds what a simple model holds.

A paper is (number, version, variant): the variants of a version say the same in nearly the same
words, so they are taken for one paper until that is undone; versions and numbers differ.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from fakes import TOPICS, HandEmbedder
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from killing import Point, killed, there, told
from library import Library, sentences
from test_index_damage import DAMAGE

from rag.index.browse import sources_of
from rag.index.catalog import Catalog
from rag.index.curation import Curator
from rag.index.manifest import Damaged, check
from rag.index.reader import IndexState
from rag.index.sync import Options
from rag.index.vectors.local import Generations
from rag.schema import Paper

pytestmark = pytest.mark.timeout(900)
EXAMPLES = int(os.environ.get("INDEX_STATES", "10"))
ANY = Options(allow_shrink=True)
NAMES = ("p.txt", "q.txt", "r.txt")
KILLS = (
    Point(told("reading"), 0.01),
    Point(told("embedding"), 0.01),
    Point(told("storing"), 0.02),
    Point(there("vectors/*.tmp"), 0.2, "compact"),
)
FILLER = " ".join(f"word{letter}{number}" for letter in "abcdefghij" for number in "xyzuvwst")


class Said(NamedTuple):
    """What a record says; its text follows from it."""

    number: int
    version: int = 0
    variant: int = 0

    @property
    def text(self) -> str:
        topics = f"{TOPICS[self.number]} {TOPICS[(self.number + 1 + self.version) % 30]}"
        longer = "very " * self.variant
        return (
            f"We study {topics} in case {self.number} of {self.version} with {longer}great care,"
            f" {FILLER}. The {topics} were measured twice."
        )


BASE = tuple(Said(number) for number in range(10, 27))  # always there: enough for a generation
Files = dict[str, list[Said]]
Record = tuple[str, int, Said]
Group = tuple[int, ...]

name_of_file = st.sampled_from(NAMES)
number_of_paper = st.integers(0, 7)
first_versions = st.integers(0, 1)


class Index(RuleBasedStateMachine):
    """`files` is what lies on disk, `held` what the index has taken from it, with places."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        root = Path(tempfile.mkdtemp())
        self.stack.callback(shutil.rmtree, root)
        self.library = Library(root)
        self.files: Files = {"base.txt": list(BASE)}
        self.held: dict[str, list[tuple[int, Said]]] = {}
        self.apart: set[tuple[int, int]] = set()
        self.ids: dict[frozenset[tuple[str, Said]], str] = {}

    @initialize()
    def first_run(self) -> None:
        self.index()
        self.reader = self.stack.enter_context(self.library.reader())

    def teardown(self) -> None:
        self.stack.close()

    # --- the model

    def group_of(self, said: Said) -> Group:
        number, version, _ = said
        return tuple(said) if (number, version) in self.apart else (number, version)

    def groups(self) -> dict[Group, list[Record]]:
        found: dict[Group, list[Record]] = {}
        for name, places in self.held.items():
            for place, said in places:
                found.setdefault(self.group_of(said), []).append((name, place, said))
        return found

    def write(self) -> None:
        for path in self.library.papers.iterdir():
            path.unlink()
        for name, papers in self.files.items():
            if papers:
                self.library.write(name, *[said.text for said in papers])

    def on_disk(self) -> dict[str, list[tuple[int, Said]]]:
        return {name: list(enumerate(papers, 1)) for name, papers in self.files.items() if papers}

    def index(self) -> None:
        self.write()
        report = self.library.index(options=ANY)
        assert report.failures == ()
        self.held = self.on_disk()
        assert report.total.papers == len(self.groups())

    # --- what happens to files

    @rule(
        name=name_of_file, number=number_of_paper, version=st.integers(0, 1), follow=st.booleans()
    )
    def add(self, name: str, number: int, version: int, follow: bool) -> None:
        papers = self.files.setdefault(name, [])
        if all(said.number != number for said in papers):
            papers.append(Said(number, version))
        if follow:
            self.index()

    @rule(name=name_of_file, number=number_of_paper, follow=st.booleans())
    def add_what_another_file_says_in_other_words(
        self, name: str, number: int, follow: bool
    ) -> None:
        papers = self.files.setdefault(name, [])
        if all(said.number != number for said in papers):
            papers.append(Said(number, 0, 1))
        if follow:
            self.index()

    @rule(name=name_of_file, place=st.integers(0, 7))
    def change(self, name: str, place: int) -> None:
        """A paper of one source that is edited keeps its id, and gets the next version."""
        self.index()
        papers = self.files.get(name, [])
        if not papers:
            return
        place %= len(papers)
        old = papers[place]
        papers[place] = new = old._replace(version=old.version + 1)
        alone = len(self.groups()[self.group_of(old)]) == 1
        is_new = self.group_of(new) not in self.groups()
        before = self.shown()[old.text] if alone else None
        self.index()
        if before and is_new:
            after = self.shown()[new.text]
            assert (after.id, after.version) == (before.id, before.version + 1)

    @rule(name=name_of_file, place=st.integers(0, 7), follow=st.booleans())
    def remove(self, name: str, place: int, follow: bool) -> None:
        papers = self.files.get(name, [])
        if papers:
            del papers[place % len(papers)]
        if follow:
            self.index()

    @rule(name=name_of_file)
    def remove_file(self, name: str) -> None:
        self.files.pop(name, None)
        self.index()

    @rule(name=name_of_file, seed=st.integers(0, 99))
    def shuffle(self, name: str, seed: int) -> None:
        random.Random(seed).shuffle(self.files.get(name, []))
        self.index()

    # --- what people do to the index

    def shown(self) -> dict[str, Paper]:
        with self.library.state() as state:
            return {paper.text: paper for paper in state.snapshot.all_papers()}

    def curator(self) -> Curator:
        catalog = Catalog(self.library.data / "catalog.sqlite3")
        self.stack.callback(catalog.close)
        return Curator(catalog)

    @rule(choice=st.integers(0, 99))
    def remove_by_hand(self, choice: int) -> None:
        group, records = sorted(self.groups().items())[choice % len(self.groups())]
        best = max(said for _, _, said in records)
        assert self.curator().remove([self.shown()[best.text].id]) == 1
        self.held = {
            name: [(place, said) for place, said in places if self.group_of(said) != group]
            for name, places in self.held.items()
        }

    def merged(self) -> list[Said]:
        return [
            max(said for _, _, said in records)
            for _, records in sorted(self.groups().items())
            if len({said for _, _, said in records}) > 1
        ]

    @precondition(lambda self: self.merged())
    @rule(choice=st.integers(0, 99))
    def undo_a_merge(self, choice: int) -> None:
        best = self.merged()[choice % len(self.merged())]
        assert self.curator().separate(self.shown()[best.text].id) == 2
        self.apart.add((best.number, best.version))

    # --- what happens to the machine

    @rule(point=st.sampled_from(KILLS), seed=st.integers(0, 99))
    def kill(self, point: Point, seed: int) -> None:
        self.write()
        killed(self.library, point, random.Random(seed))
        if self.places() != self.expected():
            self.held = self.on_disk()

    @rule(name=st.sampled_from(sorted(DAMAGE)))
    def damage(self, name: str) -> None:
        if is_whole(self.library.data / "vectors"):
            DAMAGE[name](self.library.data / "vectors")

    @rule(what=st.sampled_from(["compact", "rebuild"]))
    def make_anew(self, what: str) -> None:
        if what == "compact":
            self.library.compact()
        else:
            assert self.library.rebuild().total.papers == len(self.groups())

    @rule()
    def reopen(self) -> None:
        self.reader.close()
        self.reader = self.stack.enter_context(self.library.reader())

    # --- what holds at any time

    def expected(self) -> dict[str, set[tuple[str, int]]]:
        """Text that is shown: where it stands."""
        return {
            max(said for _, _, said in records).text: {
                (f"papers/{name}", place) for name, place, _ in records
            }
            for records in self.groups().values()
        }

    def places(self) -> dict[str, set[tuple[str, int]]]:
        with self.library.state() as state:
            return {
                paper.text: {(s.label, s.ordinal) for s in sources_of(state.snapshot, paper.id)}
                for paper in state.snapshot.all_papers()
            }

    @invariant()
    def papers_texts_and_sources_are_those_of_the_model(self) -> None:
        if not self.held:  # before the first run
            return
        assert self.places() == self.expected()
        with self.reader.state() as state:
            assert state.snapshot.counts().papers == len(self.groups())

    @invariant()
    def a_paper_of_the_same_records_has_the_same_id(self) -> None:
        if not self.held:
            return
        shown = self.shown()
        ids = {
            frozenset((name, said) for name, _, said in records): shown[
                max(said for _, _, said in records).text
            ].id
            for records in self.groups().values()
        }
        assert len(set(ids.values())) == len(ids)
        assert [key for key, before in self.ids.items() if ids.get(key, before) != before] == []
        self.ids = ids

    @invariant()
    def vectors_are_those_of_the_embedder_and_each_paper_is_nearest_to_itself(self) -> None:
        if not self.held:
            return
        with self.reader.state() as state:
            papers = list(state.snapshot.all_papers())
            matrices = state.chunk_matrices([paper.id for paper in papers])
            for paper in papers:
                by_hand = HandEmbedder().embed(sentences(paper.text))
                assert np.allclose(matrices[paper.id], by_hand, atol=1e-3)
            for paper in random.Random(len(papers)).sample(papers, 3):
                check_is_found(state, paper)

    @invariant()
    def the_catalog_is_sound_and_holds_nothing_that_stands_nowhere(self) -> None:
        if not self.held:
            return
        with closing(sqlite3.connect(self.library.data / "catalog.sqlite3")) as connection:
            for question in UNSOUND:
                assert connection.execute(question).fetchall() == [], question
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            connection.execute("INSERT INTO postings (postings) VALUES ('integrity-check')")


UNSOUND = (
    "PRAGMA foreign_key_check",
    "SELECT id FROM texts WHERE id NOT IN (SELECT text FROM records UNION SELECT text FROM staged)",
    "SELECT * FROM identities WHERE record NOT IN (SELECT id FROM records)",
    "SELECT * FROM near WHERE a NOT IN (SELECT id FROM texts) OR b NOT IN (SELECT id FROM texts)",
    "SELECT * FROM bands WHERE text NOT IN (SELECT id FROM texts)",
    "SELECT id FROM records WHERE paper IS NULL OR paper NOT IN (SELECT id FROM papers)",
    "SELECT id FROM papers WHERE record NOT IN (SELECT id FROM records)",
    "SELECT p.id FROM papers p JOIN records r ON r.id = p.record"
    " WHERE r.paper != p.id OR r.text != p.text",
    "SELECT text FROM papers GROUP BY text HAVING count(*) > 1",
    "SELECT rowid FROM postings EXCEPT SELECT id FROM papers",
    "SELECT id FROM papers EXCEPT SELECT rowid FROM postings",
    "SELECT path FROM files WHERE id NOT IN (SELECT file FROM records) AND digest != ''",
)


def is_whole(vectors: Path) -> bool:
    """Whether there is a generation that nothing has harmed yet: an open reader sees no harm."""
    try:
        current = Generations(vectors).current()
        if current is not None:
            check(current.folder, current.manifest)
        return current is not None
    except Damaged:
        return False


def check_is_found(state: IndexState, paper: Paper) -> None:
    """By its own vector, no paper is nearer."""
    first, second = HandEmbedder().embed(sentences(paper.text))
    own = (first + second) / np.linalg.norm(first + second)
    near = state.nearest(own, 3)
    assert near[paper.id] > max(near.values()) - 1e-3
    assert near[paper.id] > 0.999


Index.TestCase.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=EXAMPLES <= 10,
)
TestX18Index = Index.TestCase
