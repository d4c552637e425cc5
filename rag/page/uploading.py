"""Files that come through the page: where they are kept, and how they are indexed; no gradio.

A file is kept at `uploads/OWNER/DIGEST/NAME` of the data folder. So the same file is the same
source whenever it comes, and another one of the same name, as export tools give to all they make,
takes nothing away. `rag index` of other paths leaves it alone.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag.answering.parts import limits_of
from rag.answering.served import add_with
from rag.config import Config
from rag.corpus.archives import is_archive_name
from rag.corpus.registry import suffixes
from rag.errors import InputError, ResourceError, UsageError
from rag.index.intake import UPLOADS, Options
from rag.index.report import Failure, Progress, Report

MOST_FILES = 500
INCOMING = "incoming"  # of the data folder: what is being sent, or was sent and not yet taken
_LONGEST_NAME = 120
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Uploaded:
    """What came of an upload: the report of its indexing, if any of it was, and what failed."""

    files: int
    report: Report | None
    failures: tuple[Failure, ...]


def take(
    config: Config, owner: str, files: Sequence[tuple[str, Path]], progress: Progress
) -> Uploaded:
    """Keep files and index them; those of which nothing is taken are not kept.

    Args:
        config: The settings.
        owner: Who sends them.
        files: The name of each as its sender gave it, and where its bytes are now.
        progress: Hears of the indexing.

    Raises:
        UsageError: uploads are switched off, or there are too many files.
        IndexLocked: another process writes.
        ResourceError: they cannot be kept.
    """
    if not config.uploads:
        raise UsageError("Files are not taken here", remedy="The setting uploads allows it.")
    if len(files) > MOST_FILES:
        raise UsageError(
            f"{len(files):,} files are too many at once",
            remedy=f"Send {MOST_FILES:,} at a time, or one archive of them.",
        )
    kept, failures = _kept(config, owner, files)
    try:
        found = _indexed(config, kept, failures, len(files), progress)
    except BaseException:
        _discard([one.path for one in kept if one.is_new], config.data_dir / UPLOADS)
        raise
    lost = {failure.source for failure in found.failures if failure.ordinal is None}
    useless = [one.path for one in kept if one.is_new and one.path.name in lost]
    _discard(useless, config.data_dir / UPLOADS)
    return found


@dataclass(frozen=True, slots=True)
class _Kept:
    """A file where it is kept; `is_new`: it was not there before."""

    path: Path
    is_new: bool


def _kept(
    config: Config, owner: str, files: Sequence[tuple[str, Path]]
) -> tuple[list[_Kept], list[Failure]]:
    folder = config.data_dir / UPLOADS / hashlib.sha256(owner.encode()).hexdigest()[:12]
    kept: dict[Path, _Kept] = {}
    failures: list[Failure] = []
    for given, place in files:
        name = safe_name(given)
        if (refusal := _refusal(name, place)) is not None:
            failures.append(refusal)
            continue
        one = _keep(place, folder, name)
        kept.setdefault(one.path, one)
    return list(kept.values()), failures


def _indexed(
    config: Config,
    kept: Sequence[_Kept],
    failures: Sequence[Failure],
    count: int,
    progress: Progress,
) -> Uploaded:
    if not kept:
        return Uploaded(count, None, tuple(failures))
    paths, options = [one.path for one in kept], Options(limits=limits_of(config))
    try:
        report = add_with(config, progress, _unheard, lambda i: i.sync(paths, options))
    except InputError as error:  # nothing at all could be read
        told = [Failure.of_file(path.name, error) for path in paths]
        return Uploaded(count, None, (*failures, *told))
    return Uploaded(count, report, (*failures, *report.failures))


def safe_name(given: str) -> str:
    """A name for a file that stays in its folder: the last part, without what moves text."""
    last = re.split(r"[/\\]", given)[-1]
    kept = "".join(c if unicodedata.category(c)[0] != "C" else "_" for c in last).strip(" .")
    stem, dot, suffix = kept.rpartition(".")
    return f"{stem[:_LONGEST_NAME]}{dot}{suffix[:20]}" if dot else kept[:_LONGEST_NAME] or "file"


def _refusal(name: str, place: Path) -> Failure | None:
    """Why a file is not taken whatever it holds."""
    if Path(name.lower()).suffix not in suffixes() and not is_archive_name(name):
        kinds = ", ".join(sorted(suffixes()))
        return Failure(name, "this kind of file is not read", f"Send {kinds} or an archive.")
    if not place.stat().st_size:
        return Failure(name, f"{name} is empty", "Look whether it was saved.")
    return None


def _keep(place: Path, folder: Path, name: str) -> _Kept:
    """Move a file to where it is kept, unless the same one is there."""
    sha = hashlib.sha256()
    with place.open("rb") as file:
        while block := file.read(_BLOCK):
            sha.update(block)
    path = folder / sha.hexdigest()[:16] / name
    if path.exists():
        return _Kept(path, is_new=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        shutil.move(place, path)
    except OSError as error:
        raise ResourceError(
            f"{name} cannot be kept", cause=error.strerror or str(error), remedy="Make room."
        ) from error
    return _Kept(path, is_new=True)


def _discard(paths: Iterable[Path], root: Path) -> None:
    """Remove files that were kept, and their folders where they are empty now."""
    for path in paths:
        path.unlink(missing_ok=True)
        for parent in path.parents:
            if parent == root or any(parent.iterdir()):
                break
            parent.rmdir()


def _unheard(_text: str) -> None:
    return None


__all__ = ["INCOMING", "MOST_FILES", "Uploaded", "safe_name", "take"]
