"""Runs of a suite: over a small library in this process, and in processes that can be killed."""

from __future__ import annotations

import json
import os
import resource
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from command import ROOT, environment
from library import WEIGHTS, Library
from runs import manifest

from evals.judging.inline import Judging
from evals.judging.llm import LlmJudge
from evals.judging.scorer import SupportJudge
from evals.record import Record
from evals.running.gold import resolve
from evals.running.journal import SAMPLES, Journal, writing
from evals.running.pace import Pace
from evals.running.plan import Plan
from evals.running.runner import Ran, Runner
from evals.running.subject import Product, Subject
from evals.running.transcript import Replies, Transcript
from evals.suite import Item, Suite, read_suite
from rag.answering.assistant import Assistant
from rag.answering.exchange import Generator, unheard
from rag.answering.finding import Finder
from rag.answering.parts import writing as writer_of
from rag.answering.stop import Stop
from rag.config import Config
from rag.errors import AskPapersError
from rag.retrieval.search import Searcher


def claims(*texts: str) -> str:
    """The reply of a model that makes these claims, each of the first sentence."""
    return json.dumps({"claims": [{"support": ["S1"], "text": text} for text in texts]})


@dataclass
class Asking:
    """The product over a library, ready to be asked a suite."""

    suite: Suite
    product: Product
    judging: Judging
    state: Callable[[], str]
    pace: Pace | None = None

    def run(
        self, journal: Journal, plan: Plan | None = None, subject: Subject | None = None
    ) -> Ran:
        """Ask what is not done."""
        given, plan = subject or self.product, plan or Plan()
        pace = self.pace or Pace(plan.at_once)
        runner = Runner(given, self.judging, plan, self.state, lambda *_: None, pace)
        return runner.run(self.suite.items, journal)


@contextmanager
def asking(
    library: Library,
    suite: Suite,
    generator: Generator | None,
    kept: Path | None = None,
    *,
    pace: Pace | None = None,
    judge: Generator | None = None,
) -> Iterator[Asking]:
    """With what `generator` writes, or quoting; `kept` is the folder of earlier replies.

    `judge` is the model that judges; without it the product's own check does.
    """
    transcript = Transcript(Replies(kept), pace.refused if pace else unheard)
    judges = [LlmJudge(transcript.wrap(judge), "llm")] if judge else [SupportJudge()]
    config = Config.model_validate(
        {"embedding_model": "by hand", "quotes_beside": 0, "max_retries": 0}
    )
    with library.reader() as reader, library.reader() as other:
        wrapped = None if generator is None else transcript.wrap(generator)
        finder = Finder(Searcher(reader, WEIGHTS))
        with Assistant(config, reader, finder, writer_of(wrapped, config)) as assistant:
            with other.state() as state:
                gold = resolve(suite, state.snapshot)

            def revision() -> str:
                with other.state() as state:
                    return str(state.snapshot.revision)

            product = Product(assistant, gold, transcript)
            yield Asking(suite, product, Judging(judges, transcript), revision, pace)


def lines(folder: Path) -> list[dict[str, object]]:
    """The samples of a run as they stand in the file."""
    return [json.loads(line) for line in (folder / SAMPLES).read_text("utf-8").splitlines()]


class Slow:
    """A subject that takes `seconds` for a question, and notes in a file which it was asked.

    What it answers is so long that it is written in several pages of the disk.
    """

    def __init__(self, log: Path, seconds: float) -> None:
        self._log = log
        self._seconds = seconds

    def ask(self, item: Item, repeat: int, stop: Stop) -> Record:
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"{item.id}\n")
        cut = _Cut()
        with stop.cutting(cut.make):
            cut.wait(self._seconds)
        return Record(item.id, repeat, "abstained", item.asked.question, "é" * 40_000)


class _Cut:
    """A wait that another thread can end."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()

    def make(self) -> None:
        os.write(self._write, b"x")

    def wait(self, seconds: float) -> None:
        select.select([self._read], [], [], seconds)


def start(
    folder: Path, file: Path, log: Path, seconds: float = 0.0, bytes_: int = 0
) -> subprocess.Popen[str]:
    """A process that goes on with the run in `folder`; at most `bytes_` may be in a file of it."""
    arguments = [folder, file, log, seconds, bytes_]
    return subprocess.Popen(
        [sys.executable, __file__, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(PYTHONPATH=f"{ROOT}:{ROOT / 'tests'}"),
        cwd=ROOT,
    )


def main(folder: str, file: str, log: str, seconds: str, bytes_: str) -> None:
    """Ask the suite in this process; each question done is a line of output."""
    if int(bytes_):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(bytes_), int(bytes_)))
    suite = read_suite(Path(file))

    def progress(done: int, total: int) -> None:
        sys.stdout.write(f"{done}/{total}\n")
        sys.stdout.flush()

    subject = Slow(Path(log), float(seconds))
    judging = Judging([], Transcript(Replies(None)))
    with writing(Path(folder), manifest(suite, Path(file)), resume=True) as journal:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        Runner(subject, judging, Plan(), lambda: "", progress, Pace(1)).run(suite.items, journal)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except AskPapersError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
