"""The page's tab that runs suites and shows what came of them.

It is here and not in `rag.page`, since the product never needs what measures it: the page's
program hands it over where this package can be imported. Annotations are not postponed: gradio
evaluates those of the handlers.
"""

import atexit
import html
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import gradio as gr

from evals import known
from evals.reporting import report as reports
from evals.reporting.beside import beside
from evals.reporting.markdown import markdown
from evals.reporting.page import page
from evals.reporting.sheet import sheet
from evals.running.child import STOPPED, Child, State
from evals.running.runs import going_on, listed, runs_in
from rag.answering.connection import is_loopback
from rag.answering.parts import choice_of
from rag.config import Config
from rag.errors import EXIT_PARTLY_FAILED, AskPapersError, UsageError
from rag.page import benchview
from rag.page.parts import HIDDEN
from rag.page.setting import Setting

TICK = 0.5  # seconds between two looks at a run
_FINE = {None, 0, EXIT_PARTLY_FAILED, *STOPPED}  # codes of a run that did not fail
FIRST = 20  # questions, unless another number is given
_ABOUT = (
    "<h2>Evaluate</h2><p>Every question of a suite is asked, each answer judged, and a report "
    "written. A run that is stopped can go on.</p>"
)
_SHARED = (
    "Evaluations are off on a shared page: they read files of this machine and keep its model "
    "busy. Whoever started the page may allow them with RAG_EVALUATE_SHARED=true."
)


def build(setting: Setting, tab: gr.Tab) -> None:
    """The contents of `tab`; where the page is shared only a word on why there are none."""
    with gr.Column(elem_id="evaluate", elem_classes="bench"):
        gr.HTML(_ABOUT, padding=False)
        if not is_allowed(setting.config):
            gr.HTML(benchview.told(note=_SHARED), padding=False)
            return
        _build(Evaluating(setting), tab)


def is_allowed(config: Config) -> bool:
    """Whether runs may be made from the page of these settings."""
    return is_loopback(config.host) or config.evaluate_shared


def _build(desk: "Evaluating", tab: gr.Tab) -> None:
    with gr.Row(elem_classes="fields"):
        suite = gr.Dropdown(
            choices=list(known.NAMED),
            value="seeds",
            allow_custom_value=True,
            label="Suite, or a file of your own",
            elem_id="evaluate-suite",
        )
        llm = gr.Dropdown(choices=["none", "local", "openai"], value=desk.writer, label="Writer")
        limit = gr.Textbox(label="Questions (empty: all)", value=str(FIRST))
    with gr.Row(elem_classes="actions"):
        start = gr.Button("Run", variant="primary", elem_id="evaluate-start")
        end = gr.Button("Stop", visible=False, elem_id="evaluate-stop")
    progress = gr.HTML(elem_classes="told", padding=False)
    gr.HTML("<h3>Runs</h3>", padding=False)
    with gr.Row(elem_classes="fields"):
        run = gr.Dropdown(label="Run", choices=[], elem_id="evaluate-run")
        other = gr.Dropdown(label="Compared with", choices=[], elem_id="evaluate-other")
    with gr.Row(elem_classes="actions"):
        show = gr.Button("Show the report", elem_id="evaluate-show")
        go_on = gr.Button("Go on with it", elem_id="evaluate-go-on")
    told = gr.HTML(elem_classes="told", padding=False)
    report = gr.HTML(padding=False, elem_id="evaluate-report")
    watched = [progress, start, end, run, other]
    tab.select(desk.watch, None, watched, **HIDDEN)
    start.click(desk.start, [suite, llm, limit], watched, **HIDDEN)
    go_on.click(desk.go_on, run, watched, **HIDDEN)
    end.click(desk.stop, queue=False, **HIDDEN)
    show.click(desk.show, [run, other], [told, report], concurrency_limit=2, **HIDDEN)


