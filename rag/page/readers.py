"""Who reads: what a conversation belongs to."""

from typing import Any

LOCAL = "local"  # whoever sits at this machine


def owner(request: Any) -> str:
    """The name that the reader of gradio's `request` signed in with; `LOCAL` without a login."""
    state = request.request.scope.get("state") or {}
    return str(state.get("user") or LOCAL)
