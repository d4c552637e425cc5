"""Writing what a command was asked to save."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rag.errors import ResourceError


def store(path: Path, content: bytes) -> None:
    """Write a file.

    Raises:
        ResourceError: it cannot be written.
    """
    try:
        path.write_bytes(content)
    except OSError as error:
        raise ResourceError(f"{path} cannot be written", cause=error.strerror or "") from error


def store_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a value as JSON; see `store`."""
    store(path, (json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode())
