"""How the model that writes also helps to search, as the settings say."""

from __future__ import annotations

from collections.abc import Sequence

from rag.answering.asking import Asker
from rag.answering.deciding import Decider
from rag.answering.expanding import KINDS, UNFAMILIAR, ModelExpander
from rag.answering.finding import Finder
from rag.answering.generation import Generator
from rag.answering.outline import outline
from rag.answering.parts import choice_of
from rag.answering.prompting import Labelled
from rag.answering.reranking import ModelReranker
from rag.answering.yesno import YesNo
from rag.config import Config
from rag.retrieval.evidence import Budget
from rag.retrieval.search import Searcher

MOST_CLAIMS = 3
"""Claims of an answer, at most."""

_ALWAYS = 1.1  # more than any coverage
BY_ITSELF = ("translate",)
"""The steps that are on with `expand = "auto"`: those that a paired test showed to help.

The texts of the embedded model were the test (docs/performance.md); a stronger one may gain from
the others, which the settings turn on.
"""

READ = {"local": (9, 1_400)}
"""Sentences and characters of evidence that are read unless the settings say otherwise.

The embedded model reads some 300 characters in a second, so more would be waited for; a server
reads whatever it is given, and twelve sentences hold more of what a comparison needs.
"""

_MORE = (12, 2_400)
_BESIDE = {"local": 2}


def budget_of(config: Config) -> Budget:
    """How much evidence whoever writes is given."""
    sentences, chars = READ.get(choice_of(config), _MORE)
    return Budget(
        config.evidence_papers,
        config.evidence_sentences or sentences,
        config.evidence_chars or chars,
    )


def quotes_of(config: Config) -> int:
    """How many sentences are quoted beside what a model writes, at most.

    The embedded model often picks the wrong one of the right sentences, or tells one fact of two;
    quoting does neither, so that both together answer what either does (docs/answers.md).
    """
    if config.quotes_beside is not None:
        return config.quotes_beside
    return _BESIDE.get(choice_of(config), 0)


def to_summarise(config: Config, sentences: Sequence[Labelled], most: int) -> tuple[Labelled, ...]:
    """The sentences of a paper that a summary of `most` claims is written from.

    The embedded model retells whatever it reads first, so it is given those that matter, as many
    as it is to write; a server reads all.
    """
    if choice_of(config) != "local":
        return tuple(sentences)
    return tuple(outline(sentences, most))


def asker_of(config: Config, generator: Generator | None) -> Asker | None:
    """Who puts short questions to the model beside the answer; None without a model."""
    return None if generator is None else Asker(generator, config.help_seconds, config.prompts)


def finder_of(config: Config, searcher: Searcher, generator: Generator | None) -> Finder:
    """A finder with the help that the settings allow; with a model only.

    A server's order of papers is asked for only where the question's words find none; the
    embedded model reads too slowly for that, and gets it only on demand.
    """
    asker = asker_of(config, generator)
    if asker is None:
        return Finder(searcher)
    by_itself = config.rerank == "auto" and choice_of(config) == "openai"
    below = UNFAMILIAR if by_itself else _ALWAYS
    return Finder(
        searcher,
        tuple(ModelExpander(asker, step) for step in _steps(config)),
        ModelReranker(asker, below) if by_itself or config.rerank == "llm" else None,
        None if config.expand == "off" else asker,
    )


def decider_of(config: Config, generator: Generator | None) -> Decider:
    """Who decides whether to answer, by the settings.

    What a yes or no of a model is worth was fitted on the embedded one, so that it is asked by
    itself only; and the promise of `max_wrong_rate` is made for it and for quoting. A server's
    model, which says better than the search when it has no answer, decides by itself.
    """
    by_itself = config.ask_first == "auto" and choice_of(config) == "local"
    asked = generator is not None and (by_itself or config.ask_first == "llm")
    if generator is None or not asked:
        served = generator is not None and choice_of(config) == "openai"
        return Decider(None if served else config.max_wrong_rate)
    yes_no = YesNo(generator, config.answer_timeout, MOST_CLAIMS, config.prompts)
    return Decider(config.max_wrong_rate, yes_no)


def _steps(config: Config) -> list[str]:
    """The steps that are on, in the order in which they build on each other."""
    wanted = BY_ITSELF if config.expand == "auto" else config.expand.split(",")
    return [step for step in KINDS if step in wanted]
