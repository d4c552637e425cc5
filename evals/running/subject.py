"""Who is asked: the product, through the entry point that its users have."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from evals.record import Record, Reply, Source, Span, Times
from evals.running.gold import Gold
from evals.running.transcript import Transcript
from evals.suite import Item
from rag import Answer, Assistant, ClaimMade, Done, jsonform
from rag.answering.conversation import Conversation
from rag.answering.faults import RateLimited
from rag.answering.stop import Stop
from rag.errors import AskPapersError, IndexUnusable, ModelError, ResourceError
from rag.schema import Paper


class Subject(Protocol):
    """Whoever answers the questions of a suite."""

    def ask(self, item: Item, repeat: int, stop: Stop) -> Record:
        """All that happened to a question; `stop` ends it early.

        Raises:
            IndexUnusable, ResourceError: no further question can be answered either.
            RateLimited: a server refused because too much is asked of it; ask again later.
        """


@dataclass(frozen=True, slots=True)
class _Heard:
    """An answer, and when its first claim and its end came, in seconds from the question."""

    answer: Answer
    first_claim: float | None
    total: float


def _told(error: Exception) -> str:
    """Why a question failed, in one line."""
    if isinstance(error, AskPapersError):
        return str(error)
    return " ".join(f"{type(error).__name__}: {error}".split())


def _broke_off(record: Record, replies: Sequence[Reply]) -> bool:
    """Whether the model's stream ended early: what had come is no answer to be scored.

    A reply that was too long is one: that is the product's own doing.
    """
    written = [one for one in replies if one.text]
    return not record.answer["complete"] and bool(written) and written[-1].finish == "broken"


def _check_unrefused(replies: Sequence[Reply]) -> None:
    """See that no help with an answer was refused: it would have been another answer.

    Raises:
        RateLimited: some was.
    """
    if any(one.refusals and one.finish == "broken" and not one.text for one in replies):
        raise RateLimited("The server limits the rate of requests")


def _turn(item: Item, repeat: int) -> tuple[int, str, tuple[str, ...]]:
    """What a conversation up to and with a question is known by."""
    return repeat, item.asked.persona, (*item.earlier, item.asked.question)


class Product:
    """The assistant. Safe for use by several threads, as it is itself.

    A question of a conversation is asked in it: the turns before it are played first, each once
    for all that come after it, and what that costs is not counted as the question's.
    """

    def __init__(
        self,
        assistant: Assistant,
        gold: Mapping[str, Gold],
        transcript: Transcript,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._assistant = assistant
        self._gold = gold
        self._transcript = transcript
        self._clock = clock
        self._played: dict[tuple[int, str, tuple[str, ...]], Conversation] = {}

    def ask(self, item: Item, repeat: int, stop: Stop) -> Record:
        """See `Subject.ask`. What goes wrong with one question is in its record."""
        gold = self._gold[item.id]
        record = Record(
            item.id,
            repeat,
            "failed",
            item.asked.question,
            gold=dict(gold.papers),
            gold_evidence=gold.evidence,
        )
        started = self._clock()
        with self._transcript.listening("subject", repeat) as replies:
            try:
                before = self._before(item, repeat, stop)
                started = self._clock()
                heard = self._heard(item, before, stop)
                self._played[_turn(item, repeat)] = before.after(heard.answer)
            except (IndexUnusable, ResourceError, RateLimited):
                raise
            except Exception as error:  # a fault of ours fails a question and not the run
                silent = isinstance(error, ModelError) and not any(one.text for one in replies)
                times = Times(self._clock() - started)
                record = replace(record, reason=_told(error), reached=not silent, times=times)
            else:
                _check_unrefused(replies)
                record = self._recorded(record, heard, before)
        if record.ending == "answered" and _broke_off(record, replies):
            record = replace(record, ending="failed", reason=str(record.answer["note"]))
        return replace(record, replies=tuple(replies))

    def _before(self, item: Item, repeat: int, stop: Stop) -> Conversation:
        """The conversation up to a question; empty for one that stands alone."""
        if not item.earlier:
            return Conversation()
        *former, last = item.earlier
        asked = item.asked.model_copy(update={"question": last})
        earlier = replace(item, asked=asked, earlier=tuple(former))
        key = _turn(earlier, repeat)
        if key not in self._played:
            before = self._before(earlier, repeat, stop)
            with self._transcript.listening("earlier turns", repeat):
                heard = self._heard(earlier, before, stop)
            self._played[key] = before.after(heard.answer)
        return self._played[key]

    def _heard(self, item: Item, before: Conversation, stop: Stop) -> _Heard:
        started = self._clock()
        first: float | None = None
        answer: Answer | None = None
        persona = item.asked.persona
        assistant = self._assistant.speaking_as(persona) if persona else self._assistant
        for event in assistant.ask(item.asked.question, conversation=before, stop=stop):
            if isinstance(event, ClaimMade) and first is None:
                first = self._clock() - started
            elif isinstance(event, Done):
                answer = event.answer
        if answer is None:
            raise RuntimeError(f"{item.id} has no answer")
        return _Heard(answer, first, self._clock() - started)

    def _recorded(self, record: Record, heard: _Heard, before: Conversation) -> Record:
        answer = heard.answer
        given = self._given(answer)
        papers = {paper.id: paper for paper, _ in given}
        papers |= {citation.paper.id: citation.paper for citation in answer.citations}
        papers |= (earlier := self._assistant.papers(before.numbers))
        return replace(
            record,
            ending="abstained" if answer.status == "abstained" else "answered",
            answer=jsonform.answer(answer),
            retrieved=tuple(answer.manifest["found"]),  # type: ignore[arg-type]
            evidence=tuple(span for _, span in given),
            earlier=tuple(earlier),
            papers={key: Source(paper.title, paper.text) for key, paper in papers.items()},
            times=Times(heard.total, heard.first_claim),
        )

    def _given(self, answer: Answer) -> list[tuple[Paper, Span]]:
        """The sentences that the answer was written from, as its manifest names them."""
        named: Any = answer.manifest.get("evidence", [])
        places = [name.rpartition(":") for name in named]
        papers = self._assistant.papers(key for key, _, _ in places)
        return [
            (papers[key], Span(key, sentence.start, sentence.end, sentence.text))
            for key, _, index in places
            for sentence in [papers[key].sentences[int(index)]]
        ]
