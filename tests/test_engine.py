"""What a worker of a cluster does with what it is sent, in this process and without a cluster."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from command import environment, rag
from fakes import TOPICS, HandEmbedder, by_hand
from library import Library, abstract, paper

from rag.corpus import Limits, Refused, SourceFile, find_files
from rag.errors import ModelError
from rag.index.built import BuiltWith
from rag.index.embedding import Recipe
from rag.index.ray_worker import Held, Mark, Sent, Weight, Worker, release_hash
from rag.index.reading import Job, Part, read

CUT = BuiltWith("by hand", 1, 254)


def worker(recipe: Recipe | None = None, *weights: Weight) -> Worker:
    return Worker(recipe or Recipe(by_hand), CUT, weights, release_hash())


def parts(found: Iterator[list[tuple[int, Part | None]]]) -> list[tuple[int, int | None]]:
    """Number of the job and how many records each part of it has."""
    return [(i, None if p is None else len(p.records)) for answers in found for i, p in answers]


def texts(found: Iterator[Part]) -> list[str]:
    return [record.paper.text for part in found for record in part.records]


def test_a_changed_file_comes_in_parts_and_an_unchanged_one_is_only_recognised(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.txt"
    many = [abstract("apples", about=f"case {n}") for n in range(1_500)]
    path.write_text("\n\n".join(many), encoding="utf-8")
    (source,) = find_files([path])
    first, second, end = read(Job(source), Limits())
    assert [len(p.records) for p in (first, second, end)] == [1_000, 500, 0]
    assert [p.last for p in (first, second, end)] == [False, False, True]
    (again,) = read(Job(source, end.digest), Limits())
    assert (again.records, again.last, again.digest) == ((), True, end.digest)


def test_what_cannot_be_read_has_no_digest(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    (failed,) = read(Job(SourceFile(tmp_path / "empty.txt", "empty.txt")), Limits())
    assert (failed.last, failed.digest) == (True, "")
    assert [str(f) for f in failed.failures] == ["empty.txt is empty."]
    (refused,) = read(Job(Refused("k", "a/pipe", "it is a pipe", passed_over=True)), Limits())
    assert [str(n) for n in refused.notices] == ["a/pipe: not read: it is a pipe"]


def test_a_worker_reads_the_very_file_that_is_meant_and_no_other(tmp_path: Path) -> None:
    library = Library(tmp_path)
    path = library.write("a.txt", abstract("apples"), abstract("bridges"))
    (source,) = find_files([path])
    mark = Mark.of(path)
    assert mark
    sent = [
        Sent(Job(source), mark),
        Sent(Job(source), replace(mark, changed=mark.changed - 1)),
        Sent(Job(source), replace(mark, inode=mark.inode + 1)),
        Sent(Job(source), replace(mark, path=tmp_path / "nowhere.txt")),
        Sent(None),
        Sent(Job(source), mark),
    ]
    seen = parts(worker().read(sent, Limits()))
    nothing = [(number, None) for number in (1, 2, 3, 4)]
    assert seen == [(0, 2), (0, 0), *nothing, (5, 2), (5, 0)]


def test_small_files_travel_together_and_large_ones_in_parts(tmp_path: Path) -> None:
    library = Library(tmp_path)
    for number in range(30):
        library.write(
            f"{number:02}.txt", *[abstract("apples", about=f"{number}, {n}") for n in range(50)]
        )
    library.write("z.txt", *[abstract("drums", about=f"case {n}") for n in range(2_000)])
    sent = [Sent(Job(s), Mark.of(s.path)) for s in find_files([library.papers])]
    groups = [
        sum(len(part.records) for _, part in answers if part)
        for answers in worker().read(sent, Limits())
    ]
    assert groups == [1_000, 1_500, 1_000, 0]  # 20 files; 10 and a part; a part; the last end


def test_a_member_of_an_archive_is_read_from_the_bytes_that_came_with_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("one.txt", abstract("apples"))
    (source,) = find_files([tmp_path / "a.zip"])
    assert source.member
    with source.member.open() as stream:
        held = replace(source, member=replace(source.member, open=Held(stream.read())))
    (tmp_path / "a.zip").unlink()
    assert texts(read(Job(held), Limits())) == [abstract("apples")]


@pytest.mark.parametrize("there", ["the same", "another", "nothing"])
def test_a_worker_has_the_weights_of_the_driver_whatever_lies_at_their_path(
    tmp_path: Path, there: str
) -> None:
    path = tmp_path / "weights.bin"
    if there != "nothing":
        path.write_bytes(b"right" if there == "the same" else b"wrong")
    loaded: list[bytes] = []
    fetched: list[str] = []

    def make(files: Sequence[Path], threads: int) -> HandEmbedder:
        assert threads == 1  # the cluster has a worker for each processor
        loaded.extend(file.read_bytes() for file in files)
        return HandEmbedder()

    def fetch() -> bytes:
        fetched.append("fetched")
        return b"right"

    weight = Weight(path, hashlib.sha256(b"right").hexdigest(), fetch)
    hired = worker(Recipe(make, (path,)), weight)
    one = paper("one", "We study apples.", "We study bridges.")
    for _ in range(2):
        ((_, matrix),) = next(hired.embed([one]))
        assert matrix.argmax(axis=1).tolist() == [TOPICS.index("apples"), TOPICS.index("bridges")]
    assert loaded == [b"right"]
    assert len(fetched) == (there != "the same")


def test_a_worker_of_another_release_does_nothing() -> None:
    foreign = Worker(Recipe(by_hand), CUT, (), "of another release")
    for work in (foreign.read([], Limits()), foreign.embed([])):
        with pytest.raises(ModelError, match="another askpapers"):
            next(work)


def test_without_ray_the_engine_says_what_to_install(tmp_path: Path) -> None:
    library = Library(tmp_path)
    path = library.write("a.txt", abstract("apples"))
    code = "import sys; sys.modules['ray'] = None; from rag.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "index", str(path), "--engine", "ray"],
        env=environment(RAG_DATA_DIR=str(library.data)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'askpapers[ray]'" in done.stderr
    assert not library.data.exists()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--engine", "spark"], "engine = 'spark'"),
        (["--engine", "ray", "--ray-address", "ray://head:10001"], "must be host:port or auto"),
        (["--ray-address", "auto"], "--ray-address goes with --engine ray only"),
    ],
)
def test_an_engine_that_cannot_be_is_refused(tmp_path: Path, flags: list[str], words: str) -> None:
    ran = rag("index", *flags, data=tmp_path / "data")
    assert ran.code == 2
    assert words in ran.error_line
