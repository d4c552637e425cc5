"""Finding source files."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rag.corpus.content import Content, Limits
from rag.corpus.registry import SUFFIXES
from rag.errors import InputError

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that may hold papers. `label` is how it is named to people: folder and file."""

    path: Path
    label: str

    @property
    def key(self) -> str:
        """The path as a text that can be stored, also where its bytes are not UTF-8."""
        return shown(self.path)

    def content(self, limits: Limits = Limits()) -> Content:
        """What the file holds, to be read.

        Raises:
            InputError: it is not there any more, or is larger than the limit.
        """
        try:
            size = self.path.stat().st_size
        except OSError as error:
            raise InputError(f"{self.label} cannot be read", cause=error.strerror or "") from error
        if size > limits.file_mb * 1_000_000:
            raise InputError(
                f"{self.label} is too large",
                cause=f"{size / 1e6:,.0f} MB, max_file_mb = {limits.file_mb:,}",
                remedy="Split it, or raise max_file_mb.",
            )
        return Content(self.path.name, self.label, size, lambda: self.path.open("rb"), limits)


def find_files(paths: Iterable[Path]) -> list[SourceFile]:
    """The readable kinds of files at `paths`, folders searched to the bottom, in a stable order.

    A file that is named is taken whatever its suffix. Hidden files, and links that leave the
    folder, are passed over.

    Raises:
        InputError: a path that does not exist, is not a regular file, or holds nothing to read.
    """
    found: dict[Path, SourceFile] = {}
    for path in paths:
        for file in _files_at(path):
            found.setdefault(file.path, file)
    return list(found.values())


def shown(path: Path | str) -> str:
    r"""A path as text; a byte that is not UTF-8 is written as `\xff`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _files_at(path: Path) -> list[SourceFile]:
    try:
        root = path.resolve(strict=True)
        mode = root.stat().st_mode
    except (OSError, RuntimeError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path} cannot be read", cause=cause, remedy="Check the path.") from error
    if stat.S_ISREG(mode):
        return [SourceFile(root, shown(root.name))]
    if not stat.S_ISDIR(mode):
        raise InputError(f"{path} is neither a file nor a folder")
    files = [SourceFile(f, shown(Path(root.name, f.relative_to(root)))) for f in _walk(root)]
    if not files:
        kinds = ", ".join(sorted(SUFFIXES))
        raise InputError(f"{path} holds no papers", cause=f"no file ending in {kinds}")
    return files


def _walk(root: Path) -> list[Path]:
    found = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if (
                path.suffix.lower() in SUFFIXES
                and not name.startswith(".")
                and _is_inside(path, root)
            ):
                found.append(path)
    return found


def _is_inside(path: Path, root: Path) -> bool:
    try:
        resolved = path.resolve(strict=True)
        return resolved.is_relative_to(root) and stat.S_ISREG(resolved.stat().st_mode)
    except (OSError, RuntimeError):
        return False


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
