"""Standing questions: kept, asked again after papers came in, and compared with before."""

from pathlib import Path

from rag.watching.differing import Change, Moved, Reworded, Said
from rag.watching.outcome import Outcome
from rag.watching.running import revision_of, run
from rag.watching.store import Standing, Watchlist

__all__ = [
    "Change",
    "Moved",
    "Outcome",
    "Reworded",
    "Said",
    "Standing",
    "Watchlist",
    "revision_of",
    "run",
    "watchlist_of",
]


def watchlist_of(data_dir: Path, owner: str = "") -> Watchlist:
    """The standing questions of a data folder; nothing is read or made yet."""
    return Watchlist(data_dir / "watching.sqlite3", owner)
