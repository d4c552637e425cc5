"""A suite of questions: its form, and reading one from a file.

A suite is a file of JSON lines, UTF-8. A line is a question (`Item`) or a conversation: an object
with an `id` and `turns`, each of which is a question too. A field that is not in the form is
refused: a misspelt `answerable` would otherwise silently be true.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from evals.trec import lines_of
from rag.errors import InputError

Text = Annotated[str, Field(min_length=1)]


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=False)


class RubricItem(_Form):
    """One thing that a good answer has, and how much it counts beside the others."""

    name: Text
    criterion: Text
    weight: Annotated[float, Field(gt=0)] = 1.0
    examples: tuple[str, ...] = ()


class Question(_Form):
    """What is asked and what is known of a right answer.

    `paper_ids` name the gold papers, by id, as `source:ordinal`, by the key of their record, or, of
    a seed, as 000-04; for `kind` multi they are complete. `answers` are strings that a right answer
    holds: all of them with `must_all`, else any; `aliases` give other forms of each. `evidence` are
    sentences of the gold papers, verbatim. `label` is the answer to a question of yes, no or maybe.
    `reference` is a whole answer by an expert. `near_paper_ids` do not answer, but are easily taken
    for it. `standalone` is a follow-up written so that it can be understood by itself. `same_as`
    names the question of which this is another wording. `must_say` are regular expressions of which
    a right answer matches one, `must_not_say` of which it matches none; the question is part of
    neither. `persona` is what the assistant is told to be.
    """

    question: Text
    answerable: bool = True
    paper_ids: tuple[Text, ...] = ()
    answers: tuple[Text, ...] = ()
    must_all: bool = False
    aliases: dict[str, tuple[str, ...]] = {}
    unit: str = ""
    label: str = ""
    evidence: tuple[Text, ...] = ()
    evidence_paper_ids: tuple[str, ...] = ()
    near_paper_ids: tuple[str, ...] = ()
    reference: str = ""
    rubric: tuple[RubricItem, ...] = ()
    must_say: tuple[Text, ...] = ()
    must_not_say: tuple[Text, ...] = ()
    kind: str = ""
    tags: tuple[str, ...] = ()
    lang: str = ""
    persona: str = ""
    standalone: str = ""
    same_as: str = ""
    difficulty: int | None = None
    trap: str = ""
    note: str = ""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if not self.answerable and self.answers:
            raise ValueError("it has answers and is not answerable")
        if unknown := sorted(set(self.aliases) - set(self.answers)):
            raise ValueError(f"it has aliases of {unknown[0]!r}, which is no answer of it")
        return self


class Single(Question):
    """A line of a suite that is a question."""

    id: Text


class Turn(Question):
    """A question of a conversation; `turn` counts from 1."""

    turn: int


class Conversation(_Form):
    """A line of a suite that is a conversation."""

    id: Text
    turns: Annotated[tuple[Turn, ...], Field(min_length=1)]
    topic: str = ""

    @model_validator(mode="after")
    def _turns_are_counted(self) -> Self:
        if [turn.turn for turn in self.turns] != list(range(1, len(self.turns) + 1)):
            raise ValueError("its turns are not counted 1, 2, 3 …")
        return self


@dataclass(frozen=True, slots=True)
class Item:
    """One question to be asked; `id` is unique in a suite.

    `earlier` are the questions of the conversation that come before it. `left_out` says that its
    gold papers are to be absent, so that it cannot be answered. `where` is the file and the line
    that it was read from, for messages.
    """

    id: str
    asked: Question
    earlier: tuple[str, ...] = ()
    left_out: bool = False
    where: str = field(default="", compare=False)

    @property
    def answerable(self) -> bool:
        """Whether the collection that is asked holds the answer."""
        return self.asked.answerable and not self.left_out

    @property
    def digest(self) -> str:
        """Names the question and all that is known of its answer."""
        return hashlib.sha256(json.dumps(_as_json(self), sort_keys=True).encode()).hexdigest()[:8]

    @property
    def kind(self) -> str:
        """The kind of question, empty where a suite tells none apart."""
        return self.asked.kind


@dataclass(frozen=True, slots=True)
class Suite:
    """Questions in their order; `files` are what has to be indexed, none: the user's own index."""

    name: str
    items: tuple[Item, ...]
    files: tuple[Path, ...] = ()

    @property
    def digest(self) -> str:
        """Names the questions and all that is known of their answers."""
        whole = json.dumps([_as_json(item) for item in self.items], sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()[:16]

    def first(self, limit: int | None) -> Suite:
        """The same with its first `limit` questions."""
        return Suite(self.name, self.items[:limit], self.files)


def read_suite(path: Path, name: str = "", files: Sequence[Path] = ()) -> Suite:
    """The questions of a file.

    Raises:
        InputError: it cannot be read, has no questions, or a line of it is not in the form; file
            and line are named.
    """
    seen: dict[str, int] = {}
    items: list[Item] = []
    for number, line in lines_of(path):
        where = f"{path}:{number}"
        for item in _items(where, line):
            if item.id in seen:
                raise InputError(
                    f"{where} has the id {item.id!r}, which line {seen[item.id]} has already",
                    remedy="Give each question an id of its own.",
                )
            seen[item.id] = number
            items.append(replace(item, where=where))
    if not items:
        raise InputError(
            f"{path} holds no questions", remedy="`python -m evals new` writes an example."
        )
    return Suite(name or path.stem, tuple(items), tuple(files))


def parse(value: Any) -> list[Item]:
    """The questions of one line.

    Raises:
        ValueError: it is not in the form; the message is for a person.
    """
    try:
        if isinstance(value, dict) and "turns" in value:
            return list(_turns(Conversation.model_validate(value)))
        single = Single.model_validate(value)
    except ValidationError as error:
        raise ValueError(_told(error)) from None
    asked = Question.model_validate(single.model_dump(exclude={"id"}))
    return [Item(single.id, asked)]


def _items(where: str, line: str) -> list[Item]:
    try:
        return parse(json.loads(line))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{where} is no question", cause=str(error), remedy="docs/evaluation.md has the form."
        ) from None


def _turns(conversation: Conversation) -> Iterator[Item]:
    earlier: tuple[str, ...] = ()
    for turn in conversation.turns:
        fields = turn.model_dump(exclude={"turn"})
        asked = Question.model_validate(fields | {"kind": turn.kind or _kind(turn)})
        yield Item(f"{conversation.id}/{turn.turn}", asked, earlier)
        earlier = (*earlier, turn.question)


def _kind(turn: Turn) -> str:
    return "opening" if turn.turn == 1 else "followup"


def _told(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    said = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        return f"it has the field {place!r}, which the form has not"
    if first["type"] == "missing":
        return f"the field {place!r} is missing"
    return f"{place}: {said}" if place else said


def _as_json(item: Item) -> dict[str, Any]:
    asked = item.asked.model_dump(mode="json", exclude_defaults=True)
    return {"id": item.id, "earlier": item.earlier, "left_out": item.left_out, **asked}
