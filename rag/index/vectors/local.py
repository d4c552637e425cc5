"""Generations as folders of their own, each with a Chroma collection.

Chroma's rows are durable, its vector index is not: it is overwritten in place, a kill during a
flush breaks it, a missing file gives partial results without an error, and flipped bits end the
process. So a collection is never changed once it is in use. A generation is built aside from the
catalog's vectors, verified in a process of its own, described by a manifest, and made current by
replacing one small file. Anything that is wrong with it is found before the first query, and the
answer to it is another generation.

Where too many rows of a new collection do not find themselves, the generation is one flat file
instead, which is compared row by row.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterable
from pathlib import Path

from rag.errors import ResourceError
from rag.index.child import build_in_child, unwritable, verify_in_child
from rag.index.chroma import Opened, Order
from rag.index.disk import free_bytes, sync, write_durably
from rag.index.embedding import Vectors
from rag.index.flat import FlatRows, copied
from rag.index.manifest import (
    Damaged,
    Manifest,
    Unavailable,
    Unsearchable,
    check,
    describe,
    fault,
    read_manifest,
)
from rag.index.vectors.seam import Facts

_CURRENT = "CURRENT"
_STEPS_IN = 60.0  # seconds, of what the child process does between two signs of life
_BYTES_PER_ROW = 1_500  # besides its vector: in the collection, its journal and a flat file


class LocalGeneration:
    """One verified collection, opened at its first query."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self._opening = threading.Lock()
        self._rows: Opened | FlatRows | None = None

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @property
    def facts(self) -> Facts:
        """What the manifest says that it holds."""
        manifest = self.manifest
        return Facts(manifest.model, manifest.dimension, manifest.rows, manifest.revision)

    def query(self, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        """See `Generation.query`."""
        limit = min(limit, self.manifest.rows)
        try:
            return self._opened().query(vector, limit) if limit else []
        except Unavailable:
            raise
        except Damaged as damage:
            raise self._judged(damage) from damage

    def _judged(self, damage: Damaged) -> Damaged:
        """What a failed search says: Chroma that lacks memory blames its files, in many words.

        They are damaged if they differ from the manifest, or if another process cannot use them.
        """
        try:
            check(self.folder, self.manifest)
            self.verify()
        except Damaged:
            return damage
        except ResourceError as error:
            return Unavailable(error.what, cause=error.cause)
        return Unavailable(
            f"The vectors in {self.folder} cannot be searched by this process", cause=damage.cause
        )

    def verify(self) -> None:
        """Try all of it out, in a process of its own.

        Raises:
            Damaged: it does not hold what its manifest says.
            ResourceError: it cannot be opened for want of space.
        """
        if self.manifest.kind == "flat":
            check(self.folder, self.manifest)
        else:
            verify_in_child(self.folder, _STEPS_IN)

    def close(self) -> None:
        """Close the collection; a later query opens it again."""
        with self._opening:
            if self._rows is not None:
                self._rows.close()
            self._rows = None

    def _opened(self) -> Opened | FlatRows:
        with self._opening:
            if self._rows is None:
                check(self.folder, self.manifest)
                flat = self.manifest.kind == "flat"
                self._rows = (
                    FlatRows(self.folder, self.manifest.dimension) if flat else Opened(self.folder)
                )
            return self._rows


class Generations:
    """The folder of generations and the file that names the current one."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.place = "this machine"

    def current(self) -> LocalGeneration | None:
        """See `VectorIndex.current`: it must be there, and its manifest must be readable."""
        try:
            name = (self.root / _CURRENT).read_text(encoding="ascii").strip()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise fault(f"{self.root / _CURRENT} cannot be read", error) from error
        folder = self.root / name
        if not name.startswith("gen-") or "/" in name:
            raise Damaged(f"{self.root / _CURRENT} names no generation")
        return LocalGeneration(folder, read_manifest(folder))

    def build(self, rows: Iterable[tuple[str, Vectors]], facts: Facts) -> LocalGeneration:
        """See `VectorIndex.build`. The one before is kept on disk until the next success."""
        self.clean()
        name = self._next_name()
        # Never the folder that the child of a build which was killed may still have open.
        temporary = self.root / f"{name}.{os.getpid()}.tmp"
        flat = self.root / f"{name}.{os.getpid()}.flat.tmp"
        order = Order(facts.rows, facts.dimension, facts.model, facts.revision)
        try:
            temporary.mkdir(parents=True)
            flat.mkdir()
            self._check_space(order)
            filled = _fill(temporary, flat, rows, order)
            return self._publish(filled, self.root / name, read_manifest(filled))
        except OSError as error:
            raise unwritable(self.root, error.strerror or str(error)) from error
        finally:
            for leftover in (temporary, flat):
                shutil.rmtree(leftover, ignore_errors=True)

    def _check_space(self, order: Order) -> None:
        """A disk that is sure to run full is told of before it does."""
        needed = order.count * (12 * order.dimension + _BYTES_PER_ROW)
        free = free_bytes(self.root)
        if free is not None and free < needed:
            raise unwritable(self.root, f"about {needed / 1e6:,.1f} MB are needed")

    def clean(self) -> None:
        """Remove what a build that was killed left behind. The caller holds the write lock."""
        for leftover in self.root.glob("gen-*.tmp"):
            shutil.rmtree(leftover, ignore_errors=True)

    def ping(self) -> None:
        """See `VectorIndex.ping`: this machine is there."""

    def close(self) -> None:
        """See `VectorIndex.close`: each generation is closed by itself."""

    def discard(self) -> None:
        """See `VectorIndex.discard`."""
        self._remove_current()
        for old in self.root.glob("gen-??????"):
            shutil.rmtree(old, ignore_errors=True)

    def _next_name(self) -> str:
        numbers = [int(p.name[4:10]) for p in self.root.glob("gen-??????") if p.name[4:].isdigit()]
        return f"gen-{max(numbers, default=0) + 1:06d}"

    def _publish(self, temporary: Path, folder: Path, manifest: Manifest) -> LocalGeneration:
        before = self._named()
        for path in [*temporary.rglob("*"), temporary]:
            sync(path)
        temporary.rename(folder)
        try:
            if (self.root / _CURRENT).is_dir():  # no file could take its place
                self._remove_current()
            write_durably(self.root / _CURRENT, folder.name + "\n")
        finally:
            now = self._named()
            for old in self.root.glob("gen-??????"):
                if old.name not in {before, now}:
                    shutil.rmtree(old, ignore_errors=True)
        return LocalGeneration(folder, manifest)

    def _named(self) -> str:
        try:
            return (self.root / _CURRENT).read_text("ascii", "replace").strip()
        except OSError:
            return ""

    def _remove_current(self) -> None:
        path = self.root / _CURRENT
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)


def _fill(folder: Path, flat: Path, rows: Iterable[tuple[str, Vectors]], order: Order) -> Path:
    """Make a collection of `rows` in `folder`, or a flat file in `flat`; which of them it is."""
    ids: list[str] = []
    try:
        build_in_child(folder, copied(rows, flat, ids), order, _STEPS_IN)
    except Unsearchable:
        describe(
            flat,
            ids,
            model=order.model,
            dimension=order.dimension,
            revision=order.revision,
            kind="flat",
        )
        return flat
    return folder
