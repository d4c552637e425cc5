"""JSON Lines: one object with an abstract on each line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from rag.corpus.content import Content
from rag.corpus.formats import Format
from rag.corpus.records import Record, Rejected

_SURROGATE = re.compile("[\ud800-\udfff]")
_TEXT_FIELDS = ("abstract", "text", "summary")


def read(content: Content) -> Iterator[Record | Rejected]:
    """One record for each line that is not blank; the ordinal is the line's place among them."""
    ordinal = 0
    for number, line in enumerate(content.lines(), start=1):
        if not line.strip():
            continue
        ordinal += 1
        try:
            yield _record(ordinal, number, json.loads(line))
        except (ValueError, RecursionError) as error:
            yield Rejected(ordinal, number, _reason(error))


def _record(ordinal: int, line: int, value: object) -> Record:
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    abstract = next((value[f] for f in _TEXT_FIELDS if isinstance(value.get(f), str)), "")
    if not abstract.strip():
        raise ValueError(f"no text in any of {', '.join(_TEXT_FIELDS)}")
    title = value["title"].strip() if isinstance(value.get("title"), str) else None
    if _SURROGATE.search(abstract + (title or "")):
        raise ValueError("it holds half of a surrogate pair, which is no character")
    return Record(ordinal, 0, abstract.strip(), title, line=line)


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON at column {error.colno}: {error.msg}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


FORMAT = Format(
    "JSON Lines", (".jsonl", ".ndjson"), lambda content: content.start.startswith("{"), read
)
