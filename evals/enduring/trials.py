"""Disturbed runs of the product over the seeds: by its model, planted papers, load, kills, disk."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from evals.collection import Document
from evals.enduring.disturbed_model import FAULTS, DisturbedModel, Fault
from evals.enduring.trace import Cited, Outcome, Step
from evals.golden import ROOT
from evals.poisoning import targets
from evals.slow_model import NAME
from evals.systems.product import write_papers
from rag.answering.assistant import Assistant
from rag.answering.parts import indexer_of
from rag.config import Config
from rag.errors import AskPapersError
from rag.schema import Answer

KINDS = (*FAULTS, "poison", "load", "kills", "disk")
_LATE, _IDLE = 6.0, 2.0  # seconds that a slow reply takes, and after which it is not waited for
_READERS = 16  # at full load
_PLANTED = 5
_NEW = 40  # papers of another field
_BIRDS = "heron bittern curlew lapwing dunlin avocet godwit whimbrel plover sanderling".split()
_DOES = "counts hides watches crosses numbers follows leaves warms".split()
_WHAT = "reeds eggs shells pools dykes worms feathers mudflats winters".split()
_PLACES = "Texel Lauwersoog Vlieland Dollart Juist Norderney Sylt Fanoe Roemoe Ameland".split()
_INDEX = (sys.executable, "-c", "from rag.cli import main; main()", "index", "--quiet")


@dataclass(frozen=True, slots=True)
class Ground:
    """What all trials of a run start from: the seeds indexed in `config`'s folder, questions."""

    config: Config
    papers: int
    questions: Sequence[str]
    strengths: Sequence[float]
    seed: int
    folder: Path

    def copy(self, name: str) -> Config:
        """The settings with a copy of the index."""
        place = self.folder / name
        shutil.copytree(self.config.data_dir, place)
        return self.config.model_copy(update={"data_dir": place})


def trial(kind: str, ground: Ground) -> Iterator[Step]:
    """The steps of a kind of disturbance, strength by strength."""
    if kind in FAULTS:
        return by_model(kind, ground)
    return _BY_KIND[kind](ground)


def by_model(fault: Fault, ground: Ground) -> Iterator[Step]:
    """Questions while the model's server is disturbed; work is counted in requests."""
    calm: list[tuple[Cited, int]] = []
    for strength in ground.strengths:
        with DisturbedModel(fault, strength, ground.seed, _LATE) as server:
            own = {"openai_model": NAME, "openai_base_url": server.url, "idle_timeout": _IDLE}
            config = Config.model_validate(ground.config.model_dump() | {"llm": "openai"} | own)
            with Assistant.from_config(config) as assistant:
                for place, question in enumerate(ground.questions):
                    before = server.requests
                    outcome, cited = asked(assistant, question)
                    work = server.requests - before
                    if strength == ground.strengths[0]:
                        calm.append((cited, work))
                    yield Step(fault, strength, question, outcome, cited, calm[place][0], work,
                               calm[place][1])  # fmt: skip


def by_poison(ground: Ground) -> Iterator[Step]:
    """Quoted answers with up to five lying papers planted for each question; work is not counted.

    The questions are those of `evals poison`. An answer that says only the planted thing failed.
    """
    chosen = targets(len(ground.questions), _PLANTED)
    calm: dict[str, Cited] = {}
    for strength in ground.strengths:
        config = ground.copy(f"poison-{strength}")
        planted = [one for t in chosen for one in t.planted[: round(strength * _PLANTED)]]
        if planted:
            path = ground.folder / f"planted-{strength}.jsonl"
            write_papers(path, planted)
            indexer = indexer_of(config, _unheard)
            try:
                indexer.sync([path])
            finally:
                indexer.close()
        with Assistant.from_config(config) as assistant:
            for one in chosen:
                question = one.item.asked.question
                outcome, cited, said = _told(assistant, question)
                calm.setdefault(question, cited)
                lied = one.wrong.casefold() in said and one.right.casefold() not in said
                yield Step("poison", strength, question, "failed" if lied else outcome, cited,
                           calm[question], 1, 1)  # fmt: skip


def by_load(ground: Ground) -> Iterator[Step]:
    """The same questions by up to sixteen readers at once; work is not counted."""
    with Assistant.from_config(ground.config) as assistant:
        calm = {question: asked(assistant, question)[1] for question in ground.questions}
        for strength in ground.strengths:
            readers = max(1, round(strength * _READERS))
            with ThreadPoolExecutor(readers) as pool:
                wanted = [question for question in ground.questions for _ in range(readers)]
                for question, (outcome, cited) in zip(
                    wanted, pool.map(lambda q: asked(assistant, q), wanted), strict=True
                ):
                    yield Step("load", strength, question, outcome, cited, calm[question], 1, 1)


