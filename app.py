"""The chat page: ask, watch the claims come, see each one's sentence in its abstract.

The only module that uses gradio, which is imported once everything cheaper has been checked: it
takes seconds, and reads its settings from the environment while it is imported. Annotations are
not postponed here: gradio evaluates those of the handlers, and only where they stand is it known.
"""

import logging
import os
import queue
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag.errors import AskPapersError
from rag.exits import run

if TYPE_CHECKING:
    import gradio as gr

    from rag.answering.assistant import Assistant
    from rag.answering.events import Event
    from rag.answering.stop import Stop
    from rag.display import Turn

TITLE = "askpapers"
AT_A_TIME, WAITING = 2, 16  # answers that are written at once, and questions that may wait
TICK = 0.25  # seconds between two looks at whether the reader stopped or left
EXAMPLES = (
    "What does RN-DPO normalize?",
    "How can imitation learning be made safe?",
)
log = logging.getLogger("askpapers.page")

# --- Answering -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Progress:
    """What is to be shown now: the turn so far, and what it waits for (nothing: it is over)."""

    turn: "Turn"
    waiting: str = ""


class Desk:
    """Answers the questions of many readers, each with one at a time."""

    def __init__(self, assistant: "Assistant") -> None:
        self._assistant = assistant
        self._running: dict[str, Stop] = {}

    def ask(self, reader: str, turn: "Turn") -> Iterator[Progress]:
        """What is to be shown, again and again until the answer is there.

        Closing the iterator, as gradio does when a reader leaves, ends the writing.
        """
        from rag.answering.events import Notice

        with self._stop(reader) as stop:
            waiting, since = "searching", time.monotonic()
            for event in _overheard(self._assistant, turn.question, stop):
                if stop.given:
                    yield Progress(replace(turn, stopped=True))
                    return
                if isinstance(event, AskPapersError):
                    turn = replace(turn, failure=str(event))
                elif isinstance(event, Notice):
                    waiting = event.text.removesuffix(", Ctrl-C to stop")
                elif event is not None:
                    waiting, turn = "writing", turn.after(event)
                yield Progress(turn, f"{waiting} … {time.monotonic() - since:.0f} s")
            yield Progress(turn)

    def stop(self, reader: str) -> None:
        """End the answer that `reader` waits for."""
        if stop := self._running.get(reader):
            stop.give()

    def close(self) -> None:
        """End every answer."""
        for stop in list(self._running.values()):
            stop.give()

    @contextmanager
    def _stop(self, reader: str) -> "Iterator[Stop]":
        from rag.answering.stop import Stop

        stop = self._running[reader] = Stop()
        try:
            yield stop
        finally:
            stop.give()
            if self._running.get(reader) is stop:
                del self._running[reader]


def _overheard(
    assistant: "Assistant", question: str, stop: "Stop"
) -> "Iterator[Event | AskPapersError | None]":
    """The events of an answer that another thread makes; None while there is nothing new.

    Whoever waits in an iterator can neither be told of a wait nor be closed, so the waiting is
    done by a thread of its own. What goes wrong there is an event as well.
    """
    from rag.answering.events import Notice

    heard: queue.SimpleQueue[Event | AskPapersError | None] = queue.SimpleQueue()

    def make() -> None:
        try:
            for event in assistant.ask(
                question, notify=lambda text: heard.put(Notice(text)), stop=stop
            ):
                heard.put(event)
        except AskPapersError as error:
            heard.put(error)
        except Exception:
            heard.put(_unforeseen())
        heard.put(None)

    threading.Thread(target=make, name="answer", daemon=True).start()
    while True:
        try:
            event = heard.get(timeout=TICK)
        except queue.Empty:
            yield None
            continue
        if event is None:
            return
        yield event


def _unforeseen() -> AskPapersError:
    """A failure that only the log tells about; the number joins the two."""
    number = secrets.token_hex(4)
    log.exception("error %s", number)
    return AskPapersError(
        "Something went wrong here",
        cause=f"error {number}",
        remedy="The log of the page's program says more.",
    )


