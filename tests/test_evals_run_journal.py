"""The folder of a run: whatever happens to its writer, no line is lost, torn or there twice."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from asking import lines, start
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import answered, manifest, silent, suite_file

from evals.record import Record
from evals.running.journal import MANIFEST, SAMPLES, read_manifest, read_records, writing
from evals.suite import read_suite
from rag.errors import IndexLocked, InputError, ResourceError, UsageError

NEST = ("Owls nest in barns.", "Owls nest in bärns.")
RECORDS = [answered("q1", [NEST]), silent("q2"), silent("q3", "failed", "“late”")]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return suite_file(tmp_path / "owls.jsonl", *({"question": f"Owl {n}?"} for n in range(1, 13)))


@pytest.fixture
def run(tmp_path: Path, file: Path) -> Path:
    """A run of three records."""
    return written(tmp_path / "run", file, RECORDS)


def written(folder: Path, file: Path, records: list[Record]) -> Path:
    with writing(folder, manifest(read_suite(file), file), resume=True) as journal:
        for record in records:
            if record.key not in journal.done:
                journal.add(record)
    return folder


def test_records_are_read_as_they_were_written(run: Path) -> None:
    assert read_records(run) == RECORDS


# --- Kills and torn lines ------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000))
@pytest.mark.case("E04")
def test_wherever_the_file_is_cut_the_run_goes_on_from_its_last_whole_line(cut: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        file = suite_file(Path(place) / "owls.jsonl", {"question": "Owl?"})
        samples = written(folder, file, RECORDS) / SAMPLES
        whole = samples.read_bytes()
        kept = whole[: cut % (len(whole) + 1)]
        samples.write_bytes(kept)
        assert read_records(folder) == RECORDS[: kept.count(b"\n")]
        written(folder, file, RECORDS)
        assert samples.read_bytes() == whole


@pytest.mark.case("E04")
def test_kills_at_random_points_lose_nothing_and_ask_nothing_twice(
    tmp_path: Path, file: Path
) -> None:
    rng = random.Random(20261130)
    folder, log = tmp_path / "run", tmp_path / "asked"
    kills = 0
    for _ in range(40):
        done = {record.item for record in read_records(folder)} if folder.exists() else set()
        log.write_text("")
        process = start(folder, file, log, seconds=0.01)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(rng.uniform(0.01, 0.12))
        process.kill()
        kills += process.wait() == -signal.SIGKILL
        process.communicate()
        asked = log.read_text().split()
        assert done.isdisjoint(asked)
        assert len(asked) == len(set(asked))
        if process.returncode == 0:
            break
    assert kills >= 2
    samples = lines(folder)
    assert Counter(one["item"] for one in samples) == {f"q{n}": 1 for n in range(1, 13)}
    assert all(len(str(one["reason"])) == 40_000 for one in samples)


def test_a_damaged_line_is_named(run: Path, file: Path) -> None:
    samples = run / SAMPLES
    first, second, third = samples.read_text("utf-8").splitlines()
    for damaged in (second[:40], "", "null", "[]", "{}", '{"item": 1}', "\x00" * 9):
        samples.write_text(f"{first}\n{damaged}\n{third}\n", "utf-8")
        for what in (read_records, lambda folder: written(folder, file, RECORDS)):
            with pytest.raises(InputError, match=rf"{SAMPLES}:2 is damaged"):
                what(run)


def test_a_question_that_is_there_twice_is_named(run: Path) -> None:
    samples = run / SAMPLES
    samples.write_text(samples.read_text("utf-8") + RECORDS[1].line() + "\n", "utf-8")
    with pytest.raises(InputError, match=r"holds the question 'q2', repeat 0, 2 times"):
        read_records(run)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"identity": {}}', '{"identity": 3, "facts": 4}']
)
def test_what_is_no_manifest_is_told(run: Path, content: str) -> None:
    (run / MANIFEST).write_text(content)
    with pytest.raises(InputError, match=r"holds no run \(manifest.json: "):
        read_records(run)


# --- Who may write -------------------------------------------------------------------------


def test_a_run_is_gone_on_with_only_when_asked_for(run: Path, file: Path) -> None:
    made = manifest(read_suite(file), file)
    with (
        pytest.raises(UsageError, match=r"holds a run already.*--resume"),
        writing(run, made, resume=False),
    ):
        pass
    with writing(run, made, resume=True) as journal:
        assert journal.done == {("q1", 0), ("q2", 0), ("q3", 0)}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"writer": "other"}, "writer: quoting, other"),
        ({"prompts": {"answer": "b"}}, 'prompts: {"answer": "a"}, {"answer": "b"}'),
        ({"weights": {"m": "2"}}, 'weights: {"m": "1"}, {"m": "2"}'),
        ({"index": "after"}, "index: before, after"),
        ({"questions": "0123"}, "questions: "),
        ({"repeats": 2}, "repeats: 1, 2"),
        ({"judges": ["support", "llm"]}, 'judges: ["support"], ["support", "llm"]'),
        ({"settings": "b", "index": "after"}, "index: before, after; settings: a, b"),
    ],
)
@pytest.mark.case("E05")
def test_a_run_of_something_else_is_not_gone_on_with(
    tmp_path: Path, file: Path, changed: dict[str, object], told: str
) -> None:
    suite = read_suite(file)
    before = {"index": "before", "settings": "a", "prompts": {"answer": "a"}, "weights": {"m": "1"}}
    with writing(tmp_path / "run", manifest(suite, file, **before), resume=False) as journal:
        journal.add(RECORDS[0])
    other = manifest(suite, file, **{**before, **changed})
    with pytest.raises(UsageError) as caught, writing(tmp_path / "run", other, resume=True):
        pass
    assert told in caught.value.cause
    assert caught.value.remedy == "Begin another with --new-run."
    assert read_records(tmp_path / "run") == RECORDS[:1]


def test_facts_may_change(run: Path, file: Path) -> None:
    made = manifest(read_suite(file), file)
    with writing(run, replace(made, facts={"machine": "another"}), resume=True):
        assert read_manifest(run).facts != {"machine": "another"}


@pytest.mark.case("E09")
def test_a_second_process_is_told_who_writes(tmp_path: Path, file: Path) -> None:
    folder = tmp_path / "run"
    first = start(folder, file, tmp_path / "asked", seconds=600)
    try:
        assert first.stdout is not None
        assert first.stdout.readline() == "ready\n"
        second = start(folder, file, tmp_path / "asked")
        _, said = second.communicate(timeout=60)
        assert second.returncode == 3
        assert said.startswith(f"error: The run in {folder} is being written (by process ")
        assert f"process {first.pid}, asking.py" in said
        assert said.count("\n") == 1
        with pytest.raises(IndexLocked):
            written(folder, file, RECORDS)
    finally:
        first.kill()
        first.communicate()
    assert written(folder, file, RECORDS) == folder  # the kernel let go of its lock


@pytest.mark.case("C12")
def test_ctrl_c_does_not_wait_for_the_question(tmp_path: Path, file: Path) -> None:
    process = start(tmp_path / "run", file, tmp_path / "asked", seconds=600)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    while not (tmp_path / "asked").exists() or not (tmp_path / "asked").read_text():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert lines(tmp_path / "run") == []


def test_samples_without_a_manifest_are_not_added_to(run: Path, file: Path) -> None:
    (run / MANIFEST).unlink()
    with pytest.raises(InputError, match=r"without manifest\.json"):
        written(run, file, RECORDS)


# --- Disks ---------------------------------------------------------------------------------


@pytest.mark.case("E10")
def test_a_full_disk_ends_the_run_and_all_before_is_readable(tmp_path: Path, file: Path) -> None:
    folder, log = tmp_path / "run", tmp_path / "asked"
    process = start(folder, file, log, bytes_=300_000)  # a record has some 80,000
    _, said = process.communicate(timeout=60)
    assert process.returncode == 5
    assert said == (
        f"error: {folder / SAMPLES} cannot be written ({os.strerror(errno.EFBIG)})."
        " Make room and go on with --resume.\n"
    )
    assert [record.item for record in read_records(folder)] == ["q1", "q2", "q3"]
    assert (folder / SAMPLES).read_bytes().endswith(b"\n")
    log.write_text("")
    with_room = start(folder, file, log)
    with_room.communicate(timeout=60)
    assert with_room.returncode == 0
    assert log.read_text().split() == [f"q{n}" for n in range(4, 13)]
    assert len(read_records(folder)) == 12


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, file: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(ResourceError, match="cannot be written"):
        written(tmp_path / "taken", file, RECORDS)


def test_a_run_without_samples_is_empty(tmp_path: Path, file: Path) -> None:
    folder = written(tmp_path / "run", file, [])
    assert read_records(folder) == []
    (folder / SAMPLES).unlink()
    assert read_records(folder) == []
    assert json.loads((folder / MANIFEST).read_text())["identity"]["suite"] == "owls"
