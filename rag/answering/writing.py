"""Who writes an answer: a model that names its evidence, or nobody, and then it is quoted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

from rag.answering import prompting
from rag.answering.faults import NothingSaid
from rag.answering.generation import (
    Completion,
    ContextTooSmall,
    Generator,
    Request,
    SchemaUnsupported,
)
from rag.answering.loops import Watch
from rag.answering.outline import outline
from rag.answering.prompting import Labelled
from rag.answering.replies import Draft, ReplyReader
from rag.answering.stop import Stop
from rag.errors import AnswerIncomplete, ModelError
from rag.text import legible

Notify = Callable[[str], None]
_CHARS_PER_TOKEN = 16  # more than any text has; a reply beyond that does not end by itself


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be written: `kind` names the prompt; `most` is the number of claims at most.

    `persona` is who a model is to speak as; empty for nobody in particular. `language` is the one
    to write in, by its English name; empty for that of the papers. `told` is what else its prompt
    says. `quotes` is the number of sentences, at most, to be quoted behind a model's claims.
    """

    kind: Literal["answer", "summary", "repair"]
    question: str
    sentences: tuple[Labelled, ...]
    most: int
    stop: Stop = field(default_factory=Stop, compare=False)
    persona: str = ""
    language: str = ""
    told: Mapping[str, str] = field(default_factory=dict)
    quotes: int = 0


@dataclass(frozen=True, slots=True)
class Refused:
    """A claim that checking refused, and why."""

    draft: Draft
    reason: str


@dataclass(frozen=True, slots=True)
class Ending:
    """How the writing ended; `fault` is empty when it is complete.

    `silent`: the writer said that the evidence holds no answer. Without a claim and without that,
    what it wrote could not be read. `cut` says why a reply that went nowhere was not read on; what
    had come of it counts as whole.
    """

    fault: str = ""
    cut: str = ""
    silent: bool = False
    facts: dict[str, object] = field(default_factory=dict)


class Writer(Protocol):
    """Turns a task into drafts of claims, one at a time, and says last how it ended."""

    @property
    def name(self) -> str:
        """Who writes, as an answer's manifest names it."""

    def write(self, task: Task, notify: Notify) -> Iterator[Draft | Ending]:
        """Yield drafts as they are complete, then one Ending.

        Raises:
            ModelError: nothing could be written.
        """

    def repair(self, refused: Refused, task: Task, notify: Notify) -> Draft | None:
        """Another wording of a refused claim, from the same sentences, or None."""

    def close(self) -> None:
        """Free what is held."""


