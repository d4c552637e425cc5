"""Follow-ups on an answer as a whole: which of them, how many of those, shorter."""

from __future__ import annotations

import re

from rag.answering.conversation import Conversation
from rag.answering.followed import Followed, Names
from rag.answering.kinds import kind_of

SHORTER = "shorter"
_AMONG = re.compile(
    r"^(?:and |so |but )?(?P<asked>which|what|how many|do any|does any|are any|is any)"
    r"(?: ones?)? of (?:them|these|those)(?: papers)?\s+(?P<rest>.+)$",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"^(?:(?:is|are|was|were|do|does|has|have|performs?) (?:the )?(?:[a-z]+er|[a-z]+est|more|most"
    r"|less|least|best|worst)\b|came first)",
    re.IGNORECASE,
)
_ASKED = {"do any": "which", "does any": "which", "are any": "which", "is any": "which"}
_SHORTER = re.compile(
    r"(?:(?:make|say|put|keep|give|and|but|ok(?:ay)?|can|could|you|it|that|this|me|a|an|the|bit|much|even"
    r"|in|more|answer|version|please|with)[, ]+)*"
    r"(?:shorter|briefer|brief(?:ly)?|concise(?:ly)?|short|(?:one|a single|1) (?:sentence|line)"
    r"|fewer words|shorten|tl;?dr)(?:[, ]+(?:it|that|please|answer|version|this))*[ .!?]*",
    re.IGNORECASE,
)


def among(question: str, conversation: Conversation, _: Names) -> Followed | None:
    """Which of them, how many of those: the papers spoken of, checked one by one as for a list."""
    match = _AMONG.match(question.strip())
    if not match or len(conversation.subject) < 2 or _BETWEEN.match(match["rest"]):
        return None
    asked = _ASKED.get(match["asked"].lower(), match["asked"].lower())
    text = f"{asked.capitalize()} papers {match['rest']}"
    return Followed(text, "among", conversation.subject)


def shortened(question: str, conversation: Conversation, _: Names) -> Followed | None:
    """The last question once more, to be answered in one sentence."""
    if not _SHORTER.fullmatch(question.strip()):
        return None
    last = conversation.turns[-1].asked
    if kind_of(last) == "summary":
        last = f"{last.rstrip(' ?.!')} in one sentence"
    return Followed(last, SHORTER, conversation.subject)
