"""Passwords, lock-out, limits and the line, each by itself and with a clock by hand."""

from __future__ import annotations

import json
import re
import stat
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from library import abstract, paper

from rag.answering.citations import Numbering
from rag.answering.events import ClaimMade, Done, Heading
from rag.answering.stop import Stop
from rag.config import Config
from rag.errors import AskPapersError, ConfigError, UsageError
from rag.schema import Answer, Evidence, Nearest
from rag.serving.access import Access, LockedOut
from rag.serving.completions import Composer, noted
from rag.serving.limits import LimitReached, Limits
from rag.serving.line import Left, Line, LineFull
from rag.serving.lockout import Lockout
from rag.serving.passwords import hashed, matches
from rag.serving.remembered import Remembered
from rag.serving.sessions import LASTS, Sessions
from rag.serving.users import Users
from rag.text import legible


class Clock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


# --- Who it is -----------------------------------------------------------------------------


def test_a_password_is_known_again_and_no_other() -> None:
    stored = hashed("corréct horse")
    assert matches("corréct horse", stored)
    assert not matches("correct horse", stored)
    assert "horse" not in stored
    assert hashed("corréct horse") != stored


@pytest.mark.parametrize("stored", ["", "x", "scrypt$a$b$c$d$e", "scrypt$32768$8$1$!$!", "md5$1"])
def test_what_is_no_hash_matches_nothing(stored: str) -> None:
    assert not matches("", stored)


def test_users_are_kept_in_a_file_of_its_owner(tmp_path: Path) -> None:
    users = Users(tmp_path / "data")
    users.add("ada", "a long password")
    token = users.new_token("ada")
    kept = users.path.read_text()
    assert stat.S_IMODE(users.path.stat().st_mode) == 0o600
    assert "a long password" not in kept
    assert token not in kept
    users.add("ada", "another password")
    assert len(users.read()["ada"].tokens) == 1
    users.remove("ada")
    assert users.read() == {}
    assert [path.name for path in users.path.parent.iterdir()] == ["users.json"]


@pytest.mark.parametrize(
    ("name", "password", "told"),
    [("", "long enough", "name"), ("../x", "long enough", "name"), ("ada", "short", "too short")],
)
def test_a_user_needs_a_name_and_a_password(
    tmp_path: Path, name: str, password: str, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        Users(tmp_path).add(name, password)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"ada": 1}', '{"ada": {"password": 1, "tokens": []}}']
)
def test_a_damaged_file_lets_nobody_in(tmp_path: Path, text: str) -> None:
    (tmp_path / "users.json").write_text(text)
    access = Access(Config(data_dir=tmp_path))
    with pytest.raises(ConfigError, match=r"users\.json"):
        _ = access.demanded


def sharing(folder: Path, clock: Clock) -> Access:
    """A password in the settings, a token, and a user of the file."""
    Users(folder).add("ada", "a long password")
    given = {"data_dir": folder, "password": "open sesame", "tokens": {"bot": "t" * 20}}
    return Access(Config.model_validate(given), clock)


def test_everybody_is_known_by_what_they_were_given(tmp_path: Path) -> None:
    access = sharing(tmp_path, Clock())
    assert access.by_token("t" * 20) == "bot"
    assert access.by_token("t" * 19) is None
    assert access.by_token(Users(tmp_path).new_token("ada")) == "ada"
    for name, password, user in [
        ("", "open sesame", "owner"),
        ("owner", "open sesame", "owner"),
        ("ada", "a long password", "ada"),
    ]:
        session = access.log_in(name, password, "::1")
        assert session
        assert access.by_session(session) == user
    for name, password in [("ada", "open sesame"), ("eve", "a long password"), ("ada", "")]:
        assert access.log_in(name, password, "::1") is None
    assert access.by_session("made up") is None


def test_another_password_or_removal_ends_the_sessions(tmp_path: Path) -> None:
    access = sharing(tmp_path, Clock())
    users = Users(tmp_path)
    first = access.log_in("ada", "a long password", "::1")
    assert first
    assert access.by_session(first) == "ada"
    users.add("ada", "another password")
    assert access.by_session(first) is None
    second = access.log_in("ada", "another password", "::1")
    assert second
    users.remove("ada")
    assert access.by_session(second) is None


def test_a_session_ends_when_it_was_not_used_for_long() -> None:
    clock = Clock()
    sessions = Sessions(clock)
    name = sessions.begin("ada", "proof")
    clock.now += LASTS - 1
    assert sessions.find(name)
    clock.now += LASTS - 1
    assert sessions.find(name)
    clock.now += LASTS + 1
    assert sessions.find(name) is None
    other = sessions.begin("ada", "proof")
    sessions.end(other)
    assert sessions.find(other) is None


