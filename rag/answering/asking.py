"""A short question to a model beside the answer: a JSON object within a time, or nothing.

Whatever a model does for a search is an aid and no condition: it may be late, refuse, or write
what cannot be read, and the search goes on without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from rag.answering.exchange import Completion, Generator, Request, silent
from rag.answering.faults import SchemaUnsupported
from rag.answering.prompting import render
from rag.answering.replies import objects_in
from rag.answering.stop import Stop
from rag.errors import ModelError

MOST_CHARS = 1_200
"""Characters of a question that a model is shown: the embedded one reads 300 in a second."""


class GivenUp(Exception):
    """The model was too late, or failed; the text says which."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Who waits for a search: `notify` hears of pauses, `stop` ends what runs."""

    notify: Callable[[str], None] = silent
    stop: Stop = field(default_factory=Stop)


@dataclass(frozen=True, slots=True)
class Reply:
    """The object that a model gave, empty where none could be read, and the prompt's version."""

    value: Mapping[str, object]
    prompt: str


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks one generator, for at most `seconds` each time; loading a local model is not counted.

    `prompts` is a folder of prompts that take the place of the product's.
    """

    generator: Generator
    seconds: float
    prompts: Path | None = None

    def ask(
        self,
        prompt: str,
        values: Mapping[str, object],
        schema: Mapping[str, object],
        max_tokens: int,
        reading: Reading,
    ) -> Reply:
        """What the model answers to a prompt, as an object of the schema's form.

        Where the server takes no schema the prompt alone has to do, and the first object that
        has one of the schema's keys counts.

        Raises:
            GivenUp: nothing came in time, or the model failed.
        """
        rendered = render(prompt, values, self.prompts)
        request = Request(
            rendered.system,
            rendered.user,
            schema,
            max_tokens,
            stop=reading.stop,
            seconds=self.seconds,
        )
        try:
            text = self._text(request, reading.notify)
        except ModelError as error:
            raise GivenUp(error.cause or error.what) from error
        return Reply(next(_of_form(text, schema), {}), rendered.version)

    def _text(self, request: Request, notify: Callable[[str], None]) -> str:
        if self.generator.structured:
            try:
                return self._read(request, notify)
            except SchemaUnsupported:
                pass
        return self._read(replace(request, schema=None), notify)

    def _read(self, request: Request, notify: Callable[[str], None]) -> str:
        pieces = self.generator.stream(request, notify)
        return "".join(piece for piece in pieces if not isinstance(piece, Completion))


def _of_form(text: str, schema: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    wanted = schema["properties"]
    keys = set(wanted) if isinstance(wanted, Mapping) else set()
    return (value for value in objects_in(text) if keys & value.keys())


def object_schema(name: str, form: Mapping[str, object]) -> dict[str, object]:
    """The JSON schema of an object with the one key `name`."""
    return {
        "type": "object",
        "properties": {name: form},
        "required": [name],
        "additionalProperties": False,
    }
