"""A copy of all that the data folder holds and that nothing else could bring back.

Databases are copied by SQLite itself, so that one that is being written is copied as it was between
two transactions. The vector index is left out: it is made again from the catalog.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from rag.errors import IndexUnusable, ResourceError, UsageError
from rag.index.disk import sync

_DERIVED = frozenset({"vectors", "writer.lock"})
_LOGS = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Copied:
    """How many files were copied, and their bytes."""

    files: int
    bytes: int


def back_up(data_dir: Path, target: Path) -> Copied:
    """Copy a data folder to `target`, which appears once all of it is there.

    Raises:
        UsageError: there is nothing to copy, or something at `target` already.
        IndexUnusable: a database is damaged.
        ResourceError: it cannot be read or written, or there is no room.
    """
    inside = target.absolute().is_relative_to(data_dir.absolute())
    if not data_dir.is_dir() or not any(data_dir.iterdir()):
        raise UsageError(
            f"There is nothing to copy in {data_dir}", remedy="Name another --data-dir."
        )
    if target.exists() or inside:
        cause = "a folder inside the one that is copied" if inside else "something is there"
        raise UsageError(
            f"The copy cannot go to {target}", cause=cause, remedy="Name a new folder."
        )
    partial = target.with_name(f"{target.name}.part")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True, mode=0o700)
        copied = [_copy(path, partial / path.relative_to(data_dir)) for path in _kept(data_dir)]
        partial.rename(target)
        sync(target.parent)
    except sqlite3.DatabaseError as error:
        raise IndexUnusable(
            f"A database in {data_dir} cannot be copied",
            cause=str(error),
            remedy="See `rag doctor`.",
        ) from error
    except OSError as error:
        raise ResourceError(f"The copy to {target} failed", cause=str(error)) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Copied(len(copied), sum(copied))


def _kept(data_dir: Path) -> Iterator[Path]:
    """The files that are copied; what a database has beside it is in its copy."""
    for path in sorted(data_dir.rglob("*")):
        derived = path.relative_to(data_dir).parts[0] in _DERIVED
        if (
            path.is_file()
            and not path.is_symlink()
            and not derived
            and not path.name.endswith(_LOGS)
        ):
            yield path


def _copy(path: Path, to: Path) -> int:
    """Copy one file, readable by whoever could read it; returns its bytes."""
    to.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.suffix == ".sqlite3":
        to.touch(mode=0o600)
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(to)) as copy:
            source.backup(copy)
        shutil.copymode(path, to)
    else:
        shutil.copy2(path, to)
    sync(to)
    return to.stat().st_size
