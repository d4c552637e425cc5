"""What came of a standing question when it was asked again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rag.watching.differing import Change
from rag.watching.store import Standing

State = Literal["first", "not asked", "same", "changed", "failed"]
"""Of a question in a run: answered for the first time; not asked, as the index is the same; the
answer is the same; it is another, or papers moved; it could not be asked."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave for one question; `answer` is its JSON, `reason` why it failed."""

    standing: Standing
    state: State
    answer: Mapping[str, Any] | None = None
    change: Change | None = None
    reason: str = ""