def description(assistant: "Assistant") -> str:
    """How many papers there are, who answers, and what leaves this machine."""
    papers = assistant.counts().papers
    name = assistant.writer_name
    model, at, host = name.rpartition(" at ")
    who = "quoting, no model" if name == "quoting" else name
    leaves = f"questions and evidence are sent to {host}" if at and model else ""
    return f"{papers:,} papers · {who} · {leaves or 'nothing leaves this machine'}"


# --- The page ------------------------------------------------------------------------------

STYLE = """
:root { --read: 15.5px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
"""


def build(assistant: "Assistant", desk: Desk) -> "gr.Blocks":
    """The interface: a conversation, and the sources of its answers beside it."""
    import gradio as gr

    page = gr.Blocks(title=TITLE, analytics_enabled=False, fill_height=True)
    with page:
        gr.HTML(lambda: _header(assistant), elem_id="about")
        turns = gr.State(())
        with gr.Row(elem_id="columns"):
            with gr.Column(scale=3, min_width=320, elem_id="conversation"):
                chat = _chat()
                status = gr.HTML(elem_id="status")
                box = gr.Textbox(
                    placeholder="Ask about the papers",
                    show_label=False,
                    label="Question",
                    container=False,
                    lines=1,
                    max_lines=6,
                    submit_btn="Ask",
                    stop_btn=False,
                    autofocus=True,
                    elem_id="question",
                )
            with gr.Column(scale=2, min_width=300, elem_id="panel"):
                gr.HTML("<h2>Sources</h2>")
                shelf = gr.Markdown(
                    _no_sources(), latex_delimiters=_delimiters(), elem_id="sources"
                )
        _wire(desk, turns, chat, status, box, shelf)
    page.queue(max_size=WAITING, default_concurrency_limit=AT_A_TIME, api_open=False)
    return page


def _header(assistant: "Assistant") -> str:
    from rag import display

    return f"<h1>{TITLE}</h1><p>{display.inline(description(assistant))}</p>"


def _no_sources() -> str:
    from rag import display

    return display.sources(())


def _delimiters() -> list[dict[str, str | bool]]:
    from rag.display import BLOCK_MATHS, INLINE_MATHS

    pairs = ((INLINE_MATHS, False), (BLOCK_MATHS, True))
    return [{"left": left, "right": right, "display": block} for (left, right), block in pairs]


def _chat() -> "gr.Chatbot":
    """Our own HTML, sanitised once more; no Markdown is read into it, only maths."""
    import gradio as gr

    return gr.Chatbot(
        label="Conversation",
        show_label=False,
        container=False,
        layout="panel",
        render_markdown=False,
        sanitize_html=True,
        allow_tags=False,
        latex_delimiters=_delimiters(),
        buttons=[],
        feedback_options=None,
        height="auto",
        placeholder="Every sentence of an answer is backed by a sentence of an abstract.",
        examples=[{"text": text} for text in EXAMPLES],
        elem_id="chat",
    )


def _wire(
    desk: Desk,
    turns: "gr.State",
    chat: "gr.Chatbot",
    status: "gr.HTML",
    box: "gr.Textbox",
    shelf: "gr.Markdown",
) -> None:
    import gradio as gr

    from rag.display import Turn

    shown: list[Any] = [turns, chat, status, box, shelf]

    def ask(question: str, before: tuple[Turn, ...], request: gr.Request) -> Iterator[Any]:
        if not question.strip():
            yield [gr.skip() for _ in shown]
            return
        turn = Turn(len(before) + 1, question)
        for progress in desk.ask(str(request.session_hash), turn):
            yield _update(before, progress, turn)
            turn = progress.turn

    def example(
        event: gr.SelectData, before: tuple[Turn, ...], request: gr.Request
    ) -> Iterator[Any]:
        yield from ask(str(event.value["text"]), before, request)

    def stop(request: gr.Request) -> None:
        desk.stop(str(request.session_hash))

    options: dict[str, Any] = {
        "api_visibility": "private",
        "show_progress": "hidden",
        "trigger_mode": "once",
    }
    box.submit(ask, [box, turns], shown, **options)
    chat.example_select(example, [turns], shown, **options)
    box.stop(stop, queue=False, **options)


