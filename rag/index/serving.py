"""Which embedding model asks an index: the one whose vectors it holds, or one with a bridge there.

The settings name the model that is wanted; the index records the one that it is served with. Where
the two differ, as while `rag reembed` is at work or in a process that was started before it ended,
the index decides as long as the weights of its model are there, and the reader is told once.
"""

from __future__ import annotations

import hashlib
import json
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rag.errors import UsageError, WeightsError
from rag.index.bridge import carry
from rag.index.built import (
    BuiltWith,
    OtherModel,
    compare_probe,
    is_probe,
    probe_of,
    written_probe,
)
from rag.index.embedding import Embedder, Vectors
from rag.index.snapshot import Snapshot
from rag.index.vetting import embed_vetted
from rag.index.writer import Writer
from rag.schema import Chunk, Paper

_BRIDGE = "bridge"  # what it leads from and to, as JSON
_MATRIX = "bridge_matrix"  # a megabyte, read only when the other has changed

Models = Callable[[str], Embedder]
"""An embedder by its model's name; raises what says that it cannot be had."""


@dataclass(frozen=True, slots=True)
class Serving:
    """How one state of the index is asked.

    `built_with` is the index's own. `texts` counts the word pieces of its papers. `bridge`, of
    shape (dimension of `questions`, of the index), is None where `questions` is its model.
    """

    built_with: BuiltWith
    questions: Embedder
    texts: Embedder
    bridge: Vectors | None = None

    @property
    def name(self) -> str:
        """The model, for the manifest of an answer."""
        asks, holds = self.questions.name, self.built_with.embedding_model
        return asks if self.bridge is None else f"{asks}, bridged to {holds}"

    @property
    def dimension(self) -> int:
        """The length of the vectors of the index."""
        return self.questions.dimension if self.bridge is None else self.bridge.shape[1]

    def embed(self, questions: Sequence[str]) -> Vectors:
        """Questions as unit vectors among those of the index, a row for each.

        Raises:
            ModelError: the model failed, or gave what is no vector.
        """
        vectors = embed_vetted(self.questions, questions)
        return vectors if self.bridge is None else carry(vectors, self.bridge)

    def chunks(self, paper: Paper) -> list[Chunk]:
        """The chunks of `paper`, in the order of the rows of its matrix."""
        return self.built_with.chunks(paper, self.texts.count_pieces)


class Chooser:
    """Chooses how states of one index are asked. Safe for use by several threads."""

    def __init__(
        self,
        wanted: Embedder,
        built_with: BuiltWith,
        models: Models | None,
        notify: Callable[[str], None],
    ) -> None:
        """`models` gives other embedders than the one that is wanted; None: there are none."""
        self._wanted = wanted
        self._built_with = built_with
        self._models = models
        self._notify = notify
        self._guard = threading.Lock()
        self._chosen: tuple[tuple[object, ...], Serving] | None = None
        self._told = ""

    def choose(self, snapshot: Snapshot) -> Serving:
        """How the index in `snapshot` is to be asked; worked out anew when that has changed.

        Raises:
            OtherModel: it is served with a model that is not here.
            IndexUnusable: its papers are cut in another way, or the weights of its model have
                changed under their name.
            ModelError: a model failed.
        """
        recorded = BuiltWith.recorded(snapshot)
        facts = (recorded, snapshot.setting("probe"), snapshot.setting(_BRIDGE))
        with self._guard:
            if self._chosen is None or self._chosen[0] != facts:
                self._chosen = (facts, self._work_out(snapshot, recorded or self._built_with))
            return self._chosen[1]

    def _work_out(self, snapshot: Snapshot, there: BuiltWith) -> Serving:
        """Compare, find the model, and try it on the probe."""
        self._built_with.with_model(there.embedding_model).compare(snapshot)
        if there.embedding_model == self._built_with.embedding_model:
            compare_probe(snapshot, self._wanted)
            return Serving(there, self._wanted, self._wanted)
        bridge = read_bridge(snapshot, there, self._wanted)
        if bridge is not None:
            # A chunk of one sentence is cut without counting, and needs no other model.
            alone = there.chunk_sentences == 1
            texts = self._wanted if alone else self._other(there.embedding_model)
            return Serving(there, self._wanted, texts, bridge)
        embedder = self._other(there.embedding_model)
        compare_probe(snapshot, embedder)
        self._tell(there.embedding_model)
        return Serving(there, embedder, embedder)

    def _other(self, served: str) -> Embedder:
        wanted = self._built_with.embedding_model
        if self._models is None:
            raise OtherModel(served, wanted)
        try:
            return self._models(served)
        except (WeightsError, UsageError) as error:
            raise OtherModel(
                served, wanted, cause=error.what, remedy=f"{error.remedy} Or run"
            ) from error

    def _tell(self, served: str) -> None:
        if served != self._told:
            self._notify(differing(served, self._built_with.embedding_model))
        self._told = served


def differing(served: str, wanted: str) -> str:
    """That an index goes on with its own model, and how to change that."""
    return (
        f"The index is served with embedding_model = {served}, the settings say {wanted}."
        f" `rag reembed --model {wanted}` changes the index."
    )


def store_bridge(
    writer: Writer, there: BuiltWith, model: str, probe: Vectors, bridge: Vectors
) -> None:
    """Keep the way from a model, known by its probe, to the vectors of the index."""
    matrix = bridge.astype(np.float32).tobytes()
    facts = {
        "from": model,
        "probe": written_probe(probe),
        "to": there.key,
        "shape": bridge.shape,
        "digest": hashlib.sha256(matrix).hexdigest(),  # another one is seen to be another
    }
    writer.set(_BRIDGE, json.dumps(facts))
    writer.set(_MATRIX, b64encode(matrix).decode())


def remove_bridge(writer: Writer) -> None:
    """Forget the bridge, if there is one."""
    writer.unset(_BRIDGE)
    writer.unset(_MATRIX)


def read_bridge(snapshot: Snapshot, there: BuiltWith, embedder: Embedder) -> Vectors | None:
    """The bridge from this very model to the vectors of the index, or None."""
    facts = json.loads(snapshot.setting(_BRIDGE) or "{}")
    if facts.get("from") != embedder.name or facts.get("to") != there.key:
        return None
    if not is_probe(facts["probe"], probe_of(embedder)):
        return None
    matrix = np.frombuffer(b64decode(snapshot.setting(_MATRIX) or ""), dtype=np.float32)
    return matrix.reshape(facts["shape"])
