"""`rag chat`: a conversation in the terminal, a line for each question."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import typer

from rag.errors import EXIT_PARTLY_FAILED, AskPapersError
from rag.flags import AsJson, ConfigFile, DataDir, Llm, settings

if TYPE_CHECKING:
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
    """Ask questions that go on about each other, one a line; Ctrl-C ends an answer, Ctrl-D all.

    With --json every answer is one line of JSON, and so is what went wrong with a question. From a
    file or a pipe, a question that failed makes the exit code 1.
    """
    config = settings(data_dir=data_dir, file=config_file, llm=llm).config
    from rag.answering.assistant import Assistant
    from rag.answering.conversation import Conversation

    with Assistant.from_config(config, _tell) as assistant:
        assistant.counts()  # without an index there is nothing to ask
        conversation, failed = Conversation(), 0
        for question in _questions():
            events = assistant.ask(question, conversation=conversation, notify=_waits(as_json))
            answer = _answer(events, _show(as_json=as_json), as_json=as_json)
            conversation = conversation.after(answer) if answer else conversation
            failed += answer is None
    if failed and not _is_person():
        raise typer.Exit(EXIT_PARTLY_FAILED)


def _answer(events: Iterator[Event], show: Show, *, as_json: bool) -> Answer | None:
    """The answer, shown; what goes wrong with it, or stops it, ends it and not the chat."""
    try:
        return show(events)
    except AskPapersError as error:
        from rag import jsonform

        if as_json:
            _line(jsonform.failure(error))
        else:
            _tell(f"error: {error}")
    except KeyboardInterrupt:
        if not _is_person():
            raise
        _tell("stopped")
    return None


def _show(*, as_json: bool) -> Show:
    from rag import jsonform, terminal
    from rag.answering.assistant import last_answer

    def printed(events: Iterator[Event]) -> Answer:
        answer = last_answer(events)
        _line(jsonform.answer(answer))
        return answer

    return printed if as_json else terminal.show_events


def _questions() -> Iterator[str]:
    """Lines of standard input; empty ones are passed over."""
    asking = _is_person()
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
