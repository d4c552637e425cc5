"""What every tab is built with."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag.answering.assistant import Assistant
from rag.config import Config
from rag.page.desk import Desk
from rag.page.metering import Meter


@dataclass(frozen=True, slots=True)
class Setting:
    """The one assistant behind the page, its settings, who answers, and what measures it."""

    assistant: Assistant
    config: Config
    desk: Desk
    meter: Meter = field(default_factory=Meter)
