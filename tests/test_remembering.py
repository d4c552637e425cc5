"""A text that was embedded lately is not embedded again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from fakes import TOPICS, FaultyEmbedder, HandEmbedder
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import ModelError
from rag.index.remembering import RememberingEmbedder

words = st.sampled_from(TOPICS[:6])


def test_a_repeated_text_is_embedded_once_alone_or_with_others() -> None:
    inner = HandEmbedder()
    embedder = RememberingEmbedder(inner)
    embedder.embed(["apples", "bridges", "apples"])
    again = embedder.embed(["bridges", "clouds", "apples"])
    assert inner.embedded == ["apples", "bridges", "clouds"]
    assert np.array_equal(again, HandEmbedder().embed(["bridges", "clouds", "apples"]))


@given(st.lists(st.lists(words, max_size=5), max_size=8), st.integers(1, 4))
def test_it_gives_what_the_embedder_gives(batches: list[list[str]], limit: int) -> None:
    embedder = RememberingEmbedder(HandEmbedder(), limit)
    for batch in batches:
        vectors = embedder.embed(batch)
        assert vectors.shape == (len(batch), embedder.dimension)
        assert np.array_equal(vectors, HandEmbedder().embed(batch))


def test_the_text_that_was_asked_for_longest_ago_is_forgotten_first() -> None:
    inner = HandEmbedder()
    embedder = RememberingEmbedder(inner, 2)
    for text in ("apples", "bridges", "apples", "clouds", "apples", "bridges"):
        embedder.embed([text])
    assert inner.embedded == ["apples", "bridges", "clouds", "bridges"]


def test_a_vector_belongs_to_a_model() -> None:
    inner = HandEmbedder()
    embedder = RememberingEmbedder(inner)
    embedder.embed(["apples"])
    inner.name, inner.turned = "another", 3
    assert np.array_equal(embedder.embed(["apples"]), HandEmbedder(turned=3).embed(["apples"]))
    assert (embedder.name, embedder.count_pieces("two words")) == ("another", 2)


def test_what_the_caller_does_to_a_vector_changes_no_other() -> None:
    embedder = RememberingEmbedder(HandEmbedder())
    embedder.embed(["apples"])[:] = 0
    assert np.array_equal(embedder.embed(["apples"]), HandEmbedder().embed(["apples"]))


def test_what_is_no_vector_is_an_error_and_not_remembered() -> None:
    inner = FaultyEmbedder(lambda vectors: vectors * np.nan)
    embedder = RememberingEmbedder(inner)
    with pytest.raises(ModelError, match="not finite"):
        embedder.embed(["apples"])
    inner.spoil = lambda vectors: vectors
    assert np.array_equal(embedder.embed(["apples"]), HandEmbedder().embed(["apples"]))


def test_many_threads_get_the_vectors_of_their_own_texts() -> None:
    embedder = RememberingEmbedder(HandEmbedder(), 3)

    def right(number: int) -> bool:
        texts = [TOPICS[(number + step) % 7] for step in range(3)]
        return np.array_equal(embedder.embed(texts), HandEmbedder().embed(texts))

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(right, range(200)))
