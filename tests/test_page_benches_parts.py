"""What stands behind the tabs, without a browser: measuring, what is told, runs in a child."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from collections.abc import Generator as Generating
from contextlib import contextmanager
from pathlib import Path

import pytest
from fakes import ScriptedGenerator
from library import Library
from recorded import answered, write_run, write_suite

from evals.page import is_allowed
from evals.running.child import State, environment_of
from evals.running.runs import going_on, listed, remedy_of, runs_in
from rag.answering.asking import Reading
from rag.answering.events import ClaimMade, Done, Event, Notice
from rag.answering.exchange import Generator, Request
from rag.answering.stop import Stop
from rag.config import Config, load
from rag.errors import ServerError, UsageError
from rag.index.holdings import holdings_of
from rag.page.metering import KEPT, Meter, Taken
from rag.page.overhearing import Readers, Step
from rag.page.statusview import costs, flows, money, plot, size
from rag.schema import Answer, Claim

ANSWER = Answer("Why?", "answered", "So.", (), (), (), (), {})
BRIDGES = "Bridges span wide rivers. They carry people. Some of them can be opened."
ASKED = Request("Be brief.", "Why?", None, 50)


def config(**settings: object) -> Config:
    return Config.model_validate(settings)


# --- Measuring -----------------------------------------------------------------------------


def asked_by(generator: Generator, times: int) -> Iterator[Event]:
    """An answer that asks its writer so often."""
    for _ in range(times):
        for _ in generator.stream(ASKED):
            pass
    yield ClaimMade(Claim("So.", (), "supported"))
    yield Done(ANSWER)


def test_all_requests_of_an_answer_count_for_whoever_asked_it() -> None:
    meter = Meter()
    generator = meter.around(ScriptedGenerator("twelve chars", piece=4))  # three pieces: tokens
    assert len(list(meter.heard("ann", "Why?", asked_by(generator, 2)))) == 2
    list(meter.heard("bob", "How?", asked_by(generator, 0)))
    list(generator.stream(ASKED))  # of no answer
    (anns,), (bobs,) = meter.of("ann"), meter.of("bob")
    assert (anns.question, anns.requests, anns.read, anns.written) == ("Why?", 2, 20, 6)
    assert anns.first is not None
    assert 0 <= anns.first <= anns.seconds
    assert (bobs.requests, bobs.read, bobs.written) == (0, 0, 0)
    assert meter.of("eve") == ()


def test_answers_at_once_are_told_apart() -> None:
    meter = Meter()
    generator = meter.around(ScriptedGenerator("x"))
    ask = [
        threading.Thread(target=lambda n=n: list(meter.heard(f"{n}", "?", asked_by(generator, n))))
        for n in range(1, 9)
    ]
    for thread in ask:
        thread.start()
    for thread in ask:
        thread.join()
    assert [meter.of(f"{n}")[0].requests for n in range(1, 9)] == list(range(1, 9))


def test_a_reply_that_breaks_off_is_counted_as_untold_and_a_refusal_not_at_all() -> None:
    meter = Meter()
    broken = meter.around(ScriptedGenerator(["some", ServerError("gone")]))
    refused = meter.around(ScriptedGenerator(ServerError("no")))

    def events() -> Iterator[Event]:
        for generator in (broken, refused):
            with pytest.raises(ServerError):
                list(generator.stream(ASKED))
        yield Done(ANSWER)

    list(meter.heard("ann", "Why?", events()))
    (taken,) = meter.of("ann")
    assert (taken.requests, taken.untold) == (1, 1)
    assert taken.cost(config(price_read=1, price_written=1)) is None


def test_only_the_last_answers_are_kept() -> None:
    meter = Meter()
    for n in range(KEPT + 3):
        list(meter.heard("ann", f"question {n}", iter([Done(ANSWER)])))
    assert [one.question for one in meter.of("ann")][:: KEPT - 1] == ["question 3", "question 52"]


def taken(**fields: object) -> Taken:
    given = {"question": "Why?", "status": "answered", "seconds": 1.0, "first": None}
    counts = {"requests": 1, "read": 1_000, "written": 100, "untold": 0}
    return Taken(**{**given, **counts, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "settings", "told"),
    [
        ({}, {}, "no price known"),
        ({}, {"price_read": 2.0}, "no price known"),
        ({}, {"price_read": 2.0, "price_written": 10.0}, "$0.003"),  # 2,000 + 1,000 millionths
        ({}, {"price_read": 0, "price_written": 0}, "free"),
        ({"requests": 0, "read": 0, "written": 0}, {}, "free"),  # quoted
        ({"untold": 1}, {"price_read": 2.0, "price_written": 10.0}, "no price known"),
    ],
)
def test_what_an_answer_cost(
    fields: dict[str, object], settings: dict[str, object], told: str
) -> None:
    assert money(taken(**fields).cost(config(**settings))) == told


def test_what_readers_wrote_is_text_in_the_table_and_the_plot() -> None:
    hostile = taken(question="<img src=x onerror=alert(1)>")
    for shown in (costs([hostile], config()), plot([hostile])):
        assert "<img" not in shown
        assert "&lt;img" in shown
    assert costs([], config()).count("<table") == 0
    bars = plot([taken(seconds=1.0), taken(seconds=4.0)])
    assert 'height="30.0"' in bars  # a quarter of 120
    assert 'height="120.0"' in bars


@pytest.mark.parametrize(
    ("count", "told"), [(0, "0 bytes"), (999, "999 bytes"), (1_300_000, "1.3 MB"), (2e12, "2.0 TB")]
)
def test_sizes(count: int, told: str) -> None:
    assert size(int(count)) == told


# --- What is sent where --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("writer", "settings", "hosts"),
    [
        ("quoting", {}, []),
        ("qwen2.5-coder-1.5b", {}, []),
        ("gpt-x at api.example.org", {}, ["api.example.org"]),
        ("llama at 127.0.0.1:8080", {}, ["a server on this machine (127.0.0.1)"]),
        (
            "quoting",
            {"embedding_model": "openai:e", "embedding_base_url": "https://e.example/v1"},
            ["e.example"],
        ),
        ("quoting", {"vectors": "https://v.example:8000"}, ["v.example"]),
        ("quoting", {"vectors": "http://127.0.0.1:8000"}, ["a server on this machine"]),
        ("quoting", {"vectors": "package.module:Store"}, ["package.module:Store"]),
    ],
)
def test_every_host_that_is_sent_something_is_named(
    writer: str, settings: dict[str, object], hosts: list[str]
) -> None:
    told = flows(writer, config(**settings))
    assert len(told) == len(hosts)
    assert all(host in line for host, line in zip(hosts, told, strict=True))


def test_what_an_index_holds_is_counted(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.write("a.txt", "Apples are red. They grow on trees.", BRIDGES)
    library.write("b.txt", BRIDGES)
    library.index()
    held = holdings_of(library.data)
    assert (held.papers, held.files, held.sentences, held.chunks) == (2, 2, 5, 5)
    assert held.embedding_model == library.embedder.name
    assert [(one.label.rsplit("/", 1)[-1], one.papers) for one in held.sources] == [
        ("a.txt", 2),
        ("b.txt", 1),
    ]
    files = [path for path in library.data.rglob("*") if path.is_file()]
    assert held.bytes == sum(path.stat().st_size for path in files)


# --- Work that a reader waits for ----------------------------------------------------------


def test_work_is_told_step_by_step_to_its_answer() -> None:
    def make(reading: Reading) -> Iterator[Event]:
        reading.notify("reading paper 1 of 1, Ctrl-C to stop")
        yield Notice("half way")
        yield Done(ANSWER)

    steps = list(Readers().work("ann", "begun", make))
    assert [one.waiting.split(" … ")[0] for one in steps] == [
        "begun",
        "reading paper 1 of 1",
        "half way",
        "",
    ]
    assert [one.over for one in steps] == [False, False, False, True]
    assert steps[-1].answer == ANSWER


def test_faults_are_told_and_those_of_ours_by_a_number_alone() -> None:
    def refused(reading: Reading) -> Iterator[Event]:
        if reading:
            raise UsageError("No column is named")
        yield Done(ANSWER)

    def broken(reading: Reading) -> Iterator[Event]:
        yield Done(replace_nothing())

    def replace_nothing() -> Answer:
        raise KeyError("secret detail")

    *_, last = Readers().work("ann", "begun", refused)
    assert last.failure == "No column is named."
    *_, last = Readers().work("ann", "begun", broken)
    assert "Something went wrong here (error " in last.failure
    assert "secret" not in last.failure


def test_whoever_stops_or_begins_something_else_ends_their_own_work_only() -> None:
    readers = Readers()
    ended: list[str] = []

    def waiting(name: str) -> Generating[Step, None, None]:
        def make(reading: Reading) -> Iterator[Event]:
            gone = threading.Event()
            with reading.stop.cutting(gone.set):
                gone.wait(60)
            ended.append(name)
            yield Done(ANSWER)

        return readers.work(name, "begun", make)

    anns, bobs = waiting("ann"), waiting("bob")
    next(anns), next(anns), next(bobs), next(bobs)
    readers.stop("ann")
    readers.stop("nobody")
    *_, last = anns
    assert (last.stopped, last.answer) == (True, ANSWER)
    assert ended == ["ann"]
    bobs.close()


def test_work_waits_in_the_line_of_its_user_and_says_so() -> None:
    turns: list[str] = []

    @contextmanager
    def turn(user: str, notify: Callable[[str], None], stop: Stop) -> Iterator[None]:
        notify("2 are before you")
        turns.append(f"{user} begins")
        yield
        turns.append(f"{user} ends")

    def make(reading: Reading) -> Iterator[Event]:
        turns.append("work")
        yield Done(ANSWER)

    steps = list(Readers(turn).work("page 1", "begun", make, "ann"))
    assert steps[1].waiting.startswith("2 are before you")
    assert turns == ["ann begins", "work", "ann ends"]


# --- Runs ----------------------------------------------------------------------------------


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder of two runs of three questions, one of which was stopped, and of something else."""
    questions = [{"id": f"q{n}", "question": f"What of {n}?"} for n in range(3)]
    suite = write_suite(tmp_path / "mine.jsonl", questions)
    records = [answered(f"q{n}", ("Yes.", [])) for n in range(3)]
    write_run(tmp_path / "runs" / "whole", suite, records, writer="quoting")
    write_run(tmp_path / "runs" / "part", suite, records[:1], repeats=2, writer="quoting")
    (tmp_path / "runs" / "other").mkdir()
    (tmp_path / "runs" / "damaged").mkdir()
    (tmp_path / "runs" / "damaged" / "manifest.json").write_text("{")
    return tmp_path / "runs"