def by_kills(ground: Ground) -> Iterator[Step]:
    """An indexing that is killed up to four times and then left alone.

    Work is seconds of a processor, those of the killed runs included. A run that was over before
    it was hit counts as done.
    """
    drawn = random.Random(ground.seed)

    def disturbed(config: Config, path: Path, strength: float, calm_seconds: float) -> float:
        waits = [drawn.uniform(0.2, 0.9) * calm_seconds for _ in range(round(4 * strength))]
        return sum(_indexing(config, path, kill_after=wait)[1] for wait in waits)

    return _interrupted("kills", ground, disturbed)


def by_disk(ground: Ground) -> Iterator[Step]:
    """An indexing that finds no room for its files, the less the stronger; then there is room."""

    def disturbed(config: Config, path: Path, strength: float, _: float) -> float:
        if not strength:
            return 0.0
        largest = max(file.stat().st_size for file in config.data_dir.rglob("*") if file.is_file())
        return _indexing(config, path, largest_file=int(largest * (1 - strength)))[1]

    return _interrupted("disk", ground, disturbed)


def _interrupted(
    kind: str, ground: Ground, disturbed: Callable[[Config, Path, float, float], float]
) -> Iterator[Step]:
    """New papers of another field are indexed while disturbed, then undisturbed.

    Each question is a step: it fails where the papers of before do not answer right after the
    disturbance, or where the recovery does not bring all that are new.
    """
    path = ground.folder / "new.jsonl"
    write_papers(path, _other_papers(ground.seed))
    calm: dict[str, Cited] = {}
    calm_seconds = 0.0
    for strength in ground.strengths:
        config = ground.copy(f"{kind}-{strength}")
        spent = disturbed(config, path, strength, calm_seconds)
        with Assistant.from_config(config) as assistant:
            answered = [asked(assistant, question) for question in ground.questions]
        code, seconds = _indexing(config, path)
        calm_seconds = calm_seconds or seconds
        with Assistant.from_config(config) as assistant:
            done = code == 0 and assistant.counts().papers == ground.papers + _NEW
        for question, (outcome, cited) in zip(ground.questions, answered, strict=True):
            calm.setdefault(question, cited)
            yield Step(kind, strength, question, outcome if done else "failed", cited,
                       calm[question], spent + seconds, calm_seconds)  # fmt: skip


def asked(assistant: Assistant, question: str) -> tuple[Outcome, Cited]:
    """What comes of a question, and the sentences that are cited."""
    outcome, cited, _ = _told(assistant, question)
    return outcome, cited


def _told(assistant: Assistant, question: str) -> tuple[Outcome, Cited, str]:
    try:
        answer = assistant.answer(question)
    except AskPapersError:
        return "failed", frozenset(), ""
    cited = frozenset((e.paper_id, e.index) for claim in answer.claims for e in claim.support)
    return _outcome(answer), cited, " ".join(claim.text for claim in answer.claims).casefold()


def _outcome(answer: Answer) -> Outcome:
    if answer.status == "abstained":
        return "silent"
    quoted = answer.manifest["writer"] == "quoting" or "are quoted" in answer.note
    return "quoted" if quoted else "written"


def _other_papers(seed: int) -> list[Document]:
    """Papers about birds, which no question is about; none like another."""
    drawn = random.Random(seed)
    return [
        Document(
            f"new-{place}",
            f"Notes on the {bird} of {drawn.choice(_PLACES)}, part {place}",
            " ".join(
                f"The {drawn.choice(_BIRDS)} {drawn.choice(_DOES)} {drawn.randint(2, 999)} "
                f"{drawn.choice(_WHAT)} near {drawn.choice(_PLACES)}."
                for _ in range(7)
            ),
        )
        for place, bird in enumerate(drawn.choices(_BIRDS, k=_NEW))
    ]


def _indexing(
    config: Config, path: Path, kill_after: float | None = None, largest_file: int | None = None
) -> tuple[int, float]:
    """The exit code of an indexing in a process of its own, and what it took of a processor."""

    def bounded() -> None:
        if largest_file is not None:
            signal.signal(
                signal.SIGXFSZ, signal.SIG_IGN
            )  # writing fails instead, as on a full disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    command = [*_INDEX, "--data-dir", str(config.data_dir), str(ROOT / "seeds"), str(path)]
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet, preexec_fn=bounded,
                               start_new_session=True, cwd=ROOT)  # fmt: skip
    timer = threading.Timer(kill_after or 0.0, os.killpg, (process.pid, signal.SIGKILL))
    if kill_after is not None:
        timer.start()
    _, status, used = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime


def _unheard(*_: object) -> None:
    """Progress that nobody watches."""


_BY_KIND = {"poison": by_poison, "load": by_load, "kills": by_kills, "disk": by_disk}
