"""What an index generation must be, and the check that it is; nothing here opens Chroma."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from rag.errors import IndexUnusable
from rag.index.disk import is_for_want, write_durably

FORMAT = 1
DATABASE = "chroma.sqlite3"
_MANIFEST = "manifest.json"


class Damaged(IndexUnusable):
    """The current generation cannot be trusted. The catalog can make another."""


class Unavailable(Damaged):
    """The current generation cannot be used now: space, permission, a lock, a server.

    To a search it is the same as damage, every paper is compared; but another generation would
    not help, so none is built.
    """


class Unsearchable(Damaged):
    """All rows are there, and too many of them are not found: papers that are nearly all alike.

    An approximate index cannot tell them apart; they are searched exactly instead.
    """


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a generation must be. `files` maps a path to its size and SHA-256.

    `kind` says what searches it: Chroma, or a comparison with every row ("flat").

    Opening a Chroma folder writes to its database, so the database is known by the digest of its
    ids and not by its bytes.
    """

    format: int
    model: str
    dimension: int
    rows: int
    revision: int
    ids: str
    files: dict[str, tuple[int, str]]
    kind: str = "chroma"


def describe(
    folder: Path,
    ids: Iterable[str],
    *,
    model: str,
    dimension: int,
    revision: int,
    kind: str = "chroma",
) -> Manifest:
    """The manifest of the closed collection in `folder`, written beside it."""
    files = {
        str(path.relative_to(folder)): (path.stat().st_size, _sha256(path))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != DATABASE
    }
    ordered = sorted(ids)
    digest = _digest(ordered)
    manifest = Manifest(FORMAT, model, dimension, len(ordered), revision, digest, files, kind)
    write_durably(folder / _MANIFEST, json.dumps(asdict(manifest), indent=1))
    return manifest


def fault(what: str, error: Exception) -> Damaged:
    """What an error while a generation is read says of it: damaged, or not to be read at present.

    A machine that lacks memory or file handles says nothing against the generation.
    """
    kind = Unavailable if is_for_want(error) else Damaged
    return kind(what, cause=getattr(error, "strerror", None) or str(error))


def read_manifest(folder: Path) -> Manifest:
    """The manifest in `folder`.

    Raises:
        Damaged: it is missing, torn or of another format.
    """
    path = folder / _MANIFEST
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        data["files"] = {name: (size, digest) for name, (size, digest) in data["files"].items()}
        manifest = Manifest(**data)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise fault(f"{path} cannot be read", error) from error
    if manifest.format != FORMAT:
        raise Damaged(f"{path} has format {manifest.format}, this program reads {FORMAT}")
    return manifest


def check(folder: Path, manifest: Manifest) -> None:
    """Compare a closed generation with its manifest; must come before Chroma opens it.

    Raises:
        Damaged: a file is missing, cannot be read, or is not what was written.
        Unavailable: it cannot be read at present.
    """
    for name, (size, sha256) in manifest.files.items():
        path = folder / name
        found = path.stat().st_size if path.is_file() else -1
        if found != size:  # before hashing: a torn file can claim to have 90 GB
            raise Damaged(f"{path} is damaged", cause=f"{found} bytes in place of {size}")
        try:
            differs = _sha256(path) != sha256
        except OSError as error:
            raise fault(f"{path} cannot be read", error) from error
        if differs:
            raise Damaged(f"{path} is damaged", cause="its checksum differs")
    if manifest.kind == "chroma":
        _check_database(folder / DATABASE, manifest)


def _check_database(path: Path, manifest: Manifest) -> None:
    if not path.is_file():  # Chroma would make a new, empty one
        raise Damaged(f"{path} is missing")
    mode = "mode=rw" if path.with_name(f"{DATABASE}-journal").exists() else "mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"file:{_quoted(path)}?{mode}", uri=True)) as connection:
            (sound,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            rows = connection.execute("SELECT embedding_id FROM embeddings ORDER BY embedding_id")
            ids = [row[0] for row in rows]
    except (OSError, sqlite3.Error) as error:
        raise fault(f"{path} is damaged", error) from error
    if sound != "ok" or len(ids) != manifest.rows or _digest(sorted(ids)) != manifest.ids:
        raise Damaged(f"{path} is damaged", cause=f"{len(ids)} of {manifest.rows} rows")


def is_locked(database: Path, seconds: float) -> bool:
    """Whether another program keeps a database locked for that long."""
    uri = f"file:{_quoted(database)}?mode=rw"
    with closing(sqlite3.connect(uri, uri=True, timeout=seconds)) as connection:
        connection.isolation_level = None
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            return error.sqlite_errorname.startswith("SQLITE_BUSY")
    return False


def _digest(ids: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _quoted(path: Path) -> str:
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
