"""The templates of prompts as their owner sees them: names, versions, and what was changed."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.answering import prompting
from rag.errors import UsageError


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt by name; `is_own` says that a folder of the reader's has it."""

    name: str
    version: str
    is_own: bool
    text: str


@dataclass(frozen=True, slots=True)
class Versions:
    """The version of a prompt in each of two answers, empty where one did not use it."""

    name: str
    first: str
    second: str


def templates(own: Path | None = None) -> list[Template]:
    """Every prompt of the product, in the version that is in force.

    Raises:
        ConfigError: one cannot be read.
    """
    versions = prompting.versions(own)
    return [
        Template(name, versions[name], _is_own(name, own), prompting.template(name, own))
        for name in versions
    ]


def find_template(name: str, own: Path | None = None) -> Template:
    """One prompt in the version that is in force.

    Raises:
        UsageError: there is none of that name.
    """
    found = {one.name: one for one in templates(own)}
    if name in found:
        return found[name]
    near = difflib.get_close_matches(name, found, n=1)
    remedy = f"Did you mean {near[0]}?" if near else "`rag prompts list` names them."
    raise UsageError(f"There is no prompt {name!r}", remedy=remedy)


def changes(name: str, own: Path | None) -> str:
    """A unified diff from the product's template to the reader's own; empty where it has none.

    Raises:
        UsageError: there is no prompt of that name.
    """
    theirs = find_template(name)
    ours = find_template(name, own)
    lines = difflib.unified_diff(
        theirs.text.splitlines(),
        ours.text.splitlines(),
        f"{name}@{theirs.version} (the product's)",
        f"{name}@{ours.version} (own)",
        lineterm="",
    )
    return "\n".join(lines)


def used(manifest: Mapping[str, Any]) -> dict[str, str]:
    """The prompts that made an answer, by name, as its manifest has them."""
    steps = manifest.get("help", [])
    named = [step.get("prompt") for step in steps if isinstance(step, dict)] if steps else []
    written = str(manifest.get("prompt") or "").split(", ")  # a table may have several
    parts = [str(name).partition("@") for name in (*named, *written) if name]
    return {name: version for name, _, version in parts}


def compared(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Versions]:
    """The prompts of two answers, by their manifests."""
    one, other = used(first), used(second)
    names = sorted(one.keys() | other.keys())
    return [Versions(name, one.get(name, ""), other.get(name, "")) for name in names]


def _is_own(name: str, own: Path | None) -> bool:
    return own is not None and (own / f"{name}.md").is_file()
