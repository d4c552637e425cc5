"""What a process of ours leaves out at its start."""

from __future__ import annotations

import subprocess
import sys
from importlib.machinery import PathFinder

import pytest
from command import ROOT, environment

pytestmark = pytest.mark.skipif(
    not PathFinder.find_spec("rfc3987_syntax"), reason="jsonschema[format-nongpl] is not installed"
)
GRAMMARS = "rfc3987_syntax.syntax_helpers"  # what compiles them, at its import


def loaded(code: str) -> set[str]:
    """The modules that a process holds after `code`."""
    code = f"{code}; import sys; print(*(name for name, module in sys.modules.items() if module))"
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment(), cwd=ROOT, check=True
    )
    return set(done.stdout.split())


def test_chroma_is_loaded_without_the_grammars_of_addresses_that_jsonschema_would_compile() -> None:
    start = "from rag.starting import spare_grammars; spare_grammars()"
    held = loaded(f"{start}; import chromadb, jsonschema")
    assert {"chromadb", "jsonschema"} <= held
    assert GRAMMARS not in held


def test_who_imports_the_package_keeps_what_jsonschema_can_check() -> None:
    assert GRAMMARS in loaded("import rag, rag.cli, jsonschema")
