"""Text to vectors: a protocol, and the embedded model on OpenVINO.

The model runs fastest on few shapes of input (each new one is compiled) with little padding, and it
quantises what it computes, so that padding moves a vector a little. So every text is padded to a
multiple of four word pieces, alone or with others, and a request holds 16, 4 or 1 of the same
length: 1.24 times as many word pieces per second as one text per request, in the same memory, and
a text has one vector, bit for bit, whatever it is indexed with. One request per processor runs at
a time and as many wait, so that a processor never does.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from rag.errors import ModelError, WeightsError
from rag.index.disk import is_for_want

if TYPE_CHECKING:
    import openvino
    import tokenizers

Vectors = NDArray[np.float32]

PROBE = "A probe sentence by which one embedding model is told from another."
SAME_MODEL = 0.98  # the same weights on other processors differ by rounding only
_REQUEST_TEXTS = (16, 4, 1)
_PADDED_TO = 4
_SHAPES = 128  # that the model keeps prepared; by default 5,000, which come to gigabytes in time
_FEW = 16  # texts, as a question and its parts are
_MAX_PIECES = 256  # positions that all-MiniLM-L6-v2 was trained on


class Embedder(Protocol):
    """Maps texts to unit vectors, one row for each text."""

    @property
    def name(self) -> str:
        """The model's name in the settings."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension), float32, in the order of `texts`."""

    def count_pieces(self, text: str) -> int:
        """How many word pieces the model reads `text` as."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How an embedder is made, here or on another machine, from the files of its weights.

    `make` is called with the paths of these files there, in this order, and a number of threads
    (0: as many as there are processors). Both can be pickled.
    """

    make: Callable[[Sequence[Path], int], Embedder]
    files: tuple[Path, ...] = ()


