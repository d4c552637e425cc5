"""Conversations that are kept: questions, answers, the papers behind each, and what people thought.

An answer is kept as its JSON, with what was known of its papers then: it reads the same after the
papers have left, and no turn depends on another's references.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from rag.errors import UsageError
from rag.exporting import AnswerForm, Reference, as_form
from rag.history.file import ConversationFile

_REFERENCES = TypeAdapter(tuple[Reference, ...])
_LONGEST_NAME = 80
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_COLUMNS = "t.number, t.question, t.answer, t.refs, t.asked, f.good, f.reason, f.papers"


@dataclass(frozen=True, slots=True)
class _Values:
    """A turn as it is stored; `said` is searched, `name` is for a new conversation."""

    question: str
    answer: str
    references: str
    said: str
    name: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation in a list; `created` and `updated` are ISO 8601 in UTC."""

    id: int
    name: str
    created: str
    updated: str
    turns: int


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a person thought of an answer: good or not, and why.

    `papers` are ids of those that would have been right. `answerable` is what the collection
    can do with the question, None where nobody said.
    """

    good: bool
    reason: str = ""
    papers: tuple[str, ...] = ()
    answerable: bool | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and its answer, as it was printed; `number` counts from 1."""

    number: int
    question: str
    answer: Mapping[str, Any]
    references: tuple[Reference, ...]
    asked: str
    feedback: Feedback | None = None

    def form(self) -> AnswerForm:
        """The answer with its references, for an export."""
        return as_form({**self.answer, "references": self.references})


@dataclass(frozen=True, slots=True)
class Mention:
    """A turn in which searched words stand, with the words around them."""

    conversation: Conversation
    turn: int
    excerpt: str


def _now() -> datetime:
    return datetime.now(UTC)


class History:
    """The conversations of one owner. Safe for several threads and processes."""

    def __init__(self, path: Path, owner: str = "", clock: Callable[[], datetime] = _now) -> None:
        self._file = ConversationFile(path)
        self._owner = owner
        self._clock = clock

    def create(self, name: str = "") -> int:
        """Begin a conversation; its id. Without a name it gets that of its first question."""
        with self._file.writing() as connection:
            return self._begin(connection, name)

    def begin(
        self, answer: Mapping[str, Any], references: Iterable[Reference] = (), name: str = ""
    ) -> int:
        """Begin a conversation with its first turn, both or neither; its id.

        Raises:
            ValueError: that is no answer.
        """
        values = _values(answer, references)
        with self._file.writing() as connection:
            conversation = self._begin(connection, name)
            self._append(connection, conversation, values)
        return conversation

    def append(
        self, conversation: int, answer: Mapping[str, Any], references: Iterable[Reference] = ()
    ) -> int:
        """Keep an answer, the value of its JSON, as the next turn; the turn's number.

        Raises:
            UsageError: there is no such conversation.
            ValueError: that is no answer.
        """
        values = _values(answer, references)
        with self._file.writing() as connection:
            return self._append(connection, conversation, values)

    def _begin(self, connection: sqlite3.Connection, name: str) -> int:
        now = self._time()
        return _rowid(
            connection.execute(
                "INSERT INTO conversations (owner, name, created, updated) VALUES (?, ?, ?, ?)",
                (self._owner, _one_line(name), now, now),
            )
        )

    def _append(self, connection: sqlite3.Connection, conversation: int, new: _Values) -> int:
        now, found = self._time(), self._get(connection, conversation)
        turn = _rowid(
            connection.execute(
                "INSERT INTO turns (conversation, number, question, answer, refs, asked)"
                " SELECT ?, 1 + coalesce(max(number), 0), ?, ?, ?, ? FROM turns"
                " WHERE conversation = ?",
                (conversation, new.question, new.answer, new.references, now, conversation),
            )
        )
        connection.execute("INSERT INTO said (rowid, text) VALUES (?, ?)", (turn, new.said))
        connection.execute(
            "UPDATE conversations SET updated = ?, name = ? WHERE id = ?",
            (now, found.name or new.name, conversation),
        )
        return found.turns + 1

    def conversations(self, limit: int | None = None) -> list[Conversation]:
        """The conversations, the last used first."""
        with self._file.reading() as connection:
            rows = connection.execute(
                f"{_LISTED} WHERE c.owner = ? ORDER BY c.updated DESC, c.id DESC LIMIT ?",
                (self._owner, -1 if limit is None else limit),
            )
            return [Conversation(*row) for row in rows]

    def conversation(self, conversation: int) -> Conversation:
        """One conversation.

        Raises:
            UsageError: there is none of that id.
        """
        with self._file.reading() as connection:
            return self._get(connection, conversation)

    def turns(self, conversation: int) -> list[Turn]:
        """The turns of a conversation, in order.

        Raises:
            UsageError: there is none of that id.
        """
        with self._file.reading() as connection:
            self._get(connection, conversation)
            return [_turn(row) for row in _rows(connection, conversation)]

    def search(self, words: str, limit: int = 20) -> list[Mention]:
        """The turns that have all the words, the last one by its beginning; best first.

        Raises:
            UsageError: there is no word in it.
        """
        if not re.search(r"\w", words):
            raise UsageError("There is no word to look for", remedy="Name one.")
        with self._file.reading() as connection:
            condition, value, excerpt = _condition(words)
            rows = connection.execute(
                f"SELECT c.id, t.number, {excerpt} FROM said"
                " JOIN turns t ON t.id = said.rowid JOIN conversations c ON c.id = t.conversation"
                f" WHERE {condition} AND c.owner = ? ORDER BY rank, t.id DESC LIMIT ?",
                (value, self._owner, limit),
            ).fetchall()
            return [
                Mention(self._get(connection, one), number, " ".join(text.split()))
                for one, number, text in rows
            ]

    def rename(self, conversation: int, name: str) -> None:
        """Give a conversation another name.

        Raises:
            UsageError: there is none of that id, or the name is empty.
        """
        if not _one_line(name):
            raise UsageError("The name is empty", remedy="Name it in a few words.")
        with self._file.writing() as connection:
            self._get(connection, conversation)
            connection.execute(
                "UPDATE conversations SET name = ? WHERE id = ?", (_one_line(name), conversation)
            )

    def delete(self, conversations: Sequence[int]) -> None:
        """Delete conversations, with all that was said in them: all of those named, or none.

        Raises:
            UsageError: there is none of one of the ids.
        """
        with self._file.writing() as connection:
            for one in dict.fromkeys(conversations):
                self._get(connection, one)
                connection.execute(
                    "DELETE FROM said WHERE rowid IN (SELECT id FROM turns WHERE conversation = ?)",
                    (one,),
                )
                connection.execute("DELETE FROM conversations WHERE id = ?", (one,))
            connection.execute("INSERT INTO said (said) VALUES ('optimize')")
        self._file.forget()

    def rate(self, conversation: int, turn: int, feedback: Feedback) -> None:
        """Keep what a person thought of an answer, in place of what was kept before.

        Raises:
            UsageError: there is no such turn.
        """
        with self._file.writing() as connection:
            self._get(connection, conversation)
            row = connection.execute(
                "SELECT id FROM turns WHERE conversation = ? AND number = ?", (conversation, turn)
            ).fetchone()
            if row is None:
                raise UsageError(
                    f"Conversation {conversation} has no turn {turn}",
                    remedy=f"`rag history show {conversation}` shows them.",
                )
            connection.execute(
                "INSERT OR REPLACE INTO feedback (turn, good, reason, papers, answerable, given)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (
                    row[0],
                    feedback.good,
                    _clean(feedback.reason),
                    _text(feedback.papers),
                    feedback.answerable,
                    self._time(),
                ),
            )

    def rejected(self) -> Iterator[tuple[Conversation, list[Turn]]]:
        """The conversations with an answer that was thought bad, oldest first."""
        for one in sorted(self.conversations(), key=lambda c: c.id):
            turns = self.turns(one.id)
            if any(turn.feedback and not turn.feedback.good for turn in turns):
                yield one, turns

    def _get(self, connection: sqlite3.Connection, conversation: int) -> Conversation:
        row = connection.execute(
            f"{_LISTED} WHERE c.id = ? AND c.owner = ?", (conversation, self._owner)
        ).fetchone()
        if row is None:
            raise UsageError(
                f"There is no conversation {conversation}", remedy="`rag history list` shows them."
            )
        return Conversation(*row)

    def _time(self) -> str:
        return self._clock().astimezone(UTC).isoformat(timespec="milliseconds")


