"""Several at once of a server that limits the rate: fewer, then more; none lost, none doubled."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from asking import asking, claims
from command import Ran, evals
from fakes import Received, Script, ScriptedGenerator, ScriptedServer, body, refusal, streamed
from helped import by_step, step_of
from hypothesis import given
from hypothesis import strategies as st
from library import Library, abstract, sentences
from runs import manifest, suite_file

from evals.record import Record
from evals.running.journal import MANIFEST, read_records, writing
from evals.running.pace import LONGEST_PAUSE, Pace
from evals.running.plan import Plan
from evals.suite import Suite, read_suite
from rag.answering.exchange import Request
from rag.answering.faults import RateLimited
from rag.answering.parts import generator_of
from rag.config import Config
from rag.errors import ModelError

_, SECOND = sentences(abstract("apples"))
GOOD = claims(SECOND)
YES = json.dumps({"reason": "So it says.", "label": "support", "confidence": 0.9})
TOO_MUCH = body({"error": {"message": "slow down"}}, 429, retry_after_ms="5")


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def pace(most: int) -> tuple[Pace, Clock]:
    clock = Clock()
    return Pace(most, clock, clock.sleep), clock


def done(of: Pace, times: int, *, refused: bool = False, clean: bool = True) -> None:
    """So many questions that are asked one after the other."""
    for _ in range(times):
        of.begin()
        of.end(refused=refused, clean=clean and not refused)


# --- The width -----------------------------------------------------------------------------


def test_a_refusal_halves_the_width_down_to_one() -> None:
    of, _ = pace(9)
    widths = []
    for _ in range(5):
        of.begin()
        of.refused(0.0)
        of.end(refused=False, clean=False)
        widths.append(of.width)
    assert widths == [4, 2, 1, 1, 1]
    assert of.facts() == {"most": 9, "least": 1, "refusals": 5}


def test_what_is_refused_at_one_time_halves_the_width_once() -> None:
    of, _ = pace(8)
    for _ in range(8):
        of.begin()
    for _ in range(8):
        of.refused(0.0)
    assert of.width == 4
    for _ in range(8):
        of.end(refused=True, clean=False)
    of.begin()
    of.refused(0.0)
    assert of.width == 2


def test_as_many_successes_as_are_asked_at_once_widen_it_by_one() -> None:
    of, _ = pace(4)
    of.begin()
    of.refused(0.0)
    of.end(refused=True, clean=False)
    assert of.width == 2
    widths = []
    for _ in range(9):
        done(of, 1)
        widths.append(of.width)
    assert widths == [2, 3, 3, 3, 4, 4, 4, 4, 4]  # after 2, after 3 more, and never above 4


def test_a_success_that_had_to_be_tried_again_does_not_widen_it() -> None:
    of, _ = pace(2)
    of.begin()
    of.refused(0.0)
    of.end(refused=False, clean=False)
    done(of, 5, clean=False)
    assert of.width == 1


@pytest.mark.parametrize(
    ("asked", "waited"),
    [
        ([3.0], 3.0),
        ([3.0, 1.0], 3.0),
        ([0.0], 0.0),
        ([None], 1.0),
        ([LONGEST_PAUSE + 1], 1.0),  # nobody waits an hour: its refusals will end the run
    ],
)
def test_nothing_is_begun_before_the_time_that_the_server_asks_for(
    asked: list[float | None], waited: float
) -> None:
    of, clock = pace(4)
    of.begin()
    for seconds in asked:
        of.refused(seconds)
    of.end(refused=True, clean=False)
    assert of.has_room is (waited == 0.0)
    assert of.left == pytest.approx(waited)
    of.pause()
    assert of.has_room
    assert clock.now == pytest.approx(100.0 + waited)


def test_without_a_time_the_pause_doubles_with_each_refusal_in_a_row() -> None:
    of, _ = pace(1)
    pauses = []
    for _ in range(8):
        of.begin()
        of.refused(None)
        of.end(refused=True, clean=False)
        pauses.append(of.left)
        of.pause()
    assert pauses == pytest.approx([1, 2, 4, 8, 16, 32, 60, 60])
    done(of, 1)
    of.refused(None)
    assert of.left == pytest.approx(1)


@given(
    st.integers(1, 9),
    st.lists(st.sampled_from(["begin", "refused", "failed", "slow", "good"]), max_size=80),
)
def test_the_width_is_never_below_one_nor_above_what_was_asked_for(
    most: int, happens: list[str]
) -> None:
    of, _ = pace(most)
    running = 0
    for what in happens:
        if what == "begin":
            running += 1
            of.begin()
        elif what == "refused":
            of.refused(None)
        elif running:
            running -= 1
            of.end(refused=what == "failed", clean=what == "good")
        assert 1 <= of.least <= of.width <= of.most == most


# --- A run ---------------------------------------------------------------------------------


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = Library(tmp_path / "library")
    library.write("a.txt", abstract("apples"), abstract("bridges"))
    library.index()
    return library


def questions(folder: Path, count: int) -> Suite:
    asked = ({"question": f"What of apples, {n}?"} for n in range(count))
    return read_suite(suite_file(folder / "fruit.jsonl", *asked))


def run(
    library: Library,
    suite: Suite,
    folder: Path,
    server: ScriptedServer,
    at_once: int,
    retries: int = 0,
) -> tuple[list[Record], Pace]:
    of = Pace(at_once)
    config = Config.model_validate(
        {
            "llm": "openai",
            "openai_base_url": server.url,
            "openai_model": "m",
            "max_retries": retries,
        }
    )
    made = manifest(suite, folder.parent / "fruit.jsonl")
    with (
        asking(library, suite, generator_of(config), pace=of) as asked,
        writing(folder, made, resume=True) as journal,
    ):
        asked.run(journal, Plan(at_once=at_once))
    return read_records(folder), of


@pytest.mark.parametrize("retries", [0, 2])
def test_a_server_that_takes_two_at_a_time_answers_every_question_once(
    library: Library, tmp_path: Path, retries: int
) -> None:
    suite = questions(tmp_path, 30)

    def reply(_: Received) -> Script:
        return TOO_MUCH if server.open > 2 else streamed([GOOD], pause=0.01)

    with ScriptedServer(reply) as server:
        records, of = run(library, suite, tmp_path / "run", server, 6, retries)
    assert Counter(record.key for record in records) == Counter((f"q{n}", 0) for n in range(1, 31))
    assert {record.ending for record in records} == {"answered"}
    assert of.refusals > 0
    assert of.least < 6
    written = [one for record in records for one in record.replies if one.of == "subject"]
    assert len(written) == 30  # what was refused for good is no part of the record
    assert sum(one.refusals for one in written) <= of.refusals


def test_one_that_refuses_at_first_is_asked_as_many_at_once_as_before(
    library: Library, tmp_path: Path
) -> None:
    suite = questions(tmp_path, 20)
    with ScriptedServer(TOO_MUCH, streamed([GOOD])) as server:
        records, of = run(library, suite, tmp_path / "run", server, 4)
        assert len(server.posts) == 21
    assert len(records) == 20
    assert (of.least, of.width, of.refusals) == (2, 4, 1)


def test_a_time_to_wait_is_heeded_whatever_the_status(library: Library, tmp_path: Path) -> None:
    busy = body({"error": {"message": "overloaded"}}, 503, retry_after_ms="5")
    with ScriptedServer(busy, streamed([GOOD])) as server:
        records, of = run(library, questions(tmp_path, 3), tmp_path / "run", server, 2, retries=1)
    assert (of.least, of.refusals) == (1, 1)
    assert {record.ending for record in records} == {"answered"}


def test_other_faults_do_not_narrow_it(library: Library, tmp_path: Path) -> None:
    with ScriptedServer(refusal(500, "out of order"), streamed([GOOD])) as server:
        records, of = run(library, questions(tmp_path, 4), tmp_path / "run", server, 2)
    assert (of.least, of.refusals) == (2, 0)
    assert sorted(record.ending for record in records) == ["answered"] * 3 + ["failed"]


@pytest.mark.case("E06")
def test_one_that_refuses_however_little_is_asked_ends_the_run_and_loses_nothing(
    library: Library, tmp_path: Path
) -> None:
    suite = questions(tmp_path, 12)
    with ScriptedServer(streamed([GOOD]), TOO_MUCH) as server:
        with pytest.raises(ModelError) as caught:
            run(library, suite, tmp_path / "run", server, 3)
        assert len(server.posts) <= 1 + 2 * 3 + 4
    assert caught.value.exit_code == 4
    assert "limits the rate of requests (429: slow down)" in str(caught.value)
    assert "--resume" in caught.value.remedy
    assert [record.ending for record in read_records(tmp_path / "run")] == ["answered"]
    with ScriptedServer(streamed([GOOD])) as server:
        records, _ = run(library, suite, tmp_path / "run", server, 3)
        assert len(server.posts) == 11
    assert len({record.key for record in records}) == len(records) == 12


def test_where_only_the_judge_is_refused_nothing_is_answered_again(
    library: Library, tmp_path: Path
) -> None:
    suite = questions(tmp_path, 3)
    subject = ScriptedGenerator(GOOD)
    limited = RateLimited("The server limits the rate of requests")
    judge = ScriptedGenerator(YES, limited, limited, YES)
    made = manifest(suite, tmp_path / "fruit.jsonl", judges=["llm"])
    of, _ = pace(2)
    with (
        asking(library, suite, subject, pace=of, judge=judge) as asked,
        writing(tmp_path / "run", made, resume=False) as journal,
    ):
        asked.run(journal)
    records = read_records(tmp_path / "run")
    assert [record.ending for record in records] == ["answered"] * 3
    assert [one.label for record in records for one in record.opinions["llm"]] == ["support"] * 3
    assert (len(subject.history), len(judge.history)) == (3, 5)


# --- The command ---------------------------------------------------------------------------


def command(
    seeds_index: Path, tmp_path: Path, server: ScriptedServer, *more: str
) -> tuple[Ran, dict[str, object]]:
    asked = ({"question": f"What is RN-DPO, {n}?"} for n in range(4))
    file = suite_file(tmp_path / "mine.jsonl", *asked)
    out = tmp_path / "run"
    env = {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "m", "RAG_MAX_RETRIES": "0"}
    where = ("--data-dir", seeds_index, "--out", out)
    ran = evals("run", file, "--llm", "openai", *where, "--at-once", "3", *more, env=env)
    facts = json.loads((out / MANIFEST).read_text())["facts"]
    return ran, facts


def test_the_command_tells_how_many_were_asked_at_once(seeds_index: Path, tmp_path: Path) -> None:
    answer = json.dumps({"claims": [{"support": ["S1"], "text": "RN-DPO is a method."}]})
    with ScriptedServer(TOO_MUCH, streamed([answer])) as server:
        ran, facts = command(seeds_index, tmp_path, server, "--json")
    assert ran.code == 0, ran.err
    assert sum(ran.json()["outcomes"].values()) == 4
    assert ran.json()["outcomes"]["failed"] == 0
    assert facts["questions at once"] == {"most": 3, "least": 1, "refusals": 1}
    assert "of 3 at once, the server asked for less once." in ran.err


def test_a_run_that_a_server_ends_tells_why_in_one_line(seeds_index: Path, tmp_path: Path) -> None:
    with ScriptedServer(TOO_MUCH) as server:
        ran, facts = command(seeds_index, tmp_path, server)
    assert ran.code == 4
    assert ran.error_line.startswith("error: The model cannot be used (")
    assert "--resume" in ran.error_line
    at_once = facts["questions at once"]
    assert isinstance(at_once, dict)
    assert (at_once["most"], at_once["least"]) == (3, 1)


def test_an_answer_whose_help_was_refused_is_asked_for_again(
    seeds_index: Path, tmp_path: Path
) -> None:
    """It would be another answer than the product gives where nothing is refused."""
    asked = {"question": "RN-DPO 论文中的似然比是如何归一化的？"}
    file = suite_file(tmp_path / "mine.jsonl", asked)
    helpful = by_step(
        {
            "english": {"english": "Over what does RN-DPO normalize?"},
            "answer": {"claims": [{"support": ["S1"], "text": "RN-DPO is a method."}]},
        }
    )
    with ScriptedServer(TOO_MUCH, helpful) as server:
        env = {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "m", "RAG_MAX_RETRIES": "0"}
        env |= {"RAG_HELP_SECONDS": "60"}  # on a busy machine too
        where = ("--data-dir", seeds_index, "--out", tmp_path / "run")
        ran = evals("run", file, "--llm", "openai", *where, "--json", env=env)
        steps = [step_of(received) for received in server.posts]
    assert ran.code == 0, ran.err
    assert steps == ["english", "answer", "english", "answer"]
    (record,) = read_records(tmp_path / "run")
    assert [one.refusals for one in record.replies] == [0, 0]


def test_a_refusal_keeps_its_kind_however_often_it_was_tried() -> None:
    heard: list[float | None] = []
    with ScriptedServer(TOO_MUCH) as server:
        given = {"llm": "openai", "openai_base_url": server.url, "openai_model": "m"}
        generator = generator_of(Config.model_validate({**given, "max_retries": 1}))
        assert generator is not None
        request = Request("system", "user", None, 5, limited=heard.append)
        with pytest.raises(RateLimited, match="tried 2 times"):
            list(generator.stream(request))
        generator.close()
    assert heard == [0.005, 0.005]
