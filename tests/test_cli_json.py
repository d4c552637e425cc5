"""What commands print as JSON is what docs/json.md shows, key for key and type for type."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import ROOT, WEIGHTS, rag
from fakes import DONE, Script, ScriptedServer, chunk, event, usage
from library import abstract

from rag.serving.users import Users

MODEL = "The manifest of an answer that a model wrote"
FOLLOW_UP = "The manifest of a follow-up"  # checked in test_cli_chat.py
OPEN = {"origins", "changed"}  # their keys are names of settings, whichever were set
NULLABLE = {
    *("confidence", "probability", "coverage", "table", "year", "answerable", "feedback"),
    *("now", "answer", "change"),
}


def forms() -> dict[str, list[Any]]:
    """The JSON blocks of the document, under their headings."""
    text = (ROOT / "docs/json.md").read_text(encoding="utf-8")
    found: dict[str, list[Any]] = {}
    for part in re.split(r"^#+ ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        blocks = re.findall(r"```json\n(.*?)```", body, re.DOTALL)
        if blocks:
            found[heading.removesuffix(" --json")] = [json.loads(block) for block in blocks]
    return found


FORMS = forms()


def differences(value: Any, example: Any, place: str = "") -> Iterator[str]:
    """Where a value is not of its example's form."""
    if value is None and place.rpartition(".")[2] in NULLABLE:
        return
    if isinstance(example, dict) and isinstance(value, dict):
        if place.rpartition(".")[2] in OPEN:
            told = (str,) if place.endswith("origins") else (str, int, float)
            yield from (f"{place}.{k}" for k, v in value.items() if not isinstance(v, told))
            return
        yield from (f"{place}.{key} is not documented" for key in value.keys() - example.keys())
        yield from (f"{place}.{key} is missing" for key in example.keys() - value.keys())
        for key in value.keys() & example.keys():
            yield from differences(value[key], example[key], f"{place}.{key}")
    elif isinstance(example, list) and isinstance(value, list):
        for number, item in enumerate(value):
            tried = [list(differences(item, one, f"{place}[{number}]")) for one in example]
            yield from min(tried, key=len, default=[f"{place}[{number}] has no example"])
    elif type(value) is not type(example) and not (
        example is None and isinstance(value, str | None)
    ):
        yield f"{place} is {value!r}, not like {example!r}"


def check(value: Any, heading: str, block: int = 0) -> None:
    assert list(differences(value, FORMS[heading][block])) == []


def test_the_comparison_sees_every_kind_of_difference() -> None:
    example = {"a": 1, "b": [{"c": "x"}, {"c": None}], "d": None}
    assert not list(differences({"a": 2, "b": [{"c": None}, {"c": "y"}], "d": "z"}, example))
    for wrong in (
        {"a": 2.0, "b": [], "d": None},
        {"a": True, "b": [], "d": None},
        {"a": 2, "b": [{"c": 3}], "d": None},
        {"a": 2, "b": [], "d": 4},
        {"a": 2, "b": []},
        {"a": 2, "b": [], "d": None, "e": 1},
    ):
        assert list(differences(wrong, example)), wrong


def test_search(seeds_index: Path) -> None:
    ran = rag("search", "repository documentation", "-k", "4", "--json", data=seeds_index)
    assert ran.code == 0
    found = ran.json()
    check(found, "rag search")
    assert len(found["hits"]) == 4
    assert found["hits"][0]["title"] == "RepoScope"
    first = found["hits"][0]
    source = (ROOT / first["source"]).read_bytes().decode()[first["source_offset"] :]
    for sentence in first["evidence"]:
        assert source[sentence["start"] : sentence["end"]] == sentence["text"]


def test_ask_and_summarize_by_quoting(seeds_index: Path) -> None:
    asked = rag(
        "ask", "--llm", "none", "What does RepoScope model jointly?", "--json", data=seeds_index
    ).json()
    summary = rag("summarize", "--llm", "none", "000:4", "--json", data=seeds_index).json()
    for answer in (asked, summary):
        check(answer, "rag ask --json, rag summarize")
        assert answer["status"] == "answered"
        assert {n for claim in answer["claims"] for n in claim["citations"]} == {
            citation["number"] for citation in answer["citations"]
        }
    assert asked["citations"][0]["title"] == "RepoScope"


def test_ask_with_a_model(seeds_index: Path) -> None:
    claims = [
        {"support": ["S3"], "text": "RepoScope models directory structures and call graphs."},
        {"support": ["S3"], "text": "RepoScope models 99 directory structures."},
    ]
    text = json.dumps({"claims": claims})
    sent = [event(chunk(text)), event(chunk(finish="stop")), event(usage(9, 8)), DONE]
    with ScriptedServer(Script(sent), models=["m"]) as server:
        ran = rag(
            *("ask", "What does RepoScope model jointly?", "--json"),
            env={"OPENAI_BASE_URL": server.url},
            data=seeds_index,
        )
    answer = ran.json()
    assert (ran.code, answer["status"], answer["complete"]) == (0, "partial", True)
    assert answer["dropped"][0]["text"] == claims[1]["text"]
    example = FORMS["rag ask --json, rag summarize"][0]
    assert not list(differences(answer, example | {"manifest": FORMS[MODEL][0]}))
    assert (answer["manifest"]["model"], answer["manifest"]["prompt_tokens"]) == ("served", 9)


