"""Who reads: what a conversation belongs to."""

from typing import Any

LOCAL = "local"  # whoever sits at this machine


def owner(request: Any) -> str:
    """The name that the reader of gradio's `request` signed in with; `LOCAL` without a login."""
    return user_of(request) or LOCAL


def user_of(request: Any) -> str:
    """The name that the reader signed in with; empty without a login, where no limits hold."""
    state = request.request.scope.get("state") or {}
    return str(state.get("user") or "")
