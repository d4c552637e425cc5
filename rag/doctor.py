"""Checks of everything an answer depends on."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rag.answering.endpoint import EndpointEmbedder
from rag.answering.parts import (
    built_with,
    embedder_of,
    endpoint_of,
    indexer_of,
    openai_of,
    vectors_of,
)
from rag.answering.served import as_indexed, difference
from rag.config import Config
from rag.errors import AskPapersError, ResourceError
from rag.index.built import compare_probe
from rag.index.catalog import Catalog
from rag.index.manifest import Damaged, Unavailable
from rag.models.store import WeightStore, needed_models


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: whether it is sound, and what was seen or is to be done."""

    name: str
    ok: bool
    detail: str
    exit_code: int = 0

    def as_json(self) -> dict[str, Any]:
        """For `rag doctor --json`."""
        return asdict(self)


def examine(config: Config, *, repair: bool) -> list[Check]:
    """Look at data folder, weights, catalog, vectors and model server, in this order."""
    chosen = as_indexed(config)
    checks: list[tuple[str, Callable[[], str]]] = [
        ("data folder", lambda: _writable(config)),
        *(
            (f"weights {name}", lambda name=name: _weights(config, name))
            for name in needed_models(chosen)
        ),
        ("catalog", lambda: _catalog(config)),
        ("vectors", lambda: _vectors(config, repair=repair)),
    ]
    if chosen.served_embedding:
        checks.insert(1, ("embedding server", lambda: _embedding_server(chosen)))
    if config.openai_base_url or config.openai_api_key:
        checks.append(("model server", lambda: _server(config)))
    return list(_outcomes(checks))


def _outcomes(checks: list[tuple[str, Callable[[], str]]]) -> Iterator[Check]:
    for name, check in checks:
        try:
            yield Check(name, ok=True, detail=check())
        except AskPapersError as error:
            yield Check(name, ok=False, detail=str(error), exit_code=error.exit_code)


def _writable(config: Config) -> str:
    folder = config.data_dir
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=folder):
            pass
        space = os.statvfs(folder)
    except OSError as error:
        raise ResourceError(
            f"{folder} cannot be written", cause=error.strerror or "", remedy="Use --data-dir."
        ) from error
    return f"{folder}, {space.f_bavail * space.f_frsize / 1e9:.1f} GB free"


def _weights(config: Config, name: str) -> str:
    WeightStore(config.weights_dir).verify(name)
    return "intact"


def _catalog(config: Config) -> str:
    chosen = as_indexed(config)
    with Catalog(config.data_dir / "catalog.sqlite3").reading() as snapshot:
        sound = snapshot.connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if sound != "ok":
            raise Damaged("The catalog is damaged", cause=str(sound))
        built_with(chosen).compare(snapshot)
        compare_probe(snapshot, embedder_of(chosen))
        total = snapshot.counts()
    held = f"{total.papers} papers, {total.sentences} sentences, {total.files} files"
    return f"{held}. {difference(config)}" if difference(config) else held


def _vectors(config: Config, *, repair: bool) -> str:
    vectors = vectors_of(config)
    try:
        vectors.ping()
        current = vectors.current()
        if current is None:
            return f"none on {vectors.place}: the collection is searched exactly"
        current.verify()
        return f"{current.name} on {vectors.place}, {current.facts.rows} papers, sound"
    except Unavailable:
        raise  # another generation would not help
    except Damaged as damage:
        if not repair:
            raise Damaged(damage.what, cause=damage.cause, remedy="`rag doctor --repair`") from None
        indexer_of(as_indexed(config), lambda *_: None).rebuild_vectors()
        return "were damaged, built again from the catalog"
    finally:
        vectors.close()


def _embedding_server(config: Config) -> str:
    embedder = EndpointEmbedder(endpoint_of(config))
    try:
        size = embedder.dimension
    finally:
        embedder.close()
    sent = "every text that is indexed and every question is sent there"
    return f"{config.served_embedding} at {embedder.host}, vectors of {size} numbers; {sent}"


def _server(config: Config) -> str:
    client = openai_of(config)
    try:
        offered = client.models()
    finally:
        client.close()
    named = ", ".join(offered[:5]) or "no list of models"
    return f"{client.name}; it offers {named}; questions and sentences of papers are sent there"
