"""Finding source files and turning their bytes into text."""

from __future__ import annotations

import codecs
import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rag.corpus import jsonl, plain
from rag.corpus.records import Reader
from rag.errors import InputError

READERS: Mapping[str, Reader] = {".txt": plain.read, ".jsonl": jsonl.read}

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that may hold papers. `label` is how it is named to people: folder and file."""

    path: Path
    label: str

    @property
    def key(self) -> str:
        """The path as a text that can be stored, also where its bytes are not UTF-8."""
        return shown(self.path)


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
        kinds = ", ".join(sorted(READERS))
        raise InputError(f"{path} holds no papers", cause=f"no file ending in {kinds}")
    return files


def _walk(root: Path) -> list[Path]:
    found = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if (
                path.suffix.lower() in READERS
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


def load(file: SourceFile) -> bytes:
    """The bytes of `file`.

    Raises:
        InputError: it cannot be read, or is empty.
    """
    try:
        data = file.path.read_bytes()
    except OSError as error:
        raise InputError(f"{file.label} cannot be read", cause=error.strerror or "") from error
    if not data.strip():
        raise InputError(f"{file.label} is empty")
    return data


def decode(data: bytes, label: str) -> str:
    """Text from the bytes of a file, line ends as they are.

    Raises:
        InputError: not text, or text in an encoding that is not Unicode.
    """
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        kind = "binary" if b"\0" in data[:4096] else f"byte {error.start} is not {encoding}"
        remedy = "Save it as text in UTF-8." if kind == "binary" else "Convert it to UTF-8."
        raise InputError(f"{label} is not readable as text", cause=kind, remedy=remedy) from error
    if "\0" in text:
        raise InputError(f"{label} is not readable as text", cause="binary")
    return text


def digest(data: bytes) -> str:
    """The hash by which an unchanged file is recognised."""
    return hashlib.sha256(data).hexdigest()
