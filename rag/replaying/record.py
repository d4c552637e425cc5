"""An answer that was kept as JSON, read back.

A file holds the output of `rag ask --json`, or lines of `rag ask --batch` or of an evaluation's
samples. It may come from anybody: what is read of it is checked in form and bounded in size.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag.errors import InputError
from rag.schema import Status, Verdict

STDIN = Path("-")
_MOST_BYTES = 64_000_000
_IDS_TOLD = 5

Text = Annotated[str, Field(min_length=1)]
Offset = Annotated[int, Field(ge=0)]


class _Form(BaseModel):
    """What a later release adds is passed over."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class Sentence(_Form):
    """A sentence that a citation relies on, and where it stood in its paper."""

    text: Text
    start: Offset
    end: Offset


class Cited(_Form):
    """A numbered paper."""

    number: int
    paper_id: Text
    title: str
    sentences: tuple[Sentence, ...]


class Pin(_Form):
    """A sentence that a claim rests on, by the number of its paper and its place there."""

    number: int
    start: Offset
    end: Offset


class Said(_Form):
    """A claim and its verdict."""

    text: Text
    citations: tuple[int, ...]
    verdict: Verdict
    support: tuple[Pin, ...]


class Recorded(_Form):
    """An answer of before."""

    question: str
    status: Status
    text: str
    claims: tuple[Said, ...]
    citations: tuple[Cited, ...]
    manifest: Mapping[str, Any]

    @property
    def changed(self) -> Mapping[str, Any] | None:
        """The settings that were not at their defaults; None where that was not recorded."""
        value = self.manifest.get("changed")
        return value if isinstance(value, dict) else None

    @property
    def command(self) -> str:
        """What had made it."""
        return str(self.manifest.get("command", "ask"))


def read_recorded(path: Path, wanted: str = "") -> Recorded:
    """The answer in a file; `wanted` is the id of one among several. `-` is standard input.

    Raises:
        InputError: it cannot be read, holds no answer, or several and none is named.
    """
    text = _text(path)
    values = dict(_values(path, text))
    if not values:
        raise InputError(f"{path} is empty", remedy="Name the output of `rag ask --json`.")
    chosen = {place: v for place, v in values.items() if not wanted or _id_of(v) == wanted}
    if len(chosen) != 1:
        raise _not_one(path, wanted, values)
    (place, value) = next(iter(chosen.items()))
    return _recorded(place, value)


def _text(path: Path) -> str:
    try:
        if path == STDIN:
            data = sys.stdin.buffer.read(_MOST_BYTES + 1)
        else:
            with path.open("rb") as file:
                data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise InputError(f"{path} is no answer", cause=f"more than {_MOST_BYTES:,} bytes")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path} cannot be read", cause=error.strerror or "") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8", cause=f"byte {error.start}") from error


def _values(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    """Each JSON value of a file and where it stands: one document, or one to a line."""
    try:
        yield f"{path}", json.loads(text)
        return
    except (ValueError, RecursionError) as error:
        lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
        if len(lines) < 2 or not _is_json(lines[0][1]):
            if not lines:
                return
            raise InputError(f"{path} is not JSON", cause=str(error)) from error
    for number, line in lines:
        place = f"{path}, line {number},"
        try:
            yield place, json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{place} is not JSON", cause=str(error)) from error


def _is_json(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _id_of(value: Any) -> str:
    """What a line is called: the `id` of a batch, the `item` of a sample."""
    named = value.get("id", value.get("item", "")) if isinstance(value, dict) else ""
    return str(named)


def _not_one(path: Path, wanted: str, values: Mapping[str, Any]) -> InputError:
    ids = [name for name in map(_id_of, values.values()) if name]
    told = ", ".join(ids[:_IDS_TOLD]) + (" …" if len(ids) > _IDS_TOLD else "")
    remedy = f"Name one with --id: {told}." if ids else "Keep one of them in a file of its own."
    if wanted and wanted not in ids:
        return InputError(f"{path} holds no answer with the id {wanted}", remedy=remedy)
    several = f"{path} holds {len(values)} answers"
    return InputError(f"{several} with the id {wanted}" if wanted else several, remedy=remedy)


def _recorded(place: str, value: Any) -> Recorded:
    inner = value.get("answer") if isinstance(value, dict) else None
    form = inner if isinstance(inner, dict) else value
    if isinstance(form, dict) and "error" in form and "status" not in form:
        raise InputError(f"{place} is the line of a question that failed", cause=str(form["error"]))
    try:
        return Recorded.model_validate_json(json.dumps(form))
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise InputError(
            f"{place} is not an answer of `rag ask --json`",
            cause=f"{where}: {fault['msg']}" if where else str(fault["msg"]),
        ) from error
