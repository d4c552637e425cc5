"""Running text that others wrote, as it is read: LaTeX's commands undone, amounts kept."""

from __future__ import annotations

from rag.text import plain

_DOLLAR = "\ue004"  # of no language: `plain` takes a dollar sign for the mark of maths


def prose(part: str) -> str:
    """A part of a text that is not maths, as `plain` gives it, with the spaces at its ends."""
    kept = part.replace(_DOLLAR, "").replace(r"\$", _DOLLAR).replace("$", _DOLLAR)
    text = plain(kept).replace(_DOLLAR, "$")
    first = " " if part[:1].isspace() else ""
    last = " " if part[-1:].isspace() and text else ""
    return f"{first}{text}{last}"
