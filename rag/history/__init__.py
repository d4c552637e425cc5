"""Conversations that are kept in the user's data folder, and what people thought of the answers."""

from pathlib import Path

from rag.history.store import Conversation, Feedback, History, Mention, Turn

__all__ = ["Conversation", "Feedback", "History", "Mention", "Turn", "history_of"]


def history_of(data_dir: Path, owner: str = "") -> History:
    """The conversations of a data folder; nothing is read or made yet."""
    return History(data_dir / "history.sqlite3", owner)