def test_failures_wait_longer_each_time_and_are_forgotten() -> None:
    clock = Clock()
    lockout = Lockout(clock)
    waits = []
    for _ in range(8):
        lockout.failed(["address a", "name n"])
        waits.append(lockout.wait(["name n"]))
    assert waits == [0, 0, 0, 0, 2, 4, 8, 16]
    assert lockout.wait(["address a", "name other"]) == 16
    assert lockout.wait(["address b", "name other"]) == 0
    clock.now += 16
    assert lockout.wait(["name n"]) == 0
    for _ in range(40):
        lockout.failed(["name n"])
    assert lockout.wait(["name n"]) == 900
    lockout.succeeded(["name n"])
    assert lockout.wait(["name n"]) == 0
    clock.now += 3_601
    lockout.failed(["address a"])
    assert lockout.wait(["address a"]) == 0


def test_the_right_password_does_not_help_who_is_locked_out(tmp_path: Path) -> None:
    clock = Clock()
    access = sharing(tmp_path, clock)
    for _ in range(5):
        access.log_in("ada", "wrong", "192.0.2.1")
    with pytest.raises(LockedOut, match="Try again in 2 s"):
        access.log_in("ada", "a long password", "192.0.2.2")  # by name
    with pytest.raises(LockedOut):
        access.log_in("owner", "open sesame", "192.0.2.1")  # by address
    assert access.log_in("owner", "open sesame", "192.0.2.2")
    clock.now += 2
    assert access.log_in("ada", "a long password", "192.0.2.1")


# --- How much ------------------------------------------------------------------------------


def test_questions_within_a_minute_are_counted_for_each_user() -> None:
    clock = Clock()
    limits = Limits(2, 0, clock)
    for _ in range(2):
        with limits.asking("ada"):
            clock.now += 10
    with pytest.raises(LimitReached, match=r"2 questions within a minute.*again in 40 s"):
        limits.asking("ada").__enter__()
    with limits.asking("bob"):
        pass
    clock.now += 40
    with limits.asking("ada"):
        pass


def test_answers_at_once_are_counted_for_each_user() -> None:
    limits = Limits(0, 1, Clock())
    both = (limits.asking("ada"), limits.asking("bob"))
    with both[0], both[1], pytest.raises(LimitReached, match="questions_at_once"):
        limits.asking("ada").__enter__()
    with limits.asking("ada"):
        pass


