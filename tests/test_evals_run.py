"""Asking a suite: what becomes of each question, and of the run when model or index fail it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asking import Asking, asking, claims, lines
from fakes import Received, Reply, Script, ScriptedGenerator, ScriptedServer, refusal, streamed
from library import Library, abstract, sentences
from runs import manifest, report_of, silent, suite_file

from evals.record import Record
from evals.running.gold import resolve
from evals.running.journal import Journal, read_records, writing
from evals.running.plan import Plan, Prices
from evals.running.transcript import Replies, Transcript
from evals.suite import Item, Suite, read_suite
from rag.answering.exchange import Completion, Request
from rag.answering.parts import generator_of
from rag.answering.stop import Stop
from rag.config import Config
from rag.errors import (
    AnswerIncomplete,
    IndexUnusable,
    InputError,
    ModelError,
    ResourceError,
    ServerError,
)

FIRST, SECOND = sentences(abstract("apples"))
GOOD = claims(SECOND)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Three papers, each of one topic."""
    library = Library(tmp_path / "library")
    library.write("a.txt", abstract("apples"), abstract("bridges"), abstract("clouds"))
    library.index()
    return library


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """Three questions that have an answer and one that has none."""
    file = suite_file(
        tmp_path / "fruit.jsonl",
        {
            "question": "What of apples?",
            "paper_ids": ["a.txt:1"],
            "answers": ["measured twice"],
            "evidence": [SECOND],
        },
        {"question": "What of bridges?", "paper_ids": ["a.txt:2"], "answers": ["with care"]},
        {"question": "What of clouds?", "paper_ids": ["a.txt:3"]},
        {"question": "What of quarks?", "answerable": False},
    )
    return read_suite(file)


@contextmanager
def recording(folder: Path, suite: Suite, **identity: Any) -> Iterator[Journal]:
    made = manifest(suite, folder.parent / "fruit.jsonl", **identity)
    with writing(folder, made, resume=True) as journal:
        yield journal


def run(
    asked: Asking, folder: Path, plan: Plan | None = None, **identity: Any
) -> dict[str, Record]:
    """The records of a run, by question."""
    with recording(folder, asked.suite, **identity) as journal:
        asked.run(journal, plan)
    return {record.item: record for record in read_records(folder)}


# --- What is recorded ----------------------------------------------------------------------


def test_a_record_holds_all_that_happened(library: Library, suite: Suite, tmp_path: Path) -> None:
    generator = ScriptedGenerator(claims(SECOND, "Apples weigh 99 kilograms."))
    with asking(library, suite.first(1), generator) as asked:
        record = run(asked, tmp_path / "run")["q1"]
    paper_id = record.gold["a.txt:1"]
    assert record.ending == "answered"
    assert record.question == "What of apples?"
    assert [claim["text"] for claim in record.answer["claims"]] == [SECOND]
    assert [dropped["text"] for dropped in record.answer["dropped"]] == [
        "Apples weigh 99 kilograms."
    ]
    assert record.retrieved[0] == paper_id
    (gold,) = record.gold_evidence
    assert record.papers[paper_id].text[gold.start : gold.end] == SECOND == gold.text
    for span in record.evidence:
        assert record.papers[span.paper_id].text[span.start : span.end] == span.text
    reply, _of_the_repair = record.replies
    assert (reply.of, reply.model, reply.finish) == ("subject", "scripted model", "stop")
    assert (reply.prompt_tokens, reply.cached) == (10, False)
    assert json.loads(reply.text)["claims"][0]["text"] == SECOND
    (opinion,) = record.opinions["support"]
    # S1, which the model names, is the first sentence: it does not say how often.
    assert (opinion.claim, opinion.citations, opinion.label) == (0, (1,), "neither")
    assert record.times.first_claim is not None
    assert 0 < record.times.first_claim <= record.times.total


