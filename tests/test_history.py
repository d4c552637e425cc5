"""Conversations are kept whole: by several processes, through a kill, a full disk, a new format."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command import ROOT, environment
from papers_to_export import answer, cited, claim, reference
from test_index_disk import no_file_above

from rag.errors import HistoryUnusable, ResourceError, UsageError
from rag.history import Feedback, History, history_of
from rag.history.migrations import CHANGES, migrate

APPENDS = """
import sys
from pathlib import Path
from papers_to_export import answer
from rag.exits import run
from rag.history import history_of

def main(**_):
    history = history_of(Path(sys.argv[1]))
    number = int(sys.argv[2])
    for count in range(int(sys.argv[3])):
        turn = history.append(number, answer(f"Question {count} of {sys.argv[4]}?"))
        print(turn, flush=True)

run(main, "rag")
"""


def appending(
    data: Path, number: int, count: int, name: str, limit: int | None = None
) -> subprocess.Popen[str]:
    """A process that appends turns and prints the number of each once it is kept."""
    command: Sequence[str] = [sys.executable, "-c", APPENDS, str(data), str(number), str(count)]
    env = environment() | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    return subprocess.Popen(
        [*command, name],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
        cwd=ROOT,
        preexec_fn=no_file_above(limit) if limit else None,
    )


@pytest.fixture
def history(tmp_path: Path) -> History:
    return history_of(tmp_path)


def test_number_005_each_message_keeps_its_own_references(tmp_path: Path) -> None:
    said = [
        answer("One?"),
        answer("Two?", citations=[cited(1, "b" * 16, "Bats", "Bats sleep.")]),
        answer(
            "Three?",
            claims=[claim("Both.", 1, 2)],
            citations=[cited(1, "b" * 16, "Bats"), cited(2, "00aa11bb22cc33dd", "Owl Nests")],
        ),
    ]
    known = {key: reference(key, title) for key, title in
             (("b" * 16, "Bats"), ("00aa11bb22cc33dd", "Owl Nests"))}  # fmt: skip
    before = history_of(tmp_path)
    number = before.create()
    for one in said:
        before.append(number, one, [known[c["paper_id"]] for c in one["citations"]])
    turns = history_of(tmp_path).turns(number)
    assert [turn.answer for turn in turns] == said
    assert [[r.title for r in turn.references] for turn in turns] == [
        ["Owl Nests"],
        ["Bats"],
        ["Bats", "Owl Nests"],
    ]
    assert [turn.number for turn in turns] == [1, 2, 3]


def test_the_last_used_comes_first_and_is_named_by_its_first_question(tmp_path: Path) -> None:
    times = iter(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=n) for n in range(99))
    history = History(tmp_path / "h.sqlite3", clock=lambda: next(times))
    first, second = history.create(), history.create("Bats")
    history.append(first, answer("Where do\n owls nest?"))
    history.append(second, answer("What do bats eat?"))
    history.append(first, answer("And hunt?"))
    assert [(c.id, c.name, c.turns) for c in history.conversations()] == [
        (first, "Where do owls nest?", 2),
        (second, "Bats", 1),
    ]
    assert [c.id for c in history.conversations(1)] == [first]
    assert history.conversation(first).created == "2026-01-01T00:00:00.000+00:00"


def test_what_was_never_kept_makes_no_file(tmp_path: Path) -> None:
    history = history_of(tmp_path / "absent")
    assert history.conversations() == []
    assert history.search("owls") == []
    assert not (tmp_path / "absent").exists()


@pytest.mark.parametrize(
    ("words", "turns"),
    [
        ("tree", [1]),
        ("TREES owls", [1]),
        ("naive", [2]),
        ("猫头鹰", [3]),
        ('"', None),
        ("  ", None),
        ('owls" OR "bats', []),
        ("NEAR(owls)", []),
        ("owls", [1]),
    ],
)
def test_search(history: History, words: str, turns: list[int] | None) -> None:
    number = history.create()
    history.append(number, answer("Where do owls nest?"))
    history.append(number, answer("What of naïve bats?", text="They sleep."))
    history.append(number, answer("我喜欢猫头鹰吗", text="是"))
    if turns is None:
        with pytest.raises(UsageError):
            history.search(words)
        return
    assert [one.turn for one in history.search(words)] == turns


def test_what_is_deleted_is_nowhere_and_its_number_is_not_given_again(
    history: History, tmp_path: Path
) -> None:
    number, other = history.create("Secret plans"), history.create("Other")
    history.append(number, answer("Where is the zanzibarite?"))
    history.append(other, answer())
    history.rate(number, 1, Feedback(False, "Unfit zanzibarite"))
    history.delete([number])
    assert [one.name for one in history.conversations()] == ["Other"]
    assert history.search("zanzibarite") == []
    for file in tmp_path.iterdir():
        assert b"zanzibarite" not in file.read_bytes().lower(), file
    history.delete([other])
    assert history.create() == other + 1


def test_delete_takes_all_that_are_named_or_none(history: History) -> None:
    number = history.create("One")
    with pytest.raises(UsageError):
        history.delete([number, 99])
    assert [one.id for one in history.conversations()] == [number]


def test_rename_and_rate(history: History) -> None:
    number = history.create()
    history.append(number, answer())
    history.rename(number, " Owls \n at home ")
    assert history.conversation(number).name == "Owls at home"
    history.rate(number, 1, Feedback(True))
    history.rate(number, 1, Feedback(False, "no source", ("b" * 16,), True))
    assert history.turns(number)[0].feedback == Feedback(False, "no source", ("b" * 16,), True)
    assert [c.id for c, _ in history.rejected()] == [number]


def test_what_is_not_there_is_told(history: History) -> None:
    number = history.create()
    for action in (
        lambda: history.conversation(9),
        lambda: history.turns(9),
        lambda: history.append(9, answer()),
        lambda: history.rename(9, "x"),
        lambda: history.rename(number, "  "),
        lambda: history.rate(number, 1, Feedback(True)),
    ):
        with pytest.raises(UsageError):
            action()
    with pytest.raises(ValueError, match="question"):
        history.append(number, {"text": "no answer"})
    assert history.turns(number) == []


def test_nobody_sees_the_conversations_of_another(tmp_path: Path) -> None:
    mine, yours = history_of(tmp_path, "me"), history_of(tmp_path, "you")
    number = mine.create("Mine")
    mine.append(number, answer())
    assert yours.conversations() == []
    assert yours.search("owls") == []
    with pytest.raises(UsageError):
        yours.turns(number)
    with pytest.raises(UsageError):
        yours.delete([number])
    assert len(mine.turns(number)) == 1


def test_half_a_character_and_a_nul_are_no_fault(history: History) -> None:
    number = history.create("half \ud800")
    history.append(number, answer("What \ud83d is\0 it?", text="Owls \udc00."))
    assert history.turns(number)[0].answer["text"] == "Owls \udc00."
    assert [one.turn for one in history.search("owls")] == [1]


# --- Several at once, kills, disks ---------------------------------------------------------------


def test_threads_and_processes_append_to_one_conversation(tmp_path: Path) -> None:
    history = history_of(tmp_path)
    number = history.create()
    others = [appending(tmp_path, number, 10, name) for name in ("a", "b")]
    threads = [
        threading.Thread(target=lambda: [history.append(number, answer()) for _ in range(10)])
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = [one.communicate(timeout=120) for one in others]
    assert [one.returncode for one in others] == [0, 0], told
    assert [turn.number for turn in history.turns(number)] == list(range(1, 41))


def test_several_processes_that_begin_at_once_make_one_file(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from rag.history import history_of;"
        "print(history_of(Path(sys.argv[1]) / 'new').create(sys.argv[2]))"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), f"by {n}"],
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        for n in range(4)
    ]
    ids = sorted(int(one.communicate(timeout=120)[0]) for one in processes)
    assert ids == [1, 2, 3, 4]
    names = {one.name for one in history_of(tmp_path / "new").conversations()}
    assert names == {f"by {n}" for n in range(4)}


@pytest.mark.parametrize("seconds", [0.0, 0.003, 0.01, 0.05])
def test_what_was_told_as_kept_survives_a_kill(tmp_path: Path, seconds: float) -> None:
    history = history_of(tmp_path)
    number = history.create()
    process = appending(tmp_path, number, 100_000, "a")
    assert process.stdout
    assert process.stderr
    process.stdout.readline()
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    told = 1 + len(process.stdout.read().split("\n")) - 1
    process.wait()
    process.stdout.close()
    process.stderr.close()
    turns = history.turns(number)
    assert len(turns) >= told
    assert [turn.number for turn in turns] == list(range(1, len(turns) + 1))
    assert len(history.search("question", 100_000)) == len(turns)
    assert history.append(number, answer()) == len(turns) + 1


def test_a_kill_while_the_file_is_made_leaves_none_or_a_whole_one(tmp_path: Path) -> None:
    leftovers = [tmp_path / f"history.sqlite3{end}" for end in (".new", ".new-wal", "-wal", "-shm")]
    for path in leftovers:
        path.write_bytes(b"half a file")
    assert history_of(tmp_path).create("One") == 1
    assert [one.name for one in history_of(tmp_path).conversations()] == ["One"]


@pytest.mark.case("I17")
def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path: Path) -> None:
    history = history_of(tmp_path)
    number = history.create()
    history.append(number, answer())
    process = appending(tmp_path, number, 100_000, "a", limit=200_000)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 5
    (line,) = err.strip().splitlines()
    assert line.startswith(f"error: The conversations in {tmp_path}/history.sqlite3 cannot be")
    turns = history.turns(number)
    assert len(turns) == 1 + len(out.split())
    assert history.append(number, answer()) == len(turns) + 1


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ResourceError) as raised:
        history_of(tmp_path / "file").create()
    assert "--data-dir" in str(raised.value)


def test_a_damaged_file_is_told_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    path.write_bytes(b"this is no database at all, it is a letter to an owl" * 50)
    before = path.read_bytes()
    for action in (history_of(tmp_path).conversations, history_of(tmp_path).create):
        with pytest.raises(HistoryUnusable, match="Move it away"):
            action()
    assert path.read_bytes() == before


# --- Formats ------------------------------------------------------------------------------------

NEXT = ("ALTER TABLE conversations ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0",)
BROKEN = ("ALTER TABLE turns ADD COLUMN extra TEXT", "CREATE TABLE turns (x)")


@pytest.fixture
def first_format(tmp_path: Path) -> Path:
    """A file of the first format with a conversation in it."""
    path = tmp_path / "history.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, CHANGES[:1])
        connection.execute(
            "INSERT INTO conversations VALUES (7, '', 'Owls', '2026-01-01', '2026-01-02')"
        )
        connection.execute(
            "INSERT INTO turns VALUES (3, 7, 1, 'Where?', ?, '[]', '2026-01-02')",
            (json.dumps(answer("Where?")),),
        )
        connection.execute("INSERT INTO said (rowid, text) VALUES (3, 'Where? In trees.')")
        connection.execute("INSERT INTO feedback VALUES (3, 0, 'why', '[]', NULL, '2026-01-02')")
    return path


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [line for line in connection.iterdump() if line.startswith("INSERT")]


def test_a_file_of_the_first_format_is_read(first_format: Path) -> None:
    history = History(first_format)
    assert [(c.id, c.name, c.turns) for c in history.conversations()] == [(7, "Owls", 1)]
    assert history.turns(7)[0].feedback == Feedback(False, "why")
    assert [one.turn for one in history.search("trees")] == [1]


def test_a_new_format_keeps_everything_and_one_that_fails_changes_nothing(
    first_format: Path,
) -> None:
    before = dump(first_format)
    with closing(sqlite3.connect(first_format, isolation_level=None)) as connection:
        with pytest.raises(sqlite3.OperationalError):
            migrate(connection, [*CHANGES, NEXT, BROKEN])
        assert dump(first_format) == before
        migrate(connection, [*CHANGES, NEXT])
        rows = connection.execute("SELECT name, pinned FROM conversations").fetchall()
    assert rows == [("Owls", 0)]
    assert len(dump(first_format)) == len(before)


@pytest.mark.case("C22")
def test_a_file_of_a_newer_release_is_refused_and_left_alone(
    first_format: Path, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(first_format, isolation_level=None)) as connection:
        migrate(connection, [*CHANGES, NEXT])
    copy = shutil.copy(first_format, tmp_path / "copy")
    for action in (History(first_format).conversations, History(first_format).create):
        with pytest.raises(HistoryUnusable, match="newer askpapers") as raised:
            action()
    assert raised.value.exit_code == 3
    assert dump(first_format) == dump(Path(copy))


def test_a_conversation_begins_with_its_first_turn_or_not_at_all(history: History) -> None:
    with pytest.raises(ValueError):
        history.begin({"no": "answer"})
    assert history.conversations() == []
    number = history.begin(answer("What is it?"), name="Kept")
    (found,) = history.conversations()
    assert (found.id, found.name, found.turns) == (number, "Kept", 1)
