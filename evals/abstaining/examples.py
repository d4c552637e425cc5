"""Questions of which it is known whether the collection answers them, and their signals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from evals.known import find
from evals.running.places import prepare
from evals.suite import Item, Suite
from evals.trec import lines_of
from rag import Assistant
from rag.config import Config
from rag.errors import InputError

GOLDEN, LEAVE_OUT, SCIFACT = "golden", "leave_out", "scifact"
TRAIN = "scifact-train"
SUITES = (GOLDEN, LEAVE_OUT, SCIFACT)

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Example:
    """A question's signals, and whether it can be answered. Those of a cluster go together."""

    suite: str
    id: str
    cluster: str
    answerable: bool
    signals: Mapping[str, float]


def suite_of(name: str, folder: Path) -> Suite:
    """The single questions of a suite; `golden` are those over the seeds.

    Raises:
        InputError: the data of the suite is not there.
    """
    suite = find("seeds" if name == GOLDEN else name, folder)
    items = tuple(item for item in suite.items if not item.earlier and item.kind != "opening")
    return Suite(name, items, suite.files)


def collect(
    names: Sequence[str], config: Config, folder: Path, kept: Path | None, progress: Progress
) -> list[Example]:
    """The signals of every question of some suites, each asked of an index of its own.

    What stands in the file `kept` is not asked again, and what is asked is added to it.

    Raises:
        InputError: the data of a suite is not there, or a line of `kept` is no example.
    """
    known = {(one.suite, one.id): one for one in _read(kept)} if kept and kept.exists() else {}
    found: list[Example] = []
    for name in names:
        suite = suite_of(name, folder)
        left = tuple(item for item in suite.items if (name, item.id) not in known)
        found += [known[name, item.id] for item in suite.items if (name, item.id) in known]
        if not left:
            continue
        for example in _asked(Suite(name, left, suite.files), config, folder, progress):
            found.append(example)
            if kept:
                with kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(example)) + "\n")
    return found


def _asked(suite: Suite, config: Config, folder: Path, progress: Progress) -> Iterator[Example]:
    done = 0
    for place in prepare(suite, config, folder, progress):
        with Assistant.from_config(place.config) as assistant:
            for item in place.items:
                signals = assistant.signals(item.asked.question)
                done += 1
                progress(f"asking {suite.name}", done, len(suite.items))
                yield Example(suite.name, item.id, _cluster(item), item.answerable, signals)


def _cluster(item: Item) -> str:
    """The first paper that a question is about, so that one paper is on one side of a split."""
    about = (*item.asked.paper_ids, *item.asked.near_paper_ids)
    return about[0] if about else item.id.partition("/")[0]


def _read(path: Path) -> Iterator[Example]:
    for number, line in lines_of(path):
        try:
            yield Example(**json.loads(line))
        except (TypeError, ValueError) as error:
            raise InputError(f"{path}:{number} is no example", cause=str(error)) from None
