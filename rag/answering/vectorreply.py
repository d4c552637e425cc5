"""What an embeddings server sends back, read by hand: bytes -> matrix. Pure.

Servers differ: vectors come in any order, too many or too few, as text, or with holes. One row in
the wrong place would give a text the meaning of another for good, so a reply is taken whole and as
agreed, or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from rag.answering.wire import ErrorReply, NotAnAnswer, starts_with
from rag.index.embedding import Vectors


def matrix(raw: bytes, count: int) -> Vectors:
    """The vectors of `count` texts in the order of the texts, shape (count, dimension).

    They have whatever length the server gave them.

    Raises:
        NotAnAnswer: not so many vectors, or not of numbers, or not all as long.
        ErrorReply: the server reports an error in place of them.
    """
    rows = [_numbers(item.get("embedding")) for item in _ordered(_items(raw), count)]
    sizes = sorted({len(row) for row in rows})
    if len(sizes) > 1 or 0 in sizes:
        told = " and ".join(map(str, sizes))
        raise NotAnAnswer(f"vectors of {told} numbers")
    found = np.array(rows, dtype=np.float64)
    if not (np.abs(found) < np.finfo(np.float32).max).all():  # neither is NaN
        raise NotAnAnswer("a number in a vector is not finite")
    if not found.any(axis=1).all():
        raise NotAnAnswer("a vector is all zeros")
    return found.astype(np.float32)


def _items(raw: bytes) -> Sequence[Mapping[str, object]]:
    """The list of vectors in the reply, each still with its index."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise NotAnAnswer(starts_with(raw)) from None
    if isinstance(body, dict) and body.get("error"):
        raise ErrorReply(body)
    data = body.get("data") if isinstance(body, dict) else None
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise NotAnAnswer(f"no vectors, {starts_with(raw)}")
    return data


def _ordered(items: Sequence[Mapping[str, object]], count: int) -> list[Mapping[str, object]]:
    """The items by the text that each is of; as they come where none says so."""
    if len(items) != count:
        raise NotAnAnswer(f"{len(items)} vectors for {count} texts")
    if all("index" not in item for item in items):
        return list(items)
    by_index = {item["index"]: item for item in items if type(item.get("index")) is int}
    if by_index.keys() != set(range(count)):
        raise NotAnAnswer(f"vectors whose numbers are not 0 to {count - 1}, each once")
    return [by_index[index] for index in range(count)]


def _numbers(vector: object) -> list[float]:
    if isinstance(vector, str):
        raise NotAnAnswer("vectors as text, as in base64, where numbers were asked for")
    if not isinstance(vector, list) or not all(type(one) in (float, int) for one in vector):
        raise NotAnAnswer("vectors that are no lists of numbers")
    return vector
