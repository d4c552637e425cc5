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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag.errors import AskPapersError
from rag.exits import run

if TYPE_CHECKING:
    import gradio as gr
    from gradio.components import Component
    from starlette.responses import Response

    from rag.answering.assistant import Assistant
    from rag.answering.events import Event
    from rag.answering.stop import Stop
    from rag.display import Turn

TITLE = "askpapers"
AT_A_TIME, WAITING = 16, 64  # answers at once (a local model takes two, in turns), and waiting
TICK = 0.25  # seconds between two looks at whether the reader stopped or left
KEPT = 30  # questions that a conversation shows
EXAMPLES = (
    "What does RN-DPO normalize?",
    "How can offline imitation learning be made safe?",
    "What error bound does the anytime GDRO algorithm have?",
    "How is documentation generated for a whole repository?",
)
WELCOME = """<h2>Ask the papers</h2>
<p>Every sentence of an answer is backed by a sentence of an abstract, which is shown beside it.</p>
"""
HIDDEN: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
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
            yield Progress(turn, waiting)
            for event in _overheard(self._assistant, turn, stop):
                if stop.given:
                    break
                if isinstance(event, AskPapersError):
                    turn = replace(turn, failure=str(event))
                elif isinstance(event, Notice):
                    waiting = event.text.removesuffix(", Ctrl-C to stop")
                elif event is not None:
                    waiting, turn = "writing", turn.after(event)
                yield Progress(turn, f"{waiting} … {time.monotonic() - since:.0f} s")
            yield Progress(replace(turn, stopped=stop.given and turn.answer is None))

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

        self.stop(reader)  # a reader waits for one answer at a time
        stop = self._running[reader] = Stop()
        try:
            yield stop
        finally:
            stop.give()
            if self._running.get(reader) is stop:
                del self._running[reader]


def _overheard(
    assistant: "Assistant", turn: "Turn", stop: "Stop"
) -> "Iterator[Event | AskPapersError | None]":
    """The events of an answer that another thread makes; None while there is nothing new.

    Whoever waits in an iterator can neither be told of a wait nor be closed, so the waiting is
    done by a thread of its own. What goes wrong there is an event as well.
    """
    heard: queue.SimpleQueue[Event | AskPapersError | None] = queue.SimpleQueue()
    make = partial(_make, assistant, turn, stop, heard.put)
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


def _make(
    assistant: "Assistant",
    turn: "Turn",
    stop: "Stop",
    tell: "Callable[[Event | AskPapersError | None], None]",
) -> None:
    """Make an answer, telling of all that happens and, last, of the end as None."""
    from rag.answering.events import Notice

    try:
        events = assistant.ask(
            turn.question,
            conversation=turn.spoken,
            notify=lambda text: tell(Notice(text)),
            stop=stop,
        )
        for event in events:
            tell(event)
    except AskPapersError as error:
        tell(error)
    except Exception:
        tell(_unforeseen())
    tell(None)


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
#page { --quiet: #56637a; --cited: #fdf0c4; --line: #e3e8ef; --number: #4f46e5;
  gap: 0; }
.dark #page { --quiet: #9dabbf; --cited: #4d3f17; --line: #2b3546; --number: #a5b4fc; }
.html-container { padding: 0 !important; }
.prose :is(em, strong, span, a, math, sup) { color: inherit; }

#about { padding: 0 0 14px; border-bottom: 1px solid var(--line); flex: none; }
#about .prose { display: flex; align-items: baseline; gap: 2px 14px; flex-wrap: wrap; }
#about h1 { font-size: 19px; font-weight: 680; letter-spacing: -.01em; margin: 0; }
#about p { margin: 0; font-size: 13.5px; color: var(--quiet); }
#columns { gap: 0; align-items: stretch; }
#conversation { flex: 3 1 0; min-width: 0 !important; padding: 0 36px 20px 0; gap: 0; }
#panel { flex: 2 1 0; min-width: 0 !important; gap: 0; padding: 0 0 20px 28px;
  border-left: 1px solid var(--line); }
#panel h2 { font-size: 13px; font-weight: 600; margin: 0; padding: 20px 0 12px;
  color: var(--quiet); }

