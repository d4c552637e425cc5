"""Who reads: what a conversation belongs to."""

from collections.abc import Mapping
from typing import Any

LOCAL = ""  # whoever sits at this machine, as for `rag history`


def owner(request: Any) -> str:
    """The name that the reader of gradio's `request` signed in with; `LOCAL` without a login."""
    return owner_of(request.request.scope)


def owner_of(scope: Mapping[str, Any]) -> str:
    """The same for the scope of any request to the server."""
    state = scope.get("state") or {}
    return str(state.get("user") or LOCAL)


def user_of(request: Any) -> str:
    """The name that the reader signed in with; empty without a login, where no limits hold."""
    return owner(request)
