"""Archives as folders: `.zip`, `.tar`, compressed tars, and single compressed files.

Members are unpacked one after another into a spool, never to a path that the archive names, and
each is held against the limits while it comes. A bad member costs itself; damage to the stream of
a tar costs what stands behind it.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from rag.corpus.content import Limits
from rag.corpus.registry import suffixes
from rag.corpus.sources import Member, Refused, SourceFile, label_of, shown
from rag.corpus.spool import LimitExceeded, Metered, Spool, check_expansion, check_size

MOST_MEMBERS = 100_000
_LONGEST_DIRECTORY = 1 << 25  # bytes of a zip's table of contents
_HEAD = 512
_REMEDY = "Unpack it by hand if you trust it."
_MAGIC = {b"PK\3\4": "zip", b"PK\5\6": "zip", b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\0": "xz"}
_BY_SUFFIX = {".zip": "zip", ".tar": "tar", ".tgz": "gz", ".tbz2": "bz2", ".txz": "xz"}
_COMPRESSED = {".gz": "gz", ".bz2": "bz2", ".xz": "xz"}
_OPENERS: dict[str, Callable[[BinaryIO], BinaryIO]] = {
    "gz": lambda raw: cast(BinaryIO, gzip.GzipFile(fileobj=raw)),
    "bz2": lambda raw: cast(BinaryIO, bz2.BZ2File(raw)),
    "xz": lambda raw: cast(BinaryIO, lzma.LZMAFile(raw)),  # noqa: SIM115
}
_FAULTS = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError,
    NotImplementedError, RuntimeError, ValueError, LimitExceeded,
)  # fmt: skip
_LEAVES = re.compile(r"\A(?:[/\\]|[A-Za-z]:)|(?:\A|[/\\])\.\.(?:[/\\]|\Z)")
_HIDDEN = re.compile(r"(?:\A|/)(?:\.(?!/)|__MACOSX/)")


@dataclass(frozen=True, slots=True)
class _Entry:
    """A member before it is unpacked: how that is done, or why it is not."""

    name: str
    open: Callable[[], BinaryIO]
    refusal: str = ""


def is_archive_name(name: str) -> bool:
    """Whether a file of this name in a folder is looked into."""
    path = PurePosixPath(name.lower())
    suffix, inner = path.suffix, PurePosixPath(path.stem).suffix
    return suffix in _BY_SUFFIX or (
        suffix in _COMPRESSED and (inner in suffixes() or inner in {"", ".tar"})
    )


def kind_of(path: Path) -> str:
    """`zip`, `tar`, `gz`, `bz2` or `xz` by content, else by name; empty for any other file."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    seen = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), "")
    if seen or _is_tar(head):
        return seen or "tar"
    suffix = path.suffix.lower()
    return _BY_SUFFIX.get(suffix) or _COMPRESSED.get(suffix, "")


def expand(path: Path, label: str, limits: Limits) -> Iterator[SourceFile | Refused]:
    """The readable members of an archive, unpacked one by one, and those that are refused.

    Members of kinds that nobody reads, and hidden ones, are passed over as in a folder.

    Raises:
        ResourceError: there is no room to unpack it.
    """
    spool, names = Spool(), set[str]()
    try:
        with _entries(path, limits) as entries:
            for count, entry in enumerate(entries, start=1):
                if count > MOST_MEMBERS:
                    raise LimitExceeded(f"more than {MOST_MEMBERS:,} members")
                if entry.name in names:
                    yield _refused(path, label, entry.name, "the archive has the name twice")
                    continue
                names.add(entry.name)
                yield from _unpacked(path, label, entry, spool)
    except _FAULTS as error:
        reason = f"{_reason(error)}, and what stands behind that was not read"
        yield Refused(shown(path), label, reason, _REMEDY)


def _unpacked(
    path: Path, label: str, entry: _Entry, spool: Spool
) -> Iterator[SourceFile | Refused]:
    """One member; damage and limits of its own are told of it alone."""
    if entry.refusal:
        yield _refused(path, label, entry.name, entry.refusal)
        return

    try:
        with closing(entry.open()) as stream:
            start, size = spool.add(stream)
    except _FAULTS as error:
        yield _refused(path, label, entry.name, _reason(error))
        return
    name = entry.name
    member = Member(name, size, lambda: spool.open(start, size))
    yield SourceFile(path, f"{label}/{label_of(name)}", member)


