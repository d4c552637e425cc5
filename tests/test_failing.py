"""Each call of a piece of work fails in its turn: the old state or the new, a line, no leak.

`make torture` fails every call; here some of them, evenly apart and others for each error.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from asking import asking, claims
from asking import lines as samples_of
from failing import CODES, ERRORS, Calls, Ended, Held, check_told, counted, ended, held, points
from fakes import TOPICS, FaultyEmbedder, ScriptedGenerator, streamed
from helped import helped
from library import Library, abstract
from runs import manifest, suite_file

from evals.running.journal import read_records, writing
from evals.suite import read_suite
from rag.answering.assistant import Assistant
from rag.history import history_of
from rag.index.lock import write_lock

SOME = int(os.environ.get("FAILING_CALLS", "2"))  # of each kind and error
OLD = {abstract(topic) for topic in TOPICS[:3]}
NEW = {abstract(topic) for topic in TOPICS[3:5]}
QUESTION = "How were apples measured?"
CASES = [(kind, error) for kind in ERRORS for error in ERRORS[kind]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Three papers that are indexed, and a file of two more and an edit that are not."""
    library = Library(tmp_path_factory.mktemp("failing"))
    library.write("a.txt", *sorted(OLD))
    library.index()
    library.write("b.txt", *sorted(NEW))
    library.copy(library.data.parent / "warm").index()
    return library


@pytest.fixture
def before() -> Iterator[Held]:
    """What is held before; no more may be held after."""
    start = held()
    yield start
    now = held(most=start)
    assert now.files <= start.files
    assert now.threads <= start.threads
    assert now.children == start.children


def numbers(kind: str, error: str, total: int) -> list[int]:
    return points(total, SOME, CASES.index((kind, error)))


def fail(kind: str, error: str, number: int) -> Calls:
    return Calls(kind, number, ERRORS[kind][error])


def check_code(result: Ended, error: str, allowed: set[int]) -> None:
    check_told(result, error)
    assert result.code in {0, CODES.get(error, 5)} | allowed, (result.failed, result.said)


# --- index


@pytest.fixture(scope="module")
def calls_of_index(made: Library, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    library = made.copy(tmp_path_factory.mktemp("count") / "data")
    return counted(lambda: _index(library))


def _index(library: Library) -> None:
    library.index()


@pytest.mark.case("C12", "I11", "I16", "I17", "I18")
@pytest.mark.parametrize(
    ("kind", "error"), [case for case in CASES if case[0] in {"file", "database", "embedder"}]
)
def test_an_index_run_whose_call_fails_leaves_old_or_new(
    made: Library,
    calls_of_index: dict[str, int],
    tmp_path: Path,
    before: Held,
    kind: str,
    error: str,
) -> None:
    for number in numbers(kind, error, calls_of_index[kind]):
        library = made.copy(tmp_path / f"data{number}")
        result = ended(lambda library=library: _index(library), fail(kind, error, number))  # type: ignore[misc]
        assert result.failed, f"call {number} of {calls_of_index[kind]} was not made"
        check_code(result, error, {1, 2} if kind == "file" else set())
        assert library.texts() in (OLD, OLD | NEW), result.failed
        with write_lock(library.data / "writer.lock"):
            pass
        library.index()
        assert library.texts() == OLD | NEW
        assert list(library.data.rglob("*.new*")) == []
        shutil.rmtree(library.data)


@pytest.mark.case("I11", "I12")
@pytest.mark.parametrize("since", [1, 2])
def test_an_index_run_that_is_given_wrong_vectors_leaves_the_old(
    made: Library, tmp_path: Path, before: Held, since: int
) -> None:
    library = made.copy(tmp_path / "data")
    wrong = library.like(FaultyEmbedder(lambda vectors: vectors * float("nan"), since))
    result = ended(lambda: _index(wrong), Calls())
    assert result.code == 4
    check_told(result, "wrong")
    assert library.texts() == OLD


# --- ask


class Asking:
    """A question that a scripted server answers, over a copy of the library."""

    def __init__(self, library: Library, stack: ExitStack) -> None:
        reply = streamed([claims(f"We study {TOPICS[0]} in one case with care.")])
        served = stack.enter_context(helped(library, lambda _: reply, expand="off"))
        self.assistant: Assistant = served.assistant
        self.status = ""

    def __call__(self) -> None:
        self.status = self.assistant.answer(QUESTION).status


@pytest.mark.case("C12", "G12")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Python's sockets
@pytest.mark.parametrize(("kind", "error"), CASES)
def test_a_question_whose_call_fails_is_told_and_the_next_is_answered(
    made: Library, tmp_path: Path, before: Held, kind: str, error: str
) -> None:
    with ExitStack() as stack:
        ask = Asking(made, stack)
        ask()
        total = counted(ask).get(kind, 0)
        for number in numbers(kind, error, total):
            ask.status = ""
            result = ended(ask, fail(kind, error, number))
            check_code(result, error, {4} if kind == "socket" else set())
            assert ask.status or result.code
            ask()
            assert ask.status == "answered", result.failed


# --- keep a conversation


@pytest.mark.case("C12", "I17")
@pytest.mark.parametrize(
    ("kind", "error"), [case for case in CASES if case[0] in {"file", "database"}]
)
def test_a_turn_whose_call_fails_is_kept_whole_or_not_at_all(
    tmp_path: Path, before: Held, kind: str, error: str
) -> None:
    from papers_to_export import answer

    def keep(place: Path) -> None:
        history = history_of(place)
        history.begin(answer("What do owls do?"))

    total = counted(lambda: keep(tmp_path / "count")).get(kind, 0)
    for number in numbers(kind, error, total):
        place = tmp_path / f"data{number}"
        result = ended(lambda place=place: keep(place), fail(kind, error, number))  # type: ignore[misc]
        check_code(result, error, set())
        kept = history_of(place)
        assert [one.turns for one in kept.conversations()] in ([], [1]), result.failed
        keep(place)
        assert len(kept.conversations()) >= 1


# --- eval


@pytest.mark.case("C12", "E04", "E10")
@pytest.mark.parametrize(
    ("kind", "error"), [case for case in CASES if case[0] in {"file", "database", "clock"}]
)
def test_a_run_of_questions_whose_call_fails_loses_no_line(
    made: Library, tmp_path: Path, before: Held, kind: str, error: str
) -> None:
    file = suite_file(
        tmp_path / "s.jsonl", *({"question": f"Are {t} measured?"} for t in TOPICS[:2])
    )
    suite = read_suite(file)

    def evaluate(folder: Path) -> None:
        with (
            asking(made, suite, ScriptedGenerator(claims("They were measured twice."))) as asked,
            writing(folder, manifest(suite, file), resume=True) as journal,
        ):
            asked.run(journal)

    total = counted(lambda: evaluate(tmp_path / "count")).get(kind, 0)
    for number in numbers(kind, error, total):
        folder = tmp_path / f"run{number}"
        result = ended(lambda folder=folder: evaluate(folder), fail(kind, error, number))  # type: ignore[misc]
        check_code(result, error, {1, 2, 3, 4})
        done = read_records(folder) if (folder / "manifest.json").exists() else []
        assert len({record.key for record in done}) == len(done)
        evaluate(folder)
        assert [one["item"] for one in samples_of(folder)] == ["q1", "q2"], result.failed
