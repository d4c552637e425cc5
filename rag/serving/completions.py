"""Answers as chat completions: Markdown with numbers and references, and what these point to.

The text is put together from the events of an answer, so that it is the same streamed or whole.
Papers and models wrote most of it, so whatever Markdown would read as more than words is escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rag import jsonform
from rag.answering.citations import render_claim
from rag.answering.events import ClaimMade, Done, Event, Heading
from rag.answering.tableform import as_markdown
from rag.exporting import reference_of
from rag.exporting.formatted import formatted
from rag.exporting.markdown import text_of, verbatim
from rag.schema import COUNTING, Answer, Claim, Paper

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a citation number stands in the text: characters, half-open."""

    number: int
    start: int
    end: int


@dataclass
class Composer:
    """Puts a text together, event by event."""

    text: str = ""
    marks: list[Mark] = field(default_factory=list)
    _listing: bool = False

    def add(self, event: Event) -> str:
        """What an event adds to the text; nothing for most."""
        before = len(self.text)
        if isinstance(event, Heading):
            self._listing = True
            self._put(f"{self._gap}**{text_of(event.title)}**\n")
        elif isinstance(event, ClaimMade):
            self._put("\n- " if self._listing else " " if self.text else "")
            self._claim(event.claim)
        elif isinstance(event, Done):
            self._end(event.answer)
        return self.text[before:]

    @property
    def _gap(self) -> str:
        return "\n\n" if self.text else ""

    def _put(self, more: str) -> None:
        self.text += more

    def _claim(self, claim: Claim) -> None:
        shown = render_claim(replace(claim, text=text_of(claim.text)))
        marks = f"[{', '.join(map(str, claim.citations))}]"
        if claim.citations:
            start = len(self.text) + shown.rindex(marks)
            self.marks += [Mark(number, start, start + len(marks)) for number in claim.citations]
        partly = " *(partly supported)*" if claim.verdict == "partly" else ""
        self._put(shown + partly)

    def _end(self, answer: Answer) -> None:
        for block in self._blocks(answer):
            self._put(f"{self._gap}{block}")

    def _blocks(self, answer: Answer) -> Iterator[str]:
        """What comes after the claims, or in place of them."""
        if answer.table and answer.claims:
            yield as_markdown(answer.table)
        elif not self.text:
            yield text_of(answer.text)
        if answer.missing and answer.kind not in COUNTING:  # these say it themselves
            yield text_of(answer.missing)
        if answer.note:
            what = "Note" if answer.complete else "The answer is incomplete"
            yield f"{what}: {verbatim(answer.note)}"
        if answer.citations:
            cited = [(citation.number, citation.paper) for citation in answer.citations]
            lines = _references([paper for _, paper in cited])
            told = [f"- [{number}] {lines[paper.id]}" for number, paper in cited]
            yield "\n".join(["**References**", "", *told])
        if answer.status == "abstained" and answer.nearest:
            lines = _references([nearest.paper for nearest in answer.nearest])
            yield "\n".join(["**Nearest papers**", "", *(f"- {line}" for line in lines.values())])


def _references(papers: Sequence[Paper]) -> dict[str, str]:
    """A line of Markdown for each paper, by its id; two may have one key, so one by one."""
    return {
        paper.id: verbatim(line)
        for paper in papers
        for line in formatted([replace(reference_of(paper), key=paper.id)]).values()
    }


def noted(answer: Answer, marks: Sequence[Mark], link: Callable[[str], str]) -> list[Json]:
    """OpenAI's `url_citation` for each number in the text.

    The address is the paper's own, else that of this server, which `link` makes from its id.
    """
    papers = {citation.number: citation for citation in answer.citations}
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": mark.start,
                "end_index": mark.end,
                "title": papers[mark.number].paper.title,
                "url": reference_of(papers[mark.number].paper).url
                or link(papers[mark.number].paper.id),
                "number": mark.number,
                "paper_id": papers[mark.number].paper.id,
                "quotes": [sentence.text for sentence in papers[mark.number].sentences],
            },
        }
        for mark in marks
        if mark.number in papers
    ]


def finish_of(answer: Answer) -> str:
    """Why the text ends: "length" too where it broke off for another reason, which it tells."""
    if answer.complete:
        return "stop"
    return "content_filter" if answer.manifest.get("finish") == "content_filter" else "length"


def usage(answer: Answer) -> Json:
    """The tokens that writing took; none where nobody wrote or the server does not tell."""
    read, written = (
        value if isinstance(value := answer.manifest.get(name), int) else 0
        for name in ("prompt_tokens", "completion_tokens")
    )
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


@dataclass(frozen=True, slots=True)
class Head:
    """What every part of one completion says: its id, and the second when it was asked for."""

    id: str
    created: int
    model: str

    def chunk(self, delta: Json, finish: str | None = None, **more: object) -> Json:
        """A part of a stream."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._told("chat.completion.chunk", [choice]) | more

    def last(self, counted: Json) -> Json:
        """The part that tells the tokens."""
        return self._told("chat.completion.chunk", []) | {"usage": counted}

    def whole(self, answer: Answer, text: str, notes: list[Json]) -> Json:
        """A completion that is not streamed."""
        message = {"role": "assistant", "content": text, "refusal": None, "annotations": notes}
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": finish_of(answer),
        }
        more = {"usage": usage(answer), "askpapers": jsonform.answer(answer)}
        return self._told("chat.completion", [choice]) | more

    def _told(self, kind: str, choices: list[Json]) -> Json:
        named = {"id": self.id, "object": kind, "created": self.created, "model": self.model}
        return {**named, "choices": choices}


def models(created: int, name: str) -> Json:
    """The one model that is offered."""
    return {"object": "list", "data": [model(created, name)]}


def model(created: int, name: str) -> Json:
    """What is told of a model."""
    return {"id": name, "object": "model", "created": created, "owned_by": "askpapers"}
