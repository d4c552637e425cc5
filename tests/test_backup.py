"""A copy of the data folder, made while it is written, serves as the folder did."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import pytest
from command import SEEDS, rag

QUESTION = "What does RN-DPO normalize?"


@pytest.fixture(scope="module")
def data(seeds_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(shutil.copytree(seeds_index, tmp_path_factory.mktemp("kept") / "data"))
    answer = rag("ask", QUESTION, "--llm", "none", "--json", data=folder).out
    (folder.parent / "answer.json").write_text(answer)
    assert rag("history", "add", folder.parent / "answer.json", data=folder).code == 0
    uploads = folder / "uploads" / "local"
    uploads.mkdir(parents=True)
    (uploads / "mine.txt").write_text("An abstract of mine.")
    return folder


def test_a_copy_answers_as_the_folder_does_and_has_its_conversations(
    data: Path, tmp_path: Path
) -> None:
    copied = rag("backup", tmp_path / "copy", "--json", data=data)
    assert copied.code == 0
    assert copied.json()["folder"] == str(tmp_path / "copy")
    copy = tmp_path / "copy"
    assert not (copy / "vectors").exists()
    assert (copy / "uploads" / "local" / "mine.txt").read_text() == "An abstract of mine."
    assert stat.S_IMODE(copy.stat().st_mode) == 0o700
    repaired = rag("doctor", "--repair", data=copy)
    assert repaired.code == 0, repaired.err + repaired.out
    before = json.loads((data.parent / "answer.json").read_text())
    after = rag("ask", QUESTION, "--llm", "none", "--json", data=copy).json()
    assert after["text"] == before["text"]
    assert rag("history", "list", "--json", data=copy).json() == (
        rag("history", "list", "--json", data=data).json()
    )
    assert rag("index", SEEDS, "--json", data=copy).json()["embedded"] == 0


def test_what_was_committed_while_others_hold_the_database_open_is_in_the_copy(
    data: Path, tmp_path: Path
) -> None:
    import sqlite3
    from contextlib import closing

    shutil.copytree(data, tmp_path / "data")
    with closing(sqlite3.connect(tmp_path / "data" / "catalog.sqlite3", isolation_level=None)) as c:
        c.execute("PRAGMA wal_autocheckpoint = 0")
        c.execute("CREATE TABLE committed (x)")
        c.execute("BEGIN IMMEDIATE")
        c.execute("CREATE TABLE half_done (x)")
        assert rag("backup", tmp_path / "copy", data=tmp_path / "data").code == 0
    with closing(sqlite3.connect(tmp_path / "copy" / "catalog.sqlite3")) as copy:
        names = {name for (name,) in copy.execute("SELECT name FROM sqlite_master")}
    assert "committed" in names
    assert "half_done" not in names


def test_a_copy_that_cannot_be_made_leaves_nothing(data: Path, tmp_path: Path) -> None:
    broken = tmp_path / "data"
    broken.mkdir()
    (broken / "catalog.sqlite3").write_bytes(b"SQLite format 3\x00" + b"\xff" * 5_000)
    failed = rag("backup", tmp_path / "copy", data=broken)
    assert failed.code == 3
    assert "rag doctor" in failed.error_line
    there = tmp_path / "there"
    there.mkdir()
    for target, said in ((there, "something is there"), (data / "copy", "inside")):
        refused = rag("backup", target, data=data)
        assert refused.code == 2
        assert said in refused.error_line
    assert rag("backup", tmp_path / "copy", data=tmp_path / "none").code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "there"]