/* before the first question */
#welcome { gap: 8px; padding: 12vh 0 0; max-width: 560px; flex: 1 1 auto; }
#welcome h2 { font-size: 25px; font-weight: 660; letter-spacing: -.018em; margin: 0 0 6px; }
#welcome p { margin: 0; padding: 0 0 14px; font-size: 15.5px; line-height: 1.55;
  color: var(--quiet); }
#welcome button { justify-content: flex-start; text-align: left; font-weight: 450;
  font-size: 15px; line-height: 1.4; padding: 11px 14px; border-radius: 10px; box-shadow: none;
  border: 1px solid var(--line); background: none; color: var(--body-text-color); }
#welcome button:hover { border-color: var(--color-accent); }

/* the conversation */
#chat { padding: 0 !important; }
#chat .turn { padding: 20px 0 6px; max-width: 68ch; contain: paint; }
#chat .turn + .turn { border-top: 1px solid var(--line); margin-top: 12px; }
#chat .part { font-size: 15px; font-weight: 640; margin: 14px 0 4px; }
#chat .asked { font-size: 18px; font-weight: 640; line-height: 1.4; letter-spacing: -.01em;
  margin: 0 0 12px; overflow-wrap: anywhere; }
#chat p { font-size: 16px; line-height: 1.62; margin: 0 0 12px; overflow-wrap: anywhere; }
#chat .cites { white-space: nowrap; vertical-align: baseline; position: relative; top: -.4em;
  font-size: 11.5px; line-height: 0; margin-left: 3px; }
#chat .cites a { color: var(--number); text-decoration: none; font-weight: 640; }
#chat .cites a:hover, #chat .cites a:focus-visible { text-decoration: underline; }
#chat .partly { font-size: 12px; color: #a04a06; border-bottom: 1px dotted; cursor: help;
  white-space: nowrap; }
.dark #chat .partly { color: #f5b84c; }
#chat :is(.note, .stopped, .gone, .dropped, .nearest p) { font-size: 14px; line-height: 1.55;
  color: var(--quiet); margin: 0 0 12px; }
#chat .failure { font-size: 15px; padding: 10px 14px; border-left: 3px solid #dc2626;
  background: var(--background-fill-secondary); border-radius: 0 8px 8px 0; }
#chat .dropped li { color: var(--quiet); }
#chat ul { margin: 6px 0 12px; padding-left: 20px; list-style: disc; }
#chat .nearest { font-size: 14.5px; line-height: 1.55; }
#chat .nearest p { margin: 0; }
#chat .nearest a { color: var(--number); }
#chat .nearest .place { color: var(--quiet); font-size: 13px; }
#chat .table { overflow-x: auto; margin: 0 0 12px; }
#chat :is(th, td) { font-size: 14.5px; line-height: 1.5; padding: 7px 12px 7px 0; min-width: 9em;
  max-width: 22em; text-align: left; vertical-align: top; border: 0 !important;
  border-bottom: 1px solid var(--line) !important; }
#chat summary { cursor: pointer; }
#status { min-height: 28px; flex: none; }
#status p { margin: 0; font-size: 13.5px; color: var(--quiet); display: flex; gap: 8px;
  align-items: center; }
#status p::before { content: ""; width: 7px; height: 7px; border-radius: 50%;
  background: var(--color-accent); animation: breathe 1.2s ease-in-out infinite; }
@keyframes breathe { 50% { opacity: .25; } }
@media (prefers-reduced-motion: reduce) { #status p::before { animation: none; } }
#question { flex: none; border: 1px solid var(--line) !important; border-radius: 12px;
  background: var(--background-fill-primary); }
#question:focus-within { border-color: var(--color-accent) !important; }
#question textarea { border: 0; box-shadow: none; background: none; padding: 12px 14px;
  font-size: 15.5px; line-height: 1.45; }
#question .input-container { align-items: flex-end; }
#question :is(.submit-button, .stop-button) { height: 34px; min-width: 62px; margin: 6px;
  padding: 0 14px; border-radius: 8px; font-size: 14px; font-weight: 600; color: #fff;
  background: var(--color-accent); }

