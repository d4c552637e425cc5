"""Many questions in one process: ids, resuming, and one failure that stays one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import rag
from fakes import Script, ScriptedServer, refusal, streamed

from rag.batch import Item, resume

ITEMS: list[dict[str, Any]] = [
    {"id": "first", "question": "What does RepoScope model jointly?"},
    {"id": 2, "question": "What does RN-DPO normalize?"},
    {"id": "empty", "question": "   "},
    {"id": "é-4", "question": "Which tasks is G2PO tested on?"},
]


def written(path: Path, items: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items))
    return path


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_question_that_fails_has_its_line_and_the_others_go_on(
    seeds_index: Path, tmp_path: Path
) -> None:
    batch = written(tmp_path / "batch.jsonl", ITEMS)
    ran = rag("ask", "--llm", "none", "--batch", batch, data=seeds_index)
    assert ran.code == 1
    results = lines(ran.out)
    assert [result["id"] for result in results] == ["first", 2, "empty", "é-4"]
    assert [("error" in result) for result in results] == [False, False, True, False]
    assert [r["citations"][0]["title"] for r in results if "error" not in r] == [
        "RepoScope",
        "RN-DPO",
        "G2PO",
    ]


def test_a_run_that_was_cut_off_goes_on_where_it_was(seeds_index: Path, tmp_path: Path) -> None:
    items = [ITEMS[0], ITEMS[1], ITEMS[3]]
    batch, out = written(tmp_path / "batch.jsonl", items), tmp_path / "out.jsonl"
    command = ("search", "--batch", batch, "--out", out)
    assert rag(*command, data=seeds_index).code == 0
    whole = out.read_bytes()
    assert [line["id"] for line in lines(whole.decode())] == ["first", 2, "é-4"]
    second_line = whole.index(b"\n") + 1
    out.write_bytes(whole[: second_line + 100])  # torn in the middle of a line
    ran = rag(*command, data=seeds_index)
    assert (ran.code, ran.out) == (0, "")
    assert out.read_bytes() == whole
    assert rag(*command, data=seeds_index).code == 0
    assert out.read_bytes() == whole


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "holds no questions"),
        ('{"id": 1, "question": "a"}\nnot json\n', "line 2, is not JSON"),
        ('{"id": 1}\n', "line 1, is not a question"),
        ('{"id": true, "question": "a"}\n', "line 1, is not a question"),
        ('["a"]\n', "line 1, is not a question"),
        ('{"id": 1, "question": "a"}\n{"id": 1, "question": "b"}\n', "has the id 1 twice"),
        (b"\xff\xfe", "is not UTF-8"),
    ],
)
def test_a_batch_that_cannot_be_read_is_2_before_anything_is_asked(
    seeds_index: Path, tmp_path: Path, content: str | bytes, words: str
) -> None:
    batch, out = tmp_path / "batch.jsonl", tmp_path / "out.jsonl"
    batch.write_bytes(content if isinstance(content, bytes) else content.encode())
    ran = rag("search", "--batch", batch, "--out", out, data=seeds_index)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.error_line
    assert not out.exists()


def test_a_model_that_cannot_be_used_at_all_is_not_asked_again(
    seeds_index: Path, tmp_path: Path
) -> None:
    batch = written(tmp_path / "batch.jsonl", [ITEMS[0], ITEMS[1]])
    with ScriptedServer(refusal(401, "no"), models=["m"]) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "m"}
        ran = rag("ask", "--batch", batch, env=env, data=seeds_index)
        assert len(server.posts) == 1
    assert (ran.code, ran.out) == (4, "")


def test_a_model_that_fails_once_costs_one_question(seeds_index: Path, tmp_path: Path) -> None:
    claim = {"support": ["S3"], "text": "RepoScope models directory structures and call graphs."}
    good: Script = streamed([json.dumps({"claims": [claim]})])
    batch = written(tmp_path / "batch.jsonl", [{**ITEMS[0], "id": n} for n in range(3)])
    with ScriptedServer(good, refusal(400, "no"), good, models=["m"]) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "m", "RAG_MAX_RETRIES": "0"}
        ran = rag("ask", "--batch", batch, env=env, data=seeds_index)
    assert ran.code == 1
    results = lines(ran.out)
    assert [result["id"] for result in results] == [0, 1, 2]
    assert [result.get("exit_code") for result in results] == [None, 4, None]


def test_the_file_of_questions_is_never_written(seeds_index: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.jsonl"
    own.write_text('{"id": "a", "question": "what is ARC"}\n{"id": "b", "question": "what"}')
    before = own.read_bytes()
    done = rag("search", "--batch", str(own), "--out", str(own), data=seeds_index)
    assert (done.code, own.read_bytes()) == (2, before)
    assert "--out is the batch file itself" in done.error_line


def test_out_without_a_batch_is_refused(seeds_index: Path, tmp_path: Path) -> None:
    done = rag("search", "ARC", "--out", str(tmp_path / "x"), data=seeds_index)
    assert done.code == 2
    assert not (tmp_path / "x").exists()


def test_an_id_that_cannot_be_written_is_named_by_its_line(
    seeds_index: Path, tmp_path: Path
) -> None:
    file = tmp_path / "b.jsonl"
    file.write_text('{"id": "a", "question": "ARC"}\n{"id": "f\\ud800", "question": "ARC"}\n')
    done = rag("search", "--batch", str(file), data=seeds_index)
    assert done.code == 2
    assert "line 2" in done.error_line


def test_what_was_answered_is_not_asked_again_whatever_line_marks_it_holds(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text('{"id": "a", "status": "answered", "text": "x\u2028y\u0085z"}\n', "utf-8")
    items = [Item("a", "one?"), Item("b", "two?")]
    assert [item.id for item in resume(items, tmp_path / "in.jsonl", out)] == ["b"]