@pytest.mark.case("C18")
def test_I04_index_with_failures_and_warnings_prints_one_document(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(abstract("apples"))
    (tmp_path / "b.txt").write_bytes(b"\x00\x01\x02")
    (tmp_path / "c.jsonl").write_text('{"abstract": "long enough to be taken"}\n[1]\n')
    ran = rag("index", tmp_path, "--json", data=tmp_path / "data")
    assert ran.code == 1
    report = ran.json()
    check(report, "rag index")
    assert (report["added"], report["papers"]) == (2, 2)
    assert [(f["source"].rpartition("/")[2], f["line"]) for f in report["failed"]] == [
        ("b.txt", None),
        ("c.jsonl", 2),
    ]


def test_lines_of_a_batch(seeds_index: Path, tmp_path: Path) -> None:
    batch = tmp_path / "batch.jsonl"
    batch.write_text(
        '{"id": "a", "question": "What does RepoScope model?"}\n{"id": "b", "question": " "}\n'
    )
    for block, command in enumerate((["search"], ["ask", "--llm", "none"])):
        ran = rag(*command, "--batch", batch, data=seeds_index)
        assert ran.code == 1
        good, bad = map(json.loads, ran.out.splitlines())
        check(good, "Lines of --batch", block)
        check(bad, "Lines of --batch", 2)
        assert (good["id"], bad["id"], bad["exit_code"]) == ("a", "b", 2)


def test_doctor(seeds_index: Path) -> None:
    ran = rag("doctor", "--json", env={"RAG_LLM": "none"}, data=seeds_index)
    assert ran.code == 0
    check(ran.json(), "rag doctor")
    assert all(one["ok"] for one in ran.json()["checks"])


@pytest.mark.parametrize("weights", ["present", "missing"])
def test_models_list(tmp_path: Path, weights: str) -> None:
    env = {WEIGHTS: str(tmp_path)} if weights == "missing" else {}
    ran = rag("models", "list", "--json", env=env)
    check(ran.json(), "rag models list")
    status = {model["name"]: model["status"] for model in ran.json()["models"]}
    assert status["all-minilm-l6-v2"] == weights


def test_config(tmp_path: Path) -> None:
    key = "sk-canary-0123456789"
    env = {"RAG_TOP_K": "7", "OPENAI_API_KEY": key}
    ran = rag("config", "--json", env=env, data=tmp_path)
    check(ran.json(), "rag config")
    assert ran.json()["settings"]["top_k"] == 7
    assert ran.json()["origins"] == {
        "top_k": "RAG_TOP_K",
        "openai_api_key": "OPENAI_API_KEY",
        "data_dir": "command line",
    }
    assert key not in ran.out + rag("config", env=env).out


def test_exports_and_conversations(seeds_index: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(seeds_index, tmp_path / "data"))
    asked = rag("ask", "--llm", "none", "What does RN-DPO normalize?", "--json", data=data)
    (tmp_path / "answer.json").write_text(asked.out, encoding="utf-8")
    added = rag("history", "add", tmp_path / "answer.json", "--json", data=data)
    check(added.json(), "rag history add")
    rag("history", "rate", "1", "1", "bad", "--reason", "no", "--papers", "RN-DPO", data=data)
    check(rag("history", "list", "--json", data=data).json(), "rag history list")
    check(rag("history", "search", "image", "--json", data=data).json(), "rag history search")
    shown = rag("history", "show", "1", "--json", data=data).json()
    exported = rag("history", "export", "1", "--format", "json", data=data).json()
    for answer in (shown["turns"][0].pop("answer"), *exported["answers"]):
        check(answer, "rag ask --json, rag summarize")
    check(shown | {"turns": [turn | {"answer": {}} for turn in shown["turns"]]}, "rag history show")
    check(exported | {"answers": []}, "rag export --format json")


def test_replay(seeds_index: Path, tmp_path: Path) -> None:
    question = "What does RepoScope model jointly?"
    asked = rag("ask", "--llm", "none", question, "--json", data=seeds_index)
    kept = tmp_path / "answer.json"
    kept.write_text(asked.out)
    same = rag("replay", kept, "--json", data=seeds_index)
    assert (same.code, same.json()["same"]) == (0, True)
    answer = same.json()["answer"]
    check(answer, "rag ask --json, rag summarize")
    assert answer == asked.json()
    changed = asked.json()
    changed["manifest"]["index"] = "revision 0, exact"
    changed["text"] = "Otherwise."
    changed["citations"][0]["sentences"][0]["text"] = "It is not there."
    kept.write_text(json.dumps(changed))
    other = rag("replay", kept, "--json", data=seeds_index)
    assert other.code == 1
    check(other.json() | {"answer": None}, "rag replay")
    assert other.json()["sentences"][0]["state"] == "changed"
    assert other.json()["differences"][0]["before"] == "Otherwise."


def test_prompts(tmp_path: Path) -> None:
    listed = rag("prompts", "list", "--json").json()
    check(listed, "rag prompts list")
    names = {path.stem for path in (ROOT / "prompts").glob("*.md")}
    assert {one["name"] for one in listed["prompts"]} == names
    shown = rag("prompts", "show", "answer", "--json").json()
    check(shown, "rag prompts show")
    assert shown["text"] == (ROOT / "prompts/answer.md").read_text(encoding="utf-8")
    own = tmp_path / "own"
    own.mkdir()
    (own / "answer.md").write_text(shown["text"].replace("research", "scholarly"))
    differing = rag("prompts", "diff", "answer", "--json", env={"RAG_PROMPTS": str(own)}).json()
    check(differing, "rag prompts diff")
    assert not differing["same"]
    answer = {"question": "q", "status": "abstained", "text": "t", "claims": [], "citations": []}
    files = []
    for version in ("a", "b"):
        files.append(tmp_path / f"{version}.json")
        manifest = {"prompt": f"answer@{version}", "help": []}
        files[-1].write_text(json.dumps({**answer, "manifest": manifest}))
    compared = rag("prompts", "diff", *files, "--json").json()
    check(compared, "rag prompts diff", 1)
    assert compared["prompts"] == [{"name": "answer", "first": "a", "second": "b"}]


def test_users_and_a_backup(tmp_path: Path) -> None:
    data = tmp_path / "data"
    Users(data).add("ada", "a long password")
    listed = rag("users", "list", "--json", data=data).json()
    check(listed, "rag users list")
    assert listed == {"users": [{"name": "ada", "tokens": 0}]}
    kept = rag("backup", tmp_path / "copy", "--json", data=data).json()
    check(kept, "rag backup")


def test_every_form_that_is_documented_is_checked() -> None:
    tests = Path(__file__).parent.glob("test_*.py")
    tested = "".join(path.read_text(encoding="utf-8") for path in tests)
    assert [heading for heading in FORMS if f'"{heading}"' not in tested] == []


def test_the_collection_and_its_merges(tmp_path: Path) -> None:
    owl = {"title": "Owl Nests", "authors": ["Zoë Müller"], "year": 2024, "doi": "10.1000/owl"}
    records = [
        {"abstract": abstract("apples"), **owl},
        {"abstract": abstract("bridges"), **owl, "venue": "Journal of Owls", "id": "x"},
        {"abstract": abstract("clouds")},
    ]
    path = tmp_path / "papers.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    data: list[str | Path] = ["--data-dir", tmp_path / "data", "--json"]
    assert rag("index", path, *data).json()["duplicates"] == 1
    listing = rag("papers", "list", *data).json()
    check(listing, "rag papers list")
    assert [paper["title_derived"] for paper in listing["papers"]] == [False, True]
    assert rag("papers", "list", "--author", "muller", "--limit", "1", *data).json()["total"] == 1
    shown = rag("papers", "show", "10.1000/owl", *data).json()
    check(shown, "rag papers show")
    assert (shown["venue"], len(shown["sources"])) == ("Journal of Owls", 2)
    merged = rag("papers", "duplicates", *data).json()
    check(merged, "rag papers duplicates")
    assert merged["merged"][0]["reasons"] == ["DOI 10.1000/owl", "same title and authors"]
    undone = rag("papers", "duplicates", "--undo", "10.1000/owl", *data).json()
    check(undone, "rag papers duplicates", 1)
    assert undone["papers"] == 2
    redone = rag("papers", "duplicates", "--redo", undone["paper_id"], *data).json()
    check(redone, "rag papers duplicates", 1)
    assert redone == {"paper_id": undone["paper_id"], "papers": 1}
    both = rag("papers", "duplicates", "--redo", "x", "--undo", "y", *data)
    assert (both.code, "Give one of them" in both.error_line) == (2, True)
    removed = rag("papers", "remove", "papers.jsonl:3", *data).json()
    check(removed, "rag papers remove")
    assert removed["removed"] == 1
    assert rag("papers", "list", *data).json()["total"] == 1


def test_reembed(seeds_index: Path, second_model: str, tmp_path: Path) -> None:
    data = shutil.copytree(seeds_index, tmp_path / "data")
    tried = rag("reembed", "--model", second_model, "--bridge", "--json", data=data)
    check(tried.json(), "rag reembed --bridge")
    assert tried.code == (0 if tried.json()["stored"] else 1)
    assert 0 < tried.json()["recovered"]["low"] < tried.json()["recovered"]["value"]
    done = rag("reembed", "--model", second_model, "--json", data=data)
    check(done.json(), "rag reembed")
    assert (done.code, done.json()["papers"]) == (0, 57)
