"""Standing questions: kept, asked again, and what is otherwise in their answers."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command import start
from fakes import Script, ScriptedServer, refusal
from helped import helped
from hypothesis import given
from hypothesis import strategies as st
from library import Library, abstract, paper
from test_cli_json import check
from typer.testing import CliRunner, Result

from rag import jsonform
from rag.answering.assistant import Assistant
from rag.cli import app
from rag.errors import HistoryUnusable, UsageError
from rag.page import watchview
from rag.replaying.record import Recorded
from rag.schema import Answer, Citation, Claim, Evidence, Nearest, Paper, Status
from rag.text import normalise
from rag.watching import Outcome, Said, Standing, Watchlist, run
from rag.watching.differing import Change, Entry, Former, change

# --- What is otherwise ---------------------------------------------------------------------------

OLD = paper("old", "Owls sleep by day.", "Owls hunt by night.")
NEW = paper("new", "Owls hunt at dawn.", "Owls are seen in towns.")


def cites(source: Paper, index: int, text: str = "", number: int = 1) -> Claim:
    """A claim that relies on a sentence, in its words or in others."""
    said = source.sentences[index]
    support = Evidence(source.id, index, said.text, said.start, said.end, 1.0)
    return Claim(text or said.text, (number,), "supported", (support,))


def answered(
    *claims: Claim,
    papers: Sequence[Paper] = (OLD, NEW),
    status: Status = "answered",
    nearest: Sequence[Paper] = (),
    **manifest: object,
) -> Answer:
    used = {number for claim in claims for number in claim.citations}
    cited = tuple(
        Citation(number, one, one.sentences)
        for number, one in enumerate(papers, start=1)
        if number in used
    )
    text = " ".join(claim.text for claim in claims)
    near = tuple(Nearest(one, 0.5) for one in nearest)
    return Answer("Owls?", status, text, claims, cited, (), near, manifest)


def recorded(answer: Answer) -> Recorded:
    return Recorded.model_validate_json(json.dumps(jsonform.answer(answer)))


def compared(before: Answer, now: Answer, **entries: Entry) -> Change:
    """Since revision 1, at which the old paper was there already."""
    known = {"old": Entry(1, "c", "Old"), **entries}
    return change(Former(recorded(before), 1, {"old": "c"}), now, known)


CAME = {"new": Entry(2, "d", "New")}


def test_a_claim_by_a_new_paper() -> None:
    before = answered(cites(OLD, 1))
    found = compared(before, answered(cites(OLD, 1), cites(NEW, 0, number=2)), **CAME)
    assert found.added == (Said("Owls hunt at dawn.", ("new",)),)
    assert (found.gone, found.reworded, found.recited) == ((), (), ())
    assert [(one.title, one.move, one.cited) for one in found.papers] == [("New", "new", True)]


def test_a_claim_that_left_with_its_paper() -> None:
    before = answered(cites(OLD, 1), cites(NEW, 0, number=2))
    found = compared(before, answered(cites(OLD, 1)))
    assert found.gone == (Said("Owls hunt at dawn.", ("new",)),)
    assert [(one.paper_id, one.move) for one in found.papers] == [("new", "removed")]


def test_other_words_for_the_same_sentence_are_no_new_claim() -> None:
    found = compared(answered(cites(OLD, 1)), answered(cites(OLD, 1, "At night owls hunt.")))
    assert (found.added, found.gone) == ((), ())
    (pair,) = found.reworded
    assert (pair.before.text, pair.now.text) == ("Owls hunt by night.", "At night owls hunt.")


def test_the_same_words_by_another_paper() -> None:
    now = answered(cites(NEW, 0, "Owls hunt by night.", number=2))
    found = compared(answered(cites(OLD, 1)), now, **CAME)
    (pair,) = found.recited
    assert (pair.before.papers, pair.now.papers) == (("old",), ("new",))
    assert not found.added


def test_a_silence_that_ended_and_one_that_began() -> None:
    silent = answered(status="abstained")
    found = compared(silent, answered(cites(NEW, 0, number=2)), **CAME)
    assert (found.status_before, found.status_now) == ("abstained", "answered")
    found = compared(answered(cites(OLD, 0)), silent)
    assert (found.status_now, [one.text for one in found.gone]) == (
        "abstained",
        ["Owls sleep by day."],
    )


def test_a_new_paper_that_came_before_a_cited_one_is_told_though_the_answer_is_the_same() -> None:
    same = answered(cites(OLD, 1), found=["new", "old", "late"])
    late = {"late": Entry(2, "e", "Late")}
    found = compared(same, same, **CAME, **late)
    assert not found.answer_differs
    assert [(one.title, one.cited) for one in found.papers] == [("New", False)]


def test_a_new_paper_near_a_question_that_is_not_answered() -> None:
    silent = answered(status="abstained", nearest=[NEW])
    assert [one.title for one in compared(silent, silent, **CAME).papers] == ["New"]


def test_a_cited_paper_with_another_text() -> None:
    same = answered(cites(OLD, 1))
    found = compared(same, same, old=Entry(1, "other", "Old"))
    assert [(one.title, one.move) for one in found.papers] == [("Old", "changed")]


def test_another_model_is_told_as_a_cause_and_another_index_is_not() -> None:
    before = answered(cites(OLD, 1), writer="quoting", index="revision 1")
    now = answered(cites(OLD, 0), writer="a model", index="revision 2")
    assert compared(before, now).causes == ("writer: quoting → a model",)


claims = st.lists(
    st.builds(
        cites,
        st.sampled_from([OLD]),
        st.sampled_from([0, 1]),
        st.text(st.characters(codec="utf-8"), max_size=20),
    ),
    max_size=4,
)


@given(claims)
def test_an_answer_does_not_differ_from_itself(made: list[Claim]) -> None:
    answer = answered(*made)
    assert compared(answer, answer).is_empty


@given(claims, claims)
def test_every_claim_is_in_one_place(before: list[Claim], now: list[Claim]) -> None:
    found = compared(answered(*before), answered(*now))
    told = [one.text for one in found.added] + [
        pair.now.text for pair in (*found.reworded, *found.recited)
    ]
    assert len(told) == len(set(told))
    known = {normalise(claim.text) for claim in before}
    assert {claim.text for claim in now if normalise(claim.text) not in known} <= set(told)


def test_what_papers_and_claims_say_is_shown_on_the_page_as_text() -> None:
    evil = "<img src=x onerror=alert(1)>"
    hostile = paper("new", f"{evil} hunts at dawn.", "Owls.")
    answer = answered(cites(hostile, 0, number=2), papers=(OLD, hostile))
    found = compared(answered(cites(OLD, 1)), answer, new=Entry(2, "d", evil))
    standing = Standing(1, f"{evil}?", {}, "2026-12-01")
    outcome = Outcome(standing, "changed", jsonform.answer(answer), found)
    shown = watchview.outcome(outcome, {"new": hostile})
    assert "<img" not in shown
    assert shown.count("&lt;img") >= 4  # question, claim, title, abstract
    assert "New: <ins>" in shown
    assert "Gone: <del>Owls hunt by night.</del>" in shown


# --- Asked again ---------------------------------------------------------------------------------

QUESTION = "Where are apples studied?"


@contextmanager
def asking(library: Library, **settings: object) -> Iterator[Assistant]:
    given: dict[str, Any] = {"data_dir": library.data, "llm": "none", "max_wrong_rate": 1.0}
    given["evidence_papers"] = 1  # else what is far away is quoted too
    with helped(library, {}, **{**given, **settings}) as it:
        yield it.assistant


@pytest.fixture
def library(tmp_path: Path) -> Library:
    found = Library(tmp_path)
    for name, about in (("a", "old orchards"), ("b", "dry gardens"), ("c", "wet gardens")):
        found.write(f"{name}.txt", abstract("apples", about=about))
    found.index()
    return found


@pytest.fixture
def watchlist(library: Library) -> Watchlist:
    found = Watchlist(library.data / "watching.sqlite3")
    found.add(QUESTION, {})
    return found


def once(library: Library, watchlist: Watchlist, *, again: bool = False) -> Outcome:
    with asking(library) as assistant:
        (outcome,) = run(assistant, watchlist, watchlist.questions(), again=again)
    return outcome


def test_first_then_not_asked_then_the_same_then_with_a_new_paper(
    library: Library, watchlist: Watchlist
) -> None:
    assert once(library, watchlist).state == "first"
    assert once(library, watchlist).state == "not asked"
    assert once(library, watchlist, again=True).state == "same"
    library.write("d.txt", abstract("bridges"))
    library.index()
    assert once(library, watchlist).state == "same"
    library.write("e.txt", abstract("apples", "apples", about="new orchards"))
    library.index()
    outcome = once(library, watchlist)
    assert (outcome.state, outcome.change is not None) == ("changed", True)
    assert outcome.change
    assert any("new orchards" in one.text for one in outcome.change.added)
    assert [one.move for one in outcome.change.papers] == ["new"]
    kept = watchlist.question(1).last
    assert kept
    assert kept.change == outcome.change
    assert once(library, watchlist).state == "not asked"


def test_a_paper_that_left(library: Library, watchlist: Watchlist) -> None:
    answer = once(library, watchlist).answer
    assert answer
    first = answer["citations"][0]
    (library.papers / Path(first["source"]).name).unlink()
    library.index()
    found = once(library, watchlist).change
    assert found
    assert [(one.paper_id, one.move) for one in found.papers] == [(first["paper_id"], "removed")]
    before = [*found.gone, *(pair.before for pair in (*found.recited, *found.reworded))]
    assert first["paper_id"] in {key for one in before for key in one.papers}


def test_what_cannot_be_asked_keeps_the_last_answer(library: Library, watchlist: Watchlist) -> None:
    once(library, watchlist)
    before = watchlist.question(1).last
    library.write("b.txt", abstract("apples", about="new orchards"))
    library.index()
    with ScriptedServer(refusal(500, "broken")) as server:
        given = {"llm": "openai", "openai_base_url": server.url, "max_retries": 0}
        with asking(library, **given) as assistant:
            (outcome,) = run(assistant, watchlist, watchlist.questions())
    assert outcome.state == "failed"
    assert "broken" in outcome.reason
    assert watchlist.question(1).last == before
    assert once(library, watchlist).state in {"changed", "same"}


def test_of_two_processes_that_ask_at_once_one_keeps_its_answer(
    library: Library, watchlist: Watchlist
) -> None:
    seen = watchlist.questions()
    assert once(library, watchlist).state == "first"
    with asking(library) as assistant:
        (outcome,) = run(assistant, watchlist, seen)  # as they were before the other one
    assert (outcome.state, outcome.reason) == ("failed", "Another process has asked it meanwhile.")


def test_filters_are_kept_with_the_question(tmp_path: Path) -> None:
    library = Library(tmp_path)
    records = [
        {"title": f"Of {year}", "abstract": abstract("apples", about=f"case {year}"), "year": year}
        for year in (2020, 2024)
    ]
    (library.papers / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    library.index()
    watchlist = Watchlist(library.data / "watching.sqlite3")
    watchlist.add(QUESTION, {"since": "2024", "venue": ""})
    assert watchlist.question(1).told() == "year 2024 or later"
    outcome = once(library, watchlist)
    assert outcome.answer
    assert {one["title"] for one in outcome.answer["citations"]} == {"Of 2024"}


# --- Kept ----------------------------------------------------------------------------------------


def test_the_same_question_is_kept_once_for_each_filter_and_owner(tmp_path: Path) -> None:
    mine, theirs = Watchlist(tmp_path / "w"), Watchlist(tmp_path / "w", "other")
    assert mine.add("What  is new?", {"year": ""}) == (1, True)
    assert mine.add("What is new?", {}) == (1, False)
    assert mine.add("What is new?", {"year": "2024"}) == (2, True)
    assert theirs.add("What is new?", {})[1]
    assert [one.question for one in theirs.questions()] == ["What is new?"]
    with pytest.raises(UsageError, match="There is no standing question 1"):
        theirs.remove([1])
    mine.remove([1])
    assert [one.flags for one in mine.questions()] == [{"year": "2024"}]


@pytest.mark.parametrize(("question", "flags"), [(" ", {}), ("What is new?", {"year": "soon"})])
def test_what_is_no_question_is_refused(
    question: str, flags: Mapping[str, str], tmp_path: Path
) -> None:
    with pytest.raises(UsageError):
        Watchlist(tmp_path / "w").add(question, flags)
    assert not (tmp_path / "w").exists()


def test_a_file_of_a_later_release_is_left_alone(tmp_path: Path) -> None:
    Watchlist(tmp_path / "w").add("What is new?", {})
    with sqlite3.connect(tmp_path / "w") as connection:
        connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(HistoryUnusable, match="newer askpapers"):
        Watchlist(tmp_path / "w").questions()


def test_a_damaged_file_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "w").write_bytes(b"no database" * 100)
    with pytest.raises(HistoryUnusable, match="holds no standing questions that can be read"):
        Watchlist(tmp_path / "w").questions()


def test_at_most_so_many_answers_of_a_question_are_kept(tmp_path: Path) -> None:
    watchlist = Watchlist(tmp_path / "w")
    watchlist.add("Owls?", {})
    for revision in range(25):
        answer = jsonform.answer(answered(cites(OLD, 1)))
        assert watchlist.keep(watchlist.question(1), answer, {}, None, revision)
    with sqlite3.connect(tmp_path / "w") as connection:
        (count,) = connection.execute("SELECT count(*) FROM runs").fetchone()
    connection.close()
    last = watchlist.question(1).last
    assert (count, last and last.revision) == (20, 24)


# --- The commands --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data(seeds_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(seeds_index, tmp_path_factory.mktemp("watch") / "data"))


def here(*arguments: str, data: Path) -> Result:
    """Run a command in this process: a dozen of its own take as long as all the tests."""
    given = {"RAG_LLM": "none", "RAG_DATA_DIR": str(data), "COLUMNS": "400", "NO_COLOR": "1"}
    return CliRunner().invoke(app, arguments, env=given)


def printed(*arguments: str, data: Path) -> Any:
    return json.loads(here(*arguments, "--json", data=data).stdout)


def test_from_add_to_remove(data: Path, tmp_path: Path) -> None:
    question = "What does ZibbleNet measure?"
    added = printed("watch", "add", question, data=data)
    check(added, "rag watch add")
    assert added == {"id": 1, "added": True}
    assert "was kept before" in here("watch", "add", question, data=data).stdout
    here("watch", "add", "What does RN-DPO normalize?", "--until", "1990", data=data)

    (silent,) = printed("watch", "run", "1", data=data)["runs"]
    assert (silent["state"], silent["answer"]["status"]) == ("first", "abstained")

    (tmp_path / "bats.txt").write_text(
        "Echoes in tunnels are hard to record with fixed microphones. "
        "We present ZibbleNet, which measures echoes by bats that fly through a tunnel."
    )
    told = here("index", str(tmp_path), data=data)
    assert told.stderr == "2 standing questions: `rag watch run` asks again.\n"
    asked = printed("index", str(tmp_path), "--watch", data=data)
    changed, first = asked["watched"]
    assert (changed["state"], first["state"]) == ("changed", "first")
    assert changed["answer"]["status"] == "answered"
    assert any("echoes by bats" in one["text"] for one in changed["change"]["added"])
    assert [(one["move"], one["cited"]) for one in changed["change"]["papers"]] == [("new", True)]
    check(asked | {"watched": []}, "rag index")
    check({"runs": [one | {"answer": None} for one in asked["watched"]]}, "rag watch run")

    listed = printed("watch", "list", data=data)
    assert [one["status"] for one in listed["questions"]] == ["answered", "abstained"]
    check({"questions": [one | {"filters": {}} for one in listed["questions"]]}, "rag watch list")

    shown = here("watch", "show", "1", data=data)
    assert "abstained → answered" in shown.stdout
    assert "new: " in shown.stdout
    nothing = here("watch", "run", data=data)
    assert nothing.exit_code == 0
    assert nothing.stdout.count("not asked: the index is as it was") == 2

    assert here("watch", "remove", "1", "2", data=data).stdout == "2 removed.\n"
    with pytest.raises(UsageError, match="There is no standing question 1"):
        raise here("watch", "run", "1", data=data).exception or AssertionError


def test_a_run_that_is_killed_in_an_answer_leaves_the_questions_as_they_were(
    seeds_index: Path, tmp_path: Path
) -> None:
    data = Path(shutil.copytree(seeds_index, tmp_path / "data"))
    Watchlist(data / "watching.sqlite3").add("What does RN-DPO normalize?", {})
    with ScriptedServer(Script(ending="hang"), models=["m"]) as model:
        given = {"OPENAI_BASE_URL": model.url, "RAG_ASK_FIRST": "off"}
        running = start(["watch", "run", "--data-dir", str(data)], given)
        while not model.posts:
            time.sleep(0.02)
        running.send_signal(signal.SIGKILL)
        running.communicate()
    (kept,) = Watchlist(data / "watching.sqlite3").questions()
    assert (kept.question, kept.last) == ("What does RN-DPO normalize?", None)