def test_every_question_ends_in_exactly_one_way(
    library: Library, suite: Suite, tmp_path: Path
) -> None:
    generator = ScriptedGenerator(GOOD, '{"claims": []}', ServerError("The server is gone"))
    with asking(library, suite, generator) as asked:
        run(asked, tmp_path / "run")
    summary = report_of(tmp_path / "run").summary
    assert summary.outcomes == {"scored": 1, "abstained": 2, "failed": 1, "skipped": 0}
    assert not summary.valid  # a quarter has failed


@pytest.mark.parametrize(("failures", "valid"), [(0, True), (1, True), (2, False)])
@pytest.mark.case("E03")
def test_a_run_is_invalid_when_more_than_one_in_twenty_failed(
    library: Library, tmp_path: Path, failures: int, valid: bool
) -> None:
    file = suite_file(tmp_path / "fruit.jsonl", *({"question": f"Apples {n}?"} for n in range(20)))
    broken = ["It says this and then", AnswerIncomplete("It broke off", partial="It says")]
    replies: list[Any] = [*([broken] * failures), GOOD]
    with asking(library, read_suite(file), ScriptedGenerator(*replies)) as asked:
        run(asked, tmp_path / "run")
    report = report_of(tmp_path / "run")
    assert report.summary.outcomes["failed"] == failures
    assert report.summary.valid is valid
    assert report.headline.startswith("INVALID, 10% failed") is not valid


def test_an_answer_that_broke_off_is_kept_and_not_scored(
    library: Library, suite: Suite, tmp_path: Path
) -> None:
    begun = GOOD[: GOOD.index("}") + 1]
    generator = ScriptedGenerator([begun, AnswerIncomplete("It broke off", partial=begun)])
    with asking(library, suite.first(1), generator) as asked:
        record = run(asked, tmp_path / "run")["q1"]
    assert (record.ending, record.reached) == ("failed", True)
    assert "It broke off" in record.reason
    assert [claim["text"] for claim in record.answer["claims"]] == [SECOND]
    assert record.replies[0].text == begun
    assert record.replies[0].finish == "broken"


def test_a_fault_of_ours_fails_the_question_and_not_the_run(
    library: Library, suite: Suite, tmp_path: Path
) -> None:
    class Faulty(ScriptedGenerator):
        def stream(self, request: Request, notify: Any = None) -> Iterator[str | Completion]:
            if "What of bridges?" in request.user:
                raise KeyError("a fault\nof ours")
            return super().stream(request)

    with asking(library, suite, Faulty(GOOD)) as asked:
        records = run(asked, tmp_path / "run")
    assert len(records) == 4
    failed = [one for one in records.values() if one.ending == "failed"]
    assert [one.item for one in failed] == ["q2"]
    assert failed[0].reason == r"KeyError: 'a fault\nof ours'"