def _update(before: "tuple[Turn, ...]", progress: Progress, last: "Turn") -> list[Any]:
    import gradio as gr

    from rag import display

    turns = (*before, progress.turn)
    over = not progress.waiting
    fresh = progress.turn is not last or not progress.turn.claims or over
    return [
        turns if over or fresh else gr.skip(),
        _messages(turns) if over or fresh else gr.skip(),
        "" if over else f'<p role="status">{display.inline(progress.waiting)}</p>',
        gr.Textbox(
            value=progress.turn.question if progress.turn.failure else "",
            interactive=over,
            submit_btn="Ask" if over else False,
            stop_btn=False if over else "Stop",
        ),
        display.sources(turns) if over or fresh else gr.skip(),
    ]


def _messages(turns: "tuple[Turn, ...]") -> list[dict[str, str]]:
    from rag import display

    messages = []
    for turn in turns:
        messages.append({"role": "user", "content": display.question(turn)})
        if answer := display.answer(turn):
            messages.append({"role": "assistant", "content": answer})
    return messages


# --- The program ---------------------------------------------------------------------------

command = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@command.command(epilog="Examples: python app.py · python app.py --port 8000 --llm none")
def main(
    host: Annotated[str | None, typer.Option(help="Address to serve on (RAG_HOST).")] = None,
    port: Annotated[int | None, typer.Option(help="Port to serve on (RAG_PORT).")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Where the index is.")] = None,
    config_file: Annotated[
        Path | None, typer.Option("--config", help="Another configuration file.")
    ] = None,
    llm: Annotated[
        str | None, typer.Option(help="Who writes: auto, openai, local or none (quoting).")
    ] = None,
) -> None:
    """Open the chat page over the indexed papers."""
    from rag import config as settings
    from rag import server

    given: Mapping[str, object | None] = {
        "host": host,
        "port": port,
        "data_dir": data_dir,
        "llm": llm,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    config = settings.load(chosen, file=config_file).config
    with server.bind(config.host, config.port) as bound:
        from rag.answering.assistant import Assistant

        with Assistant.from_config(config, lambda text: typer.echo(text, err=True)) as assistant:
            assistant.counts()
            desk = Desk(assistant)
            try:
                server.serve(_application(assistant, desk), bound, _announce)
            finally:
                desk.close()


def _announce(url: str) -> None:
    typer.echo(f"askpapers is at {url} (Ctrl-C ends it)")


def _application(assistant: "Assistant", desk: Desk) -> Any:
    """Every option of gradio's is given here, so that none is taken from elsewhere."""
    _quieten()
    import gradio as gr

    from rag import server

    font = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"]
    application = server.create()
    gr.mount_gradio_app(
        application,
        build(assistant, desk),
        path="/",
        theme=gr.themes.Default(
            primary_hue="teal",
            neutral_hue="slate",
            font=font,
            font_mono=["ui-monospace", "monospace"],
        ),
        css=STYLE,
        footer_links=[],
        run_history=False,
        app_kwargs={"docs_url": None, "redoc_url": None, "openapi_url": None},
        root_path="",
        allowed_paths=[],
        blocked_paths=[],
        show_error=False,
        max_file_size="1kb",
        ssr_mode=False,
        enable_monitoring=False,
        pwa=False,
        mcp_server=False,
    )
    return server.guarded(application)


def _quieten() -> None:
    """Its variables can open files and doors; it calls home unless told otherwise."""
    for name in [name for name in os.environ if name.startswith("GRADIO_")]:
        del os.environ[name]
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"


if __name__ == "__main__":
    run(command, "python app.py")