class ModelWriter:
    """Has a language model write, by JSON schema or, where that is refused, line by line."""

    def __init__(self, generator: Generator, max_tokens: int, prompts: Path | None = None) -> None:
        """`prompts` is a folder of prompts that take the place of the product's."""
        self._generator = generator
        self._max_tokens = max_tokens
        self._prompts = prompts

    @property
    def name(self) -> str:
        """The model and where it runs."""
        return self._generator.name

    def write(self, task: Task, notify: Notify) -> Iterator[Draft | Ending]:
        """See `Writer.write`. A prompt that is too long is sent once more with half of it."""
        try:
            yield from self._write(task, notify)
        except ContextTooSmall:
            kept = task.sentences[: max(1, len(task.sentences) // 2)]
            if len(kept) == len(task.sentences):
                raise
            notify(f"the model's context is small: {len(kept)} sentences are sent")
            yield from self._write(replace(task, sentences=kept), notify)

    def repair(self, refused: Refused, task: Task, notify: Notify) -> Draft | None:
        """See `Writer.repair`. A model that fails here has failed to help, and no more."""
        told = {"claim": legible(refused.draft.text), "reason": refused.reason}
        one = replace(task, kind="repair", most=1, told=told)
        try:
            pieces = list(self.write(one, notify))
        except ModelError:
            return None
        drafts = [piece for piece in pieces if isinstance(piece, Draft) and piece.labels]
        return drafts[0] if drafts else None

    def close(self) -> None:
        """Close the connection to the model."""
        self._generator.close()

    def _write(self, task: Task, notify: Notify) -> Iterator[Draft | Ending]:
        if self._generator.structured:
            try:
                yield from self._read(task, notify, structured=True)
                return
            except SchemaUnsupported:
                notify("the server takes no JSON schema, plain text is used")
        yield from self._read(task, notify, structured=False)

    def _read(self, task: Task, notify: Notify, *, structured: bool) -> Iterator[Draft | Ending]:
        request, version = self._request(task, structured=structured)
        reader = ReplyReader((request.system, request.user))
        watch = Watch(request.system, request.user, self._max_tokens, task.most)
        ending, claims = Ending(), 0
        try:
            for piece in self._generator.stream(request, notify):
                if isinstance(piece, Completion):
                    ending = _ending(piece, version)
                else:
                    drafts = reader.feed(piece)
                    yield from drafts
                    claims += len(drafts)
                    if cut := watch.fault(reader.whole, claims):
                        ending = Ending(cut=cut, facts={"prompt": version, "finish": "cut"})
                        break
                    if len(reader.text) > self._max_tokens * _CHARS_PER_TOKEN:
                        ending = Ending(_FAULTS["length"], facts={"prompt": version})
                        break
        except NothingSaid as error:
            told = f"{error.what} ({error.remedy.rstrip('.')})"
            ending = Ending(cut=told[0].lower() + told[1:], facts={"prompt": version})
        except AnswerIncomplete as error:
            fault = f"{error.what} ({error.cause})" if error.cause else error.what
            ending = Ending(fault, facts={"prompt": version})
        broken = ending.fault or ending.cut
        yield from dict.fromkeys(reader.finish(whole=not broken))
        yield replace(ending, silent=not broken and reader.says_nothing)

    def _request(self, task: Task, *, structured: bool) -> tuple[Request, str]:
        count = {} if task.kind == "repair" else {"most": task.most}
        prompt = prompting.render(
            task.kind if structured else f"{task.kind}-text",
            {
                "evidence": prompting.show(task.sentences),
                "question": task.question,
                **count,
                **task.told,
            },
            self._prompts,
        )
        labels = [item.label for item in task.sentences]
        schema = prompting.claims_schema(labels, task.most) if structured else None
        own = self._prompts
        system = prompting.spoken_as(task.persona, own) + prompt.system
        system += prompting.spoken_in(task.language, own)
        request = Request(system, prompt.user, schema, self._max_tokens, stop=task.stop)
        return request, prompt.version


class QuotingWriter:
    """Quotes the best evidence word for word: never wrong about what a paper says.

    A quotation is legible text: normal spaces, nothing invisible. The sentence that it cites is
    verbatim.
    """

    name = "quoting"

    def write(self, task: Task, notify: Notify) -> Iterator[Draft | Ending]:  # noqa: ARG002
        """See `Writer.write`."""
        choose = outline if task.kind == "summary" else _best_sentences
        legible_ones = [s for s in task.sentences if any(map(str.isalnum, s.evidence.text))]
        for item in choose(legible_ones, task.most):
            yield Draft(legible(item.evidence.text), (item.label,))
        yield Ending()

    def repair(self, refused: Refused, task: Task, notify: Notify) -> Draft | None:  # noqa: ARG002
        """A quotation is not refused."""
        return None

    def close(self) -> None:
        """There is nothing to free."""


_FAULTS = {
    "length": "the answer was cut at the token limit",
    "content_filter": "the provider's filter refused the rest of the answer",
    "unknown": "the connection ended early, the answer may be incomplete",
}


def _ending(completion: Completion, version: str) -> Ending:
    facts: dict[str, object] = {
        "prompt": version,
        "model": completion.model,
        "finish": completion.finish,
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": completion.completion_tokens,
    }
    return Ending(_FAULTS.get(completion.finish, ""), facts=facts)


def _best_sentences(sentences: Sequence[Labelled], most: int) -> list[Labelled]:
    """The most relevant sentence, then others in the order in which they are labelled."""
    ranked = sorted(sentences, key=lambda item: (-item.relevance, item.evidence.index))[:most]
    return ranked[:1] + [item for item in sentences if item in ranked[1:]]
