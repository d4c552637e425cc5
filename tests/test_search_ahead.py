"""A question is embedded while it is understood, and what is found is the same as without."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from fakes import HandEmbedder
from hypothesis import given
from hypothesis import strategies as st
from library import WEIGHTS, Library, abstract

from rag.errors import ModelError
from rag.index.browse import Filter
from rag.index.embedding import PROBE, Vectors
from rag.retrieval.query import Question
from rag.retrieval.search import Found, Searcher
from rag.text import normalise, terms

TOPICS = ("apples", "bridges", "clouds", "deserts")


class Moody(HandEmbedder):
    """Fails at what is no probe, once it is told to."""

    failing = False

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.failing and PROBE not in texts:
            raise ModelError("The model failed")
        return super().embed(texts)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    library = Library(tmp_path_factory.mktemp("ahead"), Moody())
    library.write("a.txt", *map(abstract, TOPICS))
    library.index()
    return library


def find(library: Library, question: str, *filters: Filter, ahead: bool) -> Found:
    with library.reader() as reader:
        searcher = Searcher(reader, WEIGHTS, ahead=ahead)
        return searcher.search(Question(question), 10, filters=filters)


@pytest.mark.parametrize(
    "question",
    [
        "What do apples need?",
        "Which brigdes stand among the apples and clouds?",  # a typo: another text is embedded
        "apples since 1900",  # so is one without its filter
        '"no such phrase" of apples',
    ],
)
def test_what_is_found_is_the_same_ahead_or_not(library: Library, question: str) -> None:
    assert find(library, question, ahead=True) == find(library, question, ahead=False)


def test_only_what_is_asked_is_embedded_where_nothing_is_done_ahead(library: Library) -> None:
    library.newly_embedded()
    find(library, "Which brigdes stand among the apples and clouds?", ahead=False)
    assert library.newly_embedded() == ["Which bridges stand among the apples and clouds?"]


def test_a_model_that_fails_is_told_only_where_its_vector_is_needed(library: Library) -> None:
    embedder = library.embedder
    assert isinstance(embedder, Moody)
    embedder.failing = True
    try:
        assert find(library, "apples", Filter(years=(2999, 2999)), ahead=True).hits == ()
        with pytest.raises(ModelError, match="The model failed"):
            find(library, "apples", ahead=True)
    finally:
        embedder.failing = False


PLAIN = st.text(st.characters(codec="ascii", exclude_characters="\\"), max_size=60)
OF_PROSE = st.text("abS sUX1.,-'\n$5%", max_size=60)


@given(st.one_of(PLAIN, OF_PROSE))
def test_plain_text_has_the_terms_that_it_has_beside_chinese(text: str) -> None:
    """Plain text takes a short way to its terms; a letter of another script makes it the long."""
    assert normalise(f"{text} . 中") == f"{normalise(text)} . 中".strip()
    assert terms(f"{text} . 中") == [*terms(text), "中"]
