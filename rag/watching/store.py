"""Standing questions and their answers, in a SQLite file of the data folder.

An answer is kept as its JSON. One that says the same as the last only renews the time at which
that was asked, so the answers of a question are those that differed, at most `KEPT` of them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from rag.errors import UsageError
from rag.history.file import ConversationFile
from rag.history.migrations import Change as FormatChange
from rag.index.browse import Filter, filters_of
from rag.replaying.record import Recorded
from rag.watching.differing import Change, Former

KEPT = 20
_CHANGE = TypeAdapter(Change | None)
_FIRST: FormatChange = (
    """CREATE TABLE standing (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never given twice
    owner TEXT NOT NULL,                   -- whose it is; empty: of whoever uses this machine
    question TEXT NOT NULL,
    filters TEXT NOT NULL,                 -- JSON: the flags that were given
    created TEXT NOT NULL,                 -- ISO 8601, UTC
    UNIQUE (owner, question, filters)
)""",
    """CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    standing INTEGER NOT NULL REFERENCES standing ON DELETE CASCADE,
    answer TEXT NOT NULL,                  -- JSON, as `rag ask --json` prints it
    contents TEXT NOT NULL,                -- JSON: of each cited paper what names its text
    change TEXT NOT NULL,                  -- JSON: what was otherwise than before
    revision INTEGER NOT NULL,             -- of the index, when it was last asked
    made TEXT NOT NULL,
    asked TEXT NOT NULL
)""",
    "CREATE INDEX runs_by_standing ON runs (standing, id)",
)


@dataclass(frozen=True, slots=True)
class Kept:
    """The last answer that was otherwise than the one before.

    `made` is when it was given first, `asked` when it was given last, at `revision`.
    """

    id: int
    answer: Mapping[str, Any]
    contents: Mapping[str, str]
    change: Change | None
    revision: int
    made: str
    asked: str

    def former(self) -> Former:
        """As something to compare with."""
        recorded = Recorded.model_validate_json(json.dumps(self.answer))
        return Former(recorded, self.revision, self.contents)


@dataclass(frozen=True, slots=True)
class Standing:
    """A standing question; `flags` are its filters as they were given. Times are ISO 8601, UTC."""

    id: int
    question: str
    flags: Mapping[str, str]
    created: str
    last: Kept | None = None

    def filters(self) -> tuple[Filter, ...]:
        """What papers must have to answer."""
        return filters_of(**self.flags)

    def told(self) -> str:
        """The filters in words; empty where there are none."""
        return ", ".join(filter(None, (one.told() for one in self.filters())))

    def waits(self, revision: int) -> bool:
        """Whether the index has changed since it was asked, or it never was."""
        return self.last is None or self.last.revision != revision


def _now() -> datetime:
    return datetime.now(UTC)


class Watchlist:
    """The standing questions of one owner. Safe for several threads and processes."""

    def __init__(self, path: Path, owner: str = "", clock: Callable[[], datetime] = _now) -> None:
        self._file = ConversationFile(path, (_FIRST,), "standing questions")
        self._owner = owner
        self._clock = clock

    def add(self, question: str, flags: Mapping[str, str]) -> tuple[int, bool]:
        """Keep a question; its id, and whether it is new: the same one is kept once.

        Raises:
            UsageError: the question is empty, or a year is none.
        """
        asked = " ".join(question.split())
        if not asked:
            raise UsageError("The question is empty", remedy="Say what you want to know.")
        filters_of(**flags)
        given = json.dumps({name: value for name, value in sorted(flags.items()) if value})
        key = (self._owner, asked, given)
        with self._file.writing() as connection:
            known = connection.execute(
                "SELECT id FROM standing WHERE owner = ? AND question = ? AND filters = ?", key
            ).fetchone()
            if known:
                return int(known[0]), False
            cursor = connection.execute(
                "INSERT INTO standing (owner, question, filters, created) VALUES (?, ?, ?, ?)",
                (*key, self._time()),
            )
        assert cursor.lastrowid is not None
        return cursor.lastrowid, True

    def questions(self) -> list[Standing]:
        """All of them, in the order in which they were added."""
        with self._file.reading() as connection:
            rows = connection.execute(
                f"{_STANDING} WHERE owner = ? ORDER BY id", (self._owner,)
            ).fetchall()
            return [_standing(row, _last(connection, row[0])) for row in rows]

    def question(self, number: int) -> Standing:
        """One of them.

        Raises:
            UsageError: there is none of that number.
        """
        with self._file.reading() as connection:
            return self._get(connection, number)

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove questions with their answers: all of those named, or none.

        Raises:
            UsageError: there is none of one of the numbers.
        """
        with self._file.writing() as connection:
            for number in dict.fromkeys(numbers):
                self._get(connection, number)
                connection.execute("DELETE FROM standing WHERE id = ?", (number,))
        self._file.forget()

    def keep(
        self,
        standing: Standing,
        answer: Mapping[str, Any],
        contents: Mapping[str, str],
        change: Change | None,
        revision: int,
    ) -> bool:
        """Keep an answer as the last; False where another process has kept one meanwhile.

        Raises:
            UsageError: the question was removed meanwhile.
        """
        now = self._time()
        with self._file.writing() as connection:
            if not self._is_last(connection, standing):
                return False
            connection.execute(
                "INSERT INTO runs (standing, answer, contents, change, revision, made, asked)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    standing.id,
                    json.dumps(answer),
                    json.dumps(contents),
                    json.dumps(change and asdict(change)),
                    *(revision, now, now),
                ),
            )
            connection.execute(
                "DELETE FROM runs WHERE standing = ? AND id NOT IN"
                " (SELECT id FROM runs WHERE standing = ? ORDER BY id DESC LIMIT ?)",
                (standing.id, standing.id, KEPT),
            )
        return True

    def confirm(self, standing: Standing, revision: int) -> bool:
        """Note that the last answer still is the answer; returns and raises as `keep`."""
        with self._file.writing() as connection:
            if standing.last is None or not self._is_last(connection, standing):
                return False
            connection.execute(
                "UPDATE runs SET revision = ?, asked = ? WHERE id = ?",
                (revision, self._time(), standing.last.id),
            )
        return True

    def _is_last(self, connection: sqlite3.Connection, standing: Standing) -> bool:
        known = self._get(connection, standing.id).last
        return (known and known.id) == (standing.last and standing.last.id)

    def _get(self, connection: sqlite3.Connection, number: int) -> Standing:
        row = connection.execute(
            f"{_STANDING} WHERE id = ? AND owner = ?", (number, self._owner)
        ).fetchone()
        if row is None:
            raise UsageError(
                f"There is no standing question {number}", remedy="`rag watch list` shows them."
            )
        return _standing(row, _last(connection, number))

    def _time(self) -> str:
        return self._clock().astimezone(UTC).isoformat(timespec="milliseconds")


_STANDING = "SELECT id, question, filters, created FROM standing"


def _standing(row: Sequence[Any], last: Kept | None) -> Standing:
    number, question, filters, created = row
    return Standing(number, question, json.loads(filters), created, last)


def _last(connection: sqlite3.Connection, number: int) -> Kept | None:
    row = connection.execute(
        "SELECT id, answer, contents, change, revision, made, asked FROM runs"
        " WHERE standing = ? ORDER BY id DESC LIMIT 1",
        (number,),
    ).fetchone()
    if row is None:
        return None
    key, answer, contents, change, *rest = row
    return Kept(key, json.loads(answer), json.loads(contents), _CHANGE.validate_json(change), *rest)