class Evaluating:
    """What the tab does; there is one run at a time, whoever looks at it."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._own = setting.config.data_dir / "evals"
        self._child = Child(setting.config)
        atexit.register(self._child.stop)

    @property
    def writer(self) -> str:
        """Who answers on this page."""
        return choice_of(self._setting.config)

    def watch(self) -> Iterator[list[Any]]:
        """How the run is, until it has ended."""
        while True:
            state = self._child.state()
            yield self._shown(state)
            if state is None or not state.running:
                return
            time.sleep(TICK)

    def start(self, suite: str, llm: str, limit: str) -> Iterator[list[Any]]:
        """Begin a run, and watch it."""
        try:
            folder = self._new(suite)
            given = ["run", suite, "--llm", llm, "--out", str(folder), *_limited(limit)]
            self._child.start(given, folder)
        except (AskPapersError, OSError) as error:
            yield self._shown(self._child.state(), str(error))
            return
        yield from self.watch()

    def go_on(self, run: str | None) -> Iterator[list[Any]]:
        """Go on with a run that was stopped, and watch it."""
        try:
            chosen = listed(self._folder(run))
            self._child.start(going_on(chosen), chosen.folder)
        except (AskPapersError, OSError) as error:
            yield self._shown(self._child.state(), str(error))
            return
        yield from self.watch()

    def stop(self) -> None:
        """Stop the run; it can go on."""
        self._child.stop()

    def show(self, run: str | None, other: str | None) -> tuple[str, str]:
        """The report of a run, beside that of another where one is named."""
        try:
            report = reports.read(self._folder(run), self._own)
            since = beside(report, reports.read(self._folder(other), self._own)) if other else None
            whole = page(report, since)
        except AskPapersError as error:
            return benchview.told(failure=str(error)), ""
        files = [
            ("HTML", "html", whole),
            ("Markdown", "md", markdown(report, since)),
            ("CSV", "csv", sheet(report)),
        ]
        saves = benchview.downloads(report.folder.name, files)
        return benchview.told(note=report.headline), saves + framed(whole)

    def _new(self, suite: str) -> Path:
        """The folder of a new run of a suite that is there."""
        name = known.find(suite.strip(), self._own).name
        now = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        return self._own / "runs" / f"{name}-{now}"

    def _folder(self, run: str | None) -> Path:
        """The folder of a run by its name: of those that are listed, and no other."""
        there = {one.folder.name: one.folder for one in runs_in(self._own / "runs")}
        if run is None or run not in there:
            raise UsageError("No run is chosen", remedy="Choose one, or begin one above.")
        return there[run]

    def _shown(self, state: State | None, failure: str = "") -> list[Any]:
        """New values in the order of what is watched."""
        running = state is not None and state.running
        failed = failure or ("" if state is None or state.code in _FINE else state.line)
        line = state.line if state is not None else ""
        told = _told(failed, line, running=running)
        bar = _bar(state) if state is not None and running else ""
        buttons = [gr.Button(visible=not running), gr.Button(visible=running)]
        if running:
            return [bar + told, *buttons, gr.skip(), gr.skip()]
        runs = [(one.told, one.folder.name) for one in runs_in(self._own / "runs")]
        last = state.folder.name if state is not None else (runs[0][1] if runs else None)
        last = last if last in {name for _, name in runs} else None
        none = [("nothing", "")]
        return [
            told,
            *buttons,
            gr.Dropdown(choices=runs, value=last),
            gr.Dropdown(choices=none + runs, value=""),
        ]


def framed(whole: str) -> str:
    """A report within the page: its script runs, and reaches nothing of what is around it."""
    return (
        '<iframe class="report" title="Report" sandbox="allow-scripts" '
        f'srcdoc="{html.escape(whole)}"></iframe>'
    )


def _told(failure: str, line: str, *, running: bool) -> str:
    if failure:
        return benchview.told(failure=failure)
    return benchview.told(waiting=line) if running else benchview.told(note=line)


def _bar(state: State) -> str:
    if not state.total:
        return '<progress aria-label="Questions asked"></progress>'
    told = f"{state.done} of {state.total}"
    return (
        f'<progress aria-label="Questions asked" value="{state.done}" max="{state.total}">'
        f"{told}</progress>"
    )


def _limited(limit: str) -> list[str]:
    text = limit.strip()
    if not text:
        return []
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise UsageError(
            f"{text!r} is no number of questions", remedy="Write one above 0, or leave it empty."
        )
    return ["--limit", text]
