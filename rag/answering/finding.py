"""A search as an answer needs it: with a model's help where there is one and it is needed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rag.answering.asking import Reading
from rag.answering.expanding import Expander
from rag.answering.reranking import Reranker
from rag.retrieval.expansion import Expansion, Help
from rag.retrieval.joining import join
from rag.retrieval.query import Question
from rag.retrieval.search import Found, Searcher


@dataclass(frozen=True, slots=True)
class Finder:
    """Searches, looks whether the question needs help, and searches again with what came of it.

    A search takes milliseconds and a model seconds, so the first search decides whether the model
    is asked at all.
    """

    searcher: Searcher
    expander: Expander | None = None
    reranker: Reranker | None = None

    def find(
        self, question: Question, limit: int, reading: Reading, *, sentences: int = 2
    ) -> Found:
        """As `Searcher.search`; `help` of what is found tells what a model did.

        Raises:
            IndexUnusable, ModelError: as `Searcher.search`. A model that fails to help is told
                in `help` and no error.
        """
        found = self.searcher.search(question, limit, sentences=sentences)
        helped, put_in_order = Help(), Help()
        if self.expander:
            expansion, helped = self.expander.expand(found, reading)
            if expansion != Expansion():
                found = self._again(question, expansion, limit, sentences)
        if self.reranker:
            found, put_in_order = self.reranker.rerank(found, reading)
        steps = (*helped.steps, *put_in_order.steps)
        return replace(found, help=Help(steps, {**helped.given_up, **put_in_order.given_up}))

    def _again(self, question: Question, expansion: Expansion, limit: int, sentences: int) -> Found:
        text = Question(expansion.text) if expansion.text else question
        beside = expansion.beside
        whole = self.searcher.search(text, limit, sentences=sentences, beside=beside)
        if expansion.parts:
            questions = [Question(part) for part in expansion.parts]
            parts = [self.searcher.search(part, limit, sentences=sentences) for part in questions]
            whole = join(whole, parts, limit)
        return replace(whole, question=question)
