"""What several tabs share: how events are declared, and how maths is told to gradio."""

from __future__ import annotations

from typing import Any

from rag.display import BLOCK_MATHS, INLINE_MATHS

HIDDEN: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}


def delimiters() -> list[dict[str, str | bool]]:
    """The characters between which `rag.display` puts maths, for `gr.Markdown`."""
    pairs = ((INLINE_MATHS, False), (BLOCK_MATHS, True))
    return [{"left": left, "right": right, "display": block} for (left, right), block in pairs]
