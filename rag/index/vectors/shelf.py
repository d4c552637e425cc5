"""A llama-index vector store as the settings name it: made, and saved where it lives in memory.

llama-index keeps stores that live in memory by `persist` and `from_persist_path`; such a store
is saved beside the catalog, one file for each generation. Any other is made once and kept.
"""

from __future__ import annotations

import pkgutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rag.errors import AskPapersError, ConfigError
from rag.index.manifest import Damaged
from rag.index.vectors.seam import Unreachable

if TYPE_CHECKING:
    from llama_index.core.vector_stores.types import BasePydanticVectorStore

_TOLD = 300  # characters of a store's own words


class Shelf:
    """The store of the settings, by generation. Safe for use by several threads.

    `named` is `package.module:Class`, or `package.module:Class.from_params` where a store is made
    by a class method; `options` are its arguments.
    """

    def __init__(self, named: str, options: Mapping[str, Any], folder: Path) -> None:
        self.named = named
        self._make = _maker(named)
        self._options = dict(options)
        self._folder = folder
        self._guard = threading.Lock()
        self._store: BasePydanticVectorStore | None = None
        self._loaded = ""  # the generation that a store in memory holds

    def opened(self, name: str = "") -> BasePydanticVectorStore:
        """The store with the rows of a generation in it, if it still has them.

        Raises:
            ConfigError: it cannot be made with these options.
            Unreachable: it failed.
            Damaged: the file that it was saved in cannot be read.
        """
        with self._guard, self.told():
            if self._store is None or (_in_memory(self._store) and self._loaded != name):
                self._store, self._loaded = self._load(name), name
            return self._store

    def for_build(self, name: str) -> BasePydanticVectorStore:
        """An empty store where it lives in memory, else the one that there is.

        Raises:
            As `opened`.
        """
        with self._guard, self.told():
            if self._store is None or _in_memory(self._store):
                self._store, self._loaded = self._new(), name
            return self._store

    def save(self, store: BasePydanticVectorStore, name: str) -> None:
        """Save a store that would be lost with the process."""
        if not _in_memory(store):
            return
        saved = self._saved(name)
        temporary = saved.with_suffix(".store-new")
        with self.told():
            self._folder.mkdir(parents=True, exist_ok=True)
            store.persist(str(temporary))
            temporary.replace(saved)

    def delete(self, name: str) -> None:
        """Remove a generation, as far as the store can and will; its rows are passed over."""
        self._saved(name).unlink(missing_ok=True)
        try:
            with self.told():
                if self._store is not None:
                    self._store.delete(name)
        except AskPapersError:
            return

    def clean(self, kept: str) -> None:
        """Remove the files of every generation but one."""
        for path in self._folder.glob("*.store*"):
            if path != self._saved(kept):
                path.unlink()

    def close(self) -> None:
        """Let go of the store."""
        with self._guard:
            self._store, self._loaded = None, ""

    @contextmanager
    def told(self) -> Iterator[None]:
        """Tell a store's faults, of which nothing is known, as ours."""
        try:
            yield
        except AskPapersError:
            raise
        except Exception as error:
            raise Unreachable(
                f"The vector store {self.named} failed",
                cause=f"{type(error).__name__}: {str(error)[:_TOLD]}",
                remedy="If it answers but was emptied, run `rag index --compact`.",
            ) from error

    def _load(self, name: str) -> BasePydanticVectorStore:
        store, saved = self._new(), self._saved(name)
        if _in_memory(store) and saved.is_file():
            load = cast(Any, type(store)).from_persist_path
            try:
                return cast("BasePydanticVectorStore", load(str(saved)))
            except Exception as error:  # what a class makes of a torn file is its own
                raise Damaged(f"{saved} is damaged", cause=type(error).__name__) from error
        return store

    def _saved(self, name: str) -> Path:
        return self._folder / f"{name}.store"

    def _new(self) -> BasePydanticVectorStore:
        from llama_index.core.vector_stores.types import BasePydanticVectorStore
        from pydantic import ValidationError

        try:
            store = self._make(**self._options)
        except (TypeError, ValidationError) as error:
            raise ConfigError(
                f"{self.named} does not take the vectors_options",
                cause=type(error).__name__,  # its text may hold a token
                remedy="They must be the arguments of its constructor.",
            ) from error
        if not isinstance(store, BasePydanticVectorStore):
            raise ConfigError(f"{self.named} is not a vector store of llama-index")
        return store


def _maker(named: str) -> Callable[..., object]:
    """The class or class method of that name; whether it makes a store shows when it is called."""
    try:
        found = pkgutil.resolve_name(named)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"There is no vector store {named}",
            cause=str(error),
            remedy="Install its package, or change the setting vectors.",
        ) from error
    if not callable(found):
        raise ConfigError(f"{named} is not a class of vector stores")
    return cast("Callable[..., object]", found)


def _in_memory(store: BasePydanticVectorStore) -> bool:
    """Whether the store is lost with the process unless it is saved."""
    return hasattr(type(store), "from_persist_path")