/* the sources */
#sources { padding: 0 !important; }
#sources .empty { font-size: 14px; color: var(--quiet); margin: 0 0 18px; }
#sources .source { padding: 0 0 18px; margin: 0 0 18px; scroll-margin-top: 16px; contain: paint;
  border-bottom: 1px solid var(--line); }
#sources .source:last-of-type { border-bottom: 0; margin-bottom: 0; }
#sources h3 { font-size: 15px; font-weight: 640; line-height: 1.4; margin: 0 0 3px;
  overflow-wrap: anywhere; }
#sources .number { display: inline-block; min-width: 20px; padding: 0 5px; margin-right: 8px;
  border-radius: 6px; font-size: 12px; line-height: 20px; text-align: center; color: #fff;
  background: var(--color-accent); }
#sources .source:target .number { outline: 2px solid var(--color-accent); outline-offset: 2px; }
#sources .about { font-size: 12.5px; margin: 0 0 8px; color: var(--quiet); display: flex;
  flex-wrap: wrap; gap: 0 12px; overflow-wrap: anywhere; }
#sources .derived { font-style: italic; }
#sources .abstract { font-size: 14px; line-height: 1.62; margin: 0; max-width: 68ch;
  color: var(--quiet); overflow-wrap: anywhere; }
#sources mark { background: var(--cited); color: var(--body-text-color); padding: 2px 0;
  border-radius: 2px; box-decoration-break: clone; -webkit-box-decoration-break: clone; }
#sources .earlier { font-size: 14px; margin: 0 0 10px; }
#sources .earlier summary { cursor: pointer; color: var(--quiet); }
#sources .earlier[open] summary { margin-bottom: 12px; }
.katex { font-size: 1.04em; }
.katex-display { overflow: auto hidden; margin: .5em 0; }

/* each column scrolls by itself where there is room for two; the conversation keeps its end in
   sight, which a column that grows upwards does without a script */
