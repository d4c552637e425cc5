"""The command line where the machine lacks something, and what it must never tell."""

from __future__ import annotations

import fcntl
import os
import resource
import shutil
import signal
import site
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command import COMMAND, ROOT, SEEDS, WEIGHTS, Ran, environment, rag_apart, start
from fakes import ScriptedServer, refusal
from test_index_disk import small_disk
from together import together

from rag.config import Config

KEYS = ("sk-canary-0123456789abcdef", "ek-canary-fedcba9876543210")
SEARCH = ("search", "repository documentation", "-k", "1")
FIRST = "RepoScope"


def weights(config: Config) -> dict[str, str]:
    return {WEIGHTS: str(config.weights_dir)}


def limited(limit: Callable[[], None], *arguments: str, data: Path) -> Ran:
    """The command in a process of its own that `limit` is called in before it begins."""
    done = subprocess.run(
        [*COMMAND, *arguments, "--data-dir", str(data)],
        preexec_fn=limit,
        capture_output=True,
        env=environment(),
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


# --- Places that may not be written


def test_C10_a_read_only_file_system_is_searched_and_not_written(
    seeds_config: Config, tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk", "32m") as disk:
        data = Path(shutil.copytree(seeds_config.data_dir, disk / "data"))
        before = sorted(path.name for path in data.rglob("*"))
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        ran = rag_apart("index", SEEDS, "--quiet", data=data)
        assert (ran.code, ran.out) == (5, "")
        assert f"{data} cannot be written (Read-only file system)" in ran.error_line
        assert FIRST in rag_apart(*SEARCH, data=data).out
        assert sorted(path.name for path in data.rglob("*")) == before


def test_C11_without_a_home_folder_the_way_out_is_named(seeds_config: Config) -> None:
    nowhere = {"HOME": "/proc/nowhere", "XDG_DATA_HOME": "", **weights(seeds_config)}
    ran = rag_apart("index", SEEDS, "--quiet", env=nowhere)
    assert ran.code == 5
    assert "--data-dir" in ran.error_line


@pytest.mark.case("S06")
def test_a_plain_machine_is_no_fault(seeds_config: Config, tmp_path: Path) -> None:
    cwd = tmp_path / "fixed"
    cwd.mkdir(0o555)
    env = {"LANG": "C", "LC_ALL": "C", "TZ": "Pacific/Chatham", "TMPDIR": "/nowhere"}
    ran = rag_apart(*SEARCH, env=env | weights(seeds_config), cwd=cwd, data=seeds_config.data_dir)
    assert (ran.code, ran.err) == (0, "")
    assert FIRST in ran.out
    assert list(cwd.iterdir()) == []


# --- Little of everything


@pytest.mark.parametrize("handles", [20, 8])
def test_S05_few_file_handles_do_not_make_an_index_damaged(
    seeds_config: Config, tmp_path: Path, handles: int
) -> None:
    data = Path(shutil.copytree(seeds_config.data_dir, tmp_path / "data"))
    before = sorted((data / "vectors").iterdir())

    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (handles, handles))

    ran = limited(few, *SEARCH, data=data)
    assert ran.code in {0, 5}, ran.err
    assert "damaged" not in ran.err
    assert "Traceback" not in ran.err
    if ran.code == 0:
        assert FIRST in ran.out
        assert "searched exactly" in ran.err
    assert sorted((data / "vectors").iterdir()) == before


@pytest.mark.parametrize("megabytes", [1000, 1024, 1200])
def test_S05_a_gigabyte_of_memory_is_enough(seeds_config: Config, megabytes: int) -> None:
    def little() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    ran = limited(little, *SEARCH, data=seeds_config.data_dir)
    assert (ran.code, ran.err) == (0, "")
    assert FIRST in ran.out


def test_S05_too_little_memory_is_told(seeds_config: Config) -> None:
    def little() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (250 << 20, 250 << 20))

    ran = limited(little, *SEARCH, data=seeds_config.data_dir)
    assert ran.code == 5, ran.err
    assert "memory" in ran.error_line
    assert "damaged" not in ran.err


# --- Being told to stop


def test_C12_waiting_for_the_lock_ends_at_ctrl_c(seeds_config: Config) -> None:
    lock = os.open(seeds_config.data_dir / "writer.lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        command: list[str | Path] = [
            *("index", SEEDS, "--wait", "--quiet", "--data-dir", seeds_config.data_dir)
        ]
        with start(command, env=weights(seeds_config)) as process:
            wait_for(lambda: "flock" in blocked_in(process.pid))
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=60)
        assert (process.returncode, told) == (130, b"\ninterrupted\n")
    finally:
        os.close(lock)


def blocked_in(pid: int) -> str:
    """What a process waits for in the kernel, where that is told."""
    shown = Path(f"/proc/{pid}/stack")
    if os.access(shown, os.R_OK):
        return shown.read_text()
    return Path(f"/proc/{pid}/wchan").read_text()


def wait_for(reached: Callable[[], bool]) -> None:
    ends = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_C13_a_second_ctrl_c_while_it_ends_leaves_the_old_index(
    seeds_config: Config, tmp_path: Path
) -> None:
    data = Path(shutil.copytree(seeds_config.data_dir, tmp_path / "data"))
    command: list[str | Path] = ["index", SEEDS, "--compact", "--data-dir", data]
    with start(command, env=weights(seeds_config)) as process:
        wait_for(lambda: any((data / "vectors").glob("*.tmp")))
        for _ in range(2):
            process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode in {130, -signal.SIGINT}
    assert told.count(b"Traceback") <= 1  # of the second, if it met the first being told
    assert FIRST in rag_apart(*SEARCH, env=weights(seeds_config), data=data).out
    assert rag_apart("index", SEEDS, "--quiet", env=weights(seeds_config), data=data).code == 0
    assert list((data / "vectors").glob("*.tmp")) == []


# --- Secrets


def test_C20_no_key_is_printed_or_kept(seeds_config: Config, tmp_path: Path) -> None:
    data = Path(shutil.copytree(seeds_config.data_dir, tmp_path / "data"))
    echo = refusal(401, f"Incorrect API key provided: {KEYS[0]}")
    with ScriptedServer(echo, models=["m"]) as server:
        done = together(
            ["config"],
            ["config", "--json"],
            ["doctor"],
            ["ask", FIRST, "--json"],
            ["list", "papers on documentation"],
            data=data,
            env={
                "OPENAI_BASE_URL": server.url,
                "OPENAI_API_KEY": KEYS[0],
                "RAG_EMBEDDING_API_KEY": KEYS[1],
                "OPENAI_MODEL": "m",
                **weights(seeds_config),
            },
        )
        sent = [post.headers["authorization"] for post in server.posts]
    assert set(sent) == {f"Bearer {KEYS[0]}"}
    told = "".join(one.out + one.err for one in done.ran)
    assert "key was refused" in told
    for key in KEYS:
        assert key not in told
        assert key[:12] not in told
        for path in (p for p in data.rglob("*") if p.is_file()):
            assert key.encode() not in path.read_bytes(), path


# --- What Python runs by itself

KNOWN = {"distutils-precedence.pth", "_virtualenv.pth"}  # of setuptools and of uv


def test_S03_nothing_runs_at_the_start_of_python_that_is_not_known() -> None:
    """A .pth file may hold code; one that a package brought unasked is how a theft began."""
    found = [path for place in site.getsitepackages() for path in Path(place).glob("*.pth")]
    lines = {
        path.name: [line for line in path.read_text().splitlines() if line.startswith("import")]
        for path in found
    }
    assert {name for name, code in lines.items() if code} <= KNOWN
