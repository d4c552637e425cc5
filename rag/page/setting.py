"""What every tab is built with."""

from __future__ import annotations

from dataclasses import dataclass

from rag.answering.assistant import Assistant
from rag.config import Config
from rag.page.desk import Desk


@dataclass(frozen=True, slots=True)
class Setting:
    """The one assistant behind the page, the settings it runs by, and who answers its readers."""

    assistant: Assistant
    config: Config
    desk: Desk
