"""Ask questions over paper abstracts, and get answers whose every sentence is supported.

The flow is the layout:

    files ─▶ corpus ─▶ index ─▶ retrieval ─▶ answering ─▶ cli · app · evals
              Paper    Chunk    Hit, Evidence   Answer

    from rag import Assistant, load

    with Assistant.from_config(load().config) as assistant:
        print(assistant.answer("What does RN-DPO normalize?").text)

Everything a caller needs is named here and imported when it is first used, so that `import rag`
costs nothing. `rag.llamaindex` holds the same parts as llama-index components.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag.answering.assistant import Assistant
    from rag.answering.conversation import Conversation
    from rag.answering.events import CitationAdded, ClaimMade, Done, Event, Notice
    from rag.config import Config, load
    from rag.errors import AskPapersError
    from rag.schema import Answer, Citation, Claim, Evidence, Hit, Paper, Sentence

_HOMES = {
    "Answer": "rag.schema",
    "AskPapersError": "rag.errors",
    "Assistant": "rag.answering.assistant",
    "Citation": "rag.schema",
    "CitationAdded": "rag.answering.events",
    "Claim": "rag.schema",
    "ClaimMade": "rag.answering.events",
    "Config": "rag.config",
    "Conversation": "rag.answering.conversation",
    "Done": "rag.answering.events",
    "Event": "rag.answering.events",
    "Evidence": "rag.schema",
    "Hit": "rag.schema",
    "Notice": "rag.answering.events",
    "Paper": "rag.schema",
    "Sentence": "rag.schema",
    "load": "rag.config",
}

__all__ = [
    "Answer",
    "AskPapersError",
    "Assistant",
    "Citation",
    "CitationAdded",
    "Claim",
    "ClaimMade",
    "Config",
    "Conversation",
    "Done",
    "Event",
    "Evidence",
    "Hit",
    "Notice",
    "Paper",
    "Sentence",
    "load",
]


def __getattr__(name: str) -> object:
    """The public name from the module that defines it."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'rag' has no attribute {name!r}")
