"""What is asked of a model, what comes back, and whoever gives it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from rag.answering.stop import Stop
from rag.answering.wire import Finish


def silent(_message: str) -> None:
    """The default listener of `stream`: nobody."""


def unheard(_seconds: float | None) -> None:
    """The default listener of refusals: nobody."""


@dataclass(frozen=True)
class Request:
    """What is asked. `schema` is the JSON schema that the reply must satisfy; None: free text.

    `stop`, once given, cuts the connection that the reply comes through. `seconds` bounds the
    reply, waits included; None: as long as an answer may take. `limited` hears at once of every
    attempt that the server refused because too much is asked of it, with the seconds that it asks
    to wait, None where it does not say; whoever asks much at once can then ask less. `alternatives`
    is how many tokens that could have come first are wanted, with their probabilities; few servers
    tell over 20.
    """

    system: str
    user: str
    schema: Mapping[str, object] | None
    max_tokens: int
    temperature: float = 0.0
    stop: Stop = field(default_factory=Stop, compare=False)
    seconds: float | None = None
    limited: Callable[[float | None], None] = field(default=unheard, compare=False)
    alternatives: int = 0


@dataclass(frozen=True)
class Completion:
    """How a reply ended: complete only if `finish` is "stop".

    "length": cut at the token limit or at our own cap; "content_filter": refused by the provider;
    "unknown": the server gave no reason, so the answer may be incomplete. Token counts are None
    where the server does not tell; `seconds` runs from the call, waits included. `alternatives`
    are the tokens that could have come first, with natural logarithms of their probabilities; empty
    where they were not asked for or the server does not tell.
    """

    finish: Finish
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    model: str
    alternatives: Mapping[str, float] = field(default_factory=dict)


class Generator(Protocol):
    """Whoever writes text: a model server, or a script in a test."""

    @property
    def name(self) -> str:
        """What to show, such as `gpt-4.1-mini at api.openai.com`."""

    @property
    def structured(self) -> bool:
        """Whether a request may hold a schema; a refusal by the server turns this off."""

    def stream(
        self, request: Request, notify: Callable[[str], None] = silent
    ) -> Iterator[str | Completion]:
        """Yield pieces of text and, last and once, the Completion.

        Closing the iterator ends the request. `notify` hears of every wait before it begins.

        Raises:
            SchemaUnsupported: before any text; ask again with `schema=None`.
            ContextTooSmall: before any text; ask again with less.
            ServerError: nothing came.
            AnswerIncomplete: it broke off; `partial` is the text that had come.
        """

    def close(self) -> None:
        """End what is running and free the connections."""


class Around:
    """A generator around another, which it is in all but what a subclass does in `stream`."""

    def __init__(self, inner: Generator) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """As the generator within."""
        return self._inner.name

    @property
    def structured(self) -> bool:
        """As the generator within."""
        return self._inner.structured

    def close(self) -> None:
        """Close the generator within."""
        self._inner.close()
