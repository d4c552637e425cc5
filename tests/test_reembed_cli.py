"""`rag reembed` as its user runs it, with two real models."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from command import SEEDS, WEIGHTS, rag, start

from rag.answering.assistant import Assistant
from rag.answering.served import add_with, reembedding
from rag.config import Config, load
from rag.index.intake import DEFAULT
from rag.index.report import Report
from rag.index.sync import Indexer
from rag.models import WeightStore

FIRST = "all-minilm-l6-v2"
QUESTION = "Which framework documents repositories?"
NAMED = "RAG_EMBEDDING_MODEL"


@pytest.fixture
def data(seeds_index: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(seeds_index, tmp_path / "data"))


def model_of(data: Path) -> str:
    """The embedding model that an answer names."""
    answered = rag("ask", "--llm", "none", "--json", QUESTION, data=data)
    assert answered.err == ""
    return str(answered.json()["manifest"]["embedding_model"])


def vectors(data: Path) -> dict[str, int]:
    with closing(sqlite3.connect(data / "catalog.sqlite3")) as connection:
        rows = connection.execute("SELECT model, count(*) FROM vectors GROUP BY model").fetchall()
    return {model.split("/")[0]: count for model, count in rows}


def test_the_index_changes_and_whoever_asks_needs_no_other_setting(
    data: Path, second_model: str
) -> None:
    assert model_of(data) == FIRST
    ran = rag("reembed", "--model", second_model, data=data)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        f"57 papers, 57 texts embedded: {second_model} serves now, in place of {FIRST}.\n"
    )
    assert model_of(data) == second_model
    assert vectors(data) == {second_model: 57}
    again = rag("reembed", "--model", second_model, data=data)
    assert again.out == f"57 papers: {second_model} served them already.\n"
    added = rag("index", SEEDS, "--json", data=data)
    assert (added.code, added.json()["unchanged"], added.err) == (0, 57, "")


@pytest.mark.parametrize("command", [("search", "apples"), ("index", str(SEEDS))])
def test_X02_settings_that_name_another_model_are_told_with_the_remedy(
    data: Path, second_model: str, command: tuple[str, ...]
) -> None:
    ran = rag(*command, env={NAMED: second_model}, data=data)
    assert ran.code == 0
    assert ran.err.strip() == (
        f"The index is served with embedding_model = {FIRST}, the settings say {second_model}."
        f" `rag reembed --model {second_model}` changes the index."
    )


def test_doctor_tells_of_settings_that_name_another_model(data: Path, second_model: str) -> None:
    ran = rag("doctor", env={NAMED: second_model, "RAG_LLM": "none"}, data=data)
    assert ran.code == 0
    assert f"`rag reembed --model {second_model}`" in ran.out


def test_X02_without_the_weights_of_the_index_both_models_are_named(
    data: Path, second_model: str, weights: WeightStore, tmp_path: Path
) -> None:
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / second_model).symlink_to(weights.root / second_model)
    env = {WEIGHTS: str(tmp_path / "weights"), NAMED: second_model}
    ran = rag("search", "apples", env=env, data=data)
    assert ran.code == 3
    for part in (FIRST, second_model, f"rag models pull {FIRST}", "rag reembed --model"):
        assert part in ran.error_line
    moved = rag("reembed", "--model", second_model, env=env, data=data)  # needs the new one only
    assert moved.code == 0
    assert rag("search", "apples", env=env, data=data).code == 0


def test_a_rebuild_keeps_the_model_of_the_index_unless_the_settings_name_one(
    data: Path, second_model: str
) -> None:
    rag("reembed", "--model", second_model, data=data)
    assert rag("index", "--rebuild", data=data).code == 0
    assert model_of(data) == second_model
    assert rag("index", "--rebuild", env={NAMED: FIRST}, data=data).code == 0
    assert model_of(data) == FIRST


@pytest.mark.parametrize(
    ("model", "env", "code", "words"),
    [
        ("paraphrase", {}, 2, "Did you mean paraphrase-minilm-l3-v2?"),
        ("qwen2.5-coder-1.5b", {}, 2, "qwen2.5-coder-1.5b is not an embedding model"),
        ("paraphrase-minilm-l3-v2", {WEIGHTS: "nowhere"}, 4, "rag models pull paraphrase-minilm"),
    ],
)
def test_a_model_that_cannot_be_had(
    data: Path, model: str, env: dict[str, str], code: int, words: str
) -> None:
    ran = rag("reembed", "--model", model, env=env, data=data)
    assert (ran.code, ran.out) == (code, "")
    assert words in ran.error_line
    assert vectors(data) == {FIRST: 57}


def test_without_an_index_it_is_3(tmp_path: Path, second_model: str) -> None:
    for more in ((), ("--bridge",)):
        ran = rag("reembed", "--model", second_model, *more, data=tmp_path / "data")
        assert (ran.code, ran.out) == (3, "")
        assert "Run `rag index` first" in ran.error_line
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--least", "0.5"), "--least and --sample go with --bridge only"),
        (("--bridge", "--least", "1.5"), "--least': Input should be less than or equal to 1"),
        (("--bridge", "--sample", "3"), "--sample': Input should be greater than or equal to 30"),
    ],
)
def test_flags_that_say_nothing_sensible(data: Path, more: tuple[str, ...], words: str) -> None:
    ran = rag("reembed", "--model", FIRST, *more, data=data)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.error_line


def test_a_bridge_is_used_by_those_who_want_the_new_model(data: Path, second_model: str) -> None:
    tried = rag("reembed", "--model", second_model, "--bridge", "--least", "0.5", data=data)
    assert tried.code == 0
    assert "The bridge recovers 0." in tried.out
    env = {NAMED: second_model}
    asked = rag("ask", "--llm", "none", "--json", QUESTION, env=env, data=data)
    assert asked.err == ""
    named = asked.json()["manifest"]["embedding_model"]
    assert named == f"{second_model}, bridged to {FIRST}"
    assert model_of(data) == FIRST
    poor = rag("reembed", "--model", second_model, "--bridge", "--least", "1", data=data)
    assert poor.code == 1
    assert "The bridge is not kept: it recovers 0." in poor.error_line
    assert "rag reembed --model" in rag("search", "apples", env=env, data=data).err


@pytest.mark.case("C12")
def test_ctrl_c_keeps_what_is_embedded(tmp_path: Path, second_model: str) -> None:
    papers, data = tmp_path / "papers.txt", tmp_path / "data"
    words = sorted(
        {word for path in SEEDS.iterdir() for word in re.findall("[a-z]{4,}", path.read_text())}
    )
    draw = random.Random(0)
    texts = [
        " ".join(f"The {' '.join(draw.sample(words, 4))}." for _ in range(8))
        for _ in range(400)  # some batches, and no two alike
    ]
    papers.write_text("\n\n".join(texts))
    assert rag("index", papers, data=data).code == 0
    total = sum(vectors(data).values())
    process = start(["reembed", "--model", second_model, "--data-dir", data])
    while second_model not in vectors(data) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.decode().strip() == "interrupted"
    kept = vectors(data)[second_model]
    assert 0 < kept < total
    assert model_of(data) == FIRST
    done = rag("reembed", "--model", second_model, "--json", data=data).json()
    assert done["embedded"] == total - kept
    assert model_of(data) == second_model


def test_an_index_run_that_waited_through_a_switch_goes_on_with_the_new_model(
    data: Path, second_model: str, tmp_path: Path
) -> None:
    config = configured(data)
    (tmp_path / "new.txt").write_text("Owls nest in old barns. They return to them every year.")
    seen = list[str]()

    def work(indexer: Indexer) -> Report:
        if not seen:
            with reembedding(config, second_model, lambda *_: None) as reembedder:
                reembedder.run()
        seen.append("tried")
        return indexer.sync([tmp_path / "new.txt"], DEFAULT)

    assert add_with(config, lambda *_: None, lambda _: None, work).added == 1
    assert seen == ["tried", "tried"]
    assert vectors(data) == {second_model: 58}


def test_an_assistant_that_is_open_answers_through_the_switch(
    data: Path, second_model: str
) -> None:
    config = configured(data)
    told = list[str]()
    with Assistant.from_config(config, told.append) as assistant:
        before = assistant.answer(QUESTION)
        with reembedding(config, second_model, lambda *_: None) as reembedder:
            reembedder.run()
        after = assistant.answer(QUESTION)
    assert before.manifest["embedding_model"] == FIRST
    assert after.manifest["embedding_model"] == second_model
    assert after.citations[0].paper.title == before.citations[0].paper.title == "RepoScope"
    assert len(told) == 1
    assert f"served with embedding_model = {second_model}" in told[0]


def configured(data: Path) -> Config:
    weights = load(environ=os.environ).config.weights_dir
    return Config.model_validate({"data_dir": data, "weights_dir": weights, "llm": "none"})
