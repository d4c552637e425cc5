"""A language model as a judge: one request for each case, and one more where it cannot be read."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from evals.judging.planted import planted
from evals.judging.protocol import LABELS, Case, Criterion, Verdict
from evals.judging.reading import HIGHEST, Unreadable, met, verdict
from evals.scoring.statements import Passage
from rag.answering.exchange import Completion, Generator, Request
from rag.answering.faults import ContextTooSmall, RateLimited, SchemaUnsupported
from rag.answering.prompting import render
from rag.errors import AnswerIncomplete, ModelError, ServerError
from rag.text import legible

_TOKENS = 220
_REASON_CHARS = 300  # a longer reason runs into the limit of tokens before the label has come
_SILENT = 3  # cases in a row without a word: then the model is not there


@dataclass(frozen=True, slots=True)
class _Task:
    """A kind of judging: its prompt, the key of its reply and that key's form, and the reader."""

    prompt: str
    form: Mapping[str, Mapping[str, object]]
    read: Callable[[str], Verdict]


_SUPPORT = _Task(
    "judge",
    {
        "label": {"type": "string", "enum": list(LABELS)},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    },
    verdict,
)
_RUBRIC = _Task("rubric", {"score": {"type": "integer", "minimum": 0, "maximum": HIGHEST}}, met)


class LlmJudge:
    """Asks a generator, at temperature 0. Safe for use by several threads.

    The reason comes before the label in a reply: what is written first is what the label rests on.
    """

    def __init__(self, generator: Generator, name: str) -> None:
        self._generator = generator
        self._name = name
        self._silent = 0
        self._counting = threading.Lock()

    @property
    def name(self) -> str:
        """As it was chosen."""
        return self._name

    def judge(self, case: Case) -> Verdict:
        """See `Judge.judge`. Where nothing is cited nobody is asked: no text supports the claim.

        Nor is anybody asked about a passage that looks planted, which the verdict then says.
        """
        if not case.passages:
            return Verdict("neither", reason="there is no passage")
        if refused := planted(case.passages):
            return Verdict(None, refused=refused)
        parts = [("passage", _shown(one)) for one in case.passages]
        if case.question:
            parts.append(("question that the claim helps to answer", case.question))
        parts.append(("claim", case.claim))
        return self._asked(_SUPPORT, fenced(parts))

    def meets(self, criterion: Criterion) -> Verdict:
        """See `RubricJudge.meets`."""
        parts = [
            ("question", criterion.question),
            ("criterion", criterion.wanted),
            ("answer", criterion.answer),
        ]
        return self._asked(_RUBRIC, fenced(parts))

    def close(self) -> None:
        """End the model, if it is one of our own, and the connections."""
        self._generator.close()

    def _asked(self, task: _Task, data: str) -> Verdict:
        """A verdict by the first reply that can be read, of two."""
        raw: list[str] = []
        failure = ""
        heard = True
        for again in ("", "Your last reply could not be read. Keep strictly to the form."):
            try:
                raw.append(self._reply(task, data, again))
                return replace(task.read(raw[-1]), raw=tuple(raw))
            except Unreadable as error:
                failure = f"its reply cannot be read: {error}"
            except AnswerIncomplete as error:
                raw.append(error.partial)
                failure = str(error)
            except RateLimited:
                raise  # nothing is wrong with the case, and asked later it has a verdict
            except ServerError as error:
                failure = str(error)
                heard = bool(raw) or isinstance(error, ContextTooSmall)
                break  # the generator has tried again what may pass
        self._note(heard, failure)
        return Verdict(None, raw=tuple(raw), failure=failure)

    def _reply(self, task: _Task, data: str, again: str) -> str:
        """What the model writes; in the form of text where its server takes no schema."""
        values = {"data": data, "again": again}
        if self._generator.structured:
            try:
                return self._read(task.prompt, values, _schema(task.form))
            except SchemaUnsupported:
                pass
        return self._read(f"{task.prompt}-text", values, None)

    def _read(
        self, prompt: str, values: Mapping[str, object], schema: Mapping[str, object] | None
    ) -> str:
        rendered = render(prompt, values)
        request = Request(rendered.system, rendered.user, schema, _TOKENS)
        text: list[str] = []
        finish = "unknown"
        for piece in self._generator.stream(request):
            if isinstance(piece, Completion):
                finish = piece.finish
            else:
                text.append(piece)
        self._note(True)
        if finish == "length":
            raise AnswerIncomplete(
                "The reply was cut", partial="".join(text), cause=f"at {_TOKENS} tokens"
            )
        if finish == "content_filter":
            raise AnswerIncomplete("The provider refused to judge it", partial="".join(text))
        return "".join(text)

    def _note(self, heard: bool, failure: str = "") -> None:
        """Count cases in a row in which the model said nothing.

        Raises:
            ModelError: there are so many that it is not there, and no case is at fault.
        """
        with self._counting:
            self._silent = 0 if heard else self._silent + 1
            if self._silent == _SILENT:
                self._silent = 0
                raise ModelError(f"The judge {self._name} cannot be used", cause=failure)


def fenced(parts: Sequence[tuple[str, str]]) -> str:
    """Named texts between lines that bear a code, one text to a line.

    The code is a hash of all the texts: none of them can hold it, so none can end the data.
    """
    clean = [(name, legible(text)) for name, text in parts]
    code = hashlib.sha256(repr(clean).encode()).hexdigest()[:12]
    lines = "\n".join(f"{name}: {text}" for name, text in clean)
    return f"--- data {code}\n{lines}\n--- end {code}"


def _shown(passage: Passage) -> str:
    """What is relied on of a paper under its title; all of it where nothing is named."""
    return f"({passage.title}) {' '.join(passage.sentences) or passage.text}".removeprefix("() ")


def _schema(form: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    reason = {"type": "string", "minLength": 1, "maxLength": _REASON_CHARS}
    return {
        "type": "object",
        "properties": {"reason": reason, **form},
        "required": ["reason", *form],
        "additionalProperties": False,
    }