def test_runs_are_listed_with_how_far_they_have_come(runs: Path) -> None:
    found = {one.folder.name: one for one in runs_in(runs)}
    assert set(found) == {"whole", "part"}
    assert found["whole"].complete
    assert found["whole"].told == "mine · quoting · 3 askings"
    assert found["part"].told == "mine · quoting · 1 of 6 askings"


def test_a_run_goes_on_as_it_was_begun(runs: Path) -> None:
    arguments = going_on(listed(runs / "part"))
    assert arguments[:2] == ["run", str(runs.parent / "mine.jsonl")]
    pairs = dict(zip(arguments[2:-1:2], arguments[3:-1:2], strict=True))
    assert pairs == {
        "--limit": "3",
        "--repeats": "2",
        "--judges": "support",
        "--out": str(runs / "part"),
    }
    assert arguments[-1] == "--resume"
    assert remedy_of(runs / "part").endswith("--resume`.")


@pytest.mark.parametrize(
    ("code", "done", "total", "told"),
    [
        (None, 0, 0, "r: preparing"),
        (None, 2, 9, "r: 2 of 9 questions"),
        (0, 9, 9, "r has ended: 9 of 9 questions"),
        (143, 2, 9, "r was stopped: 2 of 9 questions are kept, and it can go on"),
        (-15, 0, 0, "r was stopped before its first question"),
        (4, 0, 9, "r failed: The model cannot be used."),
    ],
)
def test_how_a_run_is_is_told_in_a_line(code: int | None, done: int, total: int, told: str) -> None:
    state = State(Path("runs/r"), done, total, code, "The model cannot be used.")
    assert state.line == told
    assert state.running is (code is None)


def test_a_child_has_the_settings_of_the_page() -> None:
    given = config(
        llm="openai",
        openai_api_key="secret",
        openai_base_url="http://localhost:1/v1",
        repair=False,
        top_k=7,
        vectors_options={"tenant": "t"},
    )
    outside = {"RAG_TOP_K": "3", "RAG_PERSONA": "a pirate", "HOME": "/nowhere"}
    environ = environment_of(given, outside)
    assert load(environ=environ).config == given
    assert environ["HOME"] == "/nowhere"


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        ({}, True),
        ({"host": "localhost"}, True),
        ({"host": "0.0.0.0"}, False),
        ({"host": "192.168.1.7"}, False),
        ({"host": "0.0.0.0", "evaluate_shared": True}, True),
    ],
)
def test_evaluations_are_off_where_the_page_is_shared(
    settings: dict[str, object], allowed: bool
) -> None:
    assert is_allowed(config(**settings)) is allowed
