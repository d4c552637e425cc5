"""Many questions in one process: JSON Lines in, one JSON line out for each, resumable."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from rag import jsonform
from rag.errors import AskPapersError, InputError, ModelError, ResourceError, UsageError


@dataclass(frozen=True, slots=True)
class Item:
    """A line of a batch: what is asked, and the id that its result carries."""

    id: str | int
    question: str


def read_items(path: Path) -> list[Item]:
    """The items of a batch file, in order.

    Raises:
        InputError: it cannot be read, or a line is not `{"id": …, "question": …}`.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"{path} cannot be read", cause=error.strerror or "") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8", cause=f"byte {error.start}") from error
    items = [_item(path, n, line) for n, line in enumerate(lines, start=1) if line.strip()]
    if not items:
        raise InputError(f"{path} holds no questions")
    seen: set[str | int] = set()
    for item in items:
        if item.id in seen:
            raise InputError(f"{path} has the id {item.id!r} twice", remedy="Ids must differ.")
        seen.add(item.id)
    return items


def _item(path: Path, number: int, line: str) -> Item:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path}, line {number}, is not JSON",
            cause=str(error),
            remedy='Write each question as a line {"id": "1", "question": "…"}.',
        ) from error
    fine = isinstance(value, dict) and isinstance(value.get("question"), str)
    if not fine or not _is_id(value.get("id")):
        raise InputError(
            f"{path}, line {number}, is not a question",
            remedy='A line is {"id": "q1", "question": "…"}.',
        )
    return Item(value["id"], value["question"])


def _is_id(value: object) -> bool:
    """A number, or a text that can be written again: half a surrogate pair cannot."""
    if isinstance(value, str):
        return value.encode("utf-8", "ignore").decode() == value
    return type(value) is int


def run(
    items: list[Item],
    work: Callable[[str], dict[str, Any]],
    out: TextIO,
    done: Callable[[], None],
) -> int:
    """Write one line for each item; how many failed.

    A question that fails has its error in its line and the others go on. A model that cannot be
    used at all is not asked again and again: that error is raised.
    """
    failed = successes = 0
    for item in items:
        try:
            line = {"id": item.id, **work(item.question)}
            successes += 1
        except AskPapersError as error:
            if isinstance(error, ModelError) and not successes:
                raise
            if error.exit_code not in {2, 4}:
                raise
            failed += 1
            line = {"id": item.id, "question": item.question, **jsonform.failure(error)}
        out.write(json.dumps(line, ensure_ascii=False) + "\n")
        out.flush()
        done()
    return failed


def resume(items: list[Item], asked: Path, path: Path) -> list[Item]:
    """Those items that `path` has no result of yet; a line that was torn is taken off it.

    Lines that hold an error are asked again and stay where they are.

    Raises:
        UsageError: `path` is the file `asked` that the items came from.
        ResourceError: the file cannot be written.
    """
    try:
        if path.resolve() == asked.resolve():
            raise UsageError("--out is the batch file itself", remedy="Name another file.")
        finished = set(_finished(path)) if path.is_file() else set()
    except OSError as error:
        raise ResourceError(f"{path} cannot be written", cause=error.strerror or "") from error
    return [item for item in items if item.id not in finished]


def _finished(path: Path) -> Iterator[str | int]:
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    for line in whole.decode("utf-8", "replace").split("\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict) and "id" in value and value.keys() & {"hits", "status"}:
            yield value["id"]
