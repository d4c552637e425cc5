"""A search as an answer needs it: with a model's help where there is one and it is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from rag.answering.asking import Asker, Reading
from rag.answering.expanding import Expander
from rag.answering.reranking import Reranker
from rag.index.browse import Filter
from rag.retrieval.expansion import Expansion, Help
from rag.retrieval.joining import join
from rag.retrieval.query import Question
from rag.retrieval.search import Found, Searcher


@dataclass(frozen=True, slots=True)
class Finder:
    """Searches, looks whether the question needs help, and searches again with what came of it.

    A search takes milliseconds and a model seconds, so that after each search its result decides
    whether the model is asked for the next step at all. `asker` may be asked what a question means.
    """

    searcher: Searcher
    expanders: tuple[Expander, ...] = ()
    reranker: Reranker | None = None
    asker: Asker | None = None

    def find(
        self,
        question: Question,
        limit: int,
        reading: Reading,
        *,
        sentences: int = 2,
        filters: Sequence[Filter] = (),
    ) -> Found:
        """As `Searcher.search`; `help` of what is found tells what a model did.

        Raises:
            UsageError, IndexUnusable, ModelError: as `Searcher.search`. A model that fails to
                help is told in `help` and no error.
        """
        search = partial(self.searcher.search, limit=limit, sentences=sentences)
        found = search(question, filters=filters)
        expansion, done = Expansion(), Help()
        for expander in self.expanders:
            former = expansion
            expansion, helped = expander.expand(found, former, reading)
            done += helped
            if expansion != former:
                found = _again(search, question, expansion, limit, filters)
        if self.reranker:
            found, helped = self.reranker.rerank(found, reading)
            done += helped
        return replace(found, help=done)


def _again(
    search: Callable[..., Found],
    question: Question,
    expansion: Expansion,
    limit: int,
    filters: Sequence[Filter],
) -> Found:
    """What is found with an expansion; the filters that a question names are those of its parts."""
    text = Question(expansion.text) if expansion.text else question
    whole = search(text, filters=filters, beside=expansion.beside)
    if expansion.parts:
        named = (*filters, *whole.query.filters)
        parts = [search(Question(part), filters=named) for part in expansion.parts]
        whole = join(whole, parts, limit)
    return replace(whole, query=replace(whole.query, asked=question))
