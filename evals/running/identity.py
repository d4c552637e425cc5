"""What makes the figures of a run, so that two runs can be told apart or be the same."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from evals.running.journal import Manifest
from evals.running.plan import Plan
from evals.suite import Suite
from rag import Assistant
from rag.answering.parts import choice_of
from rag.answering.prompting import versions
from rag.config import Config
from rag.models.catalogue import find_model

PACKAGES = ("askpapers", "chromadb", "llama-index-core", "numpy", "openai", "openvino", "xllamacpp")
AT_ONCE = "questions at once"
_SECRETS = {"openai_api_key", "embedding_api_key", "data_dir", "weights_dir", "vectors_options"}


def manifest_of(source: str, config: Config, assistant: Assistant) -> Manifest:
    """What answers, and where; `source` is the file of a suite that has no name of its own."""
    identity: dict[str, Any] = {
        "settings": config.fingerprint(),
        "writer": assistant.writer_name,
        "weights": _weights(config),
        "prompts": versions(config.prompts),
        "code": _code(),
    }
    facts = {
        "suite file": source,
        "begun": datetime.now(UTC).isoformat(timespec="seconds"),
        "config": config.model_dump(mode="json", exclude=_SECRETS),
        "packages": {name: version(name) for name in PACKAGES},
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} processors",
    }
    return Manifest(identity, facts)


def run_of(suite: Suite, index: str, plan: Plan, judges: Sequence[str], by: Manifest) -> Manifest:
    """The manifest of a run of `suite` over the index whose content is `index`."""
    identity: dict[str, Any] = {
        "suite": suite.name,
        "questions": suite.digest,
        "asked": len(suite.items),
        "repeats": plan.repeats,
        "index": index,
        "judges": list(judges),
        **by.identity,
    }
    bounds = {"seconds for a question": plan.timeout, AT_ONCE: plan.at_once}
    return Manifest(identity, {**by.facts, **bounds})


def _weights(config: Config) -> dict[str, str]:
    """The pinned hashes of the weights that are used; a server's are not known."""
    names = [] if config.served_embedding else [config.embedding_model]
    if choice_of(config) == "local" and not config.local_model.endswith(".gguf"):
        names.append(config.local_model)
    return {
        f"{name}/{file.name}": file.sha256[:16] for name in names for file in find_model(name).files
    }


def _code() -> str:
    """The release, and the commit where the code is a checkout."""
    folder = Path(__file__).parent
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=10"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return version("askpapers")
    commit = done.stdout.strip()
    return f"{version('askpapers')} {commit}".strip()
