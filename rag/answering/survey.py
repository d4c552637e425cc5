"""An overview of a topic: the papers on it by theme, each sentence cited and checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rag.answering.abstention import REFUSAL
from rag.answering.bench import Bench, Case
from rag.answering.census import Checked
from rag.answering.conditions import Condition, condition_of
from rag.answering.events import Done, Event
from rag.answering.listing import Listed, census_of, said_by, told
from rag.answering.prompting import Labelled, label
from rag.answering.themes import grouped, heading
from rag.answering.writing import Ending, Task
from rag.index.embedding import Vectors, unit
from rag.schema import Answer

_PAPERS = 15
_SENTENCES = 3
_COMPARED = 200
_CLAIMS = 4
_NEAR = 0.5  # cosine from which a paper belongs to a topic that it does not name


@dataclass(frozen=True, slots=True)
class Theme:
    """Papers that belong together, and what they have in common."""

    title: str
    papers: tuple[Checked, ...]


def survey(bench: Bench, case: Case) -> Iterator[Event]:
    """Answer a question for an overview, theme by theme.

    With a model each theme is written from the sentences of its papers that are nearest to the
    topic; without one the sentence that speaks most for each paper is quoted.
    """
    case.tell("checking every paper")
    topic = condition_of(case.question.text).text or case.question.text
    listed = census_of(bench, case, Condition(topic, literal=False))
    work = bench.work(case, listed.found)
    ending, read = Ending(), list[Labelled]()
    for theme in _themes(listed, topic):
        yield work.head(theme.title)
        if bench.asker is None:
            for one in theme.papers:
                yield from work.state(said_by(one), [(one.hit.paper, one.evidence)])
            continue
        case.tell(f"writing about {theme.title}")
        sentences = _sentences(theme)
        read += sentences
        question = f"What do these papers say about {topic}?"
        task = Task("answer", question, tuple(sentences), _CLAIMS, case.reading.stop)
        last = yield from work.part(task)
        ending = last if last.fault or not ending.fault else ending
    answer = replace(work.finish(ending, read), kind="overview", coverage=listed.coverage)
    yield Done(answer if answer.claims else _nothing(answer, topic, listed))


def _nothing(answer: Answer, topic: str, listed: Listed) -> Answer:
    text = f"{REFUSAL} No paper was found on “{topic}” ({told(listed.coverage)})."
    return replace(answer, text=text, missing=f"a paper on “{topic}”")


def _sentences(theme: Theme) -> list[Labelled]:
    """The sentences of each paper that are nearest to the topic, as the search ranked them."""
    chosen = []
    for one in theme.papers:
        near = sorted(one.hit.evidence, key=lambda item: -item.score)[:_SENTENCES]
        if all(item.index != one.evidence.index for item in near):
            near = [one.evidence, *near[:-1]]
        chosen += [(one.hit.paper, item) for item in near]
    return label(chosen)


def _themes(listed: Listed, topic: str) -> list[Theme]:
    near = [one for one in listed.open if one.evidence.score >= _NEAR]
    papers = [*listed.papers, *near][:_PAPERS]
    if not papers:
        return []
    groups = grouped(_vectors(papers, listed))
    themes = []
    for group in groups:
        inside = [papers[place].hit.paper for place in group]
        ids = {paper.id for paper in inside}
        others = [hit.paper for hit in listed.found.hits if hit.paper.id not in ids]
        title = heading(inside, others[:_COMPARED], topic)
        themes.append(Theme(title, tuple(papers[place] for place in group)))
    return themes


def _vectors(papers: Sequence[Checked], listed: Listed) -> Vectors:
    """The mean of each paper's sentences, of length 1."""
    means = [listed.found.vectors[one.hit.paper.id].mean(axis=0) for one in papers]
    return unit(np.stack(means).astype(np.float32), listed.found.embedding_model)
