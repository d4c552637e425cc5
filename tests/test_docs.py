"""The README does what it says: its commands print what it shows, its Python runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from rag.cli import app
from rag.config import Config

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)
SHOWN = [
    (command.strip(), output.strip())
    for kind, block in BLOCKS
    if kind == "console"
    for command, output in re.findall(r"^\$ (rag [^\n]*)\n([^$].*?)(?=^\$ |\Z)", block, re.M | re.S)
]
PYTHON = [block for kind, block in BLOCKS if kind == "python"]


def environment(config: Config) -> dict[str, str]:
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "HOME": str(config.data_dir),
        "RAG_DATA_DIR": str(config.data_dir),
        "RAG_WEIGHTS_DIR": str(config.weights_dir),
        "LANG": "C.UTF-8",
    }


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_a_command_prints_what_the_readme_shows(
    command: str, output: str, seeds_config: Config
) -> None:
    done = subprocess.run(
        command, shell=True, env=environment(seeds_config), capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == output


def test_the_readme_shows_the_output_of_a_command() -> None:
    assert SHOWN


@pytest.mark.parametrize("block", PYTHON)
def test_a_python_block_runs(block: str, seeds_config: Config) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", block],
        env=environment(seeds_config),
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in {"RN-DPO", "RepoScope"}


def test_every_command_is_in_the_readme() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    for name, command in commands.items():
        assert f"`rag {name}" in README
        for inner in getattr(command, "commands", {}):
            assert f"`{inner}`" in README or f"`rag {name} {inner}`" in README
