"""Finding what may be read: files, folders to the bottom, archives to their members."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from rag.corpus.archives import expand, is_archive_name, kind_of
from rag.corpus.content import DEFAULT_LIMITS, Content, Limits
from rag.corpus.registry import suffixes
from rag.corpus.sources import Refused, SourceFile, label_of, shown
from rag.errors import InputError

_BLOCK = 1 << 20
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def find_files(paths: Iterable[Path]) -> list[SourceFile]:
    """What `find_sources` finds, all at once and without what was refused."""
    return [one for one in find_sources(paths) if isinstance(one, SourceFile)]


def find_sources(
    paths: Iterable[Path], limits: Limits = DEFAULT_LIMITS
) -> Iterator[SourceFile | Refused]:
    """The readable kinds of files at `paths` in a stable order, each once, as they are found.

    A file that is named is taken whatever its suffix. Hidden files are passed over, and so is what
    no reader takes. Archives are unpacked as the iteration comes to them: a member that is not
    held any more costs nothing.

    Raises:
        InputError: before anything is found: a path that does not exist, is not a regular file or
            a folder, or is a folder without anything to read.
    """
    roots = [(path, *_resolved(path)) for path in paths]
    for path, root, is_folder in roots:
        if is_folder and not any(isinstance(one, Path) for one in _walk(root)):
            kinds = ", ".join(sorted(suffixes()))
            raise InputError(f"{path} holds no papers", cause=f"no file ending in {kinds}")
    return _found([(root, is_folder) for _, root, is_folder in roots], limits)


def _resolved(path: Path) -> tuple[Path, bool]:
    """Where a path leads, and whether to a folder."""
    try:
        root = path.resolve(strict=True)
        mode = root.stat().st_mode
    except (OSError, RuntimeError) as error:
        raise InputError(
            f"{path} cannot be read", cause=_cause(error), remedy="Check the path."
        ) from error
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise InputError(f"{path} is neither a file nor a folder")
    return root, stat.S_ISDIR(mode)


def _found(roots: list[tuple[Path, bool]], limits: Limits) -> Iterator[SourceFile | Refused]:
    seen: set[str | Refused] = set()
    for root, is_folder in roots:
        for one in _in_folder(root, limits) if is_folder else _named(root, limits):
            mark = one.key if isinstance(one, SourceFile) else one
            if mark not in seen:
                seen.add(mark)
                yield one


def _named(path: Path, limits: Limits) -> Iterator[SourceFile | Refused]:
    found = False
    for one in _at(path, label_of(path.name), limits):
        found = True
        yield one
    if not found:
        kinds = ", ".join(sorted(suffixes()))
        yield Refused(shown(path), label_of(path.name), f"no member ending in {kinds}")


def _in_folder(root: Path, limits: Limits) -> Iterator[SourceFile | Refused]:
    for one in _walk(root):
        if isinstance(one, Path):
            yield from _at(one, _label(one, root), limits)
        else:
            yield one


def _at(path: Path, label: str, limits: Limits) -> Iterator[SourceFile | Refused]:
    try:
        kind = kind_of(path)
    except OSError as error:
        yield Refused(shown(path), label, f"it cannot be read ({_cause(error)})")
        return
    if kind:
        yield from expand(path, label, limits)
    else:
        yield SourceFile(path, label)


def _walk(root: Path) -> Iterator[Path | Refused]:
    """The files of a folder by name, those of a folder before those of its subfolders."""
    failures: list[OSError] = []
    for folder, subfolders, names in os.walk(root, onerror=failures.append):
        yield from (_unreadable(error, root) for error in failures)
        failures.clear()
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for name in subfolders:
            if (path := Path(folder, name)).is_symlink():
                yield _passed_over(path, root, "a link to a folder is not followed")
        for name in sorted(names):
            if not name.startswith(".") and _is_readable_name(name):
                yield _checked(Path(folder, name), root)
    yield from (_unreadable(error, root) for error in failures)


def _is_readable_name(name: str) -> bool:
    return Path(name.lower()).suffix in suffixes() or is_archive_name(name)


def _checked(path: Path, root: Path) -> Path | Refused:
    try:
        resolved = path.resolve(strict=True)
        mode = resolved.stat().st_mode
    except (OSError, RuntimeError) as error:
        return _passed_over(path, root, f"it leads nowhere ({_cause(error)})")
    if not resolved.is_relative_to(root):
        return _passed_over(path, root, "a link that leads out of the folder is not followed")
    if stat.S_ISREG(mode):
        return path
    kind = next((name for test, name in _KINDS if test(mode)), "no file")
    return _passed_over(path, root, f"it is {kind}")


def _unreadable(error: OSError, root: Path) -> Refused:
    path = Path(error.filename)
    return Refused(shown(path), _label(path, root), f"it cannot be read ({_cause(error)})")


def _passed_over(path: Path, root: Path, reason: str) -> Refused:
    return Refused(shown(path), _label(path, root), reason, passed_over=True)


def _label(path: Path, root: Path) -> str:
    return label_of(Path(root.name, path.relative_to(root)))


def _cause(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def digest(content: Content) -> str:
    """The SHA-256 by which unchanged content is recognised.

    Raises:
        InputError: it cannot be read, or is empty.
    """
    sha, blank = hashlib.sha256(), True
    with content.open() as stream:
        while block := stream.read(_BLOCK):
            sha.update(block)
            blank = blank and not block.strip()
    if blank:
        raise InputError(f"{content.label} is empty")
    return sha.hexdigest()


__all__ = ["Refused", "SourceFile", "digest", "find_files", "find_sources", "shown"]
