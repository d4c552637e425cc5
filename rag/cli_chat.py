"""`rag chat`: a conversation in the terminal, a line for each question."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

from rag.errors import AskPapersError
from rag.flags import AsJson, ConfigFile, DataDir, Llm, settings

if TYPE_CHECKING:
    from rag.answering.conversation import Conversation
    from rag.answering.events import Event
    from rag.schema import Answer

EPILOG = "Examples: rag chat · rag chat --llm none · rag chat --json < questions.txt"
_PROMPT = "> "

Show = Callable[["Iterator[Event]"], "Answer"]


def chat(
    llm: Llm = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    config_file: ConfigFile = None,
) -> None:
    """Ask questions that go on about each other, one a line; Ctrl-D ends, Ctrl-C one answer.

    With --json every answer is one line of JSON, and so is what went wrong with a question.
    """
    config = settings(data_dir=data_dir, file=config_file, llm=llm).config
    from rag.answering.assistant import Assistant, last_answer
    from rag.answering.conversation import Conversation
    from rag.terminal import show_events

    with Assistant.from_config(config, _tell) as assistant:
        assistant.counts()  # without an index there is nothing to ask
        conversation = Conversation()
        for question in _questions(asking=_is_person() and not as_json):
            events = assistant.ask(question, conversation=conversation, notify=_waits(as_json))
            show = last_answer if as_json else show_events
            conversation = _turn(events, show, conversation, as_json=as_json)


def _turn(
    events: Iterator[Event], show: Show, before: Conversation, *, as_json: bool
) -> Conversation:
    """One question; what goes wrong with it, or stops it, ends the answer and not the chat."""
    try:
        with closing(events):  # type: ignore[type-var]
            answer = show(events)
    except AskPapersError as error:
        from rag import jsonform

        _line(jsonform.failure(error)) if as_json else _tell(f"error: {error}")
        return before
    except KeyboardInterrupt:
        _tell("stopped")
        return before
    if as_json:
        from rag import jsonform

        _line(jsonform.answer(answer))
    return before.after(answer)


def _questions(*, asking: bool) -> Iterator[str]:
    """Lines of standard input; empty ones are passed over."""
    if asking:
        import readline  # noqa: F401  # gives `input` its line editing
    while True:
        try:
            line = input(_PROMPT) if asking else sys.stdin.readline()
        except EOFError:
            sys.stdout.write("\n")
            return
        except KeyboardInterrupt:
            if not asking:
                raise
            sys.stdout.write("\n")  # a line is given up, as in a shell
            continue
        if not asking and not line:
            return
        if line.strip():
            yield line.strip()


def _is_person() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _waits(as_json: bool) -> Callable[[str], None] | None:
    """Who hears of waits as they begin: a person at a terminal."""
    return _tell if sys.stderr.isatty() and not as_json else None


def _line(value: dict[str, Any]) -> None:
    escaped = not (sys.stdout.encoding or "").lower().startswith("utf")
    sys.stdout.write(json.dumps(value, ensure_ascii=escaped) + "\n")
    sys.stdout.flush()


def _tell(text: str) -> None:
    from rag.text import printable

    sys.stderr.write(printable(text) + "\n")
    sys.stderr.flush()
