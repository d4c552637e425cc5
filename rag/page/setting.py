"""What every tab is built with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rag.answering.assistant import Assistant
from rag.config import Config
from rag.page.desk import Desk
from rag.page.metering import Meter
from rag.page.overhearing import InTurn, at_once

Other = tuple[str, Callable[["Setting", Any], None]]
"""A tab that is made elsewhere: its title, and what fills it, given the setting and its `gr.Tab`.

It is called once gradio may be imported.
"""


@dataclass(frozen=True, slots=True)
class Setting:
    """The one assistant behind the page, its settings, who answers, and what measures it.

    `turn` is the line in which tables and lists wait beside the questions.
    """

    assistant: Assistant
    config: Config
    desk: Desk
    meter: Meter = field(default_factory=Meter)
    turn: InTurn = at_once