def _refused(path: Path, label: str, name: str, reason: str) -> Refused:
    return Refused(f"{shown(path)}/{name}", f"{label}/{label_of(name)}", reason, _REMEDY)


def _reason(error: BaseException) -> str:
    if isinstance(error, LimitExceeded | NotImplementedError):
        return str(error)
    detail = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return f"it is damaged or cut off ({label_of(' '.join(detail.split()))})"


@contextmanager
def _entries(path: Path, limits: Limits) -> Iterator[Iterator[_Entry]]:
    kind = kind_of(path)
    with path.open("rb") as raw:
        if kind == "zip":
            yield _of_zip(path, limits)
            return
        stream = _OPENERS[kind](raw) if kind in _OPENERS else raw
        is_tar = kind == "tar" or _is_tar(stream.read(_HEAD))
        stream.seek(0)
        metered = Metered(stream, raw.tell, limits)
        yield _of_tar(metered) if is_tar else iter([_alone(path, metered)])


def _is_tar(head: bytes) -> bool:
    return head[257:262] == b"ustar"


def _alone(path: Path, metered: Metered) -> _Entry:
    return _Entry(path.stem, lambda: cast(BinaryIO, metered))


class _Bounded(io.FileIO):
    """A file of which no more is read at once than a table of contents may have."""

    def read(self, size: int | None = -1) -> bytes:
        """As of a file.

        Raises:
            LimitExceeded: for more than that.
        """
        if size is not None and size > _LONGEST_DIRECTORY:
            raise LimitExceeded(f"a table of contents of {size:,} bytes")
        return super().read(-1 if size is None else size)


def _of_zip(path: Path, limits: Limits) -> Iterator[_Entry]:
    """The members of a zip, of which no more can come than the table of contents says."""
    whole = path.stat().st_size
    unpacked = 0
    with _Bounded(path) as file, zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            refusal = _refusal_in_zip(info, limits)
            if refusal is None:
                continue
            if not refusal:
                unpacked += info.file_size  # members may share packed bytes: hold the sum as well
                check_size(unpacked, limits)
                check_expansion(unpacked, whole, limits)
            yield _Entry(info.filename, _opener(archive, info), refusal)


def _opener(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], BinaryIO]:
    return lambda: cast(BinaryIO, archive.open(info))


def _refusal_in_zip(info: zipfile.ZipInfo, limits: Limits) -> str | None:
    """Why a member is not unpacked; empty if it is, None if it is passed over."""
    if info.filename.endswith("/"):
        return None
    refusal = _refusal(info.filename)
    if refusal != "":
        return refusal
    if stat.S_ISLNK(info.external_attr >> 16):
        return "it is a link"
    if info.flag_bits & 1:
        return "it is encrypted"
    try:
        check_size(info.file_size, limits)
        check_expansion(info.file_size, info.compress_size, limits)
    except LimitExceeded as error:
        return str(error)
    return ""


def _of_tar(metered: Metered) -> Iterator[_Entry]:
    with tarfile.open(fileobj=cast(BinaryIO, metered), mode="r:") as archive:
        while info := archive.next():
            archive.members.clear()  # type: ignore[attr-defined]  # it would remember every one
            refusal = _refusal_in_tar(info)
            if refusal is not None:
                stream = archive.extractfile(info) if info.isreg() else None
                yield _Entry(info.name, _giver(stream), refusal)
    if metered.last.strip(b"\0") or not metered.last:
        raise tarfile.ReadError("no mark of its end")


def _giver(stream: object) -> Callable[[], BinaryIO]:
    return lambda: cast(BinaryIO, stream)


def _refusal_in_tar(info: tarfile.TarInfo) -> str | None:
    """As of a zip."""
    if info.isdir():
        return None
    if info.isdev():
        return "it is a device or a pipe"
    refusal = _refusal(info.name)
    if refusal != "":
        return refusal
    if info.issym() or info.islnk():
        return "it is a link"
    return "it is no ordinary file" if info.issparse() or not info.isreg() else ""


def _refusal(name: str) -> str | None:
    """What the name alone says."""
    if _LEAVES.search(name):
        return "its name leads out of the archive"
    if _HIDDEN.search(name):
        return None
    suffix = PurePosixPath(name.lower()).suffix
    if is_archive_name(name):
        return "an archive inside an archive is not opened; unpack it first"
    return "" if suffix in suffixes() else None
