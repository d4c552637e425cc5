"""What a reader may ask next: questions that sentences of the cited papers answer.

No model is asked. A question is suggested where a sentence of a cited paper says, by the cues of
the tables' columns, what the question asks for and the answer has not shown it yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from rag.answering.conversation import short_name
from rag.answering.cues import KNOWN
from rag.schema import Answer, Citation
from rag.text import legible

MOST = 3
_PAPERS = 3
_QUESTIONS = {
    "result": "What results does {} report?",
    "method": "What does {} propose?",
    "dataset": "On which datasets is {} evaluated?",
    "limitation": "What are the limitations of {}?",
}


def followups(answer: Answer) -> tuple[str, ...]:
    """At most three short questions that the papers of an answer can answer."""
    asked = legible(answer.question).casefold()
    none = answer.status == "abstained"
    found = _of_nearest(answer) if none else _of_cited(answer)
    fresh = (question for question in dict.fromkeys(found) if question.casefold() != asked)
    return tuple(question for question, _ in zip(fresh, range(MOST), strict=False))


def _of_nearest(answer: Answer) -> Iterator[str]:
    """What an abstention can lead to: the papers that came closest, where they have a name."""
    for nearest in answer.nearest:
        if name := short_name(nearest.paper):
            yield f"What does {name} propose?"


def _of_cited(answer: Answer) -> Iterator[str]:
    named = [(name, c) for c in answer.citations if (name := short_name(c.paper))][:_PAPERS]
    for name, citation in named:
        for column in _unsaid(citation):
            yield _QUESTIONS[column].format(name)
            if len(named) > 1:
                break
    if len(named) > 1 and answer.kind != "comparison":
        yield f"How do {named[0][0]} and {named[1][0]} differ?"


def _unsaid(citation: Citation) -> Iterator[str]:
    """The columns of which sentences speak that the answer does not cite."""
    cited = {sentence.start for sentence in citation.sentences}
    rest = [s.text for s in citation.paper.sentences if s.start not in cited]
    for name in _QUESTIONS:
        if any(KNOWN[name].strong.search(text) for text in rest):
            yield name