@pytest.mark.case("E11")
def test_the_same_run_twice_is_the_same_to_the_byte_but_for_times(
    library: Library, suite: Suite, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        with asking(library, suite, ScriptedGenerator(GOOD, claims(FIRST), GOOD)) as asked:
            run(asked, tmp_path / name, Plan(repeats=2))
    one, two = (
        [{**line, "times": None} for line in lines(tmp_path / name)] for name in ("one", "two")
    )
    assert json.dumps(one) == json.dumps(two)
    assert len(one) == 8
    assert [(line["item"], line["repeat"]) for line in one[3:5]] == [("q4", 0), ("q1", 1)]


def test_several_at_once_are_recorded_once_each(
    library: Library, suite: Suite, tmp_path: Path
) -> None:
    with asking(library, suite, ScriptedGenerator(GOOD)) as asked:
        run(asked, tmp_path / "run", Plan(repeats=3, at_once=4))
    keys = [record.key for record in read_records(tmp_path / "run")]
    assert sorted(keys) == [(f"q{n}", repeat) for n in range(1, 5) for repeat in range(3)]
    for record in read_records(tmp_path / "run"):
        assert len([one for one in record.replies if one.of == "subject"]) <= 1


# --- Resuming ------------------------------------------------------------------------------


def test_only_what_is_not_done_is_asked(library: Library, suite: Suite, tmp_path: Path) -> None:
    generator = ScriptedGenerator(GOOD)
    with asking(library, suite, generator) as asked:
        with recording(tmp_path / "run", suite) as journal:
            record = asked.product.ask(suite.items[1], 0, Stop())
            journal.add(asked.judging.judge(record))
        generator.history.clear()
        run(asked, tmp_path / "run")
    questions = [request.user for request in generator.history]
    assert not any("What of bridges?" in one for one in questions)
    assert sorted(record.item for record in read_records(tmp_path / "run")) == [
        "q1",
        "q2",
        "q3",
        "q4",
    ]


def test_three_silences_in_a_row_end_the_run_and_are_asked_again(
    library: Library, tmp_path: Path
) -> None:
    items = ({"question": f"What of apples, {n}?"} for n in range(1, 9))
    suite = read_suite(suite_file(tmp_path / "fruit.jsonl", *items))
    gone = ServerError("The server at :8000 is gone", cause="refused")
    generator = ScriptedGenerator(GOOD, gone, GOOD, gone, gone, gone)
    with asking(library, suite, generator) as asked:
        with pytest.raises(ModelError) as caught:
            run(asked, tmp_path / "run")
        assert caught.value.exit_code == 4
        assert str(caught.value).startswith("The model cannot be used (The server at :8000 is gone")
        endings = {one.item: one.ending for one in read_records(tmp_path / "run")}
        assert endings == {"q1": "answered", "q2": "failed", "q3": "answered"}
    with asking(library, suite, ScriptedGenerator(GOOD)) as asked:
        records = run(asked, tmp_path / "run")
    assert sorted(records) == [f"q{n}" for n in range(1, 9)]
    assert {one.ending for one in records.values()} == {"answered", "failed"}
    assert records["q4"].ending == "answered"


def test_a_model_that_never_said_a_word_has_no_record(
    library: Library, suite: Suite, tmp_path: Path
) -> None:
    generator = ScriptedGenerator(ServerError("The server is gone"))
    with asking(library, suite.first(1), generator) as asked, pytest.raises(ModelError):
        run(asked, tmp_path / "run")
    assert read_records(tmp_path / "run") == []


# --- Bounds --------------------------------------------------------------------------------


@contextmanager
def served(
    library: Library, suite: Suite, *scripts: Reply
) -> Iterator[tuple[Asking, ScriptedServer]]:
    """Asked of a real server on the loopback."""
    with ScriptedServer(*scripts) as server:
        config = Config.model_validate(
            {
                "llm": "openai",
                "openai_base_url": server.url,
                "openai_model": "m",
                "max_retries": 0,
            }
        )
        with asking(library, suite, generator_of(config)) as asked:
            yield asked, server


def test_a_model_that_never_ends_fails_its_question_alone(
    library: Library, suite: Suite, tmp_path: Path
) -> None:
    endless = streamed(['{"claims": ['], finish=None, done=False, ending="hang")

    def reply(received: Received) -> Script:
        asked_for = received.body["messages"][-1]["content"]
        return endless if "What of apples?" in asked_for else streamed([GOOD])

    with served(library, suite, reply) as (asked, server):
        records = run(asked, tmp_path / "run", Plan(timeout=4.0))
        assert server.wait_until(lambda one: one.open == 0)  # nothing is left running
    assert records["q1"].reason == "it took longer than 4 s"
    assert {item: record.ending for item, record in records.items()} == {
        "q1": "failed",
        "q2": "answered",
        "q3": "answered",
        "q4": "abstained",
    }


class Hanging:
    """The first question is done at once; any other waits until it is ended."""

    def __init__(self) -> None:
        self.waiting = threading.Event()
        self.ended = threading.Event()

    def ask(self, item: Item, repeat: int, stop: Stop) -> Record:
        if item.id != "q1":
            with stop.cutting(self.ended.set):
                self.waiting.set()
                self.ended.wait(60)
        else:
            self.waiting.wait(60)
        return silent(item.id)


class Full(Journal):
    """A journal on a disk that has no room."""

    def add(self, record: Record) -> None:
        raise ResourceError("The disk is full")


def test_a_run_that_ends_early_waits_for_no_question(
    library: Library, suite: Suite, tmp_path: Path
) -> None:
    subject = Hanging()
    with asking(library, suite, None) as asked, pytest.raises(ResourceError, match="is full"):
        asked.run(Full(tmp_path, frozenset()), Plan(at_once=3, timeout=60.0), subject)
    assert subject.ended.is_set()


def test_a_server_that_refuses_the_key_ends_the_run(
    library: Library, suite: Suite, tmp_path: Path
) -> None:
    with served(library, suite, refusal(401, "bad key")) as (asked, server):
        with pytest.raises(ModelError, match="cannot be used"):
            run(asked, tmp_path / "run")
        assert len(server.posts) <= 4
    assert read_records(tmp_path / "run") == []


def test_no_question_is_begun_once_the_money_is_spent(
    library: Library, suite: Suite, tmp_path: Path
) -> None:
    # Each reply reads 10 tokens: at $1,000 for a million, a cent.
    prices = Prices(prompt=1_000.0)
    with asking(library, suite, ScriptedGenerator(GOOD)) as asked:
        with recording(tmp_path / "run", suite) as journal:
            ran = asked.run(journal, Plan(max_cost=0.015, prices=prices))
        assert (ran.asked, ran.unasked) == (2, 2)
        assert ran.cost == pytest.approx(0.02)
        assert ran.reason == "$0.02 are spent of the $0.015 allowed"
        outcomes = report_of(tmp_path / "run").summary.outcomes
        assert outcomes == {"scored": 2, "abstained": 0, "failed": 0, "skipped": 2}
        with recording(tmp_path / "run", suite) as journal:
            rest = asked.run(journal, Plan(prices=prices))
    assert (rest.asked, rest.unasked) == (2, 0)
    assert report_of(tmp_path / "run").summary.outcomes["skipped"] == 0
    costs = [record.cost for record in read_records(tmp_path / "run")]
    assert costs == [0.01, 0.01, 0.01, 0.0]  # no model is asked where nothing was found


class Meddling:
    """A subject that changes the index after so many questions."""

    def __init__(self, asked: Asking, library: Library, after: int, *, before: bool) -> None:
        self._asked = asked
        self._library = library
        self._left = after
        self._before = before

    def ask(self, item: Item, repeat: int, stop: Stop) -> Record:
        self._left -= 1
        if self._before and not self._left:
            self._change()
        record = self._asked.product.ask(item, repeat, stop)
        if not self._before and not self._left:
            self._change()
        return record

    def _change(self) -> None:
        self._library.write("new.txt", abstract("deserts"))
        self._library.index()


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.case("E12")
def test_an_index_that_changes_during_a_run_ends_it(
    library: Library, suite: Suite, tmp_path: Path, before: bool
) -> None:
    with asking(library, suite, ScriptedGenerator(GOOD)) as asked:
        subject = Meddling(asked, library, 2, before=before)
        with (
            recording(tmp_path / "run", suite) as journal,
            pytest.raises(IndexUnusable) as caught,
        ):
            asked.run(journal, subject=subject)
    assert caught.value.exit_code == 3
    assert str(caught.value).startswith("The index has changed since the run began.")
    assert "--new-run" in caught.value.remedy
    assert [record.item for record in read_records(tmp_path / "run")] == ["q1"]


# --- Replies of earlier runs ---------------------------------------------------------------


def heard(
    transcript: Transcript, generator: ScriptedGenerator, repeat: int, user: str = "u"
) -> str:
    with transcript.listening("subject", repeat) as replies:
        list(transcript.wrap(generator).stream(Request("s", user, None, 10)))
    return f"{replies[0].text}{' again' if replies[0].cached else ''}"


def test_a_reply_is_kept_by_what_was_asked_and_by_the_repeat(tmp_path: Path) -> None:
    transcript = Transcript(Replies(tmp_path / "replies"))
    generator = ScriptedGenerator("one", "two", "three", "four")
    assert [heard(transcript, generator, repeat) for repeat in (0, 1, 0, 1)] == [
        "one",
        "two",
        "one again",
        "two again",
    ]
    assert heard(transcript, generator, 0, "other") == "three"
    later = Transcript(Replies(tmp_path / "replies"))
    assert heard(later, ScriptedGenerator("new"), 1) == "two again"
    assert heard(later, ScriptedGenerator("new", name="another model"), 1) == "new"
    assert heard(Transcript(Replies(None)), ScriptedGenerator("new"), 1) == "new"


def test_only_whole_replies_are_kept(tmp_path: Path) -> None:
    transcript = Transcript(Replies(tmp_path / "replies"))
    cut = ScriptedGenerator("half", finish="length")
    assert heard(transcript, cut, 0) == "half"
    broken = ScriptedGenerator(["ha", AnswerIncomplete("It broke off", partial="ha")])
    with pytest.raises(AnswerIncomplete):
        heard(transcript, broken, 0)
    assert heard(transcript, ScriptedGenerator("whole"), 0) == "whole"
    assert heard(transcript, ScriptedGenerator("other"), 0) == "whole again"


def test_a_reply_that_cannot_be_read_is_asked_for_again(tmp_path: Path) -> None:
    transcript = Transcript(Replies(tmp_path))
    assert heard(transcript, ScriptedGenerator("one"), 0) == "one"
    (kept,) = tmp_path.glob("*.json")
    for damage in ("", "{", "[]", '{"of": 1}', "\x00"):
        kept.write_text(damage)
        assert heard(transcript, ScriptedGenerator("two"), 0) == "two"


def test_a_run_from_kept_replies_costs_nothing_and_is_not_timed(
    library: Library, suite: Suite, tmp_path: Path
) -> None:
    plan = Plan(prices=Prices(1_000.0, 1_000.0))
    with asking(library, suite.first(1), ScriptedGenerator(GOOD), tmp_path / "kept") as asked:
        first = run(asked, tmp_path / "one", plan)["q1"]
    nobody = ScriptedGenerator(ServerError("nobody is there"))
    with asking(library, suite.first(1), nobody, tmp_path / "kept") as asked:
        second = run(asked, tmp_path / "two", plan)["q1"]
    assert second.answer == first.answer
    assert (first.cost > 0, second.cost) == (True, 0.0)
    assert second.replies == (replace(first.replies[0], cached=True),)
    means = report_of(tmp_path / "two").summary.means
    assert "seconds" not in means
    assert "seconds" in report_of(tmp_path / "one").summary.means


# --- Gold ----------------------------------------------------------------------------------


def gold_error(library: Library, file: Path) -> str:
    with library.state() as state, pytest.raises(InputError) as caught:
        resolve(read_suite(file), state.snapshot)
    assert caught.value.exit_code == 2
    return str(caught.value)


@pytest.mark.case("E08")
def test_gold_papers_that_are_not_there_are_named_with_their_line(
    library: Library, tmp_path: Path
) -> None:
    file = suite_file(
        tmp_path / "s.jsonl",
        {"question": "A?", "paper_ids": ["a.txt:1"]},
        {"question": "B?", "paper_ids": ["a.txt:2", "b.txt:7"]},
        {"question": "C?", "paper_ids": ["zzz"]},
    )
    told = gold_error(library, file)
    assert told.startswith("2 gold papers of s are not in the index (b.txt:7, zzz; ")
    assert f"{file}:2" in told
    assert "rag index FILE" in told


def test_evidence_that_is_not_verbatim_is_named_with_its_line(
    library: Library, tmp_path: Path
) -> None:
    question = {"question": "A?", "paper_ids": ["a.txt:1"]}
    loose = "The   apples were measured\ntwice."
    fine = suite_file(tmp_path / "fine.jsonl", {**question, "evidence": [SECOND, loose]})
    with library.state() as state:
        spans = resolve(read_suite(fine), state.snapshot)["q1"].evidence
    assert [span.text for span in spans] == [SECOND, SECOND]
    file = suite_file(tmp_path / "s.jsonl", {**question, "evidence": ["Apples are blue."]})
    told = gold_error(library, file)
    assert "in none of its gold papers" in told
    assert f"{file}:1: 'Apples are blue.'" in told
