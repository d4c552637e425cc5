"""The columns of a table as a reader names them."""

from __future__ import annotations

import re
from dataclasses import replace

from rag.answering.cues import KNOWN, SYNONYMS, Column
from rag.errors import UsageError
from rag.text import normalise

DEFAULT = "method,dataset,metric,result,limitation"
MOST = 12
_LONGEST = 60


def read_columns(text: str) -> tuple[Column, ...]:
    """The columns of a list such as `method, dataset, learning rate`.

    Raises:
        UsageError: there is none, there are too many, one is no name, or one stands twice.
    """
    names = [" ".join(name.split()) for name in text.split(",")]
    names = [name for name in names if name]
    if not names:
        raise UsageError("No column is named", remedy="Example: --columns method,dataset,metric")
    if len(names) > MOST:
        raise UsageError(f"{len(names)} columns are named", remedy=f"Name {MOST} at most.")
    for name in names:
        if len(name) > _LONGEST or not name.isprintable() or not normalise(name):
            raise UsageError(
                f"{name[:_LONGEST]!r} cannot be a column", remedy="Name it in a few words."
            )
    if len({normalise(name) for name in names}) < len(names):
        raise UsageError("A column is named twice", cause=", ".join(names))
    return tuple(map(column, names))


def column(name: str) -> Column:
    """The column of that name: a known one, or one that its own words describe."""
    wanted = normalise(name.replace("_", " "))
    kind = SYNONYMS.get(wanted) or SYNONYMS.get(wanted.removesuffix("s"))
    if kind is None:
        return Column(name, wanted, late=0.0, own=False, known=False)
    return replace(KNOWN[kind], name=name)


def known_in(text: str) -> tuple[str, ...]:
    """The names of known columns that stand in a text, in order: `datasets and metrics`."""
    words = re.findall(r"[a-z]+", normalise(text))
    return tuple(
        dict.fromkeys(w for w in words if w in SYNONYMS or w.removesuffix("s") in SYNONYMS)
    )