class OpenVinoEmbedder:
    """A sentence-transformers model in ONNX form, mean-pooled; loaded at its first use.

    `threads` that compute; 0: as many as there are processors. A text has the same vector with any
    number of them.
    """

    def __init__(
        self, name: str, dimension: int, model: Path, tokenizer: Path, threads: int = 0
    ) -> None:
        self.name = name
        self.dimension = dimension
        self._model_path = model
        self._tokenizer_path = tokenizer
        self._threads = threads
        self._loading = threading.Lock()
        self._idle: deque[openvino.InferRequest] = deque()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`.

        Raises:
            ModelError: the model returned something that is not a finite vector.
        """
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        requests = self._requests()
        every = list(requests)
        running: deque[tuple[list[int], openvino.InferRequest]] = deque()
        encoded = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]

        def store_oldest() -> openvino.InferRequest:
            rows, request = running.popleft()
            request.wait()
            states = request.get_output_tensor(self._output).data
            for row, state in zip(rows, states, strict=True):
                vectors[row] = state[: len(encoded[row])].mean(axis=0)
            return request

        for rows in _of_equal_length(encoded):
            request = requests.pop() if requests else store_oldest()
            inputs = _padded([encoded[row] for row in rows])
            request.start_async({name: inputs[name] for name in self._inputs})
            running.append((rows, request))
        while running:
            store_oldest()
        if len(texts) <= _FEW:
            self._idle.extend(every)
        return unit(vectors, self.name)

    def _requests(self) -> list[openvino.InferRequest]:
        """Two requests per stream of the processor, one of them to wait; none with a callback.

        Those that a few texts were embedded by are used again: a new one makes room for every
        layer at its first use, which takes a quarter of the time of a question. After many texts,
        which may be long, they are let go with the memory that they hold.

        A callback in Python needs the interpreter's lock at its very end; a model that is let go
        just then, as at the end of a short command, waits for it with the lock in hand, for ever.
        """
        compiled = self._compiled
        count = 2 * int(compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
        requests: list[openvino.InferRequest] = []
        while len(requests) < count:
            try:
                requests.append(self._idle.pop())
            except IndexError:
                requests.append(compiled.create_infer_request())
        return requests

    def count_pieces(self, text: str) -> int:
        """See `Embedder.count_pieces`; the two marks that frame every input are not counted."""
        return len(self._counter.encode(text, add_special_tokens=False).ids)

    @cached_property
    def _inputs(self) -> list[str]:
        """What the model takes; not every one tells the types of tokens apart."""
        return [port.any_name for port in self._compiled.inputs]

    @cached_property
    def _output(self) -> int:
        """Which output holds a vector for each token, of shape (1, tokens, dimension)."""
        shapes = [port.partial_shape for port in self._compiled.outputs]
        for index, shape in enumerate(shapes):
            if len(shape) == 3 and shape[2] == self.dimension:
                return index
        raise WeightsError(
            f"The embedding model {self.name} cannot be used",
            cause=f"no output of {self.dimension} numbers for each token",
        )

    @cached_property
    def _tokenizer(self) -> tokenizers.Tokenizer:
        tokenizer = _load_tokenizer(self._tokenizer_path)
        tokenizer.enable_truncation(_MAX_PIECES)
        return tokenizer

    @cached_property
    def _counter(self) -> tokenizers.Tokenizer:
        return _load_tokenizer(self._tokenizer_path)

    @property
    def _compiled(self) -> openvino.CompiledModel:
        with self._loading:
            return self._compiled_once

    @cached_property
    def _compiled_once(self) -> openvino.CompiledModel:
        openvino = _without_telemetry()
        core = openvino.Core()
        try:
            model = core.read_model(self._model_path)
            settings = {
                "PERFORMANCE_HINT": "THROUGHPUT",
                "INFERENCE_NUM_THREADS": self._threads,
                "CPU_RUNTIME_CACHE_CAPACITY": _SHAPES,
            }
            return core.compile_model(model, "CPU", settings)
        except RuntimeError as error:
            if is_for_want(error):  # of memory: nothing is wrong with the file
                raise
            raise WeightsError(
                f"The embedding model {self._model_path.name} cannot be loaded",
                cause=str(error).splitlines()[-1],
                remedy="Run `rag models verify`.",
            ) from error


def _without_telemetry() -> ModuleType:
    """OpenVINO, which tells its maker of every import unless its sender is not there."""
    sys.modules.setdefault("openvino_telemetry", cast("ModuleType", None))
    return importlib.import_module("openvino")


def open_vino(
    name: str, dimension: int, files: Sequence[Path], threads: int = 0
) -> OpenVinoEmbedder:
    """An embedder from the files of its weights: model, tokenizer."""
    model, tokenizer = files
    return OpenVinoEmbedder(name, dimension, model, tokenizer, threads)


def _of_equal_length(encoded: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Indices of texts that are equally long once padded, as many as a request holds."""
    by_length: dict[int, list[int]] = {}
    for row, ids in enumerate(encoded):
        by_length.setdefault(_padded_length(len(ids)), []).append(row)
    for _, rows in sorted(by_length.items(), reverse=True):
        start = 0
        for size in _REQUEST_TEXTS:
            while len(rows) - start >= size:
                yield rows[start : start + size]
                start += size


def _padded_length(pieces: int) -> int:
    return -(-pieces // _PADDED_TO) * _PADDED_TO


def _padded(encoded: Sequence[Sequence[int]]) -> dict[str, NDArray[np.int64]]:
    """What the model takes, each of shape (texts, padded length)."""
    shape = (len(encoded), _padded_length(len(encoded[0])))
    ids, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for row, pieces in enumerate(encoded):
        ids[row, : len(pieces)] = pieces
        mask[row, : len(pieces)] = 1
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}


def unit(vectors: Vectors, model: str) -> Vectors:
    """Rows scaled to length 1.

    Raises:
        ModelError: a row is zero or not finite; no neighbour could be told from such a vector.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise ModelError(
            f"The embedding model {model} returned a vector without direction",
            cause="zero or not finite",
            remedy="Run `rag models verify`.",
        )
    return np.asarray(vectors / lengths, dtype=np.float32)


def paper_vector(matrix: Vectors) -> Vectors:
    """A paper's own vector: the direction of the mean of its chunks' vectors, shape (dim,)."""
    mean: Vectors = matrix.mean(axis=0, keepdims=True)
    return cast("Vectors", unit(mean, "in the catalog")[0])


def _load_tokenizer(path: Path) -> tokenizers.Tokenizer:
    import tokenizers

    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the vendor raises nothing narrower
        raise WeightsError(
            f"The tokenizer {path.name} cannot be loaded",
            cause=str(error),
            remedy="Run `rag models verify`.",
        ) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
