"""Which vector index the settings name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rag.errors import ConfigError
from rag.index.catalog import Catalog
from rag.index.vectors.local import Generations
from rag.index.vectors.seam import VectorIndex
from rag.index.vectors.server import ChromaServer
from rag.index.vectors.stores import StoreIndex
from rag.index.vectors.wire import Account, Patience

LOCAL = "local"


def vector_index(
    data_dir: Path, vectors: str, options: Mapping[str, Any], patience: Patience
) -> VectorIndex:
    """The vector index of the catalog in `data_dir`.

    `vectors` is "local", the URL of a Chroma server, or the class of a llama-index vector store
    as `package.module:Class`. `options` go with it: none, those of `Account`, or the arguments of
    the class.

    Raises:
        ConfigError: there is no such class, or the options are not of the kind.
    """
    folder = data_dir / "vectors"
    if vectors == LOCAL:
        if options:
            raise ConfigError("vectors_options are set and vectors is local", remedy="Remove one.")
        return Generations(folder)
    catalog = Catalog(data_dir / "catalog.sqlite3")
    if vectors.startswith(("http://", "https://")):
        return ChromaServer(catalog, vectors.rstrip("/"), _account(options), patience)
    return StoreIndex(catalog, vectors, options, folder)


def _account(options: Mapping[str, Any]) -> Account:
    known = set(Account.__slots__)
    for name, value in options.items():
        if name not in known:
            raise ConfigError(
                f"vectors_options holds {name!r}, which a Chroma server does not know",
                remedy=f"It knows {', '.join(sorted(known))}.",
            )
        if not isinstance(value, dict if name == "headers" else str):
            raise ConfigError(f"{name} in vectors_options is of the wrong type")
    headers = {str(key): str(value) for key, value in options.get("headers", {}).items()}
    return Account(**{**options, "headers": headers})
