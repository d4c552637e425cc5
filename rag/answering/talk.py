"""General talk: a greeting, thanks, and the question what the assistant can do.

Only a whole message that says nothing else is talk; whatever could be a question about papers
goes on to the search.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from rag.answering.phrases.chat import CHATS, Chat
from rag.text import normalise

_MOST_CHARS = 120


@dataclass(frozen=True, slots=True)
class Said:
    """What is said in turn; `language` is that of the message, as en."""

    language: str
    text: str


def talk(message: str) -> Said | None:
    """What to say to a message that is no question about papers; None for any other."""
    if len(message) > _MOST_CHARS:
        return None
    text = normalise(message.replace("’", "'").replace("‘", "'"))
    bare = " ".join(re.sub(r"[^\w'\s]", " ", text).split())
    for chat in CHATS:
        patterns = _patterns(chat.code)
        rest = patterns[0].sub("", bare, count=1).strip()
        if rest != bare and not rest:
            return Said(chat.code, chat.purpose)
        if patterns[1].fullmatch(rest):
            return Said(chat.code, chat.purpose)
        if patterns[2].fullmatch(rest):
            return Said(chat.code, chat.welcome)
    return None


@cache
def _patterns(code: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """What greets at the beginning of a message; what asks for the purpose; what thanks."""
    chat: Chat = next(one for one in CHATS if one.code == code)
    greets = "|".join(chat.greetings)
    return (
        re.compile(rf"^(?:{greets})(?!\w)(?: (?:{greets})(?!\w))*"),
        re.compile("|".join(f"(?:{one})" for one in chat.asks)),
        re.compile("|".join(f"(?:{one})" for one in chat.thanks)),
    )