_LISTED = (
    "SELECT c.id, c.name, c.created, c.updated,"
    " (SELECT count(*) FROM turns t WHERE t.conversation = c.id) FROM conversations c"
)


def _rows(connection: sqlite3.Connection, conversation: int) -> list[tuple[Any, ...]]:
    return connection.execute(
        f"SELECT {_COLUMNS}, f.answerable FROM turns t LEFT JOIN feedback f ON f.turn = t.id"
        " WHERE t.conversation = ? ORDER BY t.number",
        (conversation,),
    ).fetchall()


def _turn(row: Sequence[Any]) -> Turn:
    number, question, answer, references, asked, *rated = row
    return Turn(
        number,
        question,
        json.loads(answer),
        _REFERENCES.validate_json(references),
        asked,
        _feedback(*rated) if rated[0] is not None else None,
    )


def _feedback(good: int, reason: str, papers: str, answerable: int | None) -> Feedback:
    said = None if answerable is None else bool(answerable)
    return Feedback(bool(good), reason, tuple(json.loads(papers)), said)


def _condition(words: str) -> tuple[str, str, str]:
    """How words are looked for, what for, and the excerpt; some scripts put no space between."""
    if _UNSPACED.search(words):
        return "instr(said.text, ?) > 0", words.strip(), "substr(said.text, 1, 160)"
    quoted = ['"{}"'.format(word.replace('"', '""')) for word in words.split()]
    return "said MATCH ?", f"{' '.join(quoted)} *", "snippet(said, 0, '', '', '…', 24)"


def _values(answer: Mapping[str, Any], references: Iterable[Reference]) -> _Values:
    form = as_form(answer)
    return _Values(
        _clean(form.question),
        _text(answer),
        _text([asdict(one) for one in references]),
        _clean(f"{form.question}\n{form.text}"),
        _one_line(form.question),
    )


def _rowid(cursor: sqlite3.Cursor) -> int:
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def _text(value: object) -> str:
    return json.dumps(value)  # in ASCII: half a surrogate pair cannot be stored otherwise


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "")


def _one_line(text: str) -> str:
    line = _clean(" ".join(text.split()))
    return line if len(line) <= _LONGEST_NAME else f"{line[:_LONGEST_NAME].rstrip()}…"
