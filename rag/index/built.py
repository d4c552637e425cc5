"""What an index is built with, as its catalog records it, and whether that is what is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from rag.errors import IndexUnusable
from rag.index.chunking import chunk
from rag.index.embedding import PROBE, SAME_MODEL, Embedder, Vectors
from rag.index.snapshot import Snapshot
from rag.index.vetting import embed_vetted
from rag.index.writer import Writer
from rag.schema import Chunk, Paper

_REBUILD = "Run `rag index --rebuild`, or go back to the former setting."


class OtherModel(IndexUnusable):
    """The index is served with another embedding model than the one that is asked for."""

    def __init__(self, served: str, asked: str, *, cause: str = "", remedy: str = "") -> None:
        super().__init__(
            f"The index was built with embedding_model = {served}, the settings say {asked}",
            cause=cause,
            remedy=f"{remedy or 'Go back to the former setting, or run'} "
            f"`rag reembed --model {asked}`.",
        )


@dataclass(frozen=True, slots=True)
class BuiltWith:
    """The settings that an index depends on: another value needs other vectors.

    Whether titles are embedded is no reason to refuse an index: it goes on as it was built.
    """

    embedding_model: str
    chunk_sentences: int
    chunk_word_pieces: int
    embed_titles: bool = False

    @classmethod
    def recorded(cls, snapshot: Snapshot) -> Self | None:
        """What the index in `snapshot` is built with; None before anything was published."""
        names = ("embedding_model", "chunk_sentences", "chunk_word_pieces", "embed_titles")
        model, sentences, pieces, titles = (snapshot.setting(name) for name in names)
        if model is None:
            return None
        return cls(model, int(sentences or 0), int(pieces or 0), titles == "True")

    @property
    def key(self) -> str:
        """What vectors are filed under."""
        cut = f"{self.embedding_model}/{self.chunk_sentences}/{self.chunk_word_pieces}"
        return f"{cut}/titles" if self.embed_titles else cut

    def with_model(self, embedding_model: str) -> Self:
        """The same with another embedding model."""
        return replace(self, embedding_model=embedding_model)

    def record(self, writer: Writer, probe: Vectors) -> None:
        """Make this what the index is built with; `probe` is the vector of the probe sentence."""
        for name in self.__slots__:
            writer.set(name, str(getattr(self, name)))
        writer.set("probe", written_probe(probe))

    def chunks(self, paper: Paper, count_pieces: Callable[[str], int]) -> list[Chunk]:
        """The chunks of `paper`, in the order of the rows of its matrix."""
        return chunk(
            paper,
            sentences=self.chunk_sentences,
            word_pieces=self.chunk_word_pieces,
            count_pieces=count_pieces,
            title=self.embed_titles,
        )

    def compare(self, snapshot: Snapshot) -> None:
        """Check that the index in `snapshot` is built with these settings.

        Raises:
            OtherModel: it is served with another embedding model; both are named.
            IndexUnusable: its papers are cut in another way; both values are named.
        """
        stored = self.recorded(snapshot)
        if stored is None:
            return
        for name in ("chunk_sentences", "chunk_word_pieces"):
            there, wanted = getattr(stored, name), getattr(self, name)
            if there != wanted:
                raise IndexUnusable(
                    f"The index was built with {name} = {there}, the settings say {wanted}",
                    remedy=_REBUILD,
                )
        if stored.embedding_model != self.embedding_model:
            raise OtherModel(stored.embedding_model, self.embedding_model)


def probe_of(embedder: Embedder) -> Vectors:
    """The vector by which a model is told from others, shape (dimension,).

    Raises:
        ModelError: the model failed, or gave what is no vector.
    """
    vector: Vectors = embed_vetted(embedder, [PROBE])[0]
    return vector


def written_probe(probe: Vectors) -> str:
    """A probe as the catalog has it."""
    return probe.tobytes().hex()


def is_probe(stored: str, now: Vectors) -> bool:
    """Whether a recorded probe is that of the same model."""
    then = np.frombuffer(bytes.fromhex(stored), dtype=np.float32)
    return then.shape == now.shape and float(then @ now) >= SAME_MODEL


def recorded_dimension(snapshot: Snapshot) -> int:
    """The length of the vectors of the index, which that of its probe is; 0 before there is one."""
    return len(bytes.fromhex(snapshot.setting("probe") or "")) // np.dtype(np.float32).itemsize


def compare_probe(snapshot: Snapshot, embedder: Embedder) -> None:
    """Check that the embedder gives the vectors that the index was built with.

    Two models can share a name and a dimension; a probe sentence tells them apart.

    Raises:
        IndexUnusable: it is another model.
        ModelError: the model failed, or gave what is no vector.
    """
    stored = snapshot.setting("probe")
    if stored is not None and not is_probe(stored, probe_of(embedder)):
        raise IndexUnusable(
            f"The weights of {embedder.name} are not the ones that the index was built with",
            cause="a probe sentence has another vector",
            remedy="Run `rag models verify`, then `rag index --rebuild`.",
        )
