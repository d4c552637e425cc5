"""JSON schemas of what the tools return: the forms of `rag.jsonform`, every key always there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rag.retrieval.fusion import LISTS

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer"}
_NUMBER: Schema = {"type": "number"}
_YES: Schema = {"type": "boolean"}
_OPEN: Schema = {"type": "object"}


def _object(**properties: Schema) -> Schema:
    """An object with exactly these keys."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _one_of(names: Sequence[str]) -> Schema:
    return {"type": "string", "enum": list(names)}


_HEAD = {
    "paper_id": _TEXT,
    "source": _TEXT,
    "ordinal": _WHOLE,
    "source_offset": _WHOLE,
    "title": _TEXT,
    "title_derived": _YES,
}
_PLACE = {"start": _WHOLE, "end": _WHOLE}
_CLAIM = _object(
    text=_TEXT,
    citations=_list(_WHOLE),
    verdict=_one_of(["supported", "partly", "unsupported", "contradicted"]),
    probability=_or_null(_NUMBER),
    reason=_TEXT,
    support=_list(_object(number=_WHOLE, **_PLACE)),
)
_TABLE = _object(columns=_list(_TEXT), rows=_list(_object(**_HEAD, cells=_list(_or_null(_CLAIM)))))
_WEIGHTED = _list(_object(term=_TEXT, weight=_NUMBER))

ANSWER: Schema = _object(
    question=_TEXT,
    kind=_TEXT,
    status=_one_of(["answered", "partial", "abstained"]),
    confidence=_or_null(_NUMBER),
    text=_TEXT,
    claims=_list(_CLAIM),
    citations=_list(
        _object(number=_WHOLE, **_HEAD, sentences=_list(_object(text=_TEXT, **_PLACE)))
    ),
    dropped=_list(_object(text=_TEXT, reason=_TEXT)),
    missing=_TEXT,
    nearest=_list(_object(**_HEAD, score=_NUMBER)),
    coverage=_or_null(_object(checked=_WHOLE, total=_WHOLE)),
    table=_or_null(_TABLE),
    sections=_list(_object(title=_TEXT, first=_WHOLE)),
    manifest=_OPEN,
    note=_TEXT,
    complete=_YES,
)
"""`rag ask --json` and `rag summarize --json`."""

FOUND: Schema = _object(
    query=_TEXT,
    understood=_object(
        text=_TEXT,
        terms=_WEIGHTED,
        expansions=_WEIGHTED,
        phrases=_list(_TEXT),
        filters=_list(_TEXT),
        notes=_list(_TEXT),
    ),
    hits=_list(
        _object(
            **_HEAD,
            score=_NUMBER,
            parts=_object(**dict.fromkeys(LISTS, _NUMBER)),
            evidence=_list(_object(text=_TEXT, **_PLACE, score=_NUMBER)),
        )
    ),
    help=_list(_object(step=_TEXT, texts=_list(_TEXT), prompt=_TEXT)),
    note=_TEXT,
)
"""`rag search --json`."""

LISTING: Schema = _object(
    papers=_list(
        _object(
            **_HEAD,
            version=_WHOLE,
            authors=_list(_TEXT),
            year=_or_null(_WHOLE),
            venue=_TEXT,
            doi=_TEXT,
            arxiv=_TEXT,
            url=_TEXT,
            keywords=_list(_TEXT),
            key=_TEXT,
            flags=_list(_TEXT),
        )
    ),
    total=_WHOLE,
)
"""`rag papers list --json`."""