@media (min-width: 900px) {
  #page { height: calc(100dvh - 32px); flex-wrap: nowrap; }
  #columns { flex: 1 1 0; min-height: 0; flex-wrap: nowrap; }
  #conversation, #panel { height: 100%; flex-wrap: nowrap; }
  #chat { flex: 1 1 0; min-height: 0; overflow-y: auto !important; display: flex;
    flex-direction: column-reverse; }
  #chat > * { margin-bottom: auto; }
  #panel { overflow-y: auto; }
}
@media (max-width: 899px) {
  #columns { flex-direction: column; }
  #conversation { padding: 0 0 18px; flex: none; }
  #panel { padding: 0 0 24px; border-left: 0; border-top: 1px solid var(--line); flex: none; }
  #welcome { padding-top: 28px; margin-bottom: 20px; }
}
"""


def build(assistant: "Assistant", desk: Desk) -> "gr.Blocks":
    """The interface: a conversation, and the sources of its answers beside it."""
    import gradio as gr

    from rag import display

    page = gr.Blocks(title=TITLE, analytics_enabled=False, fill_width=True)
    with page, gr.Column(elem_id="page"):
        about = gr.HTML(elem_id="about", padding=False)
        turns = gr.State(())
        with gr.Row(elem_id="columns"):
            with gr.Column(elem_id="conversation"):
                with gr.Column(elem_id="welcome") as welcome:
                    gr.HTML(WELCOME, padding=False)
                    examples = [gr.Button(text, elem_classes="example") for text in EXAMPLES]
                chat = gr.Markdown(elem_id="chat", latex_delimiters=_delimiters())
                status = gr.HTML(elem_id="status", padding=False)
                box = _box()
            with gr.Column(elem_id="panel"):
                gr.HTML("<h2>Sources</h2>", padding=False)
                shelf = gr.Markdown(
                    display.sources(()), latex_delimiters=_delimiters(), elem_id="sources"
                )
        page.load(lambda: _header(assistant), None, about, queue=False, **HIDDEN)
        _wire(desk, turns, [turns, welcome, chat, status, box, shelf], examples, box)
    page.queue(max_size=WAITING, default_concurrency_limit=AT_A_TIME, api_open=False)
    return page


def _header(assistant: "Assistant") -> str:
    from rag import display

    return f"<h1>{TITLE}</h1><p>{display.as_typed(description(assistant))}</p>"


def _delimiters() -> list[dict[str, str | bool]]:
    from rag.display import BLOCK_MATHS, INLINE_MATHS

    pairs = ((INLINE_MATHS, False), (BLOCK_MATHS, True))
    return [{"left": left, "right": right, "display": block} for (left, right), block in pairs]


def _box() -> "gr.Textbox":
    import gradio as gr

    return gr.Textbox(
        placeholder="Ask about the papers",
        label="Question",
        show_label=False,
        container=False,
        max_lines=6,
        submit_btn="Ask",
        autofocus=True,
        elem_id="question",
    )


def _wire(
    desk: Desk,
    turns: "gr.State",
    shown: "list[Component]",
    examples: "list[gr.Button]",
    box: "gr.Textbox",
) -> None:
    import gradio as gr

    from rag.display import Turn

    def ask(
        question: str, before: tuple[Turn, ...], request: gr.Request
    ) -> Iterator[dict[Any, Any] | list[Any]]:
        if not question.strip():
            yield [gr.skip() for _ in shown]
            return
        last: Turn | None = None
        turn = _next(before, question)
        for progress in desk.ask(str(request.session_hash), turn):
            yield _update((*before, progress.turn)[-KEPT:], progress, last)
            last = progress.turn

    def stop(request: gr.Request) -> None:
        desk.stop(str(request.session_hash))

    box.submit(ask, [box, turns], shown, concurrency_id="ask", **HIDDEN)
    for example in examples:
        example.click(ask, [example, turns], shown, concurrency_id="ask", **HIDDEN)
    box.stop(stop, queue=False, **HIDDEN)


def _next(before: "tuple[Turn, ...]", question: str) -> "Turn":
    """A turn that goes on about the ones before it."""
    from rag.display import Turn

    if not before:
        return Turn(1, question)
    return Turn(before[-1].number + 1, question, spoken=before[-1].spoken)


def _update(turns: "tuple[Turn, ...]", progress: Progress, last: "Turn | None") -> list[Any]:
    """New values in the order of `shown`; whatever is as it was before is left alone."""
    import gradio as gr

    from rag import display

    first, over = last is None, not progress.waiting
    fresh = progress.turn is not last or over
    box: Any = gr.skip()
    if over and progress.turn.failure:
        box = gr.Textbox(value=progress.turn.question, submit_btn="Ask", stop_btn=False)
    elif over:
        box = gr.Textbox(submit_btn="Ask", stop_btn=False)
    elif first:
        box = gr.Textbox(value="", submit_btn=False, stop_btn="Stop")
    return [
        turns if fresh else gr.skip(),
        gr.Column(visible=False) if first else gr.skip(),
        display.conversation(turns) if fresh else gr.skip(),
        "" if over else f'<p role="status">{display.as_typed(progress.waiting)}</p>',
        box,
        display.sources(turns) if fresh else gr.skip(),
    ]


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

    application = server.create()
    application.add_api_route(
        "/gradio_api/upload", _refuse_upload, methods=["POST"], response_model=None
    )
    gr.mount_gradio_app(
        application,
        build(assistant, desk),
        path="/",
        theme=_theme(),
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


def _theme() -> "gr.themes.Base":
    """The system's own fonts: others would be fetched."""
    import gradio as gr

    return gr.themes.Default(
        primary_hue="indigo",
        neutral_hue="slate",
        font=["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"],
        font_mono=["ui-monospace", "monospace"],
    )


def _refuse_upload() -> "Response":
    """Nothing on the page takes files, and gradio would keep them."""
    from starlette.responses import Response

    return Response(status_code=404)


def _quieten() -> None:
    """Its variables can open files and doors; it calls home unless told otherwise."""
    for name in [name for name in os.environ if name.startswith("GRADIO_")]:
        del os.environ[name]
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"


if __name__ == "__main__":
    run(command, "python app.py")