class Crowd:
    """Threads that want a turn each and keep it until they are told to leave."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.order: list[str] = []
        self.heard: dict[str, list[str]] = {}
        self.leaving: dict[str, threading.Event] = {}
        self.stops: dict[str, Stop] = {}
        self.errors: dict[str, AskPapersError] = {}
        self.threads: list[threading.Thread] = []
        self.changed = threading.Condition()

    def come(self, name: str) -> None:
        """`ada1` is a question of ada; returns once it waits or has its turn."""
        self.heard[name], self.stops[name] = [], Stop()
        self.leaving[name] = threading.Event()
        self.threads.append(threading.Thread(target=self._stand, args=(name,)))
        self.threads[-1].start()
        self.until(lambda: bool(self.heard[name]) or name in self.order or name in self.errors)

    def leave(self, name: str) -> None:
        self.leaving[name].set()

    def until(self, true: object) -> None:
        assert callable(true)
        with self.changed:
            assert self.changed.wait_for(true, 5)

    def _note(self, act: object) -> None:
        assert callable(act)
        with self.changed:
            act()
            self.changed.notify_all()

    def _stand(self, name: str) -> None:
        def hear(text: str) -> None:
            self._note(lambda: self.heard[name].append(text))

        try:
            with self.line.turn(name.rstrip("0123456789"), hear, self.stops[name]):
                self._note(lambda: self.order.append(name))
                self.leaving[name].wait(5)
        except AskPapersError as error:
            failed = error
            self._note(lambda: self.errors.update({name: failed}))


@pytest.fixture
def crowd() -> Iterator[Crowd]:
    crowd = Crowd(Line(1, 6))
    yield crowd
    for event in crowd.leaving.values():
        event.set()
    for thread in crowd.threads:
        thread.join()


def test_users_take_turns_and_hear_how_many_come_before(crowd: Crowd) -> None:
    for name in ("ada1", "ada2", "ada3", "bob1", "eve1"):
        crowd.come(name)
    crowd.until(lambda: "in line, 3 before you" in crowd.heard["ada3"])
    assert {name: heard[-1:] for name, heard in crowd.heard.items()} == {
        "ada1": [],
        "ada2": ["in line, you are next"],
        "ada3": ["in line, 3 before you"],
        "bob1": ["in line, 1 before you"],
        "eve1": ["in line, 2 before you"],
    }
    for count, name in enumerate(["ada1", "ada2", "bob1", "eve1", "ada3"], start=1):
        crowd.until(lambda count=count: len(crowd.order) == count)
        crowd.leave(name)
    assert crowd.order == ["ada1", "ada2", "bob1", "eve1", "ada3"]


def test_who_leaves_the_line_makes_room(crowd: Crowd) -> None:
    for name in ("ada1", "bob1", "eve1"):
        crowd.come(name)
    crowd.stops["bob1"].give()
    crowd.until(lambda: "bob1" in crowd.errors and len(crowd.heard["eve1"]) == 2)
    assert isinstance(crowd.errors["bob1"], Left)
    assert crowd.heard["eve1"][-1] == "in line, you are next"
    crowd.leave("ada1")
    crowd.until(lambda: crowd.order == ["ada1", "eve1"])


def test_a_full_line_turns_away_at_once(crowd: Crowd) -> None:
    for name in ("ada1", *(f"bob{n}" for n in range(1, 7)), "eve1"):
        crowd.come(name)
    assert isinstance(crowd.errors["eve1"], LineFull)
    assert "6 in line" in str(crowd.errors["eve1"])


@given(st.lists(st.sampled_from(["ada", "bob", "eve"]), max_size=8), st.integers(1, 3))
def test_nobody_waits_while_there_is_room(users: list[str], at_once: int) -> None:
    line = Line(at_once, 0)
    with ExitStack() as stack:
        for place, user in enumerate(users):
            if place < at_once:
                stack.enter_context(line.turn(user, lambda _: None, Stop()))
            else:
                with pytest.raises(LineFull):
                    line.turn(user, lambda _: None, Stop()).__enter__()
    assert line.length == 0


# --- What is sent --------------------------------------------------------------------------

HOSTILE = "![x](http://evil.example/a) <img src=x> [click](javascript:alert) `code` [9] is **so**."


def answered(*texts: str) -> Answer:
    """An answer that says each text with a citation of one paper."""
    cited = paper("p1", *texts)
    numbering = Numbering()
    claims = []
    for index, sentence in enumerate(cited.sentences):
        evidence = Evidence("p1", index, sentence.text, sentence.start, sentence.end, 1.0)
        claims.append(numbering.cite(sentence.text, [(cited, evidence)], "supported"))
    return Answer(
        "q", "answered", " ".join(texts), tuple(claims), numbering.citations(), (), (), {}
    )


def composed(answer: Answer) -> Composer:
    composer = Composer()
    for claim in answer.claims:
        composer.add(ClaimMade(claim))
    composer.add(Done(answer))
    return composer


@pytest.mark.parametrize("texts", [("One is so.", "Two is not"), (HOSTILE, "It [1] says.")])
def test_marks_are_where_the_numbers_are(texts: tuple[str, ...]) -> None:
    answer = answered(*texts)
    composer = composed(answer)
    found = [composer.text[mark.start : mark.end] for mark in composer.marks]
    assert found == ["[1]", "[1]"]
    links = noted(answer, composer.marks, "http://here/{}".format)
    assert {one["url_citation"]["url"] for one in links} == {"http://here/p1"}


def test_nothing_hostile_is_markdown_any_more() -> None:
    text = re.sub(r"\\.", "", composed(answered(HOSTILE)).text)  # an escaped mark is none
    for live in ("![", "](", "<img", "`code`", "**so**", "[9]"):
        assert live not in text


def test_parts_are_headings_with_lists_and_a_broken_answer_says_so() -> None:
    answer = answered(abstract("apples").partition(". ")[0] + ".")
    composer = Composer()
    first = composer.add(Heading("Fruit"))
    second = composer.add(ClaimMade(answer.claims[0]))
    broken = replace(answer, complete=False, note="the connection ended early")
    rest = composer.add(Done(broken))
    assert first == "**Fruit**\n"
    assert second.startswith("\n- We study apples")
    assert rest.startswith("\n\nThe answer is incomplete: the connection ended early")
    assert composer.text == first + second + rest


def test_a_refusal_names_the_nearest_papers() -> None:
    near = (Nearest(paper("p1", "One."), 0.5), Nearest(paper("p2", "Two."), 0.4))
    answer = Answer("q", "abstained", "The collection does not say.", (), (), (), near, {})
    text = composed(answer).text
    assert legible(text).startswith("The collection does not say.")
    assert text.count("\n- ") == 2


def test_an_answer_is_known_again_to_whom_it_was_sent() -> None:
    answer = answered("One is so.")
    remembered = Remembered(most=2)
    remembered.keep("ada", answer, "One is so [1].\n\n**References**")
    spoken = [
        {"role": "user", "content": "What is so?"},
        {"role": "assistant", "content": "One is so [1].\n\n**References**\n"},
    ]
    assert [p.id for p in remembered.conversation("ada", spoken).subject] == ["p1"]
    other = remembered.conversation("bob", spoken)
    assert other.subject == ()
    assert other.turns[0].question == "What is so?"
    for number in range(2):
        remembered.keep("ada", answer, f"other {number}")
    assert remembered.conversation("ada", spoken).subject == ()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"password": "short"}, "8 characters"),
        ({"tokens": {"ada": "short"}}, "20 characters"),
        ({"tokens": {"a b": "t" * 20}}, "name users"),
        ({"tokens": "{"}, "JSON"),
    ],
)
def test_settings_that_would_not_keep_anybody_out_are_refused(
    settings: dict[str, object], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        Config.model_validate(settings)


def test_secrets_are_in_no_print_of_the_settings() -> None:
    secrets = {"password": "open sesame", "tokens": json.dumps({"ada": "t" * 20})}
    config = Config.model_validate(secrets)
    shown = f"{config!r} {config.model_dump_json()} {config.changed()} {config.fingerprint()}"
    assert "sesame" not in shown
    assert "tttt" not in shown
    assert config.fingerprint() == Config().fingerprint()
